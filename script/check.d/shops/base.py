"""The shops of script/check catalogs: each is generated from a seed, served in the shape of a real shop system, and read by its own code.

A shop is a class with a `shape`, `routes` (from a path to its answer), the URLs for `larder catalog init`, and `count`, which
requests the shop's JSON as any program would and returns its contents. This code is independent of larder."""
import hashlib
import random
import struct
import urllib.parse
import zlib
from decimal import Decimal

ADJECTIVES = "blue red tall round small old plain striped glazed stone amber quiet".split()
NOUNS = "cup mug bowl plate jug vase pot tray jar dish saucer teapot".split()
KOREAN = ["간장 불고기", "된장찌개", "오이소박이", "잡채", "미역국", "깍두기", "두부조림", "멸치볶음", "김치전", "장조림", "콩나물무침", "호박죽"]
SHOPS = []


def shop(kind):
    SHOPS.append(kind)
    return kind


def picture(path):
    """A small PNG that is different for every path."""
    pixels = hashlib.sha256(path.encode()).digest() + hashlib.sha256(path.encode() + b"!").digest()[:16]
    rows = b"".join(b"\0" + pixels[row * 12:row * 12 + 12] for row in range(4))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def stored_brotli(data):
    """A brotli stream of uncompressed blocks (RFC 7932, section 9.2)."""
    out = bytearray()
    bits = count = 0

    def put(value, width):
        nonlocal bits, count
        bits |= value << count
        count += width
        while count >= 8:
            out.append(bits & 255)
            bits >>= 8
            count -= 8

    put(0, 1)  # A window of 16 bits.
    for start in range(0, len(data), 65536):
        block = data[start:start + 65536]
        put(0, 1)
        put(0, 2)
        put(len(block) - 1, 16)
        put(1, 1)
        if count:
            put(0, 8 - count)
        out += block
    put(3, 2)
    if count:
        put(0, 8 - count)
    return bytes(out)


def stored_zstd(data):
    """A zstd frame of uncompressed blocks (RFC 8878, section 3.1.1)."""
    out = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data))
    starts = range(0, len(data), 100_000)
    for start in starts:
        block = data[start:start + 100_000]
        last = start == starts[-1]
        out += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return out


def minor(text, digits=2):
    """An amount in minor units."""
    return int((Decimal(text) * 10 ** digits).to_integral_exact())


class Shop:
    """The properties common to all shops."""
    options = []       # For catalog init.
    edits = []         # (pattern, replacement) of whole lines, each counted.
    listings = ["list"]
    detail = None
    demands = {}       # Headers required for everything except pictures.
    kind = "application/json; charset=utf-8"

    def __init__(self):
        self.name = type(self).__name__.lower()
        self.random = random.Random(self.name)
        self.address = ""  # The URL of the shop's folder, once it is served.
        self.goods = [self.good(number) for number in range(1, self.size + 1)]

    size = 23

    def good(self, number):
        """Generates the items; the shape decides how they are published."""
        adjective, noun = self.random.choice(ADJECTIVES), self.random.choice(NOUNS)
        return {
            "n": number, "id": 1000 + number * 7, "title": f"{adjective.title()} {noun} no. {number}", "slug": f"{adjective}-{noun}-{number}",
            "cents": self.random.randrange(300, 9000) // 5 * 5, "text": f"A {adjective} {noun}, made by hand and fired twice.",
            "tags": self.random.sample(ADJECTIVES, 2), "group": self.random.choice(["cups", "bowls", "trays"]),
        }

    def money(self, good):
        return f"{good['cents'] // 100}.{good['cents'] % 100:02}"

    def pictures(self, good, count=2):
        return [f"pictures/{good['slug']}-{number}.png" for number in range(1, count + 1)]

    def url(self, path):
        return urllib.parse.urljoin(self.address, path)

    def page(self, query, size="limit", start="offset", most=10):
        at, many = int(query.get(start, 0)), min(int(query.get(size, most)), most)
        return at, many, self.goods[at:at + many]

    def answer(self, path, query, body):
        """The content at a path: JSON, bytes, or (JSON or bytes, headers); None for nothing."""
        if path == "list":
            return self.list(query)
        return None

    def count(self, get):
        """Yields (section, id, title, price in minor units, pictures) for all items in the shop's own answers."""
        raise NotImplementedError
