"""Shops in the documented forms of real platforms."""
import json
from decimal import Decimal

from shops.base import KOREAN, Shop, minor, shop


@shop
class Banchan(Shop):
    shape = "banchan: three sections behind a token, details with galleries, prices and notes"
    listings = ["main", "soup", "side"]
    detail = "detail/H1007"
    demands = {"token": "hush-banchan"}
    environment = {"STORE_TOKEN": "hush-banchan"}
    options = ["--header", "token: ${STORE_TOKEN}"]

    def group(self, path):
        return [g for g in self.goods if g["n"] % 3 == self.listings.index(path)]

    def answer(self, path, query, body):
        if path in self.listings:
            return {"statusCode": 200, "body": [
                {"detail_hash": f"H{g['id']}", "image": self.url(self.pictures(g)[0]), "alt": KOREAN[g["n"] % 12], "delivery_type": ["새벽배송", "전국택배"],
                 "title": f"{KOREAN[g['n'] % 12]} {g['n']}", "description": "감칠맛 나는 반찬", **({"n_price": f"{g['cents'] * 12:,}원"} if g["n"] % 2 else {}),
                 "s_price": f"{g['cents'] * 10:,}원", **({"badge": ["이벤트특가"]} if g["n"] % 4 == 0 else {})} for g in self.group(path)]}
        for g in self.goods:
            if path == f"detail/H{g['id']}":
                return {"hash": f"H{g['id']}", "data": {
                    "top_image": self.url(f"pictures/{g['slug']}-top.png"), "thumb_images": [self.url(p) for p in self.pictures(g, 3)],
                    "product_description": "오랜 시간 조리하여 깊은 맛", "point": f"{g['cents'] // 10}원", "delivery_info": "서울 경기 새벽배송",
                    "delivery_fee": "2,500원 (40,000원 이상 구매 시 무료)", "prices": [f"{g['cents'] * 12:,}원", f"{g['cents'] * 10:,}원"],
                    "detail_section": [self.url(f"pictures/{g['slug']}-text.png")]}}
        return None

    def count(self, get):
        for key in self.listings:
            for x in get(key)["body"]:
                d = get("detail/" + x["detail_hash"])["data"]
                price = int(x["s_price"].rstrip("원").replace(",", ""))
                yield key, x["detail_hash"], x["title"], price, [x["image"], d["top_image"], *d["thumb_images"], *d["detail_section"]]


@shop
class Shopify(Shop):
    shape = "Shopify: products.json"
    listings = ["products.json"]
    options = ["--currency", "EUR"]

    def answer(self, path, query, body):
        if path != "products.json":
            return None
        many, page = min(int(query.get("limit", 30)), 250), int(query.get("page", 1))
        return {"products": [
            {"id": 7 * 10 ** 12 + g["id"], "title": g["title"], "handle": g["slug"], "body_html": f"<p>{g['text']}</p>", "vendor": "Kiln",
             "product_type": g["group"], "tags": g["tags"], "variants": [
                {"id": 4 * 10 ** 13 + g["id"] * 4 + v, "title": size, "sku": f"S{g['id']}-{v}", "price": str(Decimal(g["cents"] + v * 150) / 100),
                 "compare_at_price": str(Decimal(g["cents"] + 900) / 100) if g["n"] % 3 == 0 else None, "available": True, "featured_image": None}
                for v, size in enumerate(["Small", "Large"])],
             "images": [{"id": g["id"] * 9 + v, "position": v + 1, "src": self.url(p), "width": 4, "height": 4} for v, p in enumerate(self.pictures(g))],
             "options": [{"name": "Size", "position": 1, "values": ["Small", "Large"]}]}
            for g in self.goods[many * (page - 1):many * page]]}

    size = 61

    def count(self, get):
        for page in (1, 2, 3):
            for x in get(f"products.json?page={page}")["products"]:
                yield "products", x["id"], x["title"], minor(x["variants"][0]["price"]), [p["src"] for p in x["images"]]


