"""The part of script/budgets that plays the origin: small responses that ask for much, one a run."""
import ctypes, ctypes.util, gzip, http.server, json, os, shutil, sys, threading, time, zlib

larder, work, words = sys.argv[1], sys.argv[2], sys.argv[3:]
MEMORY, DISK, SECONDS = 64 << 20, 1 << 20, 2.0
# A debug build is slower by a multiple that says nothing; its memory and disk are held all the same.
if "debug" in larder:
    SECONDS *= 15
K, M = 1 << 10, 1 << 20


# --- Compression

def deflate(data):
    return zlib.compress(data, 9)


def library(name):
    path = ctypes.util.find_library(name)
    return ctypes.CDLL(path) if path else None


def brotli(data):
    encoder = library("brotlienc")
    if not encoder:
        return None
    room = ctypes.create_string_buffer(len(data) + K)
    count = ctypes.c_size_t(len(room))
    encoder.BrotliEncoderCompress(5, 24, 0, ctypes.c_size_t(len(data)), data, ctypes.byref(count), room)
    return room.raw[:count.value]


def zstd(data):
    encoder = library("zstd")
    if not encoder:
        return None
    encoder.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(data) + K)
    count = encoder.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 9)
    return room.raw[:count]


pack = lambda data: gzip.compress(data, 9, mtime=0)

# --- Catalog files

PLAIN = "items: $.items\nitem: {id: $.id, title: $.title, salePrice: $.price, badges: $.badges, images: {gallery: $.images}}\n"
FEED = "format: google-merchant\n"
PAGE = "format: json-ld\n"


def catalog(rest=PLAIN, url="list", sections=None, currency="EUR"):
    sections = sections or f"[{{key: main, title: Main, url: \"{url}\"}}]"
    return f"name: t\ncurrency: {currency}\nbase: BASE\nsections: {sections}\n{rest}"


class Case:
    def __init__(self, name, body, file=None, type="application/json", coding=None, **more):
        self.name, self.body, self.file, self.type, self.coding = name, body, file or catalog(), type, coding
        self.more = more


