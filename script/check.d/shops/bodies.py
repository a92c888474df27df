"""Shops that place pictures in unusual ways, compress their bodies, or write other notations than plain JSON."""
import gzip
import html
import json
import re
from decimal import Decimal

from shops.base import KOREAN, Shop, minor, shop, stored_brotli, stored_zstd


@shop
class Prefix(Shop):
    shape = "file names under a prefix that the response names"

    def list(self, query):
        return {"config": {"image_base_url": self.url("media/full/")}, "currency": "USD", "products": [
            {"id": g["id"], "name": g["title"], "price": g["cents"] / 100, "image": f"{g['slug']}.png", "gallery": [f"{g['slug']}-b.png"]}
            for g in self.goods]}

    def count(self, get):
        page = get("list")
        for x in page["products"]:
            files = [x["image"], *x["gallery"]]
            yield "list", x["id"], x["name"], minor(str(x["price"])), [page["config"]["image_base_url"] + f for f in files]


@shop
class Mixed(Shop):
    shape = "texts and objects mixed in a gallery; some thumbnails as data: URLs"

    def list(self, query):
        data = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
        return {"currency": "EUR", "items": [
            {"id": g["id"], "title": g["title"], "price": self.money(g), "thumbnail": data if g["n"] % 5 == 0 else self.url(self.pictures(g)[0]),
             "photos": [self.url(p) if place % 2 == g["n"] % 2 else {"src": self.url(p)} for place, p in enumerate(self.pictures(g, 3))]}
            for g in self.goods]}

    def count(self, get):
        for x in get("list")["items"]:
            found = [p if isinstance(p, str) else p["src"] for p in x["photos"]] + [x["thumbnail"]]
            yield "list", x["id"], x["title"], minor(x["price"]), [p for p in found if not p.startswith("data:")]


@shop
class Commas(Shop):
    shape = "pictures in one text, separated by commas"
    options = ["--currency", "PLN"]

    def list(self, query):
        return {"rows": [{"artikelnummer": f"A{g['id']}", "name": g["title"], "preis": self.money(g).replace(".", ",") + " zł",
                          "images": ", ".join(self.url(p) for p in self.pictures(g, 3))} for g in self.goods]}

    def count(self, get):
        for x in get("list")["rows"]:
            yield "list", x["artikelnummer"], x["name"], minor(x["preis"].removesuffix(" zł").replace(",", ".")), x["images"].split(", ")


@shop
class Lines(Shop):
    shape = "JSON Lines, gzip"
    listings = ["feed.jsonl.gz"]

    def answer(self, path, query, body):
        lines = [json.dumps({"id": g["id"], "title": g["title"], "price": {"amount": g["cents"], "currency": "EUR", "exponent": 2},
                             "image": self.url(self.pictures(g)[0])}) for g in self.goods]
        return (gzip.compress("\n".join(lines).encode(), mtime=0), {"Content-Type": "application/gzip"}) if path == "feed.jsonl.gz" else None

    def count(self, get):
        for line in gzip.decompress(get("feed.jsonl.gz", raw=True)).splitlines():
            x = json.loads(line)
            yield "feed", x["id"], x["title"], x["price"]["amount"], [x["image"]]


@shop
class Brotli(Shop):
    shape = "a response with the coding br; prices in cents beside their text"
    listings = ["packed/feed.json"]

    def answer(self, path, query, body):
        if not path.endswith("feed.json"):
            return None
        plain = json.dumps([{"id": g["id"], "name": g["title"], "price": g["cents"], "display_price": f"£{self.money(g)}",
                             "image": self.url(self.pictures(g)[0])} for g in self.goods]).encode()
        return (stored_brotli(plain), {"Content-Encoding": "br"}) if path.startswith("packed/") else plain

    def count(self, get):
        for x in get("feed.json"):
            yield "feed", x["id"], x["name"], x["price"], [x["image"]]


@shop
class Zstandard(Shop):
    shape = "JSON Lines with the coding zstd; names in two languages"
    listings = ["packed/export.ndjson"]
    options = ["--currency", "EUR"]

    def answer(self, path, query, body):
        if not path.endswith("export.ndjson"):
            return None
        plain = "\n".join(json.dumps({"_id": f"z{g['id']}", "name": {"de": g["title"] + " (de)", "en": g["title"]}, "price": g["cents"] / 100,
                                      "assets": [{"url": self.url(p)} for p in self.pictures(g)]}) for g in self.goods).encode()
        kind = {"Content-Type": "application/octet-stream"}
        return (stored_zstd(plain), {**kind, "Content-Encoding": "zstd"}) if path.startswith("packed/") else (plain, kind)

    def count(self, get):
        for line in get("export.ndjson", raw=True).splitlines():
            x = json.loads(line)
            yield "export", x["_id"], x["name"]["de"], minor(str(x["price"])), [p["url"] for p in x["assets"]]