@shop
class WooREST(Shop):
    shape = "WooCommerce: REST API v3"
    listings = ["wp-json/wc/v3/products?consumer_key=ck_1&consumer_secret=cs_1"]
    environment = {"CONSUMER_KEY": "ck_1", "CONSUMER_SECRET": "cs_1"}
    options = ["--currency", "EUR"]

    def answer(self, path, query, body):
        if path != "wp-json/wc/v3/products" or query.get("consumer_secret") != "cs_1":
            return None
        many, page = int(query.get("per_page", 10)), int(query.get("page", 1))
        return [{"id": g["id"], "name": g["title"], "slug": g["slug"], "permalink": self.url("p/" + g["slug"]), "type": "simple", "status": "publish",
                 "description": f"<p>{g['text']}</p>", "short_description": "", "sku": f"W-{g['id']}", "price": str(Decimal(g["cents"]) / 100),
                 "regular_price": str(Decimal(g["cents"] + 200 * (g["n"] % 2)) / 100), "sale_price": str(Decimal(g["cents"]) / 100) if g["n"] % 2 else "",
                 "tags": [{"id": 1, "name": t, "slug": t} for t in g["tags"]], "categories": [{"id": 2, "name": g["group"], "slug": g["group"]}],
                 "images": [{"id": g["id"] * 5 + v, "src": self.url(p), "name": "", "alt": ""} for v, p in enumerate(self.pictures(g))]}
                for g in self.goods[many * (page - 1):many * page]]

    def count(self, get):
        for page in (1, 2, 3):
            for x in get(f"{self.listings[0]}&page={page}"):
                yield "products", x["id"], x["name"], minor(x["price"]), [p["src"] for p in x["images"]]


@shop
class WooStore(Shop):
    shape = "WooCommerce: Store API"
    listings = ["wp-json/wc/store/v1/products"]

    def answer(self, path, query, body):
        if path != self.listings[0]:
            return None
        many, page = int(query.get("per_page", 10)), int(query.get("page", 1))
        more = many * page < self.size
        return [{"id": g["id"], "name": g["title"], "slug": g["slug"], "permalink": self.url("p/" + g["slug"]), "sku": "", "short_description": f"<p>{g['text']}</p>",
                 "on_sale": False, "prices": {"price": str(g["cents"]), "regular_price": str(g["cents"] + 100), "sale_price": str(g["cents"]), "price_range": None,
                                              "currency_code": "EUR", "currency_symbol": "€", "currency_minor_unit": 2, "currency_decimal_separator": ","},
                 "images": [{"id": g["id"], "src": self.url(p), "thumbnail": self.url(p.replace(".png", "-300.png")), "srcset": "", "sizes": ""}
                            for p in self.pictures(g)]}
                for g in self.goods[many * (page - 1):many * page]], {"Link": f'<{self.url(path)}?page={page + 1}>; rel="next"'} if more else {}

    def count(self, get):
        for page in (1, 2, 3):
            for x in get(f"{self.listings[0]}?page={page}"):
                yield "products", x["id"], x["name"], int(x["prices"]["price"]), [p["src"] for p in x["images"]] + [x["images"][0]["thumbnail"]]


@shop
class Magento(Shop):
    shape = "Magento: REST, attributes, files below /media"
    listings = ["rest/V1/products?searchCriteria[pageSize]=10"]
    options = ["--currency", "USD"]

    def answer(self, path, query, body):
        if path != "rest/V1/products":
            return None
        many, page = int(query.get("searchCriteria[pageSize]", 20)), int(query.get("searchCriteria[currentPage]", 1))
        return {"items": [
            {"id": g["id"], "sku": f"MG-{g['id']}", "name": g["title"], "attribute_set_id": 4, "price": (g["cents"] + 500) / 100, "status": 1, "visibility": 4,
             "type_id": "simple", "media_gallery_entries": [{"id": 1, "media_type": "image", "label": None, "position": 1, "disabled": False,
                                                              "types": ["image"], "file": f"/{p.split('/')[1]}"} for p in self.pictures(g)],
             "custom_attributes": [{"attribute_code": "description", "value": f"<p>{g['text']}</p>"}, {"attribute_code": "special_price", "value": self.money(g) + "00"},
                                   {"attribute_code": "category_ids", "value": ["2", "3"]}]}
            for g in self.goods[many * (page - 1):many * page]],
            "search_criteria": {"filter_groups": [], "page_size": many, "current_page": page}, "total_count": self.size}

    def count(self, get):
        for page in (1, 2, 3):
            for x in get(f"{self.listings[0]}&searchCriteria[currentPage]={page}")["items"]:
                special = next(a["value"] for a in x["custom_attributes"] if a["attribute_code"] == "special_price")
                yield "products", x["sku"], x["name"], minor(special), ["/media/catalog/product" + p["file"] for p in x["media_gallery_entries"]]


