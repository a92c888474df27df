"""Simulates power cuts at every step of larder's file operations, and checks what is left.

Any part of the unsynced data may be lost, in any order: each write, whole or in
sectors, each change of a size, each name in each folder. SQLite's own writes, too, may reach the disk in any
order that its syncs allow. (Pillai and others: All File Systems Are Not Created Equal, OSDI 2014)

N is the number of simulations of each step."""

import collections
import hashlib
import http.server
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import zlib

from harness import LARDER, SEED, number, preload, work_folder

WORK, SEEDS, STRIDE = work_folder(), number("N", 1), number("STRIDE", 1)
ROOT = os.path.join(WORK, "root")
SECTOR = 512


class Inode:
    """A file, or a folder when it has names: its durable state, and the changes that wait for a sync."""

    def __init__(self, is_folder=False):
        self.is_folder = is_folder
        self.names, self.durable_names = {}, {}
        self.bytes, self.durable = bytearray(), bytes()
        self.pending = []

    def change(self, step):
        """Applies a step to the file as its program sees it; the durable bytes change only with a sync."""
        apply(self.bytes, step)
        self.pending.append(step)

    def sync(self):
        self.pending.clear()
        if self.is_folder:
            self.durable_names = dict(self.names)
        else:
            self.durable = bytes(self.bytes)


def apply(content, step):
    at, data = step
    if data is None:
        del content[at:]
        content.extend(bytes(at - len(content)))
    else:
        content.extend(bytes(max(0, at - len(content))))
        content[at : at + len(data)] = data


class Disk:
    """All files below the root, as the program sees them and as a cut may leave them."""

    def __init__(self, folder):
        self.root = Inode(is_folder=True)
        seen = {}
        for path, folders, files in os.walk(folder):
            here = self.find(os.path.relpath(path, folder))
            for name in folders:
                here.names[name] = Inode(is_folder=True)
            for name in files:
                full = os.path.join(path, name)
                number = os.stat(full).st_ino
                if number not in seen:
                    seen[number] = Inode()
                    with open(full, "rb") as file:
                        seen[number].bytes = bytearray(file.read())
                    seen[number].sync()
                here.names[name] = seen[number]
            here.sync()

    def find(self, path):
        inode = self.root
        for part in path.split("/"):
            if part not in ("", "."):
                inode = inode.names[part]
        return inode

    def parent(self, path):
        folder, _, name = path.rpartition("/")
        return self.find(folder), name

    def enter(self, path, inode, needs=None):
        """Changes a name; a renamed name disappears only if the new one is durable."""
        folder, name = self.parent(path)
        change = [name, inode, needs, False]
        if inode is None:
            folder.names.pop(name, None)
        else:
            folder.names[name] = inode
        folder.pending.append(change)
        return (folder, change)

    def play(self, step, data):
        kind, *words = step
        if kind == "create":
            self.enter(words[0], Inode())
        elif kind == "folder":
            self.enter(words[0], Inode(is_folder=True))
        elif kind == "write":
            self.find(words[2]).change((int(words[0]), data))
        elif kind == "size":
            self.find(words[1]).change((int(words[0]), None))
        elif kind == "sync":
            self.find(words[0]).sync()
        elif kind == "link":
            self.enter(words[1], self.find(words[0]))
        elif kind == "unlink":
            self.enter(words[0], None)
        elif kind == "rename":
            inode = self.find(words[0])
            folder, name = self.parent(words[1])
            # Two names of one file: a rename does nothing.
            if folder.names.get(name) is not inode:
                came = self.enter(words[1], inode)
                self.enter(words[0], None, needs=came)

    def cut(self, chance, folder):
        """Writes one possible result of a cut below `folder`."""
        lost = chance.choice((0.1, 0.5, 0.9, 1.0))
        gone = set()

        def survives(owner, change):
            # A change that is no longer pending was synced.
            if not any(change is other for other in owner.pending):
                return True
            if id(change) in gone:
                return False
            return id(change) in kept

        kept = {id(change) for inode in self.folders() for change in inode.pending if chance.random() >= lost}
        written = {}

        def lay(inode, path):
            os.mkdir(path)
            names = dict(inode.durable_names)
            for change in inode.pending:
                name, target, needs, _ = change
                if not survives(inode, change) or needs and not survives(*needs):
                    continue
                if target is None:
                    names.pop(name, None)
                else:
                    names[name] = target
            for name, target in names.items():
                full = os.path.join(path, name)
                if target.is_folder:
                    lay(target, full)
                elif id(target) in written:
                    os.link(written[id(target)], full)
                else:
                    written[id(target)] = full
                    with open(full, "wb") as file:
                        file.write(left(target, chance, lost))

        lay(self.root, folder)

    def folders(self, inode=None):
        inode = inode or self.root
        yield inode
        both = list(inode.names.values()) + list(inode.durable_names.values())
        both += [change[1] for change in inode.pending if change[1]]
        for child in {id(child): child for child in both if child.is_folder}.values():
            yield from self.folders(child)