@shop
class Merchant(Shop):
    shape = "Google merchant feed (RSS)"
    listings = ["google.xml"]

    def answer(self, path, query, body):
        if path != "google.xml":
            return None
        items = "".join(
            f"<item><g:id>G{g['id']}</g:id><title>{html.escape(g['title'])}</title><g:price>{self.money(g)} CHF</g:price>"
            f"<g:image_link>{self.url(self.pictures(g)[0])}</g:image_link>"
            f"<g:additional_image_link>{self.url(self.pictures(g)[1])}</g:additional_image_link></item>" for g in self.goods)
        feed = f'<?xml version="1.0"?><rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Cups</title>{items}</channel></rss>'
        return feed.encode(), {"Content-Type": "application/xml"}

    def count(self, get):
        for x in re.findall("<item>(.*?)</item>", get("google.xml", raw=True).decode()):
            found = dict(re.findall("<(?:g:)?(\\w+)>(.*?)</", x))
            price = minor(found["price"].removesuffix(" CHF"))
            yield "google", found["id"], html.unescape(found["title"]), price, [found["image_link"], found["additional_image_link"]]


@shop
class LinkedData(Shop):
    shape = "a page with JSON-LD"
    listings = ["cups.html"]

    def answer(self, path, query, body):
        if path != "cups.html":
            return None
        things = {"@context": "https://schema.org", "@type": "ItemList", "itemListElement": [
            {"@type": "ListItem", "position": g["n"], "item": {
                "@type": "Product", "sku": f"L{g['id']}", "name": g["title"], "image": [self.url(p) for p in self.pictures(g)],
                "offers": {"@type": "Offer", "price": self.money(g), "priceCurrency": "SEK", "availability": "https://schema.org/InStock"}}}
            for g in self.goods]}
        page = f'<!doctype html><title>Cups</title><script type="application/ld+json">{json.dumps(things)}</script><p>Cups</p>'
        return page.encode(), {"Content-Type": "text/html"}

    def count(self, get):
        script = re.search('ld\\+json">(.*?)</script>', get("cups.html", raw=True).decode()).group(1)
        for x in json.loads(script)["itemListElement"]:
            x = x["item"]
            yield "cups", x["sku"], x["name"], minor(x["offers"]["price"]), x["image"]


@shop
class Places(Shop):
    shape = "GeoJSON with Korean names; where each shop is"
    size = 12

    def list(self, query):
        return {"type": "FeatureCollection", "features": [
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [round(126.9 + g["n"] / 100, 4), round(37.4 + g["n"] / 50, 4)]},
             "properties": {"id": f"P{g['n']}", "상품명": KOREAN[g["n"] - 1], "판매가": f"{g['cents'] // 10 * 100:,}원", "주소": f"서울 강남구 {g['n']}길",
                            "이미지": self.url(self.pictures(g)[0])}} for g in self.goods]}

    def count(self, get):
        for x in get("list")["features"]:
            p = x["properties"]
            yield "list", p["id"], p["상품명"], int(p["판매가"].rstrip("원").replace(",", "")), [p["이미지"]]

    def places(self, get):
        """The position of each item: longitude, latitude, address."""
        return {x["properties"]["id"]: (*x["geometry"]["coordinates"], x["properties"]["주소"]) for x in get("list")["features"]}


@shop
class Attributes(Shop):
    shape = "attributes as a list of names and values"
    edits = [(r"^  # (salePrice: )", r"  \1")]

    def list(self, query):
        return {"count": self.size, "entities": [{"sku": f"E{g['id']}", "attributes": [
            {"code": "name", "value": g["title"]}, {"code": "price", "value": self.money(g)}, {"code": "currency", "value": "NOK"},
            {"code": "image", "value": self.url(self.pictures(g)[0])}]} for g in self.goods]}

    def count(self, get):
        for x in get("list")["entities"]:
            found = {a["code"]: a["value"] for a in x["attributes"]}
            yield "list", x["sku"], found["name"], minor(found["price"]), [found["image"]]


@shop
class Variants(Shop):
    shape = "variants within products, prices and pictures theirs alone"

    def list(self, query):
        return {"collection": {"title": "Cups", "models": [{"handle": g["slug"], "title": g["title"], "vendor": {"name": "Kiln", "logo": self.url("logo.png")},
            "variants": [{"id": g["id"] * 10 + place, "title": size, "price": {"amount": str(Decimal(g["cents"] + place * 100) / 100), "currency": "AUD"},
                          "image": self.url(p)} for place, (size, p) in enumerate(zip(["S", "L"], self.pictures(g)))]} for g in self.goods]}}

    def count(self, get):
        for x in get("list")["collection"]["models"]:
            yield "list", x["handle"], x["title"], minor(x["variants"][0]["price"]["amount"]), [v["image"] for v in x["variants"]]