@shop
class Contentful(Shop):
    shape = "Contentful: entries, their pictures beside them by id"
    listings = ["entries?content_type=product"]
    options = ["--currency", "EUR"]

    def answer(self, path, query, body):
        if path != "entries":
            return None
        at, many, goods = self.page(query, start="skip", most=10)
        return {"sys": {"type": "Array"}, "total": self.size, "skip": at, "limit": many, "items": [
            {"sys": {"id": f"e{g['id']}", "type": "Entry", "locale": "en-US"}, "fields": {
                "title": g["title"], "slug": g["slug"], "description": g["text"], "price": g["cents"] / 100,
                "image": {"sys": {"type": "Link", "linkType": "Asset", "id": f"a{g['id']}x0"}},
                "gallery": [{"sys": {"type": "Link", "linkType": "Asset", "id": f"a{g['id']}x1"}}]}} for g in goods],
            "includes": {"Asset": [{"sys": {"id": f"a{g['id']}x{v}", "type": "Asset"}, "fields": {"title": "a picture", "file": {
                "url": self.url(p).removeprefix("http:"), "fileName": "a.png", "contentType": "image/png"}}}
                for g in goods for v, p in enumerate(self.pictures(g))]}}

    def count(self, get):
        for at in (0, 10, 20):
            page = get(f"{self.listings[0]}&skip={at}")
            files = {a["sys"]["id"]: "http:" + a["fields"]["file"]["url"] for a in page["includes"]["Asset"]}
            for x in page["items"]:
                f = x["fields"]
                yield "entries", x["sys"]["id"], f["title"], minor(str(f["price"])), [files[l["sys"]["id"]] for l in [f["image"], *f["gallery"]]]


@shop
class Square(Shop):
    shape = "Square: items, variations and pictures by id, by POST"
    listings = ["v2/catalog/search"]
    options = ["--body", '{"object_types": ["ITEM"], "include_related_objects": true, "limit": 10}']

    def answer(self, path, query, body):
        if path != self.listings[0] or not body:
            return None
        asked = json.loads(body)
        at = int(asked.get("cursor") or 0)
        goods = self.goods[at:at + asked["limit"]]
        more = {"cursor": str(at + len(goods))} if at + len(goods) < self.size else {}
        return {"objects": [{"type": "ITEM", "id": f"SQ{g['id']}", "is_deleted": False, "item_data": {
            "name": g["title"], "description": g["text"], "image_ids": [f"IM{g['id']}"], "variations": [
                {"type": "ITEM_VARIATION", "id": f"V{g['id']}", "item_variation_data": {"name": "Regular", "price_money": {"amount": g["cents"], "currency": "USD"}}}]}}
            for g in goods], "related_objects": [{"type": "IMAGE", "id": f"IM{g['id']}", "image_data": {"url": self.url(self.pictures(g)[0])}} for g in goods],
            **more}

    def count(self, get):
        cursor = None
        while True:
            page = get(self.listings[0], {"object_types": ["ITEM"], "limit": 7, "cursor": cursor})
            files = {o["id"]: o["image_data"]["url"] for o in page["related_objects"]}
            for x in page["objects"]:
                d = x["item_data"]
                yield "search", x["id"], d["name"], d["variations"][0]["item_variation_data"]["price_money"]["amount"], [files[i] for i in d["image_ids"]]
            cursor = page.get("cursor")
            if not cursor:
                return


