"""Shops in the forms of further platforms."""

import base64
import json

from shops.base import Shop, minor, shop


@shop
class MagentoQL(Shop):
    shape = "Magento by GraphQL: a page in the variables"
    listings = ["graphql"]
    query = 'query($p: Int, $s: Int) { products(search: "", currentPage: $p, pageSize: $s) { total_count items { sku } page_info { current_page } } }'
    options = ["--body", json.dumps({"query": query, "variables": {"p": 1, "s": 10}})]

    def answer(self, path, query, body):
        if path != "graphql" or not body:
            return None
        v = json.loads(body)["variables"]
        p, s = v["p"], v["s"]
        return {
            "data": {
                "products": {
                    "total_count": self.size,
                    "items": [
                        {
                            "id": g["id"],
                            "sku": f"MQ-{g['id']}",
                            "name": g["title"],
                            "url_key": g["slug"],
                            "price_range": {
                                "minimum_price": {
                                    "regular_price": {"value": g["cents"] / 100 + 5, "currency": "EUR"},
                                    "final_price": {"value": g["cents"] / 100, "currency": "EUR"},
                                }
                            },
                            "small_image": {"url": self.url(self.pictures(g)[0])},
                            "media_gallery": [{"url": self.url(p2)} for p2 in self.pictures(g)],
                            "description": {"html": "<p>%s</p>" % g["text"]},
                        }
                        for g in self.goods[(p - 1) * s : p * s]
                    ],
                    "page_info": {"current_page": p, "page_size": s, "total_pages": -(-self.size // s)},
                }
            }
        }

    def count(self, get):
        for p in (1, 2, 3):
            for x in get("graphql", {"query": self.query, "variables": {"p": p, "s": 10}})["data"]["products"]["items"]:
                yield "graphql", x["id"], x["name"], minor(str(x["price_range"]["minimum_price"]["final_price"]["value"])), [
                    m["url"] for m in x["media_gallery"]
                ]


@shop
class Shopware(Shop):
    shape = "Shopware: a page in the JSON of a POST, behind a key"
    edits = [(r"^  # (salePrice: \$\.calculatedPrice\.unitPrice)", r"  \1")]
    listings = ["store-api/product"]
    options = ["--currency", "EUR", "--body", '{"limit": 10, "page": 1}', "--header", "sw-access-key: ${SWKEY}"]
    environment = {"SWKEY": "SWSCOPE"}
    demands = {"sw-access-key": "SWSCOPE"}

    def answer(self, path, query, body):
        if path != "store-api/product":
            return None
        v = json.loads(body or b"{}")
        p, s = v.get("page", 1), v.get("limit", 10)
        return {
            "apiAlias": "dal_entity_search_result",
            "entity": "product",
            "total": self.size,
            "aggregations": [],
            "page": p,
            "limit": s,
            "elements": [
                {
                    "id": f"{g['id']:032x}",
                    "productNumber": f"SW{g['id']}",
                    "name": None,
                    "translated": {"name": g["title"], "description": g["text"]},
                    "calculatedPrice": {
                        "unitPrice": g["cents"] / 100,
                        "quantity": 1,
                        "totalPrice": g["cents"] / 100,
                        "listPrice": {"price": g["cents"] / 100 + 2, "discount": -2} if g["n"] % 2 else None,
                    },
                    "cover": {"media": {"id": "m", "url": self.url(self.pictures(g)[0]), "mimeType": "image/png"}},
                    "media": [{"position": i, "media": {"url": self.url(p), "mimeType": "image/png"}} for i, p in enumerate(self.pictures(g))],
                }
                for g in self.goods[(p - 1) * s : p * s]
            ],
        }

    def count(self, get):
        for p in (1, 2, 3):
            for x in get("store-api/product", {"limit": 10, "page": p})["elements"]:
                yield "product", x["id"], x["translated"]["name"], minor(str(x["calculatedPrice"]["unitPrice"])), [
                    m["media"]["url"] for m in x["media"]
                ]


@shop
class Etsy(Shop):
    shape = "Etsy: amount and divisor, pictures in four sizes"

    def list(self, query):
        at, many, goods = self.page(query)
        return {
            "count": self.size,
            "results": [
                {
                    "listing_id": g["id"],
                    "user_id": 1,
                    "shop_id": 2,
                    "title": g["title"],
                    "description": g["text"],
                    "state": "active",
                    "quantity": 3,
                    "url": self.url("listing/x"),
                    "num_favorers": 7,
                    "tags": g["tags"],
                    "price": {"amount": g["cents"], "divisor": 100, "currency_code": "USD"},
                    "images": [
                        {
                            "listing_id": g["id"],
                            "hex_code": "696B52",
                            "rank": i + 1,
                            "url_75x75": self.url(p.replace(".png", "-75.png")),
                            "url_170x135": self.url(p.replace(".png", "-170.png")),
                            "url_570xN": self.url(p.replace(".png", "-570.png")),
                            "url_fullxfull": self.url(p),
                            "full_height": 100,
                        }
                        for i, p in enumerate(self.pictures(g))
                    ],
                }
                for g in goods
            ],
        }

    def count(self, get):
        at = 0
        while items := get(f"list?offset={at}")["results"]:
            at += len(items)
            for x in items:
                yield "list", x["listing_id"], x["title"], x["price"]["amount"], [i["url_fullxfull"] for i in x["images"]] + [
                    x["images"][0]["url_570xN"]
                ]


@shop
class MercadoLibre(Shop):
    shape = "Mercado Libre: a search in CLP"
    listings = ["sites/MLC/search?q=taza"]

    def answer(self, path, query, body):
        if path != "sites/MLC/search":
            return None
        at, many, goods = self.page(query)
        return {
            "site_id": "MLC",
            "query": "taza",
            "paging": {"total": self.size, "primary_results": self.size, "offset": at, "limit": many},
            "results": [
                {
                    "id": f"MLC{g['id']}",
                    "title": g["title"],
                    "condition": "new",
                    "thumbnail_id": "x",
                    "currency_id": "CLP",
                    "price": g["cents"] * 10,
                    "original_price": g["cents"] * 10 + 990 if g["n"] % 2 else None,
                    "thumbnail": self.url(self.pictures(g)[0]),
                    "permalink": self.url("x"),
                    "seller": {"id": 5, "nickname": "A"},
                    "shipping": {"free_shipping": True},
                }
                for g in goods
            ],
        }

    def count(self, get):
        at = 0
        while items := get(f"sites/MLC/search?q=taza&offset={at}")["results"]:
            at += len(items)
            for x in items:
                yield "search", x["id"], x["title"], x["price"], [x["thumbnail"]]


@shop
class Saleor(Shop):
    shape = "Saleor: edges and nodes, a cursor in the variables"
    listings = ["graphql/"]
    query = 'query($first: Int!, $after: String) { products(first: $first, after: $after, channel: "default") { edges { node { id name } } pageInfo { endCursor hasNextPage } totalCount } }'
    options = ["--body", json.dumps({"query": query, "variables": {"first": 10, "after": ""}})]

    def answer(self, path, query, body):
        if path != "graphql/" or not body:
            return None
        v = json.loads(body)["variables"]
        at = int(base64.b64decode(v.get("after") or "MA==") or 0)
        n = v["first"]
        return {
            "data": {
                "products": {
                    "edges": [
                        {
                            "node": {
                                "id": base64.b64encode(b"Product:%d" % g["id"]).decode(),
                                "name": g["title"],
                                "slug": g["slug"],
                                "pricing": {
                                    "onSale": False,
                                    "priceRange": {
                                        "start": {
                                            "gross": {"amount": g["cents"] / 100, "currency": "PLN"},
                                            "net": {"amount": g["cents"] / 123, "currency": "PLN"},
                                        },
                                        "stop": {"gross": {"amount": g["cents"] / 100 + 3, "currency": "PLN"}},
                                    },
                                },
                                "thumbnail": {"url": self.url(self.pictures(g)[0])},
                                "media": [{"type": "IMAGE", "url": self.url(p)} for p in self.pictures(g)],
                            },
                            "cursor": "x",
                        }
                        for g in self.goods[at : at + n]
                    ],
                    "pageInfo": {"endCursor": base64.b64encode(b"%d" % (at + n)).decode(), "hasNextPage": at + n < self.size},
                    "totalCount": self.size,
                }
            }
        }

    def count(self, get):
        for at in (0, 10, 20):
            for e in get("graphql/", {"query": self.query, "variables": {"first": 10, "after": base64.b64encode(b"%d" % at).decode()}})["data"][
                "products"
            ]["edges"]:
                x = e["node"]
                yield "graphql", x["id"], x["name"], minor(str(x["pricing"]["priceRange"]["start"]["gross"]["amount"])), [
                    m["url"] for m in x["media"]
                ]


@shop
class Medusa(Shop):
    shape = "Medusa: calculated prices in variants"
    listings = ["store/products"]

    def answer(self, path, query, body):
        if path != "store/products":
            return None
        at, many, goods = self.page(query)
        return {
            "products": [
                {
                    "id": f"prod_{g['id']}",
                    "title": g["title"],
                    "subtitle": None,
                    "handle": g["slug"],
                    "description": g["text"],
                    "thumbnail": self.url(self.pictures(g)[0]),
                    "collection_id": "pcol",
                    "images": [{"id": "img", "url": self.url(p), "rank": i} for i, p in enumerate(self.pictures(g))],
                    "variants": [
                        {
                            "id": f"variant_{g['id']}{v}",
                            "title": v,
                            "sku": f"M{g['id']}{v}",
                            "calculated_price": {
                                "id": "pset",
                                "is_calculated_price_price_list": False,
                                "calculated_amount": g["cents"] / 100,
                                "original_amount": g["cents"] / 100,
                                "currency_code": "eur",
                            },
                        }
                        for v in "SL"
                    ],
                }
                for g in goods
            ],
            "count": self.size,
            "offset": at,
            "limit": many,
        }

    def count(self, get):
        at = 0
        while items := get(f"store/products?offset={at}")["products"]:
            at += len(items)
            for x in items:
                yield "products", x["id"], x["title"], minor(str(x["variants"][0]["calculated_price"]["calculated_amount"])), [
                    i["url"] for i in x["images"]
                ]


@shop
class Hal(Shop):
    shape = "HAL: `_embedded` and `_links`"
    options = ["--currency", "GBP"]

    def list(self, query):
        page, n = int(query.get("page", 0)), int(query.get("size", 10))
        last = -(-self.size // n) - 1
        return {
            "_embedded": {
                "products": [
                    {
                        "sku": f"HAL{g['id']}",
                        "name": g["title"],
                        "price": g["cents"] / 100,
                        "_links": {"self": {"href": self.url(f"p/{g['id']}")}, "image": {"href": self.url(self.pictures(g)[0])}},
                    }
                    for g in self.goods[page * n : page * n + n]
                ]
            },
            "_links": {"self": {"href": self.url("list")}, **({"next": {"href": self.url(f"list?page={page+1}&size={n}")}} if page < last else {})},
            "page": {"size": n, "totalElements": self.size, "totalPages": last + 1, "number": page},
        }

    def count(self, get):
        for p in (0, 1, 2):
            for x in get(f"list?page={p}")["_embedded"]["products"]:
                yield "list", x["sku"], x["name"], minor(str(x["price"])), [x["_links"]["image"]["href"]]


@shop
class Algolia(Shop):
    shape = "Algolia: pages from 0 in the JSON of a POST"
    listings = ["1/indexes/products/query"]
    options = ["--body", '{"query": "", "hitsPerPage": 10, "page": 0}', "--currency", "EUR"]

    def answer(self, path, query, body):
        if path != self.listings[0] or not body:
            return None
        v = json.loads(body)
        p, n = v["page"], v["hitsPerPage"]
        return {
            "hits": [
                {
                    "name": g["title"],
                    "description": g["text"],
                    "price": g["cents"] / 100,
                    "image": self.url(self.pictures(g)[0]),
                    "objectID": f"A{g['id']}",
                    "_highlightResult": {"name": {"value": g["title"], "matchLevel": "none", "matchedWords": []}},
                }
                for g in self.goods[p * n : p * n + n]
            ],
            "nbHits": self.size,
            "page": p,
            "nbPages": -(-self.size // n),
            "hitsPerPage": n,
            "exhaustiveNbHits": True,
            "query": "",
            "params": "x",
            "processingTimeMS": 1,
        }

    def count(self, get):
        for p in (0, 1, 2):
            for x in get(self.listings[0], {"query": "", "hitsPerPage": 10, "page": p})["hits"]:
                yield "query", x["objectID"], x["name"], minor(str(x["price"])), [x["image"]]
