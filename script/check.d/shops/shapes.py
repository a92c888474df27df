"""Shops in common shapes: their paging, prices and pictures."""
import json
from decimal import Decimal

from shops.base import Shop, minor, shop


@shop
class Pages(Shop):
    shape = "pages by number; prices as numbers"

    def list(self, query):
        page = int(query.get("page", 1))
        return {"page": page, "per_page": 8, "total_pages": 3, "currency": "USD", "results": [
            {"id": g["id"], "name": g["title"], "price": g["cents"] / 100, "summary": g["text"], "image_url": self.url(self.pictures(g)[0])}
            for g in self.goods[page * 8 - 8:page * 8]]}

    def count(self, get):
        for page in range(1, get("list")["total_pages"] + 1):
            for x in get(f"list?page={page}")["results"]:
                yield "list", x["id"], x["name"], minor(str(x["price"])), [x["image_url"]]


@shop
class Offset(Shop):
    shape = "limit and offset; `24.45 EUR`"

    def list(self, query):
        at, many, goods = self.page(query, most=7)
        return {"total": len(self.goods), "offset": at, "limit": many, "items": [
            {"sku": f"OF-{g['id']}", "title": g["title"], "price": self.money(g) + " EUR", "photo": "/" + self.name + "/" + self.pictures(g)[0]}
            for g in goods]}

    def count(self, get):
        at = 0
        while items := get(f"list?offset={at}")["items"]:
            at += len(items)
            for x in items:
                yield "list", x["sku"], x["title"], minor(x["price"].removesuffix(" EUR")), [x["photo"]]


@shop
class Cursor(Shop):
    shape = "a cursor; `19,90`, the currency beside the items"

    def list(self, query):
        at = int(query.get("cursor", "c0")[1:])
        after = f"c{at + 9}" if at + 9 < len(self.goods) else None
        return {"store": {"name": "Cups", "currency": "EUR"}, "data": [
            {"uid": f"u{g['id']}", "name": g["title"], "price": self.money(g).replace(".", ","), "img": self.pictures(g)[0]}
            for g in self.goods[at:at + 9]], "next_cursor": after}

    def count(self, get):
        cursor = ""
        while cursor is not None:
            page = get("list" + (f"?cursor={cursor}" if cursor else ""))
            cursor = page["next_cursor"]
            for x in page["data"]:
                yield "list", x["uid"], x["name"], minor(x["price"].replace(",", ".")), [x["img"]]


@shop
class Next(Shop):
    shape = "`next` in the body; `₦1,299.00`"

    def list(self, query):
        page = int(query.get("p", 1))
        more = page * 10 < len(self.goods)
        return {"links": {"self": f"list?p={page}", "next": self.url(f"list?p={page + 1}") if more else None}, "products": [
            {"id": g["slug"], "title": g["title"], "price": f"₦{g['cents'] * 10 / 100:,.2f}", "images": [{"url": self.url(p)} for p in self.pictures(g)]}
            for g in self.goods[page * 10 - 10:page * 10]]}

    def count(self, get):
        path = "list"
        while path:
            page = get(path)
            path = page["links"]["next"]
            for x in page["products"]:
                yield "list", x["id"], x["title"], minor(x["price"].lstrip("₦").replace(",", "")), [p["url"] for p in x["images"]]


@shop
class Link(Shop):
    shape = "a `Link` header; minor units"
    options = ["--currency", "GBP"]

    def list(self, query):
        page = int(query.get("page", 1))
        head = {"Link": f'<{self.url("list")}?page={page + 1}>; rel="next"'} if page * 6 < len(self.goods) else {}
        return [{"id": g["id"], "name": g["title"], "price_in_cents": g["cents"], "thumbnail": self.url(self.pictures(g)[0])}
                for g in self.goods[page * 6 - 6:page * 6]], head

    def count(self, get):
        for page in range(1, 5):
            for x in get(f"list?page={page}"):
                yield "list", x["id"], x["name"], x["price_in_cents"], [x["thumbnail"]]


