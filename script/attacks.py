"""Origins that are hostile, broken or odd, one function each, and what larder has to make of them.

Every function gets a fresh Lab (an origin on loopback, a catalog file, a cache) and yields one line for each
thing that is not as promised; a function that yields nothing has passed. Prints "N passed, N failed"."""

import contextlib
import gzip
import json
import os
import pty
import re
import resource
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

LARDER = os.environ["LARDER"]
ATTACKS = []


def attack(function):
    """Registers an attack; its first line of documentation is what has to hold."""
    ATTACKS.append(function)
    return function


# The origin


def png(seed=1, width=8, height=8):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(
        b"\0" + bytes((seed * 37 + x * 5 + y * 11 + c * 70) & 255 for x in range(width) for c in range(3))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.path, _, self.query = target.partition("?")
        self.values = dict(urllib.parse.parse_qsl(self.query))

    def field(self, name, otherwise=None):
        return self.headers.get(name.lower(), otherwise)


def answer(status=200, body=b"", kind="image/png", fields=()):
    """One whole response; a dict or list is sent as JSON."""
    if isinstance(body, (dict, list)):
        body, kind = json.dumps(body, ensure_ascii=False).encode(), "application/json"
    elif isinstance(body, str):
        body = body.encode()
    head = [f"HTTP/1.1 {status} X"] + [f"{name}: {value}" for name, value in fields]
    names = {name.lower() for name, _ in fields}
    if kind and "content-type" not in names:
        head.append(f"Content-Type: {kind}")
    if "content-length" not in names and status not in (204, 304):
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + (b"" if status in (204, 304) else body)


class Origin:
    """A server on loopback: `handle` makes an answer's bytes; None closes, a tuple sends its bytes and closes."""

    def __init__(self, handle, port=0, host="127.0.0.1"):
        self.handle, self.log = handle, []
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((host, port))
        self.socket.listen(256)
        self.port = self.socket.getsockname()[1]
        self.base = f"http://{host}:{self.port}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        received = b""
        with contextlib.suppress(OSError, ValueError), connection:
            while True:
                while b"\r\n\r\n" not in received:
                    more = connection.recv(65536)
                    if not more:
                        return
                    received += more
                head, received = received.split(b"\r\n\r\n", 1)
                first, *lines = head.decode("latin-1").split("\r\n")
                method, target, _ = first.split(" ", 2)
                headers = {}
                for line in lines:
                    name, value = line.split(":", 1)
                    headers[name.strip().lower()] = value.strip()
                length = int(headers.get("content-length", 0))
                while len(received) < length:
                    received += connection.recv(65536)
                body, received = received[:length], received[length:]
                request = Request(method, target, headers, body)
                self.log.append(request)
                reply = self.handle(request)
                if reply is None:
                    return
                connection.sendall(reply[0] if isinstance(reply, tuple) else reply)
                if isinstance(reply, tuple):
                    return

    def asked(self, path):
        return [request for request in self.log if request.path == path]


class Ended:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds
        self.words = f"{out}\n{err}"

    def json(self):
        return json.loads(self.out)


class Lab:
    """A catalog `shop.yaml` of one section at `list`, its origin and its cache, in a folder of its own."""

    def __init__(self, handle=None, items=None, extra="", name="t", port=0, sections=None, mapping=None):
        self.folder = tempfile.mkdtemp(prefix="larder-attack-")
        self.items = items

        def top(request):
            if self.items is not None and request.path == "/list":
                return answer(200, {"items": self.items}, fields=[("Cache-Control", "no-cache")])
            return handle(request) if handle else answer(200, png(1))

        self.origin = Origin(top, port)
        self.file = f"{self.folder}/shop.yaml"
        self.cache = f"{self.folder}/cache"
        self.write(extra, name, sections, mapping)

    def write(self, extra="", name="t", sections=None, mapping=None):
        mapping = mapping or (
            "items: $.items\nitem:\n  id: $.id\n  title: $.title\n  salePrice: $.price\n"
            "  images: {thumbnail: $.img}\n"
        )
        sections = sections or "  - {key: main, title: Main, url: list}"
        with open(self.file, "w") as file:
            file.write(
                f"name: {name}\ncurrency: EUR\nbase: {self.origin.base}\nsections:\n{sections}\n{mapping}{extra}"
            )

    def run(self, *arguments, cache=True, timeout=60, env=None, preload=None, cwd=None):
        command = [LARDER, *arguments] + (["--cache", self.cache] if cache else [])
        environment = {**os.environ, "LARDER_ORDERS": f"{self.folder}/orders.sqlite", **(env or {})}
        if preload:
            environment["LD_PRELOAD"] = preload
        begun = time.monotonic()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env=environment, cwd=cwd or self.folder,
        )
        try:
            out, err = process.communicate(timeout=timeout)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            status = "no end"
        return Ended(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), time.monotonic() - begun)

    def sync(self, *arguments, **more):
        return self.run("sync", self.file, *arguments, **more)

    def synced(self, *arguments, **more):
        """A sync's status and its JSON document."""
        ended = self.sync("--json", *arguments, **more)
        try:
            return ended.status, ended.json()
        except ValueError:
            return ended.status, {"broken": ended.words[-300:]}

    def files(self):
        return [os.path.join(top, name) for top, _, names in os.walk(self.cache) for name in names]