@shop
class DummyJSON(Shop):
    shape = "dummyjson, with the detail of a product"
    listings = ["products"]
    detail = "products/1007"
    options = ["--currency", "USD"]

    def product(self, g):
        return {"id": g["id"], "title": g["title"], "category": g["group"], "price": g["cents"] / 100, "discountPercentage": 7.2,
                "rating": 4.1, "stock": 5, "tags": g["tags"], "brand": "Kiln", "sku": f"D{g['n']}", "weight": 3, "shippingInformation": "Ships in 1 week",
                "reviews": [{"rating": 2, "comment": "no", "reviewerName": "A B"}], "thumbnail": self.url(self.pictures(g)[0])}

    def answer(self, path, query, body):
        if path == "products":
            at, many, goods = self.page(query, start="skip", most=10)
            return {"products": [self.product(g) for g in goods], "total": self.size, "skip": at, "limit": many}
        for g in self.goods:
            if path == f"products/{g['id']}":
                return {**self.product(g), "description": g["text"], "images": [self.url(p) for p in self.pictures(g, 3)], "warrantyInformation": "1 year"}
        return None

    def count(self, get):
        for at in (0, 10, 20):
            for x in get(f"products?skip={at}")["products"]:
                yield "products", x["id"], x["title"], minor(str(x["price"])), [x["thumbnail"], *get(f"products/{x['id']}")["images"]]


@shop
class FakeStore(Shop):
    shape = "fakestore: a bare array"
    listings = ["products"]
    size = 20

    def answer(self, path, query, body):
        return [{"id": g["n"], "title": g["title"], "price": g["cents"] / 100, "description": g["text"], "category": g["group"],
                 "image": self.url(self.pictures(g)[0]), "rating": {"rate": 3.9, "count": 120}} for g in self.goods] if path == "products" else None

    def count(self, get):
        for x in get("products"):
            yield "products", x["id"], x["title"], minor(str(x["price"])), [x["image"]]


@shop
class Details(Shop):
    shape = "details by another field than the id, cents in both"
    detail = "item/blue-slug-1.json"

    def good(self, number):
        return {**super().good(number), "slug": f"blue-slug-{number}"}

    def answer(self, path, query, body):
        if path == "list":
            return {"currency": "EUR", "items": [{"id": g["id"], "slug": g["slug"], "name": g["title"], "price_cents": g["cents"]} for g in self.goods]}
        for g in self.goods:
            if path == f"item/{g['slug']}.json":
                return {"ok": True, "item": {"id": g["id"], "name": g["title"], "description": g["text"], "price_cents": g["cents"], "material": "clay",
                                             "hero": self.url(self.pictures(g)[0]), "photos": [{"full": self.url(p)} for p in self.pictures(g, 4)[1:]]}}
        return None

    def count(self, get):
        for x in get("list")["items"]:
            d = get(f"item/{x['slug']}.json")["item"]
            yield "list", x["id"], x["name"], x["price_cents"], [d["hero"], *(p["full"] for p in d["photos"])]


@shop
class JSONAPI(Shop):
    shape = "JSON:API: attributes, pictures included by id"
    listings = ["products"]

    def answer(self, path, query, body):
        if path != "products":
            return None
        page = int(query.get("page[number]", 1))
        goods = self.goods[page * 10 - 10:page * 10]
        return {"data": [{"type": "product", "id": str(g["id"]), "attributes": {"name": g["title"], "price": self.money(g), "currency": "DKK", "slug": g["slug"]},
                          "relationships": {"images": {"data": [{"type": "image", "id": f"{g['id']}-{v}"} for v in (0, 1)]}}} for g in goods],
                "included": [{"type": "image", "id": f"{g['id']}-{v}", "attributes": {"original_url": self.url(p)}}
                             for g in goods for v, p in enumerate(self.pictures(g))],
                "links": {"next": self.url(f"products?page[number]={page + 1}") if page * 10 < self.size else None}}

    def count(self, get):
        path = "products"
        while path:
            page = get(path)
            path = page["links"]["next"]
            files = {x["id"]: x["attributes"]["original_url"] for x in page["included"]}
            for x in page["data"]:
                a = x["attributes"]
                yield "products", x["id"], a["name"], minor(a["price"]), [files[l["id"]] for l in x["relationships"]["images"]["data"]]