@shop
class Each(Shop):
    shape = "sections in one response; `$12.990` CLP"

    def list(self, query):
        return {"moneda": {"currency": "CLP"}, "categories": [
            {"slug": group, "name": group.title(), "products": [
                {"id": g["id"], "name": g["title"], "price": f"${g['cents'] * 10:,}".replace(",", "."), "image": self.url(self.pictures(g)[0])}
                for g in self.goods if g["group"] == group]}
            for group in ("cups", "bowls", "trays")]}

    def count(self, get):
        for group in get("list")["categories"]:
            for x in group["products"]:
                yield group["slug"], x["id"], x["name"], int(x["price"].lstrip("$").replace(".", "")), [x["image"]]


@shop
class Keyed(Shop):
    shape = "objects keyed by id; a divisor"

    def list(self, query):
        return {"status": "ok", "goods": {f"k{g['id']}": {
            "title": g["title"], "price": {"amount": g["cents"], "divisor": 100, "currency_code": "CAD"}, "picture": self.url(self.pictures(g)[0])}
            for g in self.goods}}

    def count(self, get):
        for name, x in get("list")["goods"].items():
            yield "list", name, x["title"], minor(Decimal(x["price"]["amount"]) / x["price"]["divisor"]), [x["picture"]]


@shop
class GraphQL(Shop):
    shape = "GraphQL by POST, paged by cursor"
    listings = ["graphql"]
    query = "query($n: Int, $after: String) { products(first: $n, after: $after) { nodes { id title price { amount currencyCode } " \
            "image { url } } pageInfo { hasNextPage endCursor } } }"
    options = ["--body", json.dumps({"query": query, "variables": {"n": 10, "after": None}})]

    def answer(self, path, query, body):
        if path != "graphql" or not body:
            return None
        asked = json.loads(body)["variables"]
        at = int(asked["after"] or 0)
        nodes = [{"id": f"gid://cups/Product/{g['id']}", "title": g["title"], "price": {"amount": self.money(g), "currencyCode": "EUR"},
                  "image": {"url": self.url(self.pictures(g)[0])}} for g in self.goods[at:at + asked["n"]]]
        return {"data": {"products": {"nodes": nodes, "pageInfo": {
            "hasNextPage": at + asked["n"] < len(self.goods), "endCursor": str(at + len(nodes))}}}}

    def count(self, get):
        after = None
        while True:
            page = get("graphql", {"query": self.query, "variables": {"n": 50, "after": after}})["data"]["products"]
            for x in page["nodes"]:
                yield "graphql", x["id"], x["title"], minor(x["price"]["amount"]), [x["image"]["url"]]
            if not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]


@shop
class Currencies(Shop):
    shape = "a currency for each item"
    digits = {"EUR": 2, "JPY": 0, "KWD": 3}

    def list(self, query):
        codes = list(self.digits)
        return {"items": [{"code": g["slug"], "label": g["title"], "price": {
            "currency": codes[g["n"] % 3], "value": str(Decimal(g["cents"]).scaleb(-self.digits[codes[g["n"] % 3]]))},
            "images": {"small": self.url(self.pictures(g)[0]), "large": self.url(self.pictures(g)[1])}} for g in self.goods]}

    def count(self, get):
        for x in get("list")["items"]:
            price = minor(x["price"]["value"], self.digits[x["price"]["currency"]])
            yield "list", x["code"], x["label"], price, [x["images"]["small"], x["images"]["large"]]


@shop
class Ranges(Shop):
    shape = "price ranges, as text and as min and max"

    def list(self, query):
        goods = [{"id": g["id"], "name": g["title"], "price": f"{self.money(g)} - {g['cents'] // 100 + 9}.50 EUR",
                  "photos": [self.url(p) for p in self.pictures(g, 3)]} for g in self.goods]
        offers = [{"id": g["id"] + 1, "name": g["title"] + ", offer", "price": {"min": g["cents"] / 100, "max": g["cents"] / 100 + 4, "currency": "EUR"},
                   "photos": [self.url(p) for p in self.pictures(g, 1)]} for g in self.goods]
        return goods if query.get("kind") == "text" else {"offers": offers}

    listings = ["list?kind=text", "list?kind=offers"]

    def count(self, get):
        for x in get("list?kind=text"):
            yield "text", x["id"], x["name"], minor(x["price"].split(" - ")[0]), x["photos"]
        for x in get("list?kind=offers")["offers"]:
            yield "offers", x["id"], x["name"], minor(str(x["price"]["min"])), x["photos"]
