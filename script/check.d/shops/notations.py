"""Shops with further forms of paging, notation and names."""

import re

from shops.base import Shop, minor, shop


@shop
class Stripe(Shop):
    shape = "Stripe: `starting_after` the last id"
    options = ["--currency", "USD"]

    def list(self, query):
        after = query.get("starting_after")
        ids = [f"prod_{g['id']}" for g in self.goods]
        at = ids.index(after) + 1 if after else 0
        n = int(query.get("limit", 10))
        return {
            "object": "list",
            "url": "/v1/products",
            "has_more": at + n < self.size,
            "data": [
                {
                    "id": f"prod_{g['id']}",
                    "object": "product",
                    "active": True,
                    "name": g["title"],
                    "description": None,
                    "images": [self.url(self.pictures(g)[0])],
                    "default_price": {"id": "price_x", "unit_amount": g["cents"], "unit_amount_decimal": str(g["cents"]), "currency": "usd"},
                    "created": 1678833149,
                    "livemode": False,
                }
                for g in self.goods[at : at + n]
            ],
        }

    def count(self, get):
        after = ""
        while True:
            page = get("list" + (f"?starting_after={after}" if after else ""))
            for x in page["data"]:
                yield "list", x["id"], x["name"], x["default_price"]["unit_amount"], x["images"]
                after = x["id"]
            if not page["has_more"]:
                return


@shop
class PagePath(Shop):
    shape = "the page in the path"
    listings = ["products/page/1"]

    def answer(self, path, query, body):
        m = re.fullmatch(r"products/page/(\d+)", path)
        if not m:
            return None
        p = int(m[1])
        return {
            "page": p,
            "pages": 3,
            "total": self.size,
            "products": [
                {"id": g["id"], "title": g["title"], "price": f"${self.money(g)} USD", "image": self.url(self.pictures(g)[0])}
                for g in self.goods[p * 8 - 8 : p * 8]
            ],
        }

    def count(self, get):
        for p in (1, 2, 3):
            for x in get(f"products/page/{p}")["products"]:
                yield "products", x["id"], x["title"], minor(x["price"][1:-4]), [x["image"]]


@shop
class Swiss(Shop):
    shape = "XML as JSON; `CHF 1'299.00`"

    def list(self, query):
        return {
            "articles": {
                "article": [
                    {
                        "@id": f"{g['id']}",
                        "name": {"#text": g["title"], "@lang": "de"},
                        "price": "CHF " + f"{g['cents']/10:,.2f}".replace(",", "’" if g["n"] % 2 else "'"),
                        "images": {"small": {"src": self.url(self.pictures(g)[0])}, "large": {"src": self.url(self.pictures(g)[1])}},
                    }
                    for g in self.goods
                ]
            }
        }

    def count(self, get):
        for x in get("list")["articles"]["article"]:
            yield "list", x["@id"], x["name"]["#text"], minor(x["price"][4:].replace("’", "").replace("'", "")), [
                x["images"]["small"]["src"],
                x["images"]["large"]["src"],
            ]


@shop
class Japan(Shop):
    shape = "Japanese names; `￥1,980（税込）`"

    def list(self, query):
        return {
            "商品一覧": [
                {
                    "商品コード": f"J{g['id']}",
                    "商品名": f"湯呑み {g['n']}",
                    "価格": f"￥{g['cents']:,}（税込）",
                    "画像": self.url(self.pictures(g)[0]),
                }
                for g in self.goods
            ]
        }

    def count(self, get):
        for x in get("list")["商品一覧"]:
            yield "list", x["商品コード"], x["商品名"], int(x["価格"][1:-4].replace(",", "")), [x["画像"]]


@shop
class Vietnam(Shop):
    shape = "`12.990 ₫` under a name of its own; pictures by number"

    def list(self, query):
        return {
            "data": {
                "list": [
                    {
                        "id": g["id"],
                        "ten": g["title"],
                        "name": g["title"],
                        "gia": f"{g['cents']*100:,}".replace(",", ".") + " ₫",
                        "images": {"1": self.url(self.pictures(g)[0]), "2": self.url(self.pictures(g)[1])},
                    }
                    for g in self.goods
                ]
            }
        }

    def count(self, get):
        for x in get("list")["data"]["list"]:
            yield "list", x["id"], x["name"], int(x["gia"][:-2].replace(".", "")), list(x["images"].values())