def left(inode, chance, lost):
    """The bytes of a file after a cut: each pending step is present, absent, or torn at sectors."""
    content = bytearray(inode.durable)
    for at, data in inode.pending:
        if chance.random() < lost:
            continue
        if data and len(data) > SECTOR and chance.random() < 0.3:
            for start in range(0, len(data), SECTOR):
                if chance.random() < 0.5:
                    apply(content, (at + start, data[start : start + SECTOR]))
        else:
            apply(content, (at, data))
    return content


def recorded(path):
    """The steps of a recording, with paths relative to the root."""
    with open(path, "rb") as file:
        while line := file.readline():
            kind, *words = line.decode().rstrip("\n").split("\t")
            count = {"write": 1, "said": 0, "sent": 0}.get(kind)
            data = file.read(int(words[count])) if count is not None else b""
            words = [os.path.relpath(word, ROOT) if word.startswith("/") else word for word in words]
            yield [kind, *words], data


def picture(text, side):
    """A PNG of noise, repeatable for the same text."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    noise = random.Random(text)
    rows = b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Shop(http.server.BaseHTTPRequestHandler):
    """Pictures that change with each version of the shop, and a webhook that takes orders."""

    protocol_version = "HTTP/1.1"
    version = 1

    def do_GET(self):
        name = self.path.split("/")[-1]
        number = int("".join(filter(str.isdigit, name)) or 0)
        # Every third picture changes; some are equal; one exceeds its share of memory.
        version = Shop.version if number % 3 == 0 else 1
        body = picture("twin" if number in (4, 5) else f"{number} {version}", 320 if number == 7 else 20)
        tag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        same = self.headers.get("If-None-Match") == tag
        self.answer(304 if same else 200, b"" if same else body, tag)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(204, b"", None)

    def answer(self, status, body, tag):
        self.send_response(status)
        if tag:
            self.send_header("ETag", tag)
            self.send_header("Cache-Control", "max-age=0")
        if status == 200:
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignores a client that closed its connection."""


class Violation(Exception):
    pass


def demand(truth, *words):
    if not truth:
        raise Violation(" ".join(map(str, words)))


def run(*words, statuses=(0,), root=ROOT, is_recorded=False):
    environment = os.environ | {
        "LC_ALL": "C", "LARDER_CACHE": root + "/cache",
        "LARDER_ORDERS": root + "/state/larder/orders.sqlite", "LARDER_WEBHOOK_URL": BASE + "desk",
    }
    if is_recorded:
        environment |= {
            "LD_PRELOAD": LIBRARY, "LARDER_RECORD": WORK + "/record",
            "LARDER_RECORD_ROOT": ROOT,
        }
    ended = subprocess.run([LARDER, *words], env=environment, capture_output=True, text=True)
    demand(ended.returncode in statuses, words, "ended with", ended.returncode, ended.stderr[-300:])
    return ended.stdout


def catalog(numbers):
    items = [{"id": f"i{n}", "title": f"Dish {n}", "price": 1000, "image": f"p{n}.png"} for n in numbers]
    with open(WORK + "/list.json", "w") as file:
        json.dump(items, file)
    with open(WORK + "/shop.yaml", "w") as file:
        file.write(
            f"name: powercut\ncurrency: KRW\nbase: {BASE}\n"
            f'sections: [{{key: all, title: All, url: "file:{WORK}/list.json"}}]\n'
            "items: $[*]\nitem: {id: $.id, title: $.title, salePrice: $.price, images: {thumbnail: $.image}}\n"
        )


