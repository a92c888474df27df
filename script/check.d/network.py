"""Plays every host of script/check network: a name server, the shop, a public host, and servers at all other
addresses.

Writes into the given folder: the catalog file `words.yaml`, whose bodies contain next pages, details and
redirects; `connected`, one line for each connection to a private address; `leaked`, one line for each request with
a secret for another host, or with a path at the shop that no id may produce; and `pages`, the
public pages that were requested.

Prints the number of combinations in the catalogs, of public pictures, and of pages."""

import base64
import itertools
import json
import os
import socket
import struct
import sys
import threading
import urllib.parse

SHOP, CDN, CDN6 = "93.184.215.14", "93.184.215.15", "2606:2800:21f::15"
PRIVATE = [
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "0.0.0.0", "168.63.129.16", "198.18.0.1", "192.0.0.192",
]
PRIVATE6 = ["::1", "::", "fd00:ec2::254", "fe80::1", "fec0::1", "100::1", "2001:db8::1", "3fff::1"]
STATUSES = [301, 302, 303, 307, 308]
if os.environ.get("FEW"):
    PRIVATE, STATUSES = PRIVATE[:2] + PRIVATE[5:7], [302]


def spellings(address):
    """An IPv4 address in every spelling, including those used by attackers."""
    parts = [int(part) for part in address.split(".")]
    word = struct.unpack("!I", bytes(parts))[0]
    high, low = word >> 16, word & 0xFFFF
    hexes = f"{high:x}:{low:x}"
    wide = address.translate({ord(str(digit)): 0xFF10 + digit for digit in range(10)})
    return [
        address, address + ".", str(word), hex(word), f"0{word:o}", hex(word + (1 << 32)),
        ".".join(hex(part) for part in parts), ".".join(f"0{part:o}" for part in parts),
        ".".join(f"{part:04o}" for part in parts), f"{parts[0]}.{word & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{low}", f"{parts[0]}.0x{word & 0xFFFFFF:x}",
        "".join(f"%{ord(character):02x}" for character in address),
        address.replace(".", "%2e"), address.replace(".", "\u3002"), wide,
        f"cdn.example@{address}", f"cdn.example:80@{address}", f"cdn.example%40x@{address}",
        f"cdn.example%00@{address}", f"cdn.example\\@{address}", f"{address}#@cdn.example",
        f"{address}?@cdn.example", f"[::ffff:{address}]", f"[::ffff:{hexes}]", f"[::{hexes}]",
        f"[64:ff9b::{hexes}]", f"[64:ff9b:1::{hexes}]", f"[2002:{hexes}::1]",
        f"[2001:0:{hexes}::1]", f"[2001::{~high & 0xFFFF:x}:{~low & 0xFFFF:x}]",
        f"{address}:80", f" {address}", f"{address}\t",
    ]


HOSTS = list(itertools.chain.from_iterable(spellings(address) for address in PRIVATE))
HOSTS += [f"[{address}]" for address in PRIVATE6]
HOSTS += [f"[{address}%25lo]" for address in ("fe80::1", "::1")]
HOSTS += ["localhost", "LOCALHOST", "localhost.", "l\u24deCALHOST", "ip6-localhost"]
# Names that resolve to private addresses: to one, to several, and to other addresses at each lookup.
HOSTS += [f"a{number}.private.example" for number in range(len(PRIVATE))]
HOSTS += [f"a{number}.private6.example" for number in range(len(PRIVATE6))]
HOSTS += [f"r{number}.rebind.example" for number in range(20)]
TARGETS = [f"http://{host}/x{number}.jpg" for number, host in enumerate(HOSTS)]
# The same name at another port is looked up again: public first, then private.
REBOUND = [
    f"http://q{number}.rebind.example/to/{status}/"
    + urllib.parse.quote(f"http://q{number}.rebind.example:8080/x.jpg", safe="")
    for number, status in enumerate(STATUSES * 4)
]
PUBLIC = ["http://cdn.example/ok.jpg", f"http://{CDN}/ok.jpg", f"http://[{CDN6}]/ok.jpg",
          "http://mixed.example/ok.jpg", "http://cdn.example/to/302/%2Fok2.jpg"]

