"""Hashes of larder's results in one text file that is reviewed: script/golden.txt.

Four parts, with one line for each result and set of options:
  picture …   three hundred pictures, cropped and stamped with twenty sets of options each
  page …      every page of the report and of the web store, for the sample store and for a catalog of odd values
  said …      documents (--json) and texts of a walk through the commands
  shop …      the items read from each shop of script/shops, with the catalog file that `catalog init` writes

Times, ports, folders and durations are replaced by placeholders before hashing, so that results are repeatable."""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zlib

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
LARDER = os.environ["LARDER"]
GOLDEN = ROOT / "script/golden.txt"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="larder-golden-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": str(WORK), "LANG": "C.UTF-8", "TZ": "Asia/Seoul", "NO_COLOR": "1", "COLUMNS": "100",
}
# Picture names are derived from URLs, which contain this port; the catalog of odd values uses the next one. Another process on this
# machine can have the port for a moment, as one end of a connection.
PORT = 47810


def free(port):
    """Waits until nothing uses the port, at most a minute, and returns it."""
    for _ in range(600):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                time.sleep(0.1)
    raise SystemExit(f"port {port} is in use")


# Whether only a quarter of the option sets is used.
FEW = bool(os.environ.get("FEW"))
lines = {}
kept = None


def note(name, data, ending="txt"):
    """Records the hash of `data` under `name`, which must be new."""
    assert name not in lines, name
    data = data if isinstance(data, bytes) else data.encode()
    lines[name] = hashlib.sha256(data).hexdigest()[:16]
    if kept:
        path = kept / (re.sub(r"[^\w.=-]+", "_", name)[:180] + "." + ending)
        path.write_bytes(data)


def run(*arguments, cwd=None, env=None, input=None):
    process = subprocess.run(
        [LARDER, *arguments], capture_output=True, cwd=cwd or WORK, env={**ENVIRONMENT, **(env or {})}, input=input, timeout=600
    )
    return process.returncode, process.stdout, process.stderr