@shop
class Amazon(Shop):
    shape = "Amazon: titles in `DisplayValue`, pictures in sizes and variants"

    def list(self, q):
        return {
            "ItemsResult": {
                "Items": [
                    {
                        "ASIN": f"B00{g['id']}",
                        "DetailPageURL": self.url("dp/x"),
                        "Images": {
                            "Primary": {
                                "Small": {"URL": self.url(self.pictures(g)[0]), "Height": 75},
                                "Large": {"URL": self.url(self.pictures(g, 3)[1]), "Height": 500},
                            },
                            "Variants": [{"Large": {"URL": self.url(self.pictures(g, 3)[2])}}],
                        },
                        "ItemInfo": {"Title": {"DisplayValue": g["title"], "Label": "Title", "Locale": "en_US"}},
                        "Offers": {"Listings": [{"Price": {"Amount": g["cents"] / 100, "Currency": "USD", "DisplayAmount": f"${self.money(g)}"}}]},
                    }
                    for g in self.goods[:10]
                ]
            }
        }

    def count(self, get):
        for x in get("list")["ItemsResult"]["Items"]:
            yield "list", x["ASIN"], x["ItemInfo"]["Title"]["DisplayValue"], minor(str(x["Offers"]["Listings"][0]["Price"]["Amount"])), [
                x["Images"]["Primary"]["Small"]["URL"],
                x["Images"]["Variants"][0]["Large"]["URL"],
            ]


@shop
class Walmart(Shop):
    shape = "`nextPage` as a path; pictures in sizes"

    def list(self, q):
        p = int(q.get("page", 1))
        return {
            "category": "1",
            "format": "json",
            **({"nextPage": f"/walmart/list?page={p+1}"} if p < 3 else {}),
            "items": [
                {
                    "itemId": g["id"],
                    "name": g["title"],
                    "msrp": g["cents"] / 100 + 3,
                    "salePrice": g["cents"] / 100,
                    "upc": f"00{g['id']}",
                    "currency": "USD",
                    "thumbnailImage": self.url(self.pictures(g)[0]),
                    "largeImage": self.url(self.pictures(g)[1]),
                }
                for g in self.goods[p * 8 - 8 : p * 8]
            ],
        }

    def count(self, get):
        for p in (1, 2, 3):
            for x in get(f"list?page={p}")["items"]:
                yield "list", x["itemId"], x["name"], minor(str(x["salePrice"])), [x["thumbnailImage"], x["largeImage"]]


@shop
class Hybris(Shop):
    shape = "SAP Commerce: pages from 0, rooted pictures"

    def list(self, q):
        p = int(q.get("currentPage", 0))
        n = int(q.get("pageSize", 10))
        return {
            "type": "productSearchPageWsDTO",
            "products": [
                {
                    "code": str(g["id"]),
                    "name": g["title"],
                    "summary": g["text"],
                    "price": {"currencyIso": "GBP", "value": g["cents"] / 100, "priceType": "BUY", "formattedValue": f"£{self.money(g)}"},
                    "images": [
                        {"format": "thumbnail", "imageType": "PRIMARY", "url": "/hybris/" + self.pictures(g)[0]},
                        {"format": "product", "imageType": "PRIMARY", "url": "/hybris/" + self.pictures(g)[1]},
                    ],
                    "averageRating": 4.5,
                }
                for g in self.goods[p * n : p * n + n]
            ],
            "pagination": {"currentPage": p, "pageSize": n, "sort": "relevance", "totalPages": 3, "totalResults": self.size},
        }

    def count(self, get):
        for p in (0, 1, 2):
            for x in get(f"list?currentPage={p}")["products"]:
                yield "list", x["code"], x["name"], minor(str(x["price"]["value"])), [i["url"] for i in x["images"]]


@shop
class Panda(Shop):
    shape = "menus of categories of dishes"
    options = ["--currency", "SGD"]

    def list(self, q):
        return {
            "status_code": 200,
            "data": {
                "id": 3,
                "name": "Kiln Cafe",
                "menus": [
                    {
                        "id": 1,
                        "name": "Daily",
                        "menu_categories": [
                            {
                                "id": 70 + i,
                                "name": group.title(),
                                "products": [
                                    {
                                        "id": g["id"],
                                        "name": g["title"],
                                        "description": g["text"],
                                        "file_path": self.url(self.pictures(g)[0]),
                                        "product_variations": [{"id": 1, "price": g["cents"] / 100, "price_before_discount": None}],
                                        "images": [{"image_url": self.url(self.pictures(g)[0])}],
                                    }
                                    for g in self.goods
                                    if g["group"] == group
                                ],
                            }
                            for i, group in enumerate(("cups", "bowls", "trays"))
                        ],
                    }
                ],
            },
        }

    def count(self, get):
        for c in get("list")["data"]["menus"][0]["menu_categories"]:
            for x in c["products"]:
                yield str(c["id"]), x["id"], x["name"], minor(str(x["product_variations"][0]["price"])), [x["file_path"]]