# The next pages in bodies, and the targets of redirects of sections and details.
PAGES = [f"http://{host}/page/{number}" for number, host in enumerate(HOSTS)]
PAGES += [
    f"http://w{number}.rebind.example/to/302/"
    + urllib.parse.quote(f"http://w{number}.rebind.example:8080/page/0", safe="")
    for number in range(4)
]
PUBLIC_PAGES = [
    "http://cdn.example/page/p0", "//cdn.example/page/p1", "http://cdn.example:8080/page/p2",
    f"http://{CDN}/page/p3", "http://shop.example:8080/page/p4", "/to/302/http:%2F%2Fcdn.example%2Fpage%2Fp5",
    "http://clerk:other@cdn.example/page/p6",
]
# Ids that would change a detail's URL if they were not one segment of its path.
IDS = [
    "../../x", "//evil.example/", "?a=b", "@evil.example", "%2e%2e", "http://evil.example/x", "\\evil",
    "/\\evil", "#x", "a/b", "..;/x", "%00", "..", ".", "{id}", "a b", "x:80", "\u3002\u3002", "[::1]",
]
TOKEN, PASSWORD = "c4nary-token", "c4nary-password"
asked = {}
lock = threading.Lock()


def answers(name, kind):
    """The addresses of a name; kind 1 is IPv4 and 28 is IPv6."""
    first, _, domain = name.partition(".")
    if name == "shop.example":
        return [SHOP] if kind == 1 else []
    if name == "cdn.example":
        return [CDN] if kind == 1 else [CDN6]
    if name == "mixed.example":
        return ["10.0.0.1", CDN] if kind == 1 else ["::1"]
    if domain == "private.example":
        return [PRIVATE[int(first[1:])]] if kind == 1 else []
    if domain == "private6.example":
        return [PRIVATE6[int(first[1:])]] if kind == 28 else []
    if domain == "rebind.example":
        with lock:
            asked[name, kind] = count = asked.get((name, kind), 0) + 1
        # Some are private at once, the others from the second lookup on.
        isPublic = first[0] in "qw" and count == 1
        return ([CDN] if isPublic else ["169.254.169.254"]) if kind == 1 else []
    return []


def serve_names():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.53", 53))
    while True:
        query, client = server.recvfrom(4096)
        labels, place = [], 12
        while query[place]:
            labels.append(query[place + 1 : place + 1 + query[place]].decode("latin-1"))
            place += 1 + query[place]
        kind = struct.unpack("!H", query[place + 1 : place + 3])[0]
        found = answers(".".join(labels).lower(), kind)
        records = b""
        for address in found:
            family = socket.AF_INET if kind == 1 else socket.AF_INET6
            data = socket.inet_pton(family, address)
            records += b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(data)) + data
        head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, len(found), 0, 0)
        server.sendto(head + query[12 : place + 5] + records, client)


def item(number, picture):
    return {"detail_hash": f"i{number}", "title": f"i{number}", "image": picture}


def listing():
    """Every target as a picture of the list, and through redirects of each kind."""
    urls = TARGETS + PUBLIC + REBOUND
    for status in STATUSES:
        quoted = (urllib.parse.quote(target, safe="") for target in TARGETS)
        urls += [f"http://cdn.example/to/{status}/{target}" for target in quoted]
    return json.dumps({"statusCode": 200, "body": [item(*pair) for pair in enumerate(urls)]})


def detail(number):
    """The detail of an item, which names the target with its number again, by another path."""
    pictures = [TARGETS[number] + "?detail"] if number < len(TARGETS) else []
    data = {"top_image": "", "thumb_images": pictures, "product_description": "", "prices": []}
    return json.dumps({"hash": f"i{number}", "data": data})


def page(items, following=None):
    return json.dumps({"statusCode": 200, "body": items, "next": following})


def words():
    """A catalog with one section for each page, which names the page as its next or redirects to it."""
    keys = [f"next{number}" for number in range(len(PAGES) + len(PUBLIC_PAGES))]
    keys += [f"goto{number}" for number in range(len(PAGES))] + ["ids"]
    sections = ", ".join(f"{{key: {key}, title: {key}, url: {key}}}" for key in keys)
    return f"""name: words
currency: KRW
base: http://clerk:{PASSWORD}@shop.example/
sections: [{sections}]
paging: {{next: $.next}}
detail: {{url: "detail/{{id}}"}}
headers: {{token: "${{CANARY_TOKEN}}"}}
"""