# Pictures


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def made_png(colour, depth, interlaced, width=37, height=23):
    """A PNG of every colour type and depth: a gradient with repeatable noise."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    state = colour * 131 + depth * 17 + interlaced

    def packed(columns, rows):
        nonlocal state
        out = bytearray()
        for _ in range(rows):
            out.append(0)
            value = count = 0
            for _ in range(columns * channels):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                value = value << depth | (state >> 8) & ((1 << depth) - 1)
                count += depth
                while count >= 8:
                    out.append(value >> (count - 8) & 255)
                    count -= 8
            if count:
                out.append(value << (8 - count) & 255)
        return bytes(out)

    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        body = b"".join(packed((width - x + dx - 1) // dx, (height - y + dy - 1) // dy) for x, y, dx, dy in passes)
    else:
        body = packed(width, height)
    palette = bytes((n * 37 + c * 91) & 255 for n in range(1 << min(depth, 8)) for c in range(3))
    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))]
    if colour == 3:
        parts += [chunk(b"PLTE", palette), chunk(b"tRNS", bytes(n * 53 & 255 for n in range(1 << depth)))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")


def turned(jpeg, orientation):
    """The JPEG with an Exif orientation."""
    tiff = b"II*\0\x08\0\0\0\x01\0" + struct.pack("<HHIHH", 0x112, 3, 1, orientation, 0) + b"\0\0\0\0"
    body = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def pictures():
    folder = WORK / "in"
    folder.mkdir()
    subprocess.run([ROOT / "samples/make-hostile", folder / "hostile"], check=True, stdout=subprocess.DEVNULL)
    stems = set()
    for path in sorted((folder / "hostile").iterdir()):
        # With --format, two names that differ only in their extension would become one output.
        if path.stem in stems:
            path.rename(path.with_name(f"{path.stem}-{path.suffix[1:]}{path.suffix}"))
        stems.add(path.stem)
    for path in sorted((ROOT / "samples/store/pictures").rglob("*.*")):
        if path.suffix in (".jpg", ".png", ".gif", ".webp", ".avif"):
            place = folder / "store" / path.relative_to(ROOT / "samples/store/pictures")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    (folder / "faulty").mkdir()
    for path in sorted((ROOT / "samples/faulty").glob("*.*")):
        if path.suffix in (".jpg", ".png"):
            shutil.copy(path, folder / "faulty")
    shutil.copytree(ROOT / "samples/kinds", folder / "kinds")
    (folder / "made").mkdir()
    for colour, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}.items():
        for depth in depths:
            for interlaced in (0, 1):
                (folder / f"made/{colour}-{depth}-{interlaced}.png").write_bytes(made_png(colour, depth, interlaced))
    status, out, err = run("crop", str(ROOT / "samples/photo"), "--out", "photo", "--size", "640x480", "--format", "jpeg")
    assert status == 0, err
    photo = next((WORK / "photo").glob("*.jpg")).read_bytes()
    (folder / "photo").mkdir()
    for orientation in range(1, 9):
        (folder / f"photo/{orientation}.jpg").write_bytes(turned(photo, orientation))
    for kind in ("webp", "avif", "png"):
        status, _, err = run("crop", str(WORK / "photo"), "--out", f"as-{kind}", "--size", "320x240", "--format", kind)
        assert status == 0, err
        for path in (WORK / f"as-{kind}").glob("*.*"):
            shutil.copy(path, folder / f"photo/{kind}-{path.name}")
    return folder


CROPS = [
    "", "--size 64", "--size 300x200", "--size 48 --gravity top-left", "--size 120x40 --gravity bottom", "--gravity attention",
    "--size 96 --gravity attention", "--fit contain --size 128", "--fit contain --size 100x60 --background #204060",
    "--lossless", "--lossless --gravity right", "--quality 40", "--quality 95 --size 80", "--keep-metadata", "--srgb --size 90",
    "--progressive --size 200", "--no-enlarge --size 400", "--format png --size 50", "--format jpeg --size 75 --background white",
    "--format webp --size 64 --quality 60",
]
TIME = "--time 2026-01-02T06:30:00+09:00"
STAMPS = [
    "", "--size 256", "--size 300x200", "--style bar", "--style bar --size 256", "--style scrim --size 256",
    "--position top-left", "--position bottom-right --size 200", "--locale ko_KR", "--locale ko_KR --style bar --size 320",
    "--text Breakfast", "--text 아침 --size 280", "--zone America/New_York", "--quality 40", "--keep-metadata",
    "--fit contain --size 220", "--format png --size 180", "--format jpeg --size 180 --background white",
    "--format webp --size 160", "--gravity attention --size 160",
]


def picture_lines():
    folder = pictures()
    names = [str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()]
    made = {}
    for command, sets in (("crop", CROPS), ("stamp", STAMPS)):
        for number, options in enumerate(sets):
            if FEW and number % 4:
                for name in names:
                    made.setdefault((command, name), []).append("-")
                continue
            out = WORK / "out"
            shutil.rmtree(out, ignore_errors=True)
            more = options.split() + (TIME.split() if command == "stamp" else [])
            status, text, err = run(command, str(folder), "--out", str(out), "--json", *more)
            assert status in (0, 3, 65), (options, status, err[-500:])
            for line in text.splitlines():
                record = json.loads(line)
                name = os.path.relpath(record["input"], folder)
                result = json.dumps({key: value for key, value in record.items() if key not in ("input", "output")}, sort_keys=True)
                bytes_ = pathlib.Path(record["output"]).read_bytes() if record["output"] and not record["error"] else b""
                digest = hashlib.sha256(result.replace(str(WORK), "").encode() + bytes_).hexdigest()[:6]
                made.setdefault((command, name), []).append(digest)
    for (command, name), digests in sorted(made.items()):
        if set(digests) == {"-"}:
            continue
        lines[f"picture {command} {name}"] = " ".join(digests)


# Pages, documents and texts

TIMES = [
    (rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", b"TIME"),
    (rb"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} [\d:]{8} GMT", b"TIME"),
    (rb"\d{4}-\d\d-\d\d", b"DATE"), (rb"\b\d\d:\d\d(:\d\d)?\b", b"CLOCK"),
    (rb'"(durationSeconds|seconds|millis\w*)": ?[\d.e-]+', rb'"\1": N'),
    (rb"\b\d+(\.\d+)? ?(ms|s|min|h)\b", b"SPAN"), (rb"127\.0\.0\.1(:|%3A)\d+", b"HOST"),
    # Which days are beside each other in the calendar depends on the day of the week.
    (rb'(?s)<svg class="cal".*?</svg>', b"CALENDAR"),
    # The height of bars depends on the runs' durations, and it is a matter of seconds whether a failed picture is requested again.
    (rb'(<rect class="\w+" x="[\d.]+") y="[\d.]+" width="(\d+)" height="[\d.]+"', rb'\1 width="\2"'),
    (rb'<span class="row" lang="\w+">not requested again yet, because it failed recently</span> ', b""), (rb'<td class="r"[^>]*>\d+</td>', b"<td>N</td>"),
    (rb"ord_[0-9A-Za-z]+", b"ORDER"), (rb"\b\d+(\.\d+)? (items|pictures|MiB|KiB)/s", b"RATE"),
    (rb'(nonce|form|token)(["\']? ?[=:] ?["\'])[\w+/=.-]{16,}', rb"\1\2SECRET"), (rb'name="form" value="[^"]+"', b"FORM"),
    (rb"\b1[67]\d{8,11}(\.\d+)?\b", b"UNIX"), (rb"larder \d+\.\d+\.\d+[\w.-]*", b"larder VERSION"),
]


def plain(data):
    data = data.replace(str(WORK).encode(), b"WORK").replace(str(ROOT).encode(), b"ROOT")
    for pattern, word in TIMES:
        data = re.sub(pattern, word, data)
    return data


def odd_items():
    texts = [
        "plain", "<script>alert(1)</script>", "a & b \"c\" 'd'", "=HYPERLINK(\"x\")", "+1", "-2", "@sum", "tab\tand\nline",
        "\u202eright to left", "e\u0301 é", "가나다 라", "ｶﾞｷﾞ half width", "🍲 pot", "\u2028line", "x" * 400, "{{mustache}}", "$(touch x)",
        "`tick`", "%41%00", "null",
    ]
    return [
        {"id": f"odd-{number}", "title": text, "price": price, "old": old, "img": f"p{number}.png", "badges": badges, "text": text}
        for number, (text, (price, old, badges)) in enumerate(zip(texts, [
            (1, 2, []), (0, None, ["품절"]), (1e6, 1e7, ["a", "b", "c"]), (0.01, 0.02, ["<b>"]), (None, 5, [""]),
        ] * 4))
    ]


class Odd(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/list":
            body, kind = json.dumps({"items": odd_items()}).encode(), "application/json"
        elif self.path.endswith("9.png"):
            self.send_error(404)
            return
        else:
            body, kind = made_png(2, 8, 0, 16 + len(self.path), 20), "image/png"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Background:
    """A `larder serve` that runs until it is stopped; its URL is in its first line of output."""

    def __init__(self, *arguments, env=None):
        self.process = subprocess.Popen(
            [LARDER, *arguments], cwd=WORK, env={**ENVIRONMENT, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.base = None
        for line in self.process.stdout:
            if found := re.search(rb"https?://127\.0\.0\.1:\d+", line):
                self.base = found[0].decode()
                break
        assert self.base, arguments

    def end(self):
        self.process.terminate()
        self.process.wait(20)


def walk(name, file, base, sections, item):
    """All documents and texts for a catalog in a new cache."""
    cache = f"{name}-cache"
    env = {"LARDER_CACHE": cache, "LARDER_ORDERS": str(WORK / f"{name}.sqlite")}

    def say(*arguments, extra=(), title=None):
        status, out, err = run(*arguments, *extra, env=env)
        out, err = plain(out), plain(err)
        label = title or " ".join(arguments).replace(str(WORK), "").replace(str(ROOT) + "/", "")
        note(f"said {name} {label}", b"status %d\n--- out\n%s\n--- err\n%s" % (status, out, err))
        return out

    based = ["--base", base] if base else []
    say("sync", file, "--dry-run", extra=based)
    say("sync", file, "--json", extra=based)
    say("sync", file, extra=based)
    say("warm", file, "-v", extra=based)
    say("list")
    say("list", "--json")
    say("list", sections[0], "--sort", "-price", "--limit", "3")
    say("list", "--search", "ㄱ", "--json")
    say("list", "--format", "csv")
    say("show", item)
    say("show", item, "--json")
    say("show", "no-such-item")
    say("diff")
    say("diff", "--json")
    say("verify")
    say("verify", "--json")
    say("gc")
    say("gc", "--json")
    say("export", "out")
    say("export", "out", "--json")
    note(f"said {name} catalog.json", plain((WORK / "out/catalog.json").read_bytes()))
    shutil.rmtree(WORK / "out")
    say("catalog", "check", file, extra=based)
    say("order", "place", item, "--by", "Kim", "--quantity", "2")
    say("order", "list")
    say("order", "list", "--json")
    run("report", "--out", f"{name}.html", env=env)
    note(f"page {name} report", plain((WORK / f"{name}.html").read_bytes()), "html")
    server = Background("serve", "--port", "0", env=env)
    try:
        for path in (
            "/", "/?lang=ko", f"/sections/{sections[0]}", f"/items/{item}", f"/items/{item}?lang=ko", "/items/none", "/orders", "/basket",
            "/search?q=a", "/api/sections", f"/api/sections/{sections[0]}", f"/api/items/{item}", "/api/items/none", "/api/search?q=a",
            "/openapi.json", "/healthz", "/none",
        ):
            request = urllib.request.Request(server.base + path, headers={"Accept-Language": "en"})
            try:
                with urllib.request.urlopen(request, timeout=30) as reply:
                    status, fields, body = reply.status, reply.headers, reply.read()
            except urllib.error.HTTPError as error:
                status, fields, body = error.code, error.headers, error.read()
            head = "".join(f"{key}: {value}\n" for key, value in sorted(fields.items()) if key.lower() not in ("date", "set-cookie", "etag", "content-length"))
            note(f"page {name} {path}", f"{status}\n{head}\n".encode() + plain(body), "html")
    finally:
        server.end()


def said_lines():
    for arguments in (
        ["--help"], ["sync", "--help"], ["warm", "--help"], ["crop", "--help"], ["stamp", "--help"], ["list", "--help"], ["order", "--help"],
        ["bench", "--help"], ["serve", "--help"], ["catalog", "--help"], ["catalog", "init", "--help"], ["shard", "run", "--help"],
        ["verify", "--help"], ["gc", "--help"], ["export", "--help"], ["report", "--help"], ["catalog", "formats"], ["catalog", "schema"],
        ["catalog", "show", "shopify"], ["nonsense"], ["sync"], ["sync", "none.yaml"], ["list"], ["crop", "none.jpg", "--out", "x"],
    ):
        status, out, err = run(*arguments)
        note("said " + " ".join(arguments), b"status %d\n%s\n--- err\n%s" % (status, plain(out), plain(err)))
    sample = Background("demo", "--serve", "--port", str(free(PORT)), "--samples", str(ROOT / "samples"))
    try:
        walk("sample", str(ROOT / "samples/catalog.yaml"), f"{sample.base}/develop/baminchan/", ["main", "soup", "side"], "gyeran-mari")
    finally:
        sample.end()
    odd = http.server.ThreadingHTTPServer(("127.0.0.1", free(PORT + 1)), Odd)
    threading.Thread(target=odd.serve_forever, daemon=True).start()
    (WORK / "odd.yaml").write_text(
        f"name: odd\ncurrency: EUR\nbase: http://127.0.0.1:{odd.server_port}/\nsections:\n  - {{key: all, title: Odd & <all>, url: list}}\n"
        "items: $.items\nitem:\n  id: $.id\n  title: $.title\n  description: $.text\n  salePrice: $.price\n  normalPrice: $.old\n"
        "  badges: $.badges\n  images: {thumbnail: $.img}\n"
    )
    walk("odd", "odd.yaml", None, ["all"], "odd-1")
    odd.shutdown()


# Shops


def shop_lines():
    decoded = WORK / "decoded"
    subprocess.run(
        [sys.executable, str(ROOT / "script/check.d/catalogs"), "--decoded", str(decoded)], check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "LARDER": LARDER},
    )
    for line in decoded.read_text().splitlines():
        name, digest = line.split("\t")
        lines[f"shop {name}"] = digest


def main():
    global kept
    parts = {"picture": picture_lines, "said": said_lines, "shop": shop_lines}
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", choices=parts)
    given = parser.parse_args()
    if given.write and given.only:
        parser.error("--write writes all parts")
    if given.keep:
        kept = given.keep.resolve()
        kept.mkdir(parents=True, exist_ok=True)
    if given.only:
        parts = {given.only: parts[given.only]}
    try:
        for name, make in parts.items():
            begun = time.monotonic()
            make()
            print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    text = "".join(f"{name}\t{digest}\n" for name, digest in lines.items())
    if given.write:
        GOLDEN.write_text(text)
        return 0
    # The walk through the commands makes the pages, too.
    kinds = {*parts, *(["page"] if "said" in parts else [])}
    before = dict(line.split("\t") for line in GOLDEN.read_text().splitlines() if line.split(" ")[0] in kinds)
    changed = 0
    for name in sorted(before.keys() | lines.keys()):
        was, now = before.get(name, "").split(" "), lines.get(name, "").split(" ")
        if len(was) != len(now) or any(a != b != "-" for a, b in zip(was, now)):
            changed += 1
            print(f"{name}: {before.get(name, 'not there')} -> {lines.get(name, 'not there')}")
    print(f"{len(lines) - changed} as before, {changed} changed")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