def fill(unit, size):
    return unit * (size // len(unit))


def listing(unit, size, last=b"0"):
    return b'{"items":[' + fill(unit, size) + last + b"]}"


def rss(inner):
    return b'<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>' + inner + b"</channel></rss>"


GOOD = b'{"items":[{"id":"1","title":"one","price":"1.00","badges":[],"images":[]}]}'


def item(**fields):
    return json.dumps({"items": [{"id": "1", "title": "one", "badges": [], "images": [], **fields}]}).encode()


def numbered(count, unit):
    return "".join(unit.replace("#", str(n)) for n in range(count)).encode()


def cases():
    # Elements that are none, in every notation.
    elements = {"numbers": b"0,", "texts": b'"",', "objects": b"{},", "lists": b"[],", "nulls": b"null,",
                "ids alone": b'{"id":1},', "bad prices": b'{"id":1,"title":"a","price":{}},'}
    for name, unit in elements.items():
        yield Case(f"json, 1 MiB of {name}, gzip", pack(listing(unit, M - 64)), coding="gzip")
    for name, unit in list(elements.items())[:4]:
        yield Case(f"json, 900 KiB of {name}, as it is", listing(unit, 900 * K))
    yield Case("json, 1 MiB of one item, gzip", pack(listing(b'{"id":1,"title":"a"},', M - 64)), coding="gzip")
    yield Case("json, 1 MiB of one item with a picture, gzip", coding="gzip",
               body=pack(listing(b'{"id":1,"title":"a","images":["a"]},', M - 64)))
    yield Case("json, 4 MiB of numbers, gzip", pack(listing(b"0,", 4 * M)), coding="gzip")
    yield Case("json, 16 MiB of numbers, gzip", pack(listing(b"0,", 16 * M)), coding="gzip")
    yield Case("json, 1 MiB of numbers by a path of each", pack(listing(b"0,", M - 64)), coding="gzip",
               file=catalog(PLAIN.replace("$.items", '"$.items[*]"', 1)))
    yield Case("json, 1 MiB of numbers by a filter", pack(listing(b"0,", M - 64)), coding="gzip",
               file=catalog(PLAIN.replace("$.items", '"$.items[?@.id]"', 1)))
    yield Case("json, 1 MiB of numbers in pages", pack(listing(b"0,", M - 64)), coding="gzip",
               file=catalog(PLAIN + "paging: {page: page, first: 1, limit: 3}\n"))
    yield Case("json, 100,000 deep", b'{"items":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    yield Case("json, 100,000 members at the top", b"{" + numbered(100_000, '"m#":0,') + GOOD[1:])
    yield Case("json, 40,000 members in an item", b'{"items":[{' + numbered(40_000, '"m#":0,') + b'"id":1,"title":"a"}]}')
    yield Case("json, one title of 900 KiB", item(title="a" * 900 * K))
    yield Case("json, one number of 900 KiB", b'{"items":[{"id":' + b"1" * (900 * K) + b',"title":"a"}]}')
    yield Case("json, 200,000 badges", item(badges=["a"] * 200_000))
    yield Case("json, 200,000 pictures of an item", item(images=[f"/{n}" for n in range(100_000)]))
    yield Case("json, an error of 900 KiB", b'{"error":"' + b"x" * (900 * K) + b'"}')
    yield Case("json, half of a body", pack(b'{"items":[' + fill(b"0,", M - 64)), coding="gzip")
    yield Case("jsonl, 900 KiB of numbers", fill(b"0\n", 900 * K), type="application/x-ndjson")
    yield Case("jsonl, 900 KiB of empty lines", fill(b"\n", 900 * K), type="application/x-ndjson")
    yield Case("jsonl, 1 MiB of objects, gzip", pack(fill(b"{}\n", M - 64)), type="application/x-ndjson", coding="gzip")

    # Sections of one response.
    each = '{url: list, each: "$.sections[*]", key: $.key, title: $.key}'
    def sections(count, items):
        return json.dumps({"sections": [{"key": f"s{n}", "items": items} for n in range(count)]},
                          separators=(",", ":")).encode()
    yield Case("json, 20,000 sections", sections(20_000, []), file=catalog(sections=each))
    yield Case("json, 4,000 sections of an item", sections(4000, [{"id": 1, "title": "a"}]), file=catalog(sections=each),
               disk=4 * M)
    yield Case("json, 9,000 sections of a number", sections(9000, [0]), file=catalog(sections=each), disk=8 * M)
    yield Case("json, 100,000 sections that are none", b'{"sections":[' + fill(b"0,", 200_000) + b"0]}",
               file=catalog(sections=each))

    # XML, tables and pages.
    def feed(name, inner, **more):
        return Case("xml, " + name, rss(inner), catalog(FEED), "application/rss+xml", **more)
    yield feed("900 KiB of empty items", fill(b"<item/>", 900 * K))
    yield feed("40,000 elements in an item", b"<item>" + numbered(40_000, "<e#>1</e#>") + b"</item>")
    yield feed("9,000 elements in each of ten items", (b"<item>" + numbered(9000, "<e#/>") + b"</item>") * 10)
    yield feed("40,000 attributes", b"<item " + numbered(40_000, 'a#="1" ') + b"/>")
    yield feed("250 attributes in each of 500 tags", (b"<item " + numbered(250, 'a#="" ') + b"/>") * 500)
    yield feed("namespaces without end", b"".join(
        b"<e " + numbered(16, f'xmlns:n{d}x#="u" ') + b">" for d in range(4000)))
    yield feed("50,000 deep", b"<e>" * 50_000)
    yield feed("one text of 900 KiB", b"<item><title>" + b"a" * 900 * K + b"</title></item>")
    yield feed("900 KiB of comments", fill(b"<!---->", 900 * K))
    yield feed("900 KiB of character references", b"<item><title>" + fill(b"&#97;", 900 * K) + b"</title></item>")
    entities = '<!DOCTYPE r [<!ENTITY a0 "aaaaaaaaaa">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9)) + "]>"
    yield Case("xml, a billion laughs", entities.encode() + rss(b"<item><title>&a8;</title></item>"), catalog(FEED), "text/xml")
    yield Case("xml, the same in UTF-16", (entities + rss(b"<item><title>&a8;</title></item>").decode()).encode("utf-16"),
               catalog(FEED), "text/xml")
    yield Case("tsv, 900 KiB of short lines", b"id\ttitle\n" + fill(b"1\n", 900 * K), catalog(FEED), "text/tab-separated-values")
    yield Case("tsv, 900 KiB of tabs", b"id\ttitle\n" + fill(b"\t", 900 * K), catalog(FEED), "text/tab-separated-values")
    yield Case("tsv, 450,000 columns", b"id" + fill(b"\ta", 900 * K) + b"\n1\n", catalog(FEED), "text/tab-separated-values")
    yield Case("tsv, a quote without end", b'id\ttitle\n1\t"' + b"a" * 900 * K, catalog(FEED), "text/tab-separated-values")
    def page(name, text, **more):
        return Case("html, " + name, b"<!doctype html>" + text, catalog(PAGE), "text/html", **more)
    block = b'<script type="application/ld+json">'
    yield page("900 KiB of blocks", fill(block + b"{}</script>", 900 * K))
    yield page("100,000 numbers in a block", block + b"[" + fill(b"0,", 200_000) + b"0]</script>")
    yield page("20,000 products without a name", block + b"[" + fill(b'{"@type":"Product"},', 400 * K) + b"0]</script>")
    yield page("300,000 open elements", fill(b"<b>", 900 * K))
    yield page("100,000 attributes", b"<a " + numbered(100_000, "b# ") + b">")
    yield page("250 attributes in each of 600 tags", (b"<a " + numbered(250, "b# ") + b">") * 600)
    yield page("end tags of nothing", fill(b"<b>", 1500) + fill(b"</i>", 800 * K))
    yield page("900 KiB of entities", fill(b"&lt;", 900 * K))

    # Transforms.
    def program(name, text, body, **more):
        return Case("jq, " + name, body, catalog(f"transform: '{text}'\n"), **more)
    yield program("1 MiB of numbers", "{items: .items}", pack(listing(b"0,", M - 64)), coding="gzip", memory=128 * M)
    yield program("a number that is counted to", "{items: [range(.items[0])]}", b'{"items":[1000000000]}', memory=128 * M,
                  seconds=4)
    yield program("a text that grows", '{items: [(.items[0] * 1000000)]}', b'{"items":["aaaaaaaaaaaaaaaa"]}')
    yield program("20 MiB of output", '{items: [range(2500000)]}', GOOD, memory=128 * M, seconds=4)

    # Layers of compression. Blanks are JSON.
    blanks = lambda size: b'{"items":[' + b" " * size + b'{"id":"1","title":"a"}]}'
    for name, coder in (("gzip", pack), ("deflate", deflate), ("br", brotli), ("zstd", zstd)):
        for size in (4, 64):
            yield Case(f"{size} MiB of blanks, {name}", coder(blanks(size * M)), coding=name)
    yield Case("64 MiB of blanks, gzip of gzip by two codings", pack(pack(blanks(64 * M))), coding="gzip, gzip")
    yield Case("64 MiB of blanks, a gzip file sent as gzip", pack(pack(blanks(64 * M))), coding="gzip")
    yield Case("64 MiB of blanks, a gzip file", pack(blanks(64 * M)))
    yield Case("64 MiB of blanks, a gzip file with 1,000 members", pack(b" " * 65536) * 1000)

    # What stands around the body.
    yield Case("a next page that is 100 KiB long", item()[:-1] + b',"next":"' + b"n" * 100 * K + b'"}',
               file=catalog(PLAIN + "paging: {next: $.next}\n"))
    yield Case("next pages of 1 MiB, gzip", pack(item()[:-1] + b',"next":"' + b"n" * (M - 200) + b'"}'), coding="gzip",
               file=catalog(PLAIN + "paging: {next: $.next}\n"))
    yield Case("a cursor without end", None, file=catalog(PLAIN + "paging: {cursor: after, from: $.next, limit: 50}\n"),
               cursor=True)
    yield Case("20,000 header lines", GOOD, headers=20_000)
    yield Case("redirects without end", GOOD, redirects=True)

    # Catalog files.
    bombs = "a: &a0 [x,x,x,x,x,x,x,x]\n" + "".join(f"b{n}: &a{n} [*a{n - 1},*a{n - 1}]\n" for n in range(1, 9))
    yield Case("yaml, aliases of aliases", GOOD, file=bombs + catalog())
    yield Case("yaml, 300,000 deep", GOOD, file=catalog() + "items: " + "[" * 300_000)
    yield Case("yaml, 60,000 unknown keys", GOOD, file=catalog() + numbered(60_000, "key#: 1\n").decode())
    yield Case("yaml, one key of 900 KiB", GOOD, file=catalog() + "k" * 900 * K + ": 1\n")


# --- The origin

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    case, pages = None, 0

    def do_GET(self):
        case = Handler.case
        body, more = case.body, case.more
        if not self.path.startswith("/list"):
            return self.answer(404, b"")
        if more.get("cursor"):
            Handler.pages += 1
            body = json.dumps({"items": [{"id": Handler.pages, "title": "a"}], "next": "n" * 9000 + str(Handler.pages)}).encode()
        fields = [(f"X-{n}", "a" * 50) for n in range(more.get("headers", 0))]
        if case.coding:
            fields.append(("Content-Encoding", case.coding))
        if more.get("redirects"):
            Handler.pages += 1
            return self.answer(302, b"", [("Location", f"/list?{Handler.pages}" + "x" * 8000)])
        self.answer(200, body, fields + [("Content-Type", case.type)])

    def answer(self, status, body, fields=()):
        # Lines of a head are written as they are: this origin may send as many as it likes.
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields)
        try:
            self.wfile.write(head.encode() + b"\r\n" + body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass

    def handle(self):
        # A program that has had enough resets the connection.
        try:
            super().handle()
        except OSError:
            pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()


def usage(folder):
    return sum(os.lstat(os.path.join(place, name)).st_blocks * 512
               for place, _, names in os.walk(folder) for name in names)


def run(case):
    """Syncs once into a fresh cache: status, peak memory, bytes on disk, seconds."""
    Handler.case, Handler.pages = case, 0
    cache, file = work + "/cache", work + "/shop.yaml"
    shutil.rmtree(cache, ignore_errors=True)
    with open(file, "w") as out:
        out.write(case.file.replace("BASE", f"http://127.0.0.1:{server.server_port}/"))
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for end in range(2):
            os.dup2(null, end)
        os.dup2(os.open(work + "/errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.execv(larder, [larder, "sync", file, "--cache", cache, "--json", "--retries", "0", "--deadline", "60s"])
    _, status, use = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), use.ru_maxrss << 10, usage(cache), time.monotonic() - began


idle = run(Case("idle", GOOD))
print(f"{'idle':58} status {idle[0]:3}  {idle[1] / M:6.1f} MiB  {idle[2] / K:6.0f} KiB  {idle[3]:5.2f} s")
failed = count = 0
for case in cases():
    if words and not any(word in case.name for word in words):
        continue
    if case.body is None and not case.more.get("cursor"):
        print(f"{case.name:58} left out: the library that packs it is not here")
        continue
    count += 1
    status, memory, disk, seconds = run(case)
    memory, disk = max(0, memory - idle[1]), max(0, disk - idle[2])
    most = case.more.get("memory", MEMORY), case.more.get("disk", DISK), max(case.more.get("seconds", 0), SECONDS)
    passed = [word for word, had, may in zip(("memory", "disk", "seconds"), (memory, disk, seconds), most) if had > may]
    if status < 0 or status in (132, 134, 139):
        passed.append("crashed")
    failed += bool(passed)
    print(f"{case.name:58} status {status:3} +{memory / M:6.1f} MiB +{disk / K:6.0f} KiB  {seconds:5.2f} s"
          + (f"   PASSED: {', '.join(passed)}" if passed else ""), flush=True)
print(f"{count} cases, {failed} beyond their budgets")
sys.exit(failed > 0)