def section(key):
    """The shop's answer for a section of `words.yaml`; None for other paths."""
    if key == "ids":
        ids = [*IDS, *(f"d{number}" for number in range(len(PAGES)))]
        return page([{"detail_hash": name, "title": name} for name in ids])
    if key.startswith("next"):
        number = int(key[4:])
        return page([{"detail_hash": f"i{10**6 + number}", "title": key}], (PAGES + PUBLIC_PAGES)[number])
    return None


def redirect(target, status=302):
    place = target.encode("utf-8").decode("latin-1")
    return f"{status} Over there", f"Location: {place}\r\n", b""


def is_astray(path):
    """Whether the catalogs and the ids cannot produce this path at the shop."""
    kind, _, rest = path[1:].partition("/")
    if kind == "detail":
        name = urllib.parse.unquote(rest)
        isItem = name[:1] in ("i", "d") and name[1:].isdigit()
        return "/" in rest or not (isItem or name in IDS) or name in (".", "..")
    return kind not in ("list", "to", "ids") and kind[:4] not in ("next", "goto")


def answer(path):
    JSON = "Content-Type: application/json\r\n"
    if path == "/list":
        return "200 OK", JSON, listing().encode()
    if path.startswith("/detail/i") and path[9:].isdigit():
        return "200 OK", JSON, detail(int(path[9:])).encode()
    if path.startswith("/detail/d") and path[9:].isdigit():
        return redirect(PAGES[int(path[9:])])
    if path.startswith("/detail/"):
        return "404 Not Found", "", b""
    if path.startswith("/goto"):
        return redirect(PAGES[int(path[5:])])
    if path.startswith("/page/"):
        return "200 OK", JSON, page([{"detail_hash": f"i{10**7}", "title": path}]).encode()
    if body := section(path[1:]) if path.count("/") == 1 else None:
        return "200 OK", JSON, body.encode()
    if path.startswith("/to/"):
        _, _, status, target = path.split("/", 3)
        return redirect(urllib.parse.unquote(target), status)
    return "200 OK", "Content-Type: image/jpeg\r\n", b"\xff\xd8\xff\xe0" + path.encode() + b"\xff\xd9"


def note(folder, name, line):
    with lock, open(f"{folder}/{name}", "a") as file:
        file.write(line + "\n")


def talk(connection, folder):
    here, port = connection.getsockname()[:2]
    here = here.removeprefix("::ffff:")
    isShop = here == SHOP and port == 80
    if here not in (SHOP, CDN, CDN6):
        note(folder, "connected", here)
    with connection, connection.makefile("rb") as lines:
        while line := lines.readline():
            path = line.split()[1].decode("latin-1")
            fields = b""
            while (field := lines.readline()).strip():
                fields += field
            hasSecret = TOKEN.encode() in fields or SECRET in fields
            if hasSecret and not isShop:
                note(folder, "leaked", f"a secret went to {here}:{port}{path}")
            if isShop and is_astray(path):
                note(folder, "leaked", f"the shop was asked for {path}")
            if path.startswith("/page/p"):
                note(folder, "pages", path)
            status, fields, body = answer(path)
            head = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode("latin-1") + body)


def listen(port, folder):
    server = socket.create_server(
        ("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=512
    )

    def accept():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=talk, args=(connection, folder), daemon=True).start()

    return threading.Thread(target=accept)


SECRET = base64.b64encode(f"clerk:{PASSWORD}".encode())
with open(f"{sys.argv[1]}/words.yaml", "w") as file:
    file.write(words())
threads = [listen(port, sys.argv[1]) for port in (80, 8080)]
threads.append(threading.Thread(target=serve_names))
for thread in threads:
    thread.start()
combinations = len(TARGETS) * (2 + len(STATUSES)) + len(REBOUND) + 3 * len(PAGES)
print(combinations, len(PUBLIC), len(PUBLIC_PAGES), flush=True)