def database(path):
    """Opens a database as the next program would, rolling back an unfinished transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    result = connection.execute("PRAGMA integrity_check").fetchall()
    demand(result == [("ok",)], "integrity_check of", os.path.basename(path), "says", result[:3])
    return connection


def content_of(folder, name):
    try:
        with open(f"{folder}/cache/{name}", "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise Violation(f"a row points to {name}, which is missing") from None


def check_cache(folder, known, is_thorough):
    """No row may point to a missing or short file, before and after recovery."""
    index = folder + "/cache/index.sqlite"
    if os.path.exists(index) and os.path.getsize(index):
        connection = database(index)
        tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'picture'").fetchone()
        for url, size in connection.execute("SELECT url, bytes FROM picture WHERE sha256 NOT NULL") if tables[0] else ():
            name, wholes = known[url.split("/")[-1]]
            content = content_of(folder, name)
            demand(content in wholes, "the file of", url, "is torn:", len(content), "bytes, the row says", size)
        squares = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'square'").fetchone()
        # A square that does not match the picture's bytes is never shown.
        shown = "FROM square s JOIN picture p ON p.id = s.picture AND p.sha256 = s.source"
        for side, path in (
            connection.execute(f"SELECT side, path {shown} WHERE s.sha256 NOT NULL") if squares[0] else ()
        ):
            name = f"squares/{side}/{path}"
            demand(content_of(folder, name) in known[name][1], "the square", name, "is torn")
        connection.close()
    if os.path.exists(folder + "/cache/images"):
        said = run("verify", "--fast", "--json", root=folder, statuses=(0, 1, 74))
        report = json.loads(said) if said else {"error": "nothing"}
        # A cache that was never created gives an error instead of a document.
        if "error" not in report:
            demand(not report["damaged"] and not report["missing"], "verify says", said[:300])
    if is_thorough:
        run("sync", WORK + "/shop.yaml", "-q", "--allow-removals", root=folder)
        run("verify", "-q", root=folder)


def play(name, before, check, stride=STRIDE):
    """Cuts the power at every step of the recording, SEEDS times each."""
    points = collections.Counter()
    disk, said, sent = Disk(before), b"", b""
    steps = list(recorded(WORK + "/record"))
    for number, (step, data) in enumerate(steps + [(["end"], b"")]):
        if step[0] not in ("said", "sent") and number % stride == 0:
            for seed in range(SEEDS):
                chance = random.Random(f"{SEED} {name} {number} {seed}")
                folder = WORK + "/cut"
                shutil.rmtree(folder, ignore_errors=True)
                disk.cut(chance, folder)
                try:
                    check(folder, said.decode(), sent, chance.random() < 0.1)
                except (Violation, sqlite3.Error) as error:
                    points["violations"] += 1
                    print(f"{name}, before step {number} ({' '.join(step)}), SEED={SEED}, cut {seed}: {error}", file=sys.stderr)
                    if points["violations"] == 5:
                        sys.exit(f"and more; the last is kept in {folder}")
                points["points"] += 1
        if step[0] == "said":
            said += data
        elif step[0] == "sent":
            sent += data
        elif step[0] != "end":
            disk.play(step, data)
    print(f"{name}: {len(steps)} steps, {points['points']} cuts, {points['violations']} violations", flush=True)
    return points


def stage(name):
    """Starts a recording; the present state is durable."""
    before = f"{WORK}/before-{name.replace(' ', '-')}"
    shutil.rmtree(before, ignore_errors=True)
    # Hard links stay hard links.
    subprocess.run(["cp", "-a", ROOT, before], check=True)
    if os.path.exists(WORK + "/record"):
        os.remove(WORK + "/record")
    return before


def pictures():
    """The path of every picture by the last part of its URL, and all complete versions of it so far."""
    connection = sqlite3.connect(ROOT + "/cache/index.sqlite")
    for (url,) in connection.execute("SELECT url FROM picture WHERE sha256 NOT NULL").fetchall():
        digest = hashlib.sha256(url.encode()).hexdigest()[:32]
        for path, _, files in os.walk(ROOT + "/cache/images"):
            for file in files:
                if digest in file:
                    with open(os.path.join(path, file), "rb") as content:
                        name = os.path.relpath(os.path.join(path, file), ROOT + "/cache")
                        KNOWN.setdefault(url.split("/")[-1], (name, set()))[1].add(content.read())
    connection.close()
    for path, _, files in os.walk(ROOT + "/cache/squares"):
        for file in files:
            with open(os.path.join(path, file), "rb") as content:
                name = os.path.relpath(os.path.join(path, file), ROOT + "/cache")
                KNOWN.setdefault(name, (name, set()))[1].add(content.read())
    demand(KNOWN, "no picture was found by its name")


def cache_stages():
    check = lambda folder, said, sent, is_thorough: check_cache(folder, KNOWN, is_thorough)
    for name, version, numbers, words in (
        ("a first sync", 1, range(24), ["sync", WORK + "/shop.yaml", "-q", "--square", "16"]),
        ("pictures repainted, gone and new", 2, range(6, 30), ["sync", WORK + "/shop.yaml", "-q", "--allow-removals", "--square", "16"]),
        ("gc", 2, range(6, 30), ["gc", "-q", "--grace", "0s", "--history", "0s"]),
    ):
        Shop.version = version
        catalog(numbers)
        before = stage(name)
        run(*words, is_recorded=True)
        pictures()
        yield play(name, before, check)


def orders_stage():
    """Orders placed and sent by one program after the other, each continuing from the last state."""
    before = stage("orders")
    for number in range(6):
        placed = run("order", "place", "i8", "--by", f"guest {number}", is_recorded=True)
        if number in (2, 5):
            run("order", "send", "--payload", "json", "--unsigned", "--json", is_recorded=True)
        if number == 4:
            run("order", "cancel", "--json", placed.split()[0], is_recorded=True)

    def acknowledged(said):
        """The orders that were placed, those that were cancelled, and the number delivered."""
        placed = [word for line in said.splitlines() for word in line.split()[:1] if word.startswith("ord_")]
        told = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        cancelled = [line["order"] for line in told if line.get("state") == "cancelled"]
        return placed, cancelled, sum(line.get("delivered", 0) for line in told)

    def check(folder, said, sent, is_thorough):
        placed, cancelled, delivered = acknowledged(said)
        path = folder + "/state/larder/orders.sqlite"
        if not placed and (not os.path.exists(path) or not os.path.getsize(path)):
            return
        demand(os.path.exists(path), len(placed), "orders were acknowledged, and the outbox is gone")
        connection = database(path)
        tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'placed'").fetchone()
        if not placed and not tables[0]:
            return
        states = dict(connection.execute("SELECT id, state FROM placed"))
        rows = connection.execute(
            "SELECT placed.id, message.id, delivery FROM placed JOIN message ON message.placed = placed.row"
        ).fetchall()
        connection.close()
        lost = set(placed) - set(states)
        demand(not lost, "acknowledged and lost:", *lost)
        for order in cancelled:
            demand(states[order] == "cancelled", order, "was cancelled, and is", states[order])
        demand(sum(row[2] == "delivered" for row in rows) >= delivered, "a delivery that was told is forgotten")
        for order, message, delivery in rows:
            demand(delivery != "queued" or message.encode() not in sent, order, "left, and is as if it had not")
        if is_thorough:
            listed = json.loads(run("order", "list", "--json", root=folder))
            demand({order["order"] for order in listed} >= set(placed), "order list misses orders")

    whole = b"".join(data for step, data in recorded(WORK + "/record") if step[0] == "said")
    placed, cancelled, delivered = acknowledged(whole.decode())
    demand((len(placed), len(cancelled), delivered) == (6, 1, 5), "not all was recorded:", whole.decode())
    return play("orders", before, check)


KNOWN = {}


def main(words):
    global BASE, LIBRARY
    LIBRARY = preload("power", WORK)
    server = Server(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    BASE = f"http://127.0.0.1:{server.server_port}/"
    os.makedirs(ROOT + "/state")
    total = collections.Counter()
    for points in cache_stages():
        total.update(points)
    total.update(orders_stage())
    print(f"power: {total['points']} cuts, {total['violations']} violations, SEED={SEED}")
    if total["violations"]:
        sys.exit(1)
    shutil.rmtree(WORK)