def item(number, picture, **more):
    return {"id": str(number), "title": f"Item {number}", "price": 1.5, "img": picture, **more}


def shim(lab, name, text):
    """A library for LD_PRELOAD, made of C text; None without a compiler."""
    source, library = f"{lab.folder}/{name}.c", f"{lab.folder}/{name}.so"
    with open(source, "w") as file:
        file.write("#define _GNU_SOURCE\n" + text)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


# Text of a feed is never run


@attack
def completion_runs_nothing_of_a_feed():
    """Tab in bash offers commands and options, and no text of a cache."""
    lab = Lab(items=[item(f"P{n}{text}", f"{n}.png") for n, text in enumerate(
        ["$(touch RAN1)", "`touch RAN2`", ";touch RAN3", "'$(touch RAN4)'"])])
    lab.sync()
    with open(f"{lab.folder}/complete.bash", "w") as file:
        file.write(lab.run("--generate-completion-script", "bash", cache=False).out)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(lab.folder)
        os.environ.update(PATH=f"{os.path.dirname(LARDER)}:{os.environ['PATH']}", PS1="$ ", LARDER_CACHE=lab.cache)
        os.execvp("bash", ["bash", "--norc", "-i"])
    seen = b""

    def until(text, seconds=20):
        nonlocal seen
        end, start = time.monotonic() + seconds, len(seen)
        while time.monotonic() < end and text not in seen[start:]:
            if select.select([terminal], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    seen += os.read(terminal, 65536)

    os.write(terminal, b"source complete.bash; echo READY$((1+1))\n")
    until(b"READY2")
    for number, line in enumerate((b"larder show P", b"larder order place P", b"larder list P")):
        os.write(terminal, b"\x15" + line + b"\t\t")
        until(b"\x00", 2)
        os.write(terminal, b"\x15echo DONE%d$((1+1))\n" % number)
        until(b"DONE%d2" % number)
    os.write(terminal, b"\x15exit\n")
    with contextlib.suppress(OSError):
        os.close(terminal)
    os.waitpid(child, 0)
    for name in os.listdir(lab.folder):
        if name.startswith("RAN"):
            yield f"{name} was made"
    if b"P0$(" in seen or b"P1`" in seen:
        yield "an id was offered"


@attack
def init_writes_no_command():
    """A name of the response becomes neither jq nor YAML, whatever line break it holds."""
    for mark in ("\u2028", "\u2029", "\u0085", "\n", "\r", "\x0b", "\x0c"):
        for quote in ('x"] as $n | {items: .z} #', "x' #", "x\\\"] | #", "x: #"):
            name = f"{quote}{mark}token: {{header: Authorization, command: [touch, RAN]}}{mark}#"
            refuses, base = [], []

            def handle(request):
                if request.path.endswith(".png"):
                    return answer(200, png(1))
                if refuses:
                    return answer(401, "no", "text/plain")
                rows = [{"id": f"p{n}", "title": f"Thing {n}", "price": f"{n}9.99", name: n,
                         "image": f"{base[0]}i/{n}.png"} for n in range(1, 8)]
                return answer(200, {name: ["id", "name", "cost"], "y": [[1, 2, 3], [4, 5, 6], [7, 8, 9]], "z": rows})

            lab = Lab(handle)
            base.append(lab.origin.base)
            lab.run("catalog", "init", lab.origin.base + "list.json", "--out", "made.yaml", cache=False)
            refuses.append(True)
            if os.path.exists(f"{lab.folder}/made.yaml"):
                if re.search(r"(?m)^\s*token:", open(f"{lab.folder}/made.yaml", newline="").read()):
                    yield f"{mark!r} {quote!r}: a token stands in the file"
                lab.run("catalog", "check", "made.yaml", cache=False)
            if os.path.exists(f"{lab.folder}/RAN"):
                yield f"{mark!r} {quote!r}: the command ran"


@attack
def commands_of_a_file_that_others_may_write_are_refused():
    """`token: command` in a file that anybody may write is configuration that is refused (78)."""
    lab = Lab(lambda request: answer(401, "no", "text/plain"))
    lab.write(extra="token: {header: Authorization, command: [touch, RAN]}\n")
    os.chmod(lab.file, 0o666)
    ended = lab.sync()
    if ended.status != 78:
        yield f"status {ended.status} for a file of mode 666"
    if os.path.exists(f"{lab.folder}/RAN"):
        yield "the command ran"
    os.chmod(lab.file, 0o644)
    lab.sync()
    if not os.path.exists(f"{lab.folder}/RAN"):
        yield "the command of an own file did not run"


@attack
def a_plan_folder_reads_no_variable_of_a_worker():
    """A plan's catalog file gets `${NAME}` only for names that `--env` allows, and never AWS_ or LARDER_ ones."""
    lab = Lab(lambda request: answer(200, png(1)), items=[item(1, "a.png")])
    lab.write(extra='headers: {X-A: "${SHOP_KEY}"}\n')
    env = {"SHOP_KEY": "s3cret", "AWS_SECRET_ACCESS_KEY": "never"}
    planned = lab.run("shard", "plan", lab.file, "--shards", "1", "--out", "plan", env=env)
    if planned.status != 0:
        yield f"plan: {planned.words[:200]}"
    before = len(lab.origin.log)
    refused = lab.run("shard", "run", "--plan", "plan", "--shard", "0", env=env)
    if any(request.field("x-a") == "s3cret" for request in lab.origin.log[before:]):
        yield "a variable was sent that nobody allowed"
    if refused.status == 0:
        yield "a plan that needs a variable ran without it"
    if lab.run("shard", "run", "--plan", "plan", "--shard", "0", "--env", "AWS_SECRET_ACCESS_KEY", env=env).status != 64:
        yield "--env AWS_SECRET_ACCESS_KEY was taken"
    allowed = lab.run("shard", "run", "--plan", "plan", "--shard", "0", "--env", "SHOP_KEY", env=env)
    if allowed.status != 0:
        yield f"--env SHOP_KEY: {allowed.status} {allowed.words[:200]}"


# Nothing without measure


@attack
def a_picture_without_end_costs_its_budget_alone():
    """A picture that keeps a library busy for ever fails by name; the next one is made; deadlines hold."""
    made = tempfile.mkdtemp(prefix="larder-hostile-")
    subprocess.run([os.path.join(os.path.dirname(__file__), "../samples/make-hostile"), made], check=True, stdout=subprocess.DEVNULL)
    endless = open(f"{made}/four-rows-in-scans.jpg", "rb").read()
    lab = Lab(lambda request: answer(200, endless if request.path == "/1.jpg" else png(2), "image/jpeg"),
              items=[item(1, "1.jpg"), item(2, "2.png")])
    os.makedirs(f"{lab.folder}/in")
    for name, data in (("a.png", png(1)), ("endless.jpg", endless), ("z.png", png(2))):
        open(f"{lab.folder}/in/{name}", "wb").write(data)
    for number, more in enumerate(([], ["--size", "32"])):
        ended = lab.run("crop", "in", "--out", f"out{number}", *more, cache=False, timeout=20)
        made = sorted(os.listdir(f"{lab.folder}/out{number}")) if os.path.isdir(f"{lab.folder}/out{number}") else []
        if ended.status not in (0, 3) or "a.png" not in made or "z.png" not in made:
            yield f"crop {more}: status {ended.status}, {made}"
        if ended.status == 3 and "endless.jpg" not in ended.words:
            yield f"crop {more}: the picture is not named"
        if ended.seconds > 5:
            yield f"crop {more}: {ended.seconds:.1f} s"
    ended = lab.run("stamp", "in", "--out", "stamped", "--time", "now", cache=False, timeout=20)
    if ended.status not in (0, 3) or ended.seconds > 8:
        yield f"stamp: status {ended.status}, {ended.seconds:.1f} s"
    ended = lab.sync("--square", "128", "--deadline", "8s", timeout=30)
    if ended.status not in (0, 3) or ended.seconds > 9:
        yield f"sync --square: status {ended.status}, {ended.seconds:.1f} s"


def measured(lab):
    """A sync's status, peak MiB, MiB on disk and seconds."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(LARDER, [LARDER, "sync", lab.file, "--cache", lab.cache])
    begun = time.monotonic()
    _, status, use = os.wait4(child, 0)
    disk = sum(os.path.getsize(name) for name in lab.files()) if os.path.isdir(lab.cache) else 0
    return os.waitstatus_to_exitcode(status), use.ru_maxrss / 1024, disk / (1 << 20), time.monotonic() - begun


@attack
def kilobytes_stay_kilobytes():
    """A packed body of a few kilobytes takes at most 64 MiB above an idle run and 2 MiB on the disk."""
    idle = Lab(items=[item(1, "a.png")])
    _, floor, _, _ = measured(idle)
    mega = 1 << 20

    def listing(unit, last):
        return b'{"items":[' + unit * (mega // len(unit)) + last + b"]}"

    long = b'{"items":[' + b" " * (64 * mega) + b'{"id":"1","title":"a","price":1}]}'
    for name, body in {
        "numbers": gzip.compress(listing(b"0,", b"0"), 9), "objects": gzip.compress(listing(b"{},", b"{}"), 9),
        "lists": gzip.compress(listing(b"[],", b"[]"), 9), "texts": gzip.compress(listing(b'"",', b'""'), 9),
        "gzip in gzip": gzip.compress(gzip.compress(long, 9), 9),
    }.items():
        lab = Lab(lambda request: answer(200, body, "application/json", [("Content-Encoding", "gzip")]))
        status, peak, disk, seconds = measured(lab)
        if status == 0 or peak > floor + 64 or disk > 2 or seconds > 20:
            yield f"{name}: {len(body)} bytes, status {status}, {peak:.0f} MiB (idle {floor:.0f}), {disk:.1f} MiB, {seconds:.1f} s"


@attack
def xml_takes_time_in_proportion():
    """Elements and attributes without number take linear time or are refused."""
    for attributes in (False, True):
        for count in (10_000, 40_000):
            if attributes:
                inner = "<item " + " ".join(f'a{n}="1"' for n in range(count)) + "/>"
            else:
                inner = "<item>" + "".join(f"<e{n}>1</e{n}>" for n in range(count)) + "</item>"
            body = f'<rss version="2.0"><channel>{inner}</channel></rss>'.encode()
            lab = Lab(lambda request: answer(200, body, "application/rss+xml"))
            lab.write(mapping="format: google-merchant\n")
            ended = lab.sync("--deadline", "10s", timeout=60)
            if ended.seconds > 6:
                yield f"{count} {'attributes' if attributes else 'elements'}: {ended.seconds:.1f} s"


# Never in another's place


@attack
def two_addresses_never_share_a_file():
    """Addresses whose hashes share 48 bits keep two files with their own bytes."""
    first, second = "/p/0000f0aeca/main.png", "/p/00016e8f40/main.png"
    try:
        lab = Lab(lambda request: answer(200, png(1 if request.path == first else 9),
                                         fields=[("Cache-Control", "max-age=3600")]),
                  items=[item("victim", first), item("other", second)], port=9101)
    except OSError:
        return  # The port is taken; the names depend on it, and PictureNameTests hold the same.
    lab.sync()
    shown = {row["id"]: row["thumbnail"] for row in lab.run("list", "--json").json()}
    if shown["victim"]["path"] == shown["other"]["path"]:
        yield "one path for two addresses"
    if shown["victim"]["sha256"] == shown["other"]["sha256"]:
        yield "one digest for two pictures"
    if not re.search(r"-[0-9a-f]{32}\.png$", shown["victim"]["path"] or ""):
        yield f"the name is {shown['victim']['path']}"
    if lab.run("verify").status != 0:
        yield "verify is not clean"


@attack
def replaced_items_are_withheld():
    """40 of 40 items replaced by others are withheld (4), and so is one picture, price or title in all."""
    def kinds(change):
        return [{**item(n, f"a{n}.png", ), "price": n + 1.5, **change(n)} for n in range(40)]

    for name, change in {
        "other items": lambda n: {"id": f"X{n}"}, "one picture": lambda n: {"img": "same.png"},
        "one price": lambda n: {"price": 9.0}, "one title": lambda n: {"title": "Sold"},
    }.items():
        lab = Lab(items=kinds(lambda n: {}))
        lab.sync()
        lab.items = kinds(change)
        status, document = lab.synced()
        if status != 4:
            yield f"{name}: status {status}"
        if document.get("items", {}).get("removed"):
            yield f"{name}: items were removed"
        status, _ = lab.synced("--allow-removals")
        if status != 0:
            yield f"{name}: status {status} with --allow-removals"


@attack
def two_catalogs_of_one_name_are_refused():
    """`warm` of two catalogs with one name is 78; a base that moved is said."""
    one = Lab(items=[item(n, f"a{n}.png") for n in range(20)])
    other = Lab(items=[item(100 + n, f"b{n}.png") for n in range(20)])
    other.cache = one.cache
    one.sync()
    moved = other.sync("--allow-private-addresses")
    if moved.status != 4:
        yield f"another shop's catalog: status {moved.status}"
    both = one.run("warm", one.file, other.file)
    if both.status != 78 or "shop.yaml" not in both.words:
        yield f"warm of both: {both.status} {both.words[:160]}"


@attack
def an_id_twice_is_said():
    """The first of two different items with one id is kept and the second reported; equal ones count once."""
    first = {**item(1, "a.png"), "title": "A"}
    lab = Lab(items=[first, first, {**item(1, "b.png"), "title": "B"}, item(2, "c.png")])
    status, document = lab.synced()
    if document.get("sections", [{}])[0].get("items") != 2:
        yield f"items: {document.get('sections')}"
    if not any("duplicate-id" in json.dumps(row) for row in document.get("skipped", [])):
        yield f"skipped: {document.get('skipped')}"


@attack
def a_repeated_section_key_fails_alone():
    """Two sections of one response under one key fail; the others and the last good ones stay."""
    def sections(keys, order="abc"):
        return {"groups": [{"key": key, "items": [item(f"{content}{n}", f"{content}{n}.png") for n in range(3)]}
                           for key, content in zip(keys, order)]}

    body = [None]
    for keys, order in (("aac", "abc"), ("aac", "bac"), ("aaa", "abc"), ("ccc", "cab")):
        lab = Lab(lambda request: answer(200, body[0]) if request.path == "/list" else answer(200, png(1)))
        lab.write(sections='  url: list\n  each: "$.groups[*]"\n  key: $.key')
        body[0] = sections("abc")
        status, _ = lab.synced()
        if status != 0:
            yield f"good: status {status}"
        body[0] = sections(keys, order)
        status, document = lab.synced()
        items = document.get("items", {})
        if status in (0, 1) or items.get("removed") or items.get("added") or items.get("total") != 9:
            yield f"{keys} of {order}: status {status}, {items}"
        body[0] = sections("abc")
        status, _ = lab.synced()
        if status != 0:
            yield f"good after {keys} of {order}: status {status}"


# Origins as they are


@attack
def headers_go_with_pictures_of_the_shop():
    """Catalog `headers:` go with pictures of the host of `base`, `pictures: headers` to the named host only."""
    def handle(request):
        if request.path == "/list":
            return answer(200, {"items": [item(1, "token.png"), item(2, f"http://127.0.0.1:{cdn.port}/cdn.png")]})
        return answer(200, png(1)) if request.field("authorization") == "Bearer abc" else answer(403, "no", "text/plain")

    cdn = Origin(lambda request: answer(200, png(2)) if request.field("referer") == "https://shop.example/"
                 and not request.field("authorization") else answer(403, "hotlink", "text/plain"))
    lab = Lab(handle, extra="")
    lab.write(extra='headers: {Authorization: "Bearer abc"}\n'
                    f'pictures:\n  headers: {{"127.0.0.1:{cdn.port}": {{Referer: "https://shop.example/"}}}}\n')
    status, document = lab.synced("--allow-private-addresses")
    if status != 0:
        yield f"status {status}: {document.get('failures', document)}"


@attack
def signed_addresses_are_one_picture():
    """With `pictures: identity`, a signature that changes asks for no picture and changes no item."""
    count = [0]

    def handle(request):
        if request.path == "/list":
            count[0] += 1
            return answer(200, {"items": [item(n, f"/i/{n}.png?v=1&Expires={count[0]}&X-Amz-Date={count[0]}")
                                          for n in range(20)]})
        return answer(200, png(int(request.path[3:-4])), fields=[("ETag", '"1"'), ("Cache-Control", "max-age=86400")])

    lab = Lab(handle)
    lab.write(extra='pictures: {identity: {without: [Expires, "X-Amz-*"]}}\n')
    lab.sync()
    lab.origin.log.clear()
    status, document = lab.synced()
    asked = sum(request.path != "/list" for request in lab.origin.log)
    if status != 0 or asked or document["items"]["changed"]:
        yield f"status {status}, {asked} pictures asked for, {len(document.get('items', {}).get('changed', []))} changed"


@attack
def pages_before_an_error_are_kept():
    """Behind a good page 400, 404, 410, 416, 204, null and no list end a listing; others make it partial."""
    ends = {
        "400": (0, lambda: answer(400, {"error": "no such page"})), "404": (0, lambda: answer(404, {})),
        "410": (0, lambda: answer(410, {})), "416": (0, lambda: answer(416, b"")), "204": (0, lambda: answer(204)),
        "null": (0, lambda: answer(200, {"items": None})), "no list": (0, lambda: answer(200, {"message": "end"})),
        "empty": (0, lambda: answer(200, {"items": []})), "500": (3, lambda: answer(500, b"")),
        "403": (3, lambda: answer(403, b"")), "total": (3, lambda: answer(200, {"items": [], "total": 5000})),
    }
    for name, (wanted, end) in ends.items():
        def handle(request):
            if request.path != "/list":
                return answer(200, png(1))
            page = int(request.values.get("page", 1))
            if page > 3:
                return end()
            more = {"total": 5000} if name == "total" else {}
            return answer(200, {"items": [item(page * 100 + n, "p.png") for n in range(10)], **more})

        lab = Lab(handle)
        lab.write(extra="paging: {page: page, size: {name: per_page, value: 10}}\n")
        status, document = lab.synced("--retries", "0")
        total = document.get("items", {}).get("total")
        if status != wanted or total != 30:
            yield f"{name}: status {status} for {wanted}, {total} items for 30"


@attack
def a_host_that_asks_for_an_hour_is_left_alone():
    """A Retry-After of an hour ends the host for this run at once, with no request before its time."""
    lab = Lab(lambda request: answer(503, "later", "text/plain", [("Retry-After", "3600")]),
              items=[item(n, f"{n}.png") for n in range(30)])
    begun = time.monotonic()
    status, document = lab.synced("--deadline", "100s", timeout=120)
    seconds = time.monotonic() - begun
    reasons = {row["reason"] for row in document.get("failures", [])}
    if seconds > 15 or "asked-to-wait" not in reasons:
        yield f"{seconds:.0f} s, status {status}, {reasons}"


@attack
def a_lasting_failure_is_told_once():
    """A picture that is gone fails one run; later runs are 0, list it as known, and `--strict` still minds."""
    lab = Lab(lambda request: answer(404, b"") if request.path == "/3.png" else
              answer(200, png(1), fields=[("Cache-Control", "max-age=604800")]),
              items=[item(n, f"{n}.png") for n in range(10)])
    first, _ = lab.synced()
    second, document = lab.synced()
    if (first, second) != (3, 0):
        yield f"statuses {first}, {second}"
    if [row.get("known") for row in document.get("failures", [])] != [True]:
        yield f"failures: {document.get('failures')}"
    strict = lab.sync("--strict").status
    if strict != 3:
        yield f"--strict: {strict}"
    if lab.run("status", "--check", "6h").status != 0:
        yield "status --check is not 0"


@attack
def a_failed_resume_is_not_repeated():
    """When a part is refused, the picture is asked for whole in the same run."""
    body = png(3, 200, 200) + b""
    body = body[:-12] + struct.pack(">I", 150000) + b"tEXt" + (t := b"a\0" + os.urandom(149998).hex()[:149998].encode()) \
        + struct.pack(">I", zlib.crc32(b"tEXt" + t)) + body[-12:]
    for name, refuse in (("502", lambda: answer(502, b"")), ("close", lambda: None)):
        asked = []

        def handle(request):
            asked.append(request.field("range"))
            if len(asked) == 1:
                whole = answer(200, body, fields=[("ETag", '"v1"')])
                return (whole[: len(whole) // 2],)
            return refuse() if request.field("range") else answer(200, body, fields=[("ETag", '"v1"')])

        lab = Lab(handle, items=[item(1, "a.png")])
        status, document = lab.synced(timeout=100)
        if status != 0:
            yield f"{name}: status {status}, asked {asked}, {document.get('failures')}"


@attack
def odd_tags_and_characters_are_taken():
    """A tag without quotes is sent back as it came; characters that no URL has are encoded."""
    lab = Lab(lambda request: answer(304, kind=None) if request.field("if-none-match") == "0x8DD2" else
              answer(200, png(1), fields=[("ETag", "0x8DD2"), ("Cache-Control", "no-cache")]), items=[item(1, "a.png")])
    lab.sync()
    status, document = lab.synced()
    if document.get("images", {}).get("revalidated") != 1:
        yield f"tag: {document.get('images')}"
    bad = set("{}|\\^`")
    lab = Lab(lambda request: answer(400, b"") if set(request.target) & bad else answer(200, png(1)),
              items=[item(n, address) for n, address in enumerate(
                  ["a{1}.png", "b|c.png", "d^e.png", "f`g.png", "up\\2024\\x.png", "q.png?s={w}x{h}"])])
    status, document = lab.synced()
    if status != 0:
        yield f"characters: status {status}, {[row['url'] for row in document.get('failures', [])]}"
    if not lab.origin.asked("/up/2024/x.png"):
        yield "a backslash is no slash"


@attack
def a_secret_stays_out_of_the_cache():
    """A value of the environment stands in no file and no output, whatever redirects make of it."""
    other = Origin(lambda request: answer(200, {"items": [item(1, "a.png")]}, fields=[("ETag", '"1"')]))
    lab = Lab(lambda request: answer(302, b"", fields=[("Location", f"{other.base}x.json?{request.query}")])
              if request.path == "/list" else answer(200, png(1)))
    lab.write(sections='  - {key: main, title: Main, url: "list?key=${SHOPKEY}"}')
    ended = lab.sync("--allow-private-addresses", "-v", env={"SHOPKEY": "TOPSECRET12345"})
    if "TOPSECRET12345" in ended.words:
        yield "in the output"
    for name in lab.files():
        if b"TOPSECRET12345" in open(name, "rb").read():
            yield f"in {os.path.relpath(name, lab.cache)}"
    if not other.log:
        yield f"the redirect was not followed: {ended.words[:200]}"


@attack
def a_page_in_place_of_a_picture_is_named():
    """A log-in page where a picture should be is said in words; Slack's refusal is passed on."""
    def handle(request):
        if request.path == "/hook":
            return answer(400, "invalid_blocks", "text/plain")
        return answer(200, "<html><title>Please log in</title>", "text/html")

    lab = Lab(handle, items=[item(1, "a.png")])
    ended = lab.sync()
    if "Please log in" not in ended.words:
        yield f"sync: {ended.words[:200]}"
    lab.run("order", "place", "1", "--by", "x")
    sent = lab.run("order", "send", env={"LARDER_WEBHOOK_URL": lab.origin.base + "hook"}, cache=False)
    if "invalid_blocks" not in sent.words:
        yield f"order send: {sent.words[:200]}"


# Disks as they are


@attack
def links_that_the_user_names_are_followed():
    """`--cache` and `export` follow a link, with and without a slash behind it."""
    lab = Lab(items=[item(1, "a.png")])
    for name in ("disk", "www"):
        os.mkdir(f"{lab.folder}/{name}")
        os.symlink(f"{lab.folder}/{name}", f"{lab.folder}/{name}-link")
    for tail in ("", "/"):
        lab.cache = f"{lab.folder}/disk-link{tail}"
        for command in (["sync", lab.file], ["status"], ["list"], ["verify"], ["gc"]):
            ended = lab.run(*command)
            if ended.status != 0:
                yield f"{command[0]} --cache link{tail}: {ended.status} {ended.err[:120]}"
    ended = lab.run("export", f"{lab.folder}/www-link")
    if ended.status != 0:
        yield f"export: {ended.status} {ended.err[:120]}"


@attack
def file_systems_without_links_locks_or_syncs_work():
    """link, flock and fsync of folders may be missing; a failing disk is named by its own words."""
    lab = Lab(items=[item(1, "a.png")])
    library = shim(lab, "missing", r"""
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
static int code(const char *name) { const char *text = getenv(name); return text ? atoi(text) : 0; }
#define FAIL(name) if (code(name)) { errno = code(name); return -1; }
int flock(int fd, int operation) { FAIL("NO_FLOCK") return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(fd, operation); }
int link(const char *a, const char *b) { FAIL("NO_LINK") return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "link"))(a, b); }
int linkat(int x, const char *a, int y, const char *b, int f) { FAIL("NO_LINK") return ((int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat"))(x, a, y, b, f); }
int fsync(int fd) { struct stat s; if (fstat(fd, &s) == 0 && S_ISDIR(s.st_mode)) FAIL("NO_DIRSYNC") return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
""")
    import errno
    for name, code in (("NO_FLOCK", errno.ENOSYS), ("NO_FLOCK", errno.ENOLCK), ("NO_LINK", errno.EPERM),
                       ("NO_LINK", errno.ENOSYS), ("NO_LINK", errno.EACCES), ("NO_DIRSYNC", errno.EINVAL),
                       ("NO_DIRSYNC", errno.EOPNOTSUPP), ("NO_DIRSYNC", errno.ENOSYS)):
        lab = Lab(lambda request: answer(200, png(int(request.path[1:-4]) % 5)), items=[item(n, f"{n}.png") for n in range(20)])
        ended = lab.sync(preload=library, env={name: str(code)})
        if ended.status != 0:
            yield f"{name} {errno.errorcode[code]}: {ended.status} {ended.err[:160]}"


@attack
def arguments_survive_a_missing_proc():
    """Without /proc the command line is read all the same."""
    if os.geteuid() != 0:
        return
    ended = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" sync /nonexistent.yaml', LARDER],
                           capture_output=True, text=True)
    plain = subprocess.run([LARDER, "sync", "/nonexistent.yaml"], capture_output=True, text=True)
    if (ended.returncode, ended.stderr) != (plain.returncode, plain.stderr):
        yield f"{ended.returncode} {ended.stdout[:80]}{ended.stderr[:80]} for {plain.returncode}"


@attack
def exported_names_are_taken_everywhere():
    """An export holds no name that FAT, NTFS or a shell would stumble over."""
    names = ["16:9.png", "what%3F.png", "CON.png", "-rf.png", "a;b.png", "tail.%20.png", "AUX", "q%22q.png", "a%0Ab.png"]
    lab = Lab(lambda request: answer(200, png(len(request.path))), items=[item(n, f"/x/{name}") for n, name in enumerate(names)])
    lab.sync()
    ended = lab.run("export", f"{lab.folder}/out")
    if ended.status != 0:
        yield f"status {ended.status}: {ended.words[:160]}"
    found = [name for _, _, files in os.walk(f"{lab.folder}/out") for name in files]
    pictures = [name for name in found if name.endswith(".png")]
    if len(pictures) != len(names):
        yield f"{len(pictures)} pictures of {len(names)}: {sorted(found)}"
    for name in found:
        stem = name.split(".")[0].upper()
        if re.search(r'[<>:"/\\|?*;\x00-\x1f]', name) or name[0] == "-" or name[-1] in ". " or stem in ("CON", "AUX", "PRN", "NUL"):
            yield f"{name!r}"


@attack
def a_picture_with_an_odd_name_is_never_passed_over():
    """A name that is not UTF-8, one of 250 bytes, a missing file: each is done or told."""
    lab = Lab()
    os.makedirs(f"{lab.folder}/in")
    odd = os.fsencode(lab.folder) + b"/in/caf\xe9.png"
    open(odd, "wb").write(png(1))
    open(f"{lab.folder}/in/{'l' * 246}.png", "wb").write(png(2))
    for more in ([], ["--force"]):
        ended = lab.run("crop", "in", "--out", "out", *more, cache=False)
        made = os.listdir(os.fsencode(lab.folder) + b"/out") if os.path.isdir(f"{lab.folder}/out") else []
        if ended.status == 0 and len(made) != 2:
            yield f"crop {more}: status 0 with {len(made)} of 2"
        if not any(name.startswith(b"lll") for name in made):
            yield f"crop {more}: the long name was not made: {ended.err[:120]}"
    good = f"{lab.folder}/in/{'l' * 246}.png"
    missing = lab.run("crop", f"{lab.folder}/none.jpg", "--out", "o2", cache=False).status
    among = lab.run("crop", good, f"{lab.folder}/none.jpg", "--out", "o3", cache=False).status
    if (missing, among) != (65, 3):
        yield f"a missing input: {missing} alone, {among} among others"
    empty = lab.run("crop", good, "--out", "", cache=False).status
    if empty != 64:
        yield f"--out '': {empty}"


@attack
def a_failure_is_json_with_json():
    """With --json a command that fails before its document prints the error as one."""
    lab = Lab()
    for arguments in (["list"], ["verify"], ["show", "x"], ["sync", "/none.yaml"], ["status"], ["export", "out"], ["gc"]):
        ended = lab.run(*arguments, "--json")
        try:
            error = ended.json()["error"]
            if error["status"] != ended.status or not error["message"]:
                yield f"{arguments[0]}: {ended.out[:160]}"
        except (ValueError, KeyError, TypeError):
            yield f"{arguments[0]}: status {ended.status}, {ended.out[:80]!r}"


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    for function in ATTACKS:
        name = function.__name__.replace("_", " ")
        if wanted and not any(part in name for part in wanted):
            continue
        begun = time.monotonic()
        try:
            faults = list(function())
        except Exception as error:  # An attack that cannot be played is a failure too.
            faults = [f"{type(error).__name__}: {error}"]
        passed, failed = passed + (not faults), failed + bool(faults)
        print(f"{'FAILED' if faults else 'ok    '} {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        for fault in faults:
            print(f"         {fault}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
