import Testing

@testable import Catalog

/// How a proposal recognises fields by their values, and which choices it leaves to the user.
struct ProposalEvidenceTests {
  /// An item template in which NUMBER is 0, 1, … and EVEN a value that only even items have.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let item: String
    /// Lines that the file must contain, without their comments.
    var lines: [String] = []
    /// Texts that no key of the file may contain.
    var absent: [String] = []
    /// The uncertain keys, besides the currency and the items, which few fields make uncertain.
    var unsure: [String] = []
  }

  static let cases: [Case] = [
    Case(
      testDescription: "a number that changes from day to day is no id",
      item: #""Name": "Buds NUMBER", "Number of Raters": "(34NUMBER)", "Price": 9.5"#,
      lines: ["  id: $.Name", "  title: $.Name"],
      absent: ["Raters"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "the code of a group is no sure id",
      item: #""ItemGroupCode": "G-NUMBER", "name": "Stay NUMBER", "price": 9.5"#,
      unsure: ["id"]
    ),
    Case(
      testDescription: "a title written for search engines is not sure",
      item:
        #""id": "rNUMBER", "vendor": "Soft", "Product SEO Title": "Buy Mask Large NUMBER here, free shipping", "price": 9.5"#,
      unsure: ["title"]
    ),
    Case(
      testDescription: "a number that a title calls ten thousands is no clear price",
      item: #""id": NUMBER, "name": "海信凤凰 14NUMBER万精装", "price": 14NUMBER.0"#,
      lines: ["  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a length beside the same number says nothing about the price",
      item:
        #""id": NUMBER, "name": "Rope 14NUMBER m", "price": 14NUMBER.5, "note": "14NUMBER.5 mm""#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription:
        "of prices that are 0 in most items, nobody knows whether these items are free",
      item: #""id": NUMBER, "name": "N NUMBER", "price": [0, 0, 0, 12][NUMBER]"#,
      lines: ["  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a few amounts called discount can be the amounts off",
      item:
        #""id": NUMBER, "title": "Mint NUMBER", "pricing": {"price": 6NUMBER, "discount": [5, null][NUMBER]}"#,
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a host of pictures can have a folder for each product",
      item:
        #""id": NUMBER, "name": "Guitar NUMBER", "price": 9.5, "image": "https://shop.cdn.example/product/NUMBER?w=300""#,
      lines: ["    thumbnail: $.image"]
    ),
    Case(
      testDescription: "the pages of items are no pictures, whatever their column is called",
      item:
        #""id": NUMBER, "name": "Guitar NUMBER", "price": 9.5, "img_url": "https://www.shop.example/Guitar-NUMBER/dp/B0NUMBER/ref=sr_1?keywords=guitar""#,
      unsure: ["thumbnail"]
    ),
    Case(
      testDescription: "a portrait of the person to ask is not the best guess",
      item:
        #""id": NUMBER, "name": "N NUMBER", "helper": {"name": "Jo", "portrait_image": "https://c.example/pNUMBER.jpg"}, "shots": {"photo": "https://c.example/NUMBER.jpg"}"#,
      unsure: ["thumbnail", "gallery"]
    ),
    Case(
      testDescription: "the name of a file alone may not lead to the picture",
      item: #""id": NUMBER, "name": "N NUMBER", "photo": {"filename": "NUMBER.jpg"}"#,
      unsure: ["thumbnail"]
    ),
    Case(
      testDescription: "an address with a gap to fill is no picture yet",
      item:
        #""id": NUMBER, "name": "N NUMBER", "imageUrl": "https://c.example/<size>/NUMBER.jpg""#,
      unsure: ["thumbnail"]
    ),
    Case(
      testDescription: "a bid that counts from one is the number of a thing, and no price",
      item: #""bid": "NUMBER", "name": "Cup NUMBER", "image": "https://c.example/NUMBER.jpg""#,
      absent: ["salePrice"],
      unsure: ["id", "salePrice"]
    ),
    Case(
      testDescription: "a bid with other numbers is a price",
      item: #""id": NUMBER, "name": "Cup NUMBER", "bid": "9.5NUMBER""#,
      lines: ["  salePrice: $.bid"]
    ),
    Case(
      testDescription: "prices that count from one are asked about",
      item: #""id": "cNUMBER", "name": "Cup NUMBER", "price": NUMBER"#,
      lines: ["  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "an address with a message in it is neither a title nor prose",
      item:
        #""id": NUMBER, "name": "House NUMBER", "chat": "https://chat.example/55?text=Hello! Do you still have house NUMBER for rent""#,
      absent: ["$.chat"]
    ),
    Case(
      testDescription: "all amounts that can be the price are shown",
      item: #""id": NUMBER, "name": "Drill NUMBER", "b": 118.0NUMBER, "s": 135.8NUMBER"#,
      lines: ["  # salePrice: $.b", "  # salePrice: $.s"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "whole numbers in a language of large amounts are no cents",
      item: #""id": NUMBER, "name": "Синяя чашка NUMBER", "price": NUMBER990"#,
      lines: ["currency: RUB", "  salePrice: $.price"]
    ),
    Case(
      testDescription: "large round numbers in such a language can be cents",
      item: #""id": NUMBER, "name": "Синяя чашка NUMBER", "price": NUMBER99000"#,
      lines: ["  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "an unknown place is at zero degrees",
      item: #""id": NUMBER, "name": "N NUMBER", "latitude": 0, "longitude": 0"#,
      absent: ["latitude", "longitude"]
    ),
    Case(
      testDescription: "a title may be a number, and is no author",
      item:
        #""id": "bNUMBER", "title": [1984, "Red Lamp", "Blue Lamp"][NUMBER], "author": "Maker NUMBER""#,
      lines: ["  title: $.title"]
    ),
    Case(
      testDescription: "whole units and thousand millionths are one amount",
      item:
        #""id": "aNUMBER", "name": "L NUMBER", "priceUsd": {"currencyCode": "USD", "units": 1NUMBER, "nanos": 990000000}"#,
      lines: ["  salePrice: {units: $.priceUsd.units, nanos: $.priceUsd.nanos}"]
    ),
    Case(
      testDescription: "what is free costs nothing, whatever it cost before",
      item:
        #""id": NUMBER, "name": "N NUMBER", "price": {"amount": "0.0"}, "compareAtPrice": {"amount": "5.0"}"#,
      lines: ["  salePrice: $.price.amount", "  normalPrice: $.compareAtPrice.amount"]
    ),
    Case(
      testDescription: "a title that all differ in is an id, and is said",
      item: #""name": "Tin of beans NUMBER", "price": 4.5"#,
      lines: ["  id: $.name", "  title: $.name"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "a title that differs more than an unsure id stands in for it",
      item:
        #""edition": {"code": ["DDK", "THS", "THS", "THS"][NUMBER]}, "name": "Card NUMBER", "price": 4.5"#,
      lines: ["  id: $.name", "  title: $.name"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "a cover without an ending is a picture",
      item:
        #""codigo": "0NUMBER", "titulo": "Livro NUMBER", "capa": "https://p.example/200x300?text=NUMBER""#,
      lines: ["    thumbnail: $.capa"]
    ),
    Case(
      testDescription: "a weight is no price",
      item:
        #""id": NUMBER, "name": "Ale NUMBER", "malt": [{"amount": {"value": 5.NUMBER, "unit": "kilograms"}}]"#
    ),
    Case(
      testDescription: "a list price beside what may be a cost is asked about",
      item: #""id": NUMBER, "name": "Desk NUMBER", "list_price": 99.9, "standard_price": 41.0"#,
      lines: ["  # salePrice: $.standard_price", "  # salePrice: $.list_price"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a list price beside another number may be what is paid",
      item: #""id": NUMBER, "name": "Desk NUMBER", "list_price": 99.9, "ours": 81.5"#,
      lines: ["  # salePrice: $.list_price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription:
        "a recommended price beside another number of a variant may be what is paid",
      item:
        #""id": NUMBER, "name": "Shirt NUMBER", "variants": [{"msrp_price": "25.50", "ours": "19.9NUMBER"}]"#,
      lines: ["  # salePrice: \"$.variants[0].msrp_price\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a file's name is no larger picture",
      item:
        #""id": NUMBER, "title": "W NUMBER", "filename": "NUMBER.jpg", "links": {"thumb": "https://i.example/tNUMBER.jpg", "download": "https://i.example/NUMBER.jpg"}"#,
      lines: ["    thumbnail: $.links.thumb", "    gallery: $.links.download"]
    ),
    Case(
      testDescription: "an old price alone may not be what is paid",
      item: #""id": NUMBER, "name": "Desk NUMBER", "old_price": 99.9"#,
      lines: ["  # salePrice: $.old_price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a number that nothing calls a price is asked about, and a rating is not",
      item: #""id": NUMBER, "name": "Desk NUMBER", "figure": 99.5NUMBER, "rating": 4.5"#,
      lines: ["  # salePrice: $.figure"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "words that are written together are apart",
      item:
        #""id": NUMBER, "titel": "Tasse NUMBER", "einkaufspreis": 3.5, "verkaufspreis": 7.5, "streichpreis": 9.5, "vorschaubild": "/NUMBER.jpg", "hauptbild": "/gNUMBER.jpg""#,
      lines: [
        "  salePrice: $.verkaufspreis", "  normalPrice: $.streichpreis",
        "    gallery: $.hauptbild",
      ]
    ),
    Case(
      testDescription: "a price with its tax goes before one without",
      item: #""id": NUMBER, "name": "Soap NUMBER", "preis": {"netto": 10.5, "brutto": 11.9}"#,
      lines: ["  salePrice: $.preis.brutto"]
    ),
    Case(
      testDescription: "the number of a price list is no price",
      item:
        #""id": NUMBER, "name": "Screw NUMBER", "Prices": [{"PriceList": 1, "Price": 0.4NUMBER}], "priceNow": 0.3NUMBER"#,
      lines: ["  # salePrice: $.priceNow"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a purchase price in any language is none",
      item:
        #""id": NUMBER, "name": "Bol NUMBER", "prix_achat_ht": 4.5, "prix_ttc": 12.5, "prix_barre": 15.5"#,
      lines: ["  salePrice: $.prix_ttc", "  normalPrice: $.prix_barre"]
    ),
    Case(
      testDescription: "a maker is no id, and an object's number is no counter",
      item:
        #""maker": "Maker-NUMBER", "objectNumber": "19.NUMBER", "objectTitle": "Study no. NUMBER""#,
      lines: ["  id: $.objectNumber", "  title: $.objectTitle"]
    ),
    Case(
      testDescription: "a code is an id, and a count of the items is none",
      item: #""no": NUMBER, "itemcode": "XNUMBER", "name": "Pan NUMBER""#,
      lines: ["  id: $.itemcode"]
    ),
    Case(
      testDescription: "an id may be called by its kind behind it",
      item: #""id_articolo": "ITNUMBER", "titolo": "Borsa NUMBER""#,
      lines: ["  id: $.id_articolo", "  title: $.titolo"]
    ),
    Case(
      testDescription: "names that tell pixels are compared by them",
      item:
        #""id": NUMBER, "name": "P NUMBER", "thumb_50": "/a/NUMBER.jpg", "thumb_200": "/b/NUMBER.jpg""#,
      lines: ["    thumbnail: $.thumb_50", "    gallery: $.thumb_200"]
    ),
    Case(
      testDescription: "addresses that tell pixels are compared by them",
      item:
        #""id": NUMBER, "name": "P NUMBER", "image": "/NUMBER_w80.jpg", "picture": "/NUMBER_w1200.jpg""#,
      lines: ["    thumbnail: $.image", "    gallery: $.picture"]
    ),
    Case(
      testDescription: "a gallery of small pictures gives way to a large one",
      item:
        #""id": NUMBER, "name": "D NUMBER", "photo": {"url": "/NUMBER.jpg", "full_size_url": "/NUMBERf.jpg", "thumbnails": [{"url": "/NUMBERs.jpg"}]}"#,
      lines: ["    thumbnail: $.photo.url", "    gallery: $.photo.full_size_url"]
    ),
    Case(
      testDescription: "of numbered pictures the first is the best guess, and a video is none",
      item:
        #""id": NUMBER, "name": "S NUMBER", "video_thumb": "/vNUMBER.jpg", "img1": "/aNUMBER.jpg", "img2": "/bNUMBER.jpg""#,
      unsure: ["thumbnail", "gallery"]
    ),
    Case(
      testDescription: "a price that once was paid for it is none",
      item:
        #""id": NUMBER, "name": "Ape NUMBER", "last_sale": {"price": "1.25"}, "listing": {"price": "2.NUMBER"}"#,
      lines: ["  salePrice: $.listing.price"]
    ),
    Case(
      testDescription: "a colour is no picture of a coat",
      item:
        #""id": NUMBER, "name": "C NUMBER", "swatch": "/sNUMBER.png", "assets": [{"uri": "/NUMBER.jpg"}]"#,
      lines: ["    thumbnail: \"$.assets[0].uri\""]
    ),
    Case(
      testDescription: "a promotional price goes first",
      item:
        #""id": NUMBER, "name": "Shirt NUMBER", "price": "129.90", "promotional_price": ["99.90", null][NUMBER]"#,
      lines: ["  salePrice: [$.promotional_price, $.price]", "  normalPrice: $.price"]
    ),
    Case(
      testDescription: "a sale price of 0 for some is none",
      item:
        #""id": NUMBER, "name": "T NUMBER", "price": {"amount": 10.5}, "sale_price": {"amount": [9, 0][NUMBER]}"#,
      lines: ["  salePrice: [{path: $.sale_price.amount, none: 0}, $.price.amount]"]
    ),
    Case(
      testDescription: "a code is no price of items without a sale price",
      item:
        #""id": NUMBER, "name": "T NUMBER", "priceGroup": "00", "prices": {"base": {"value": 19.5NUMBER}, "promo": [{"value": 9.5}, null][NUMBER]}"#,
      lines: [
        "  salePrice: [$.prices.promo.value, $.prices.base.value]",
        "  normalPrice: $.prices.base.value",
      ]
    ),
    Case(
      testDescription: "the price of a customer level is not for all",
      item:
        #""id": NUMBER, "name": "T NUMBER", "PriceLevel1": 14.5NUMBER, "SKUInfo": {"Price": 19.5NUMBER, "SalePrice": [9.5, 0][NUMBER]}"#,
      lines: ["  salePrice: [{path: $.SKUInfo.SalePrice, none: 0}, $.SKUInfo.Price]"]
    ),
    Case(
      testDescription:
        "a recommended price is no price of items without a sale price, and a standard price may be one",
      item:
        #""id": NUMBER, "name": "T NUMBER", "pricing": {"standardPrice": {"amount": 19.5NUMBER}, "msrp": {"amount": 24.5NUMBER}, "sale": [{"salePrice": {"amount": 9.5}}, null][NUMBER]}"#,
      lines: [
        "  # salePrice: [$.pricing.sale.salePrice.amount, $.pricing.standardPrice.amount]",
        "  normalPrice: $.pricing.msrp.amount",
      ],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a price for a quantity beside it is none",
      item:
        #""id": NUMBER, "name": "Cheese NUMBER", "pricing": {"basePrice": 31.5NUMBER, "refQuantity": 1, "baseQuantityUnit": "kg", "currentRetailPrice": 9.5NUMBER}"#,
      lines: ["  salePrice: $.pricing.currentRetailPrice"]
    ),
    Case(
      testDescription: "items without a promotion have the regular price",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "price": {"regular": 9.5NUMBER, "promo": [7.5, 0][NUMBER]}"#,
      lines: [
        "  salePrice: [{path: $.price.promo, none: 0}, $.price.regular]",
        "  normalPrice: $.price.regular",
      ]
    ),
    Case(
      testDescription: "a reference price is asked about, and is none if it is 0",
      item:
        #""id": NUMBER, "name": "T NUMBER", "offer": {"details": {"ReferencePrice": ["12.50", "0.00"][NUMBER]}, "SalePrice": "9.5NUMBER"}"#,
      lines: [
        "  salePrice: $.offer.SalePrice",
        "  # normalPrice: {path: $.offer.details.ReferencePrice, none: 0}",
      ],
      unsure: ["normalPrice"]
    ),
    Case(
      testDescription: "a price of 0 in all items is none",
      item:
        #""id": NUMBER, "name": "Lamp NUMBER", "calculatedPrice": 0, "posPrice": 9.5NUMBER"#,
      lines: ["  salePrice: $.posPrice"]
    ),
    Case(
      testDescription: "a lower price by an unknown name may not be for all",
      item:
        #""id": NUMBER, "name": "Lamp NUMBER", "appPrice": ["9.5NUMBER", "8.5NUMBER"][NUMBER], "price": "9.5NUMBER""#,
      lines: ["  # salePrice: $.appPrice"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "the amount of a discount may be a reduced price",
      item:
        #""id": NUMBER, "name": "Lamp NUMBER", "price": {"amount": 19.5NUMBER, "discount": 2.5NUMBER}"#,
      lines: ["  # salePrice: $.price.amount"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "of two prices, the one that is never lower may be from before",
      item:
        #""id": NUMBER, "name": "Game NUMBER", "price": {"base": ["9.5NUMBER", "12.5NUMBER"][NUMBER], "final": "9.5NUMBER"}"#,
      lines: ["  # salePrice: $.price.final", "  # normalPrice: $.price.base"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a price that only some have, and that is never higher, is the best guess",
      item:
        #""id": NUMBER, "name": "Shirt NUMBER", "price": {"value": 19.5NUMBER}, "redPrice": [{"value": 9.5}, null][NUMBER]"#,
      lines: [
        "  # salePrice: [$.redPrice.value, $.price.value]", "  # normalPrice: $.price.value",
      ],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a price in another notation is no price before a reduction",
      item:
        #""id": NUMBER, "name": "Bin NUMBER", "price": {"current_retail": 9.5NUMBER, "reg_retail": 12.5NUMBER, "formatted_current_price": "$9.5NUMBER"}"#,
      lines: [
        "  salePrice: $.price.formatted_current_price",
        "  normalPrice: $.price.reg_retail",
      ]
    ),
    Case(
      testDescription: "a price without a rebate was before it",
      item:
        #""id": NUMBER, "name": "Lamp NUMBER", "price": 9.5NUMBER, "priceWithoutRebate": 12.5NUMBER, "totalPrice": 14.4NUMBER"#,
      lines: ["  salePrice: $.price", "  normalPrice: $.priceWithoutRebate"]
    ),
    Case(
      testDescription: "words may follow those that compare",
      item:
        #""id": NUMBER, "name": "Mug NUMBER", "prices": [{"amount_float": 9.5NUMBER, "compare_at_amount_float": 12.5NUMBER}]"#,
      lines: [
        "  salePrice: \"$.prices[0].amount_float\"",
        "  normalPrice: \"$.prices[0].compare_at_amount_float\"",
      ]
    ),
    Case(
      testDescription: "an amount without tax is none beside one with it",
      item:
        #""id": NUMBER, "name": "Van NUMBER", "price": {"netAmount": 8.5NUMBER, "grossAmount": 10.1NUMBER}"#,
      lines: ["  salePrice: $.price.grossAmount"]
    ),
    Case(
      testDescription: "the price of a supplier is none",
      item:
        #""id": NUMBER, "name": "Shirt NUMBER", "supply_price": "5.5NUMBER", "price": "9.5NUMBER", "retail_price": ["0.00", "12.50"][NUMBER]"#,
      lines: ["  salePrice: $.price", "  normalPrice: {path: $.retail_price, none: 0}"]
    ),
    Case(
      testDescription: "the price of an item goes before those of its parts",
      item:
        #""id": NUMBER, "name": "Shoe NUMBER", "price": {"currentPrice": 9.5NUMBER}, "colorways": [{"price": {"currentPrice": 7.5NUMBER}}]"#,
      lines: ["  salePrice: $.price.currentPrice"]
    ),
    Case(
      testDescription: "a price in a second currency is asked about",
      item:
        #""id": NUMBER, "name": "Phone NUMBER", "prices": {"priceEuro": 9.9NUMBER, "price": 999.5NUMBER}"#,
      lines: ["  # salePrice: $.prices.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a price after a reduction and a cost are known in Arabic",
      item:
        #""id": NUMBER, "name": "N NUMBER", "السعر": 19.5NUMBER, "السعر_بعد_الخصم": [9.5, null][NUMBER], "سعر_التكلفة": 4.5NUMBER"#,
      lines: ["  salePrice: [$.السعر_بعد_الخصم, $.السعر]", "  normalPrice: $.السعر"]
    ),
    Case(
      testDescription: "a currency may be an object",
      item:
        #""id": NUMBER, "name": "T NUMBER", "price": {"value": 9.5NUMBER, "currency": {"symbol": "S$", "code": "SGD"}}"#,
      lines: ["currency: SGD", "  salePrice: $.price.value"]
    ),
    Case(
      testDescription: "a currency may be called by its price",
      item:
        #""id": NUMBER, "name": "T NUMBER", "bonus_currency": "EUR", "sale_price": "99.5NUMBER", "sale_price_currency": "CNY""#,
      lines: ["currency: CNY", "  salePrice: $.sale_price"]
    ),
    Case(
      testDescription: "a currency has a name",
      item:
        #""id": NUMBER, "name": "T NUMBER", "price": {"priceAmount": "9.5NUMBER", "currencyName": "GBP"}"#,
      lines: ["currency: GBP", "  salePrice: $.price.priceAmount"]
    ),
    Case(
      testDescription: "a price that is written with its sign names the currency",
      item:
        #""id": NUMBER, "name": "T NUMBER", "price": "9.5NUMBER", "formatted_price": "€9.5NUMBER""#,
      lines: ["currency: EUR", "  salePrice: $.price"]
    ),
    Case(
      testDescription: "a price that is called undiscounted is the price before a reduction",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "grossPrice": "9.5NUMBER", "discount": [{"undiscountedGrossPrice": "12.50"}, null][NUMBER]"#,
      lines: ["  salePrice: $.grossPrice", "  normalPrice: $.discount.undiscountedGrossPrice"]
    ),
    Case(
      testDescription:
        "a reduced price that is above the price wherever both exist is asked about",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "price": 9.5NUMBER, "promo_price": [12.5, null][NUMBER]"#,
      lines: ["  # salePrice: [$.promo_price, $.price]"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a price with decimals goes before the same in cents",
      item:
        #""id": NUMBER, "name": "Pan NUMBER", "price": {"value": 564NUMBER, "currency": "EUR", "text": "56,4NUMBER €", "msrp": [7626, null][NUMBER]}"#,
      lines: [
        "  salePrice: $.price.text",
        "  # normalPrice: {path: $.price.msrp, minorUnits: true}",
      ],
      unsure: ["normalPrice"]
    ),
    Case(
      testDescription: "a maximum retail price is not the best guess beside a selling price",
      item:
        #""id": NUMBER, "name": "Rice NUMBER", "pricing": {"discount": {"mrp": "76.50", "prim_price": {"sp": "56.NUMBER0", "base_price": "5.NUMBER0", "base_unit": "g"}}}"#,
      lines: [
        "  # salePrice: $.pricing.discount.prim_price.sp", "  normalPrice: $.pricing.discount.mrp",
      ],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription:
        "a maximum retail price may not be paid beside a lower number that all items have",
      item:
        #""id": NUMBER, "name": "Rice NUMBER", "mrp": 99, "ours": 7NUMBER"#,
      lines: ["  # salePrice: $.mrp", "  # salePrice: $.ours"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "the first price of a list may be of another kind in the next item",
      item:
        #""id": NUMBER, "name": "Lamp NUMBER", "prices": [{"type": ["cardPrice", "webPrice"][NUMBER], "price": "5NUMBER.90"}, {"type": "usual", "price": "77.90"}]"#,
      lines: ["  # salePrice: \"$.prices[0].price\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "items without a bonus may have the price before it",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "currentPrice": [7.06, null][NUMBER], "priceBeforeBonus": 9.5NUMBER"#,
      lines: [
        "  # salePrice: [$.currentPrice, $.priceBeforeBonus]", "  normalPrice: $.priceBeforeBonus",
      ],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a price that most items lack is asked about",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "currentPrice": [7.06, null, null][NUMBER]"#,
      lines: ["  # salePrice: $.currentPrice"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "whole amounts of several currencies may be cents",
      item:
        #""id": NUMBER, "name": "Song NUMBER", "price": {"amount": NUMBER64, "currency": ["USD", "GBP"][NUMBER]}"#,
      lines: ["  # salePrice: {path: $.price.amount, currency: $.price.currency}"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "one price below 100 does not show that the others are no cents",
      item:
        #""id": NUMBER, "name": "Song NUMBER", "price": [99, 1999, 2499, 3950, 4999, 1299][NUMBER]"#,
      lines: ["  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "whole prices below 100 are no cents",
      item:
        #""id": NUMBER, "name": "Soup NUMBER", "price": [3, 12, 45][NUMBER]"#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a price of 0 in all items is not the price to pay",
      item:
        #""id": NUMBER, "title": "Book NUMBER", "price": "0.00""#,
      lines: ["  # salePrice: nothing looks like a price; write its path here"]
    ),
    Case(
      testDescription: "of a list price and a retail price, either may be the price to pay",
      item:
        #""id": NUMBER, "title": "Book NUMBER", "info": {"listPrice": {"amount": 12.5NUMBER}, "retailPrice": {"amount": 9.5NUMBER}}"#,
      lines: [
        "  # salePrice: $.info.listPrice.amount", "  # salePrice: $.info.retailPrice.amount",
      ],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a rate a day is a price",
      item:
        #""id": NUMBER, "name": "Inn NUMBER", "dailyRate": 56.4NUMBER, "crossedOutRate": [76.5, 0.0][NUMBER]"#,
      lines: ["  salePrice: $.dailyRate", "  normalPrice: {path: $.crossedOutRate, none: 0}"]
    ),
    Case(
      testDescription: "a German abbreviation means a price",
      item:
        #""id": NUMBER, "name": "Pan NUMBER", "Brutto-VK": "56,4NUMBER", "Netto-VK": "47,4NUMBER", "UVP": ["76,26", null][NUMBER]"#,
      lines: ["  salePrice: \"$['Brutto-VK']\"", "  normalPrice: $.UVP"]
    ),
    Case(
      testDescription: "a price that is written for people is the best guess",
      item:
        #""id": NUMBER, "name": "Pan NUMBER", "pretty_price": "R 56NUMBER", "listing_price": [760, null][NUMBER]"#,
      lines: ["  # salePrice: $.pretty_price", "  # normalPrice: $.listing_price"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a price to compare by is not paid",
      item:
        #""id": NUMBER, "name": "Wine NUMBER", "price": 116.4NUMBER, "comparisonPrice": 155.3NUMBER"#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a price by the unit is asked about",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "info": {"unit_price": "5.6NUMBER", "reference_price": "14.12", "reference_format": "L", "previous_unit_price": ["7.63", null][NUMBER]}"#,
      lines: ["  # salePrice: $.info.unit_price", "  # normalPrice: $.info.previous_unit_price"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "the largest picture of a kind is somewhere",
      item:
        #""id": NUMBER, "name": "V NUMBER", "media": [{"thumbnail": {"url": "/sNUMBER.jpg"}, "image": {"url": "/lNUMBER.jpg"}}]"#,
      lines: ["    gallery: \"$.media[*].image.url\""]
    ),
    Case(
      testDescription: "a photographer is no title",
      item:
        #""id": "uNUMBER", "description": "A view NUMBER", "user": {"name": "P NUMBER"}, "urls": {"thumb": "/NUMBER?w=2", "full": "/NUMBER?w=4"}"#,
      lines: [
        "  title: $.description", "    thumbnail: $.urls.thumb", "    gallery: $.urls.full",
      ],
      unsure: ["title"]
    ),
    Case(
      testDescription: "of a name and a title the one is an epithet",
      item: #""id": NUMBER, "name": "Hero NUMBER", "title": "the Brave NUMBER""#,
      lines: ["  title: $.name", "  # title: $.title"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a price that no first variant has is not read from it",
      item:
        #""id": NUMBER, "name": "B NUMBER", "variants": [{"price": 5.5}, {"price": 5.5, "compare_at_price": 6.5}]"#,
      lines: ["  salePrice: \"$.variants[0].price\""]
    ),
    Case(
      testDescription: "a placeholder is not a picture",
      item: #""imdbID": "ttNUMBER", "Title": "Film NUMBER", "Poster": ["/a.jpg", "N/A"][NUMBER]"#,
      lines: ["none: [\"N/A\"]", "  id: $.imdbID", "    thumbnail: $.Poster"]
    ),
    Case(
      testDescription: "entities are undone",
      item:
        #""id": NUMBER, "title": "A pot &amp; more NUMBER", "image": "/NUMBER.jpg?a=b&amp;s=c""#,
      lines: ["text: html"]
    ),
    Case(
      testDescription: "descriptions with tags are texts in HTML",
      item:
        #""id": NUMBER, "title": "Cup NUMBER", "price": 9.5, "body_html": "<p>A cup.<BR/>Made by hand</p> NUMBER""#,
      lines: ["text: html", "  description: $.body_html"]
    ),
    Case(
      testDescription: "a description with a sign of inequality is plain",
      item:
        #""id": NUMBER, "title": "Cup NUMBER", "price": 9.5, "description": "Height < 9 cm, width > NUMBER cm""#,
      lines: ["  description: $.description"],
      absent: ["html"]
    ),
    Case(
      testDescription:
        "a text with the currency beside a whole number says that it counts no cents",
      item:
        #""id": "fNUMBER", "title": "Flat NUMBER", "price": 16490NUMBER, "price_text": "164 90NUMBER €""#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a text with another amount says nothing about the unit",
      item:
        #""id": "fNUMBER", "title": "Flat NUMBER", "price": 16490NUMBER, "note": "19 90NUMBER €""#,
      absent: ["salePrice"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "an id can have spaces",
      item: #""card_id": "B1 #NUMBER", "name": "Fox NUMBER", "price": 9.5"#,
      lines: ["  id: $.card_id", "  title: $.name"]
    ),
    Case(
      testDescription: "an object written as a text is no address",
      item:
        #""id": NUMBER, "name": "Car NUMBER", "price": 9.5, "address": "{addr1: 'Road NUMBER', city: 'Town'}""#,
      absent: ["address"]
    ),
    Case(
      testDescription: "a location is no title",
      item:
        #""id": NUMBER, "location": "Great Falls NUMBER, United States", "note": "Blue shorts NUMBER #athletic", "price": 9.5"#,
      absent: ["$.location"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a path from the folder above is no title",
      item:
        #""id": NUMBER, "type": "man", "name": "axe", "img": ["../uploads/", "../uploads/a.PNG", "../uploads/b"][NUMBER], "price": 9.5"#,
      lines: ["  title: $.name"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "objects of lists of one are the item's own",
      item:
        #""data": [{"nasa_id": "PNUMBER", "title": "View NUMBER"}], "links": [{"href": "/NUMBER.jpg"}]"#,
      lines: ["items: $.goods", "  id: \"$.data[0].nasa_id\"", "    gallery: \"$.links[*].href\""]
    ),
    Case(
      testDescription: "an agent is no picture of a house",
      item:
        #""id": "hNUMBER", "name": "Flat NUMBER", "agent": {"photo": "/aNUMBER.jpg"}, "photos": [{"url": "/NUMBER.jpg"}]"#,
      lines: ["    thumbnail: \"$.photos[0].url\""]
    ),
    Case(
      testDescription: "what is paid has its tax in it",
      item:
        #""id": NUMBER, "name": "Lamp NUMBER", "priceExclTax": 10.NUMBER, "priceInclTax": 12.NUMBER"#,
      lines: ["  salePrice: $.priceInclTax"]
    ),
    Case(
      testDescription: "a price by the kilogram is none",
      item:
        #""id": NUMBER, "name": "Apple NUMBER", "unitPrice": {"price": 5.5}, "price": 2.NUMBER"#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a coupon is not for all",
      item:
        #""id": NUMBER, "name": "Shoe NUMBER", "salePrice": 59.5, "listPrice": 79.5, "couponPrice": 50.5"#,
      lines: ["  salePrice: $.salePrice", "  normalPrice: $.listPrice"]
    ),
    Case(
      testDescription:
        "those who sing are not the songs, though a name inside an object is a guess",
      item:
        #""track": {"id": "tNUMBER", "name": "Song NUMBER", "artists": [{"id": "aNUMBER", "name": "Singer NUMBER"}]}"#,
      lines: ["items: $.goods", "  title: $.track.name"],
      unsure: ["id", "title"]
    ),
    Case(
      testDescription: "what may be cents is asked about",
      item: #""id": NUMBER, "name": "C NUMBER", "price": NUMBER999"#,
      lines: ["  # salePrice: $.price", "  # salePrice: {path: $.price, minorUnits: true}"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "an amount in a code that is no currency is asked about",
      item:
        #""id": NUMBER, "name": "Ape NUMBER", "price": {"amount": "0.5NUMBER", "currency": "ETH"}"#,
      lines: ["  # salePrice: $.price.amount"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "the address of a page is no picture",
      item:
        #""id": NUMBER, "name": "N NUMBER", "thumb": "https://c.example/NUMBER_120.jpg", "share_url": "https://s.example/p/NUMBER""#,
      lines: ["    thumbnail: $.thumb"],
      absent: ["share_url"]
    ),
    Case(
      testDescription: "of pictures in several sizes, an icon of 30 pixels is no thumbnail",
      item:
        #""id": NUMBER, "name": "N NUMBER", "artworkUrl30": "https://c.example/NUMBER/30.jpg", "artworkUrl60": "https://c.example/NUMBER/60.jpg", "artworkUrl100": "https://c.example/NUMBER/100.jpg", "artistViewUrl": "https://s.example/a/NUMBER""#,
      lines: ["    thumbnail: $.artworkUrl100"],
      absent: ["artistViewUrl"]
    ),
    Case(
      testDescription: "a host beside a path makes an address of it",
      item:
        #""id": NUMBER, "name": "N NUMBER", "imgPath": "/u/NUMBER.jpg", "imgHost": "https://image.example""#,
      lines: ["    thumbnail: {path: $.imgPath, template: \"https://image.example{value}\"}"],
      absent: ["$.imgHost"]
    ),
    Case(
      testDescription: "half of an address is no picture",
      item:
        #""id": NUMBER, "name": "N NUMBER", "photos": [{"prefix": "https://p.example/img/", "suffix": "/NUMBER.jpg"}]"#,
      lines: ["  # images: {thumbnail: nothing looks like a picture; write its path here}"]
    ),
    Case(
      testDescription: "of pictures and videos in one list, the pictures are taken",
      item:
        #""id": NUMBER, "name": "N NUMBER", "media": [{"type": "video", "url": "https://c.example/NUMBER.mp4"}, {"type": "image", "url": "https://c.example/NUMBER.jpg"}]"#,
      lines: ["    thumbnail: \"$.media[?@.type == 'image'].url\""]
    ),
    Case(
      testDescription: "an id that items with different titles share is none",
      item:
        #""sku": ["S1", "S1", "S2", "S2", "S3", "S3"][NUMBER], "no": "x-NUMBER", "title": "T NUMBER""#,
      lines: ["  id: $.no"],
      absent: ["  id: $.sku"]
    ),
    Case(
      testDescription: "a number that is no amount of the currency is left to the user",
      item:
        #""id": NUMBER, "name": "N NUMBER", "current_price": "NUMBER50000000000000000.0000""#,
      lines: ["  # salePrice: $.current_price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "whole numbers that no price in whole units has may be cents",
      item: #""id": NUMBER, "name": "N NUMBER", "price": 85NUMBER2, "currency": "USD""#,
      lines: ["  # salePrice: {path: $.price, minorUnits: true}"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a price that grew by a hundred thousand is doubted",
      item: #""id": NUMBER, "name": "N NUMBER", "price": 8NUMBER00000, "currency": "SGD""#,
      lines: ["  # salePrice: $.price", "  # salePrice: {path: $.price, divisor: 100000}"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a maximum retail price is the price before a reduction",
      item:
        #""id": NUMBER, "name": "N NUMBER", "maximumRetailPrice": {"amount": 2NUMBER.5, "currency": "EUR"}, "sellingPrice": {"amount": 1NUMBER.5, "currency": "EUR"}"#,
      lines: [
        "  normalPrice: $.maximumRetailPrice.amount", "  salePrice: $.sellingPrice.amount",
      ]
    ),
    Case(
      testDescription: "what a delivery costs is no way of delivery",
      item:
        #""id": NUMBER, "name": "N NUMBER", "price": "5NUMBER.00 SEK", "shipping": "49.00 SEK""#,
      lines: ["  salePrice: $.price"],
      absent: ["deliveryTypes"]
    ),
    Case(
      testDescription: "if nothing is called a title, a short text is",
      item:
        #""id": "c-NUMBER", "make": "Audi", "model": "A-NUMBER", "photo": "https://c.example/NUMBER.jpg""#,
      lines: ["  title: $.model"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a template of an address is no picture",
      item:
        #""id": NUMBER, "name": "N NUMBER", "image": {"templateUrl": "https://c.example/{width}/NUMBER.jpg", "url": "https://c.example/NUMBER.jpg"}"#,
      lines: ["    thumbnail: $.image.url"],
      absent: ["templateUrl"]
    ),
    Case(
      testDescription: "a part of an address is no picture beside the address",
      item:
        #""id": NUMBER, "name": "N NUMBER", "images": [{"key": "a/NUMBER.png", "url": "https://c.example/24/NUMBER.png"}]"#,
      lines: ["    thumbnail: \"$.images[0].url\"", "    gallery: \"$.images[*].url\""]
    ),
    Case(
      testDescription: "a page with details is no larger picture",
      item:
        #""id": NUMBER, "name": "N NUMBER", "productImage": "https://c.example/300x300/NUMBER.jpg", "detailPageUrl": "https://s.example/p/NUMBER""#,
      lines: ["    thumbnail: $.productImage"],
      absent: ["detailPageUrl"]
    ),
    Case(
      testDescription: "an address of a picture without its scheme gets one",
      item:
        #""id": NUMBER, "name": "N NUMBER", "imageUrl": "images.shop.example/cups/NUMBER""#,
      lines: ["    thumbnail: {path: $.imageUrl, template: \"https://{value}\"}"]
    ),
    Case(
      testDescription: "a width beside an address is compared",
      item:
        #""id": NUMBER, "name": "N NUMBER", "image": {"small": "https://c.example/s/NUMBER", "medium": "https://c.example/m/NUMBER"}, "exImage": {"url": "https://c.example/n/NUMBER", "width": 600, "height": 600}"#,
      lines: ["    thumbnail: $.image.small", "    gallery: $.exImage.url"]
    ),
    Case(
      testDescription: "of a list with one picture in several widths, the widest is taken",
      item:
        #""id": NUMBER, "name": "N NUMBER", "images": [{"url": "https://c.example/NUMBER_100.jpg", "width": 100}, {"url": "https://c.example/NUMBER_2048.jpg", "width": 2048}]"#,
      lines: [
        "    thumbnail: {path: $.images, largest: $.width, url: $.url}",
        "    gallery: {path: $.images, largest: $.width, url: $.url}",
      ]
    ),
    Case(
      testDescription: "pictures of different widths in one list are different pictures",
      item:
        #""id": NUMBER, "name": "N NUMBER", "images": [{"url": "https://c.example/NUMBER_a.jpg", "width": 90NUMBER}, {"url": "https://c.example/NUMBER_b.jpg", "width": 4NUMBER0}]"#,
      lines: ["    gallery: \"$.images[*].url\""]
    ),
    Case(
      testDescription: "an even larger picture is above a large one",
      item:
        #""id": NUMBER, "name": "N NUMBER", "cover_big": "https://c.example/NUMBER/500x500.jpg", "cover_xl": "https://c.example/NUMBER/1000x1000.jpg""#,
      lines: ["    thumbnail: $.cover_big", "    gallery: $.cover_xl"]
    ),
    Case(
      testDescription: "a header is a picture only for want of another",
      item:
        #""id": NUMBER, "name": "N NUMBER", "headerImage": {"url": "/hNUMBER.jpg"}, "webImage": {"url": "/NUMBER.jpg"}"#,
      lines: ["    thumbnail: $.webImage.url"]
    ),
    Case(
      testDescription: "a text that all items have is neither title nor description",
      item:
        #""id": NUMBER, "tax_title": "Taxable Goods", "line": "Blue Lamp NUMBER", "subtitle": "Lamps for you""#,
      lines: ["  title: $.line"],
      absent: ["tax_title", "description"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a list of one text is a text",
      item:
        #""id": NUMBER, "title": ["Lamp NUMBER"], "price": 9.5"#,
      lines: ["  title: \"$.title[0]\""]
    ),
    Case(
      testDescription: "the type of a value at the end of its name says nothing",
      item:
        #""id": "sNUMBER", "sku_s": "SNUMBER", "name_t": ["Lamp NUMBER"], "price_d": 9.5, "brand_s": "Acme", "stock_i": NUMBER"#,
      lines: ["  title: \"$.name_t[0]\""]
    ),
    Case(
      testDescription:
        "words that all names begin with say nothing, and a number at the end neither",
      item:
        #""v_products_model": "ZNUMBER", "v_products_name_1": "Lamp NUMBER", "v_products_price": 9.5, "v_products_weight": 1.5, "v_tax_class": "Goods""#,
      lines: ["  title: $.v_products_name_1"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "the name of a picture is no title",
      item:
        #""id": NUMBER, "main_image": {"name": "cup-NUMBER"}, "translations": {"pl_PL": {"name": "Kubek NUMBER"}}"#,
      lines: ["  title: $.translations.pl_PL.name"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "an amount is no title, and a slug is one for want of another",
      item:
        #""id": NUMBER, "slug": "blue-cup-NUMBER", "price": {"priceAmount": "9.9NUMBER"}, "photo": "/NUMBER.jpg""#,
      lines: ["  title: $.slug"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a text that few items have alone is no title",
      item:
        #""id": NUMBER, "formattedBranchName": ["by Acme", "by Hario"][NUMBER], "displayAddress": "1NUMBER Mill Lane""#,
      lines: ["  title: $.displayAddress"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "long sentences are a description",
      item:
        #""id": NUMBER, "name": "N NUMBER", "copy": {"long": "Made of clay no. NUMBER, fired twice and glazed by hand."}, "priceTag": {"text": "$9.9NUMBER"}"#,
      lines: ["  # description: $.copy.long"]
    ),
    Case(
      testDescription: "a text about the brand or the artist is no description of the item",
      item:
        #""id": NUMBER, "name": "N NUMBER", "price": 9.5, "brand": {"description": "Brand NUMBER"}, "brand_description": "Brand NUMBER has made cups of clay since 1900.", "artist_bio": "Ann NUMBER was born in Bern, and paints cups.""#,
      lines: ["  # description: $.brand.description"],
      absent: ["description", "artist_bio"]
    ),
    Case(
      testDescription: "the first of several kinds of prices may be a wholesale price",
      item:
        #""id": NUMBER, "name": "N NUMBER", "prices": [{"type": "wholesale", "amount": 5.5NUMBER}, {"type": "retail", "amount": 9.5NUMBER}]"#,
      lines: ["  # salePrice: \"$.prices[0].amount\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "the id of a price list is no price",
      item: #""id": NUMBER, "name": "N NUMBER", "price": 9.5NUMBER, "price_list_id": 12"#,
      lines: ["  salePrice: $.price"],
      absent: ["price_list_id"]
    ),
    Case(
      testDescription: "the code of a version is no id, even if it differs in all items",
      item:
        #""suggestedVersionCode": "6NUMBER", "packageName": "org.acme.pNUMBER", "name": "Reader App NUMBER""#,
      lines: ["  id: $.packageName"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "the id of a place is none of what is there",
      item:
        #""systemNumber": "OaNUMBER", "currentLocation": {"id": "LNUMBER"}, "title": "Vase NUMBER""#,
      lines: ["  id: $.systemNumber"]
    ),
    Case(
      testDescription: "the beginning of an address, a folder and a manifest are no pictures",
      item:
        #""id": NUMBER, "name": "Vase NUMBER", "images": {"thumbnail": "https://c.example/NUMBER.jpg", "iiif_base_url": "https://c.example/NUMBER", "folder_url": "https://c.example/fNUMBER/", "manifest_url": "https://c.example/mNUMBER/manifest.json"}"#,
      lines: ["    thumbnail: $.images.thumbnail"],
      absent: ["_url"]
    ),
    Case(
      testDescription: "a picture that is the same in all items is that of their category",
      item:
        #""id": NUMBER, "name": "Chair NUMBER", "images": [{"id": "iNUMBER", "urls": {"small": "https://c.example/NUMBERs.jpg", "big": "https://c.example/NUMBERb.jpg"}}], "taxonomy": [{"id": 5, "name": "Home", "icon": "https://c.example/home.png"}]"#,
      lines: [
        "    thumbnail: \"$.images[0].urls.small\"", "    gallery: \"$.images[*].urls.big\"",
      ]
    ),
    Case(
      testDescription:
        "a slug is no title beside one, and the picture of an organization is no picture of the item",
      item:
        #""id": NUMBER, "name": "count-of-cars-NUMBER-a", "title": "Count of cars NUMBER", "organization": {"id": 7, "name": "DOT", "image_url": "https://c.example/dot.png"}"#,
      lines: ["  title: $.title"],
      absent: ["organization"]
    ),
    Case(
      testDescription: "the pictures of ingredients are no gallery",
      item:
        #""id": NUMBER, "name": "Soup NUMBER", "image": "https://c.example/NUMBER.jpg", "images": {"LARGE": {"url": "https://c.example/NUMBERl.jpg", "width": 600}}, "parts": [{"partId": "pNUMBER", "quantity": 2, "image": "https://p.example/NUMBER.jpg"}]"#,
      lines: ["    thumbnail: $.image", "    gallery: $.images.LARGE.url"]
    ),
    Case(
      testDescription: "a description of the item goes before that of its maker",
      item:
        #""id": NUMBER, "title": "Vase NUMBER", "creators": [{"description": "Maker NUMBER of Rome"}], "description": ["A blue vase from Rome NUMBER.", null][NUMBER]"#,
      lines: ["  description: $.description"]
    ),
    Case(
      testDescription: "a price in words is no description",
      item:
        #""id": NUMBER, "name": "Milk NUMBER", "currentPrice": 7.0NUMBER, "unitPriceDescription": "prijs per kg € 112,9NUMBER""#,
      lines: ["  salePrice: $.currentPrice"],
      absent: ["unitPriceDescription"]
    ),
    Case(
      testDescription: "an address goes before the name of a file",
      item:
        #""id": NUMBER, "name": "Fork NUMBER", "image": "NUMBER-a.png", "image_url": "https://c.example/NUMBER.png""#,
      lines: ["    thumbnail: $.image_url"]
    ),
    Case(
      testDescription: "an address in another object goes before a path",
      item:
        #""id": NUMBER, "name": "Fork NUMBER", "media": [{"details": {"file": "2024/NUMBER.png", "sizes": {"medium": {"source_url": "https://c.example/NUMBER.png"}}}}]"#,
      lines: ["    thumbnail: \"$.media[0].details.sizes.medium.source_url\""]
    ),
    Case(
      testDescription: "two files in one text are two pictures, even if few items have two",
      item:
        #""id": NUMBER, "name": "Tap NUMBER", "photo": ["p/NUMBER.jpg;p/NUMBER_b.jpg", "p/NUMBER.jpg", "p/NUMBER.jpg"][NUMBER]"#,
      lines: ["    gallery: {path: $.photo, split: \";\"}"],
      absent: ["thumbnail"]
    ),
    Case(
      testDescription: "a banner comes after a picture, even if only the banner is in all items",
      item:
        #""id": NUMBER, "title": "Vase NUMBER", "headerImage": {"url": "https://c.example/hNUMBER.jpg"}, "webImage": [{"url": "https://c.example/NUMBER.jpg"}, null][NUMBER]"#,
      lines: ["    thumbnail: $.webImage.url"]
    ),
    Case(
      testDescription: "a picture that all items have goes before one that few have",
      item:
        #""id": NUMBER, "name": "Coat NUMBER", "white_image": ["https://c.example/NUMBERw.jpg", null, null][NUMBER], "shot_url": "https://c.example/NUMBER.jpg""#,
      lines: ["    thumbnail: $.shot_url"]
    ),
    Case(
      testDescription: "a price beside a like amount with an unknown name is asked about",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 19.NUMBER, "outlay": 17.NUMBER"#,
      lines: ["  # salePrice: $.price", "  # salePrice: $.outlay"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription:
        "an amount that is never below the price, and sometimes equal, may be from before",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5, "shelf": [12.5, 9.5][NUMBER]"#,
      lines: ["  # salePrice: $.price", "  # normalPrice: $.shelf"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a number that is no amount like the price is no rival",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": 19.NUMBER, "parts": 2, "figure": 300.5"#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a lower amount that some items have may be paid",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": "$19.5NUMBER", "special": ["$9.90", "$8.80", null][NUMBER]"#,
      lines: ["  # salePrice: [$.special, $.price]"],
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "an attribute may be the price, or another shop's",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "traits": [{"name": "Price", "value": "16NUMBER"}]"#,
      lines: ["  # salePrice: \"$.traits[?@.name == 'Price'].value\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "an attribute is asked about, even beside one with the currency",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "traits": [{"name": "price", "value": "16NUMBER"}, {"name": "currency", "value": "NOK"}]"#,
      lines: ["  # salePrice: \"$.traits[?@.name == 'price'].value\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "whole numbers that are all round may be cents",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": NUMBER000, "currency": "EUR""#,
      lines: ["  # salePrice: $.price", "  # salePrice: {path: $.price, minorUnits: true}"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "thousands of a currency with large amounts are no cents",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": NUMBER000, "currency": "THB""#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a negative price means that there is none",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": [9.5, 8.5, -1][NUMBER]"#,
      lines: ["  salePrice: {path: $.price, none: -1}"]
    ),
    Case(
      testDescription: "calories, whose Arabic word begins like that for a price, are no price",
      item: #""id": NUMBER, "name": "Cup NUMBER", "السعرات": 21NUMBER"#,
      absent: ["salePrice"]
    ),
    Case(
      testDescription: "different negative numbers are changes of a price, and no prices",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "priceChange": [2.25, -3.5, -1.75][NUMBER]"#,
      absent: ["salePrice"]
    ),
    Case(
      testDescription: "a list price that is the price of every item is asked about",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5NUMBER, "regular_price": 9.5NUMBER"#,
      lines: ["  salePrice: $.price", "  # normalPrice: $.regular_price"],
      unsure: ["normalPrice"]
    ),
    Case(
      testDescription: "a code of a currency counts, whatever it is called",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5NUMBER, "waluty": "PLN""#,
      lines: ["currency: PLN", "  salePrice: $.price"]
    ),
    Case(
      testDescription: "of two unique codes with unknown names, either may be the id",
      item: #""batchCode": "bNUMBER", "lotCode": "lNUMBER", "name": "Cup NUMBER""#,
      lines: ["  id: $.batchCode", "  # id: $.lotCode"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "of several unique numbers, the first is only the best guess",
      item:
        #""recallId": "rNUMBER", "recallNumber": "nNUMBER", "ean": "400638133393NUMBER", "name": "Cup NUMBER""#,
      lines: ["  id: $.recallId"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "the number of a house is no id",
      item: #""adresse_numero": "1NUMBER", "recordid": "rNUMBER", "name": "Park NUMBER""#,
      lines: ["  id: $.recordid"]
    ),
    Case(
      testDescription: "the number of a phone is no id, even if nothing else is called one",
      item: #""phone_number": "4917000NUMBER", "mark": "mNUMBER", "name": "Cup NUMBER""#,
      unsure: ["id"]
    ),
    Case(
      testDescription: "a code is no title beside words",
      item: #""id": NUMBER, "name": "ITM-5931NUMBER", "item_name": "Cup NUMBER""#,
      lines: ["  title: $.item_name"]
    ),
    Case(
      testDescription: "a space in the path of a picture separates nothing",
      item: #""id": NUMBER, "name": "Ring NUMBER", "image": "/img/a NUMBER.jpg""#,
      lines: ["    thumbnail: $.image"],
      absent: ["gallery"]
    ),
    Case(
      testDescription: "a space between addresses separates them",
      item:
        #""id": NUMBER, "name": "Ring NUMBER", "images": "https://c.example/aNUMBER.jpg https://c.example/bNUMBER.jpg""#,
      lines: ["    gallery: {path: $.images, split: \" \"}"]
    ),
    Case(
      testDescription: "a relative path with Cyrillic letters and a space is a picture",
      item:
        #""id": NUMBER, "name": "Room NUMBER", "imageThumb": "./img/Эконом коннект NUMBER местный.png""#,
      lines: ["    thumbnail: $.imageThumb"]
    ),
    Case(
      testDescription: "some of the pictures in lists have spaces in their paths",
      item:
        #""id": NUMBER, "name": "Ring NUMBER", "images": [["/img/aNUMBER.jpg", "/img/my NUMBER.jpg"][NUMBER]]"#,
      lines: ["    thumbnail: \"$.images[0]\"", "    gallery: $.images"]
    ),
    Case(
      testDescription: "white space before the address of a picture is no part of it",
      item:
        #""id": NUMBER, "name": "Ring NUMBER", "image": [" https://c.example/NUMBER", "https://c.example/bNUMBER"][NUMBER]"#,
      lines: ["    thumbnail: $.image"]
    ),
    Case(
      testDescription: "a list of the sizes of a picture is no picture",
      item:
        #""id": NUMBER, "name": "Latte NUMBER", "imgSrc": "https://c.example/NUMBER.png?fit=crop 1x, https://c.example/NUMBER.png?dpr=2 2x""#,
      lines: ["  # images: {thumbnail: nothing looks like a picture; write its path here}"]
    ),
    Case(
      testDescription: "an address whose query has a gap is asked about, even as an avatar",
      item:
        #""id": NUMBER, "name": "Rose NUMBER", "avatar": "https://c.example/NUMBER.jpg?optimize={medium}""#,
      unsure: ["thumbnail"]
    ),
    Case(
      testDescription: "a portrait of the host is not surely a picture of the item",
      item:
        #""id": NUMBER, "titulo": "Casa NUMBER", "foto_anfitriao": "https://c.example/user/NUMBER.jpg", "lista_fotos": []"#,
      lines: ["  # images:"],
      unsure: ["thumbnail"]
    ),
    Case(
      testDescription: "a picture of the item goes before a portrait of its seller",
      item:
        #""id": NUMBER, "name": "Casa NUMBER", "seller_photo": "https://c.example/user/NUMBER.jpg", "photo": "https://c.example/NUMBER.jpg""#,
      lines: ["    thumbnail: $.photo"]
    ),
    Case(
      testDescription: "the first image is no portrait",
      item: #""id": NUMBER, "name": "Cup NUMBER", "first_image": "https://c.example/NUMBER.jpg""#,
      lines: ["    thumbnail: $.first_image"]
    ),
    Case(
      testDescription: "a Latin name is a title only if there is no other name",
      item:
        #""id": NUMBER, "deutscherName": "SonnenhutNUMBER", "lateinischerName": "Echinacea purpurea NUMBER""#,
      lines: ["  title: $.deutscherName", "  # title: $.lateinischerName"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a Latin name follows a known name, which is sure",
      item:
        #""id": NUMBER, "scientific_name": "Echinacea purpurea NUMBER", "name": "SonnenhutNUMBER""#,
      lines: ["  title: $.name"]
    ),
    Case(
      testDescription: "a Latin name alone is the title",
      item: #""id": NUMBER, "scientific_name": "Echinacea purpurea NUMBER""#,
      lines: ["  title: $.scientific_name"]
    ),
    Case(
      testDescription: "one text that some items have for a price means none",
      item:
        #""id": NUMBER, "name": "Buku NUMBER", "price": ["Rp 10NUMBER.000", "Rp 20NUMBER.000", "Not available"][NUMBER]"#,
      lines: ["  salePrice: {path: $.price, none: \"Not available\"}"]
    ),
    Case(
      testDescription: "different texts for a price are no amounts",
      item:
        #""id": NUMBER, "name": "Buku NUMBER", "price": ["Rp 10NUMBER.000", "Rp 20NUMBER.000", "Ask NUMBER"][NUMBER]"#,
      absent: ["salePrice"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "the roubles of old feeds are roubles",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 10.5NUMBER, "currencyId": "RUR""#,
      lines: ["currency: RUB", "  salePrice: $.price"]
    ),
    Case(
      testDescription: "a currency may be given by its number",
      item: #""id": NUMBER, "name": "Flat NUMBER", "price": 10.5NUMBER, "priceCurrency": 840"#,
      lines: ["currency: USD", "  salePrice: $.price"]
    ),
    Case(
      testDescription: "a cost that is never below the price may be the price before",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5NUMBER, "unit_cost": 12.5NUMBER"#,
      lines: ["  salePrice: $.price", "  # normalPrice: $.unit_cost"],
      unsure: ["normalPrice"]
    ),
    Case(
      testDescription: "a cost below the price is none",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5NUMBER, "unit_cost": 2.5NUMBER"#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "a cost without a price may be the price",
      item: #""id": NUMBER, "name": "Cup NUMBER", "value": 12NUMBER, "cost": 20NUMBER"#,
      lines: ["  # salePrice: $.cost"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "the cost of a purchase or a delivery is no price",
      item: #""id": NUMBER, "name": "Cup NUMBER", "shipping_cost": 20, "purchase cost": 1NUMBER"#,
      absent: ["salePrice"]
    ),
    Case(
      testDescription: "a sign written twice is one",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": "$9.5NUMBER", "old_price": "$ $12.5NUMBER""#,
      lines: ["  salePrice: $.price", "  normalPrice: $.old_price"]
    ),
    Case(
      testDescription: "words that differ by chance are no id beside a title",
      item: #""nombre": "planta NUMBER", "tipo": "[a, b, c, d, e, f][NUMBER]""#,
      lines: ["  id: $.nombre"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "a thing is called by its kind",
      item: #""id": NUMBER, "product": "Blue cup NUMBER", "price": 9.5NUMBER"#,
      lines: ["  title: $.product"]
    ),
    Case(
      testDescription: "thousands that a program took for decimals are in doubt",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": [1.299, 849, 1.3][NUMBER]"#,
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "amounts of many millions that are not round may count parts",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": 8084277NUMBER, "currency": "TWD""#,
      lines: ["  # salePrice: {path: $.price, divisor: 100000}"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a price per ounce is none",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "base_price": 9.5NUMBER, "uom_price": {"price": 0.7NUMBER, "uom": "oz"}"#,
      lines: ["  # salePrice: $.base_price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a price that is no amount is shown",
      item: #""id": NUMBER, "name": "Cup NUMBER", "Price": "USD 3.0NUMBER+""#,
      lines: ["  # salePrice: $.Price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a date is no id beside a title",
      item: #""releaseDate": "2024-01-0NUMBER", "title": "Film NUMBER", "price": 9.5NUMBER"#,
      lines: ["  id: $.title"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "a text with many decimals is an amount that was computed",
      item: #""id": NUMBER, "name": "Car NUMBER", "price": "16442NUMBER.89045383412""#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "pictures in numbered columns are one gallery",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5NUMBER, "mainImage": "/a/NUMBER.jpg", "image2": "/b/NUMBER.jpg""#,
      lines: [
        "    thumbnail: $.mainImage", "    gallery: {all: [\"$.mainImage\", \"$.image2\"]}",
      ]
    ),
    Case(
      testDescription: "a picture in a list of names with values is no rival of a picture",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price": 9.5NUMBER, "image": "/a/NUMBER.jpg", "metafields": [{"key": "image", "value": "/b/NUMBER.jpg"}]"#,
      lines: ["    thumbnail: $.image"]
    ),
    Case(
      testDescription: "of a price in two currencies, the first is read",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "price_usd": 9.5NUMBER, "price_eur": 8.5NUMBER"#,
      lines: ["  salePrice: $.price_usd"],
      absent: ["normalPrice"]
    ),
    Case(
      testDescription: "the lowest offer is no sure price",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "product_price": "$9.5NUMBER", "product_minimum_offer_price": "$8.5NUMBER""#,
      unsure: ["normalPrice", "salePrice"]
    ),
    Case(
      testDescription: "a list of prices is shown",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": ["$9.5NUMBER", "$8.5NUMBER"]"#,
      lines: ["  # salePrice: \"$.price[0]\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription:
        "a price with the name of another amount is shown if there is no better one",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price_EK": "9,5NUMBER""#,
      lines: ["  # salePrice: $.price_EK"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a text that is no amount can have the sign of its currency",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": "€ 9.5NUMBER / kg""#,
      lines: ["currency: EUR", "  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "the price of a piece or a day is the price if there is no other",
      item: #""id": NUMBER, "name": "Car NUMBER", "pricePerDay": 9.5NUMBER"#,
      lines: ["  salePrice: $.pricePerDay"]
    ),
    Case(
      testDescription: "the price of a square metre is not that of a house",
      item:
        #""id": NUMBER, "name": "House NUMBER", "precio_m2": 19NUMBER.5, "precio": 9NUMBER0.5"#,
      lines: ["  salePrice: $.precio"],
      absent: ["precio_m2"]
    ),
    Case(
      testDescription: "what a shop pays and what a retailer pays is no price",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "cena_zakupu": 5.5NUMBER, "cena_hurtowa": 6.5NUMBER, "cena": 9.5NUMBER"#,
      lines: ["  salePrice: $.cena"],
      absent: ["zakupu", "hurtowa"]
    ),
    Case(
      testDescription: "numbers that are written with a point count no cents",
      item: #""id": NUMBER, "name": "Cup NUMBER", "price": 1NUMBER90.0"#,
      lines: ["  salePrice: $.price"]
    ),
    Case(
      testDescription: "words for none beside one amount are no amounts",
      item:
        #""id": NUMBER, "name": "Boat NUMBER", "price": "[POA, on request, POA, € 9, POA, POA][NUMBER]""#,
      lines: ["currency: EUR"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "of several pictures with other names the first is read, in doubt",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "photo": "https://c.example/a/NUMBER.jpg", "additional_imageurl": "https://c.example/b/NUMBER.jpg""#,
      lines: ["    thumbnail: $.photo"],
      unsure: ["thumbnail", "gallery"]
    ),
    Case(
      testDescription: "the picture of a brand is no larger form of a picture",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "brand_img": "https://c.example/b/NUMBER.jpg", "thumb_img": "https://c.example/a/NUMBER.jpg""#,
      lines: ["    thumbnail: $.thumb_img"],
      absent: ["brand_img"]
    ),
    Case(
      testDescription: "a program can send a picture, and a bucket cannot",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "image": "https://c.example/thumb.php?pic=NUMBER", "photo": "gs://cups/NUMBER.jpg""#,
      lines: ["    thumbnail: $.image"],
      absent: ["photo"]
    ),
    Case(
      testDescription: "a size with its unit is no title beside a name that all items share",
      item:
        #""id": NUMBER, "tenIphone": "iPhone 14", "dungLuong": "12NUMBERGB", "price": 9.5NUMBER"#,
      lines: ["  title: $.tenIphone"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "the picture of a video is a picture",
      item:
        #""id": NUMBER, "name": "Cup NUMBER", "image_video_url": "https://c.example/NUMBER.jpg""#,
      lines: ["    thumbnail: $.image_video_url"]
    ),
    Case(
      testDescription: "an amount below an old amount is the price to pay, and no id",
      item: #""name": "Shoe NUMBER", "amount": 79NUMBER2, "old_amount": 99NUMBER0"#,
      lines: ["  id: $.name", "  # salePrice: $.amount", "  # salePrice: $.old_amount"],
      unsure: ["id", "salePrice"]
    ),
    Case(
      testDescription: "a price that cannot be read is not replaced by the old one",
      item:
        #""id": NUMBER, "name": "Shoe NUMBER", "oldPrice": "€13NUMBER.00", "price": "€6NUMBER.00 (390NUMBER den.)""#,
      lines: ["  # salePrice: $.price"],
      absent: ["salePrice"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a currency without minor units has no cents to count",
      item: #""slug": "dt-NUMBER", "ten": "Điện thoại màu đỏ NUMBER", "gia": 2794504NUMBER"#,
      lines: ["currency: VND", "  salePrice: $.gia"]
    ),
    Case(
      testDescription: "a currency in brackets behind a name is the unit of the number",
      item: #""id": NUMBER, "name": "Cup NUMBER", "Pris (DKK)": 129NUMBER"#,
      lines: ["currency: DKK", #"  salePrice: "$['Pris (DKK)']""#]
    ),
    Case(
      testDescription: "how many pages there are is no id",
      item: #""title": "Game NUMBER", "num_pages": 4NUMBER3, "numero_de_voti": 5NUMBER7"#,
      lines: ["  id: $.title"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "the number of a product is an id",
      item: #""num_producto": 4NUMBER3, "titulo": "Juego NUMBER""#,
      lines: ["  id: $.num_producto"]
    ),
    Case(
      testDescription: "a picture that is written in Base64 has no address",
      item: #""id": NUMBER, "name": "Bag NUMBER", "imageUrl": "/9j/4AAQSkZJRgABAQAAAQAB/NUMBER""#,
      absent: ["$.imageUrl"]
    ),
    Case(
      testDescription: "an icon that many items share is not in their galleries",
      item:
        #""id": NUMBER, "name": "Bun NUMBER", "image": "p/NUMBER.webp", "image2": ["i/meat.png", "i/veg.png"][NUMBER]"#,
      lines: ["    thumbnail: $.image"],
      absent: ["$.image2"]
    ),
    Case(
      testDescription:
        "a cell with several addresses is read in parts, even if few items have one",
      item:
        #""id": NUMBER, "name": "Set NUMBER", "images": ["https://c.example/aNUMBER", "https://c.example/bNUMBER", "https://c.example/cNUMBER;https://c.example/dNUMBER"][NUMBER]"#,
      lines: [#"    gallery: {path: $.images, split: ";"}"#]
    ),
    Case(
      testDescription: "addresses in one cell that cannot be told apart are no sure picture",
      item:
        #""id": NUMBER, "name": "Set NUMBER", "images": ["https://c.example/aNUMBER,7", "https://c.example/bNUMBER", "https://c.example/cNUMBER,https://c.example/dNUMBER"][NUMBER]"#,
      unsure: ["thumbnail"]
    ),
    Case(
      testDescription: "a discount beside one price can still be taken off",
      item:
        #""id": NUMBER, "name": "Wine NUMBER", "price": 9NUMBER.5, "discountValue": ["0.0", "20.0"][NUMBER]"#,
      lines: ["  # salePrice: $.price"],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "hundreds of dollars without a separator can be cents",
      item: #""id": NUMBER, "name": "Boot NUMBER", "Price Range": "$1NUMBER500 - $1NUMBER500""#,
      lines: ["  # salePrice: \"$['Price Range']\""],
      unsure: ["salePrice"]
    ),
    Case(
      testDescription: "a title that is written as a list is not sure",
      item: #""id": NUMBER, "name": "['NUMBER', 'G', 'PACK']", "price": 9.5"#,
      lines: ["  title: $.name"],
      unsure: ["title"]
    ),
    Case(
      testDescription: "a short description that repeats is the title for want of another",
      item:
        #""id": NUMBER, "Linea": "Tray", "Descrizione": ["Round tray", "Cube", "Basket"][NUMBER], "Dimensioni": "2NUMBER0x90""#,
      lines: ["  title: $.Descrizione"],
      unsure: ["title"]
    ),
  ]

  private static func propose(_ item: String, count: Int = 6) throws -> ProposedFile {
    let items = (1...count).map { number in
      let parts = item.split(separator: "][NUMBER]", omittingEmptySubsequences: false)
      var text = String(parts[0])
      if parts.count > 1, let open = text.lastIndex(of: "[") {
        let values = text[text.index(after: open)...].split(separator: ", ")
        text = "\(text[..<open])\(values[number % values.count])\(parts[1])"
      }
      return "{\(text.replacing("NUMBER", with: "\(number)"))}"
    }
    let body = bytes("{\"goods\": [\(items.joined(separator: ","))]}")
    let source = ProposedSource(url: "https://shop.example/cups")
    return try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "cups.yaml")
  }

  private static func read(_ body: String) throws -> ProposedFile {
    let page = ProposedPage(
      body: bytes(body),
      source: ProposedSource(url: "https://shop.example/feed")
    )
    return try ProposedFile(of: [page], name: "feed.yaml")
  }

  @Test func `names of columns that come again among the rows are no record`() throws {
    let rows = (1...24).map { "f\($0),Fryer \($0),€ \($0).50\n" }
    let names = "Key,Name,Price\n"

    let file = try Self.read(
      names + rows.prefix(20).joined() + names + rows.dropFirst(20).joined()
    )

    let listing = file.listings[0]
    #expect(listing.sections[0].items.count == 24 && listing.skipped.isEmpty, "\(file.text)")
    #expect(linesWithoutComments(of: file.text).contains("  salePrice: $.Price"))
  }

  @Test func `a comment below the names of the columns does not hide the table`() throws {
    let rows = (1...24).map { "\"f-\($0)\";\"Fryer \($0)\";\"€ \($0).50\"\n" }

    let file = try Self.read("\"Key\";\"Name\";\"Price\"\n\n# \"FRYERS [24]\"\n\(rows.joined())")

    #expect(file.listings[0].sections[0].items.count == 24, "\(file.text)")
    #expect(file.text.contains("  title: $.Name"))
  }

  @Test func `a heading among the rows does not hide that cells have several addresses`() throws {
    let rows = (1...24).map { number in
      let pictures =
        number == 9 ? "Images" : "https://c.example/\(number)/a,https://c.example/\(number)/b"
      return "Fryer \(number),9.5,\"\(pictures)\"\n"
    }

    let file = try Self.read("Name,Price,Images\n\(rows.joined())")

    #expect(file.text.contains("    gallery: {path: $.Images, split: \",\"}"), "\(file.text)")
  }

  @Test(arguments: ["Number,Name,Price,Url", "Number,Text,Price,Url", "Number,Name,Rooms,Url"])
  func `a table of goods with numbers and addresses is no list of pictures`(_ names: String) throws
  {
    let rows = (1...5).map { "\($0),Flat \($0),\($0)50000,https://shop.example/flat_\($0)\n" }

    let file = try Self.read("\(names)\n\(rows.joined())")

    #expect(!file.text.contains("format: list"), "\(file.text)")
  }

  @Test func `a feed whose prices are partly words is not called empty`() throws {
    let items = ["Free", "10.00", "12.50"].map {
      "<listing><price>\($0)</price><heading>Logos \($0)</heading><image><url>https://c.example/\($0).png</url></image></listing>"
    }

    let file = try Self.read(
      "<?xml version=\"1.0\"?><rss version=\"2.0\"><listings>\(items.joined())</listings></rss>"
    )

    #expect(file.text.contains("heading"), "\(file.text)")
  }

  @Test(arguments: cases)
  func `a field is recognised by its values`(_ one: Case) throws {
    let file = try Self.propose(one.item)

    let lines = linesWithoutComments(of: file.text)
    for line in one.lines { #expect(lines.contains(line), "\(line) in\n\(file.text)") }
    let keys = lines.filter { !$0.trimmed.hasPrefix("#") }
    for text in one.absent {
      #expect(!keys.contains { $0.contains(text) }, "\(text) in\n\(file.text)")
    }
    let unsure = file.unsure.filter { !["currency", "items"].contains($0) }
    #expect(unsure == one.unsure, "\(file.text)")
  }

  @Test(arguments: [
    // An array of another kind beside the items is no section.
    (
      #"{"data": {"meta": [{"title": "4 hotels"}], "hotels": [ITEMS]}}"#,
      #"{"id": NUMBER, "name": "Hotel NUMBER", "price": 9.5}"#, "items: $.data.hotels"
    ),
    // Each element has one object, its variant.
    (
      #"{"products": [ITEMS]}"#,
      #"{"id": "aNUMBER", "variantList": [{"sku": "bNUMBER", "name": "Cup NUMBER", "price": 9.5}]}"#,
      "items: $.products"
    ),
  ])
  func `the items of a list are not taken for its sections`(
    _ body: String,
    _ item: String,
    _ line: String
  ) throws {
    let items = (1...4).map { item.replacing("NUMBER", with: String($0)) }

    let file = try proposal(
      of: body.replacing("ITEMS", with: items.joined(separator: ", "))
    )

    #expect(file.text.contains("\n\(line)   #"), "\(file.text)")
    #expect(file.listings[0].sections.flatMap(\.items).count == 4)
  }

  @Test func `items without a price and a picture are reported as unsure`() throws {
    let file = try proposal(
      of: #"{"cols": [{"id": "A", "label": "SKU"}, {"id": "B", "label": "Product"}]}"#
    )

    #expect(file.unsure.contains("items"), "\(file.text)")
  }

  @Test func `a format that finds no price loses to a reading that does`() throws {
    let file = try proposal(
      of: """
        id\ttitle\tprice_pc\timage_link
        a\tCup A\t9.50\thttps://c.example/a.jpg
        b\tCup B\t8.50\thttps://c.example/b.jpg

        """
    )

    #expect(file.text.contains("  salePrice: $.price_pc "), "\(file.text)")
    #expect(!file.text.contains("\nformat:"))
  }

  @Test func `the file says which code of the prices is no currency`() throws {
    let file = try Self.propose(
      #""id": NUMBER, "name": "Mug NUMBER", "price": 12.5NUMBER, "currency": "POINTS""#
    )

    let currency = "prices are in POINTS, which is no ISO 4217 currency: correct it"
    #expect(file.text.contains("currency: USD   # 0.1: \(currency)\n"), "\(file.text)")
    #expect(file.text.contains(": POINTS is no ISO 4217 currency: a number in 6 of 6 items\n"))
    #expect(file.unsure.contains("currency") && file.unsure.contains("salePrice"))
  }

  @Test func `a currency with an exchange rate is not that of the prices`() throws {
    let items = (1...6).map { #"{"id": \#($0), "name": "Mug \#($0)", "price": 9.5\#($0)}"# }
    let body = """
      {"currency": {"code": "USD", "rate": 39}, "items": [\(items.joined(separator: ", "))]}
      """

    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    #expect(file.unsure.contains("currency"), "\(file.text)")
  }

  @Test func `fields that only late items have are found`() throws {
    let items = (0..<1000).map { number in
      let image = number < 900 ? "null" : "\"/\(number).jpg\""
      return #"{"id": \#(number), "title": "T \#(number)", "image": \#(image)}"#
    }
    let source = ProposedSource(url: "https://shop.example/cups")
    let body = bytes("[\(items.joined(separator: ","))]")

    let file = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")

    #expect(file.text.contains("    thumbnail: $.image   # 0.9: text in 100 of 1000 items\n"))
  }

  @Test func `items in two levels of objects keyed by id are all found`() throws {
    let source = ProposedSource(url: "https://shop.example/sites")
    let goods = { (ids: String) in
      ids.map { #""\#($0)": {"title": "Coat \#($0)", "price": "$19.99"}"# }.joined(separator: ",")
    }
    let body = bytes(
      #"{"sites": {"x": {"info": 1, "goods": {\#(goods("ab"))}}, "y": {"info": 2, "goods": {\#(goods("cde"))}}}}"#
    )

    let file = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")

    #expect(file.listings[0].sections[0].items.map(\.id) == ["a", "b", "c", "d", "e"])
  }

  @Test func `of two lists of the same kind, the longer one has the items`() throws {
    let goods = { (count: Int) in
      (0..<count).map { #"{"id": \#($0), "name": "N \#($0)", "price": \#($0).5}"# }
        .joined(separator: ",")
    }
    let source = ProposedSource(url: "https://shop.example/cups")
    let body = bytes(#"{"count": 30, "featured": [\#(goods(3))], "all": [\#(goods(30))]}"#)

    let file = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")

    #expect(file.listings[0].sections[0].items.count == 30)
  }

  @Test func `the items of a batch of one response are found`() throws {
    let source = ProposedSource(url: "https://shop.example/graphql")
    let body = bytes(
      #"[{"data": {"search": {"products": [{"id": 1, "name": "Cup", "price": "7.50"}]}}}]"#
    )

    let file = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")

    #expect(file.text.contains("items: \"$[*].data.search.products\""), "\(file.text)")
    #expect(file.listings[0].sections[0].items.map(\.title) == ["Cup"])
  }

  @Test func `a name in several languages is a title, and not a list of items`() throws {
    let product = { (number: Int) in
      """
      <product sku="A\(number)"><names><name lang="en">Cup \(number)</name><name lang="de">Tasse \(number)</name></names>
      <price currency="EUR">7.5\(number)</price></product>
      """
    }
    let source = ProposedSource(url: "https://shop.example/feed.xml")
    let body = bytes("<catalog>\((1...4).map(product).joined())</catalog>")

    let file = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")

    #expect(file.listings[0].sections[0].items.map(\.id) == ["A1", "A2", "A3", "A4"])
    #expect(file.listings[0].sections[0].items.first?.title == "Cup 1")
  }

  @Test(arguments: [
    ("<?xml version=\"1.0\"?><BMECAT><HEADER><CATALOG/></HEADER></BMECAT>", false),
    ("<catalog><header>Spring</header><product/></catalog>", false),
    ("<table><row><id>1</id></row></table>", false), ("<a><id>1</id></a>", false),
    ("\n<div>\n<a class=\"card\" href=\"/1\">Cup</a></div>", true),
    ("<table class=\"goods\"><tr><td>Cup</td></tr></table>", true),
    ("<head><title>Log in</title></head>", true), ("<?xml version=\"1.0\"?><html><head/>", true),
  ])
  func `XML with a header is no page`(_ text: String, _ isPage: Bool) {
    #expect(FormatSignature.look(of: bytes(text)) == (isPage ? .html : .xml))
  }

  @Test func `a table with two columns of one name is a table, and equal numbers are no names`()
    throws
  {
    let table = try proposal(of: "id,name,-,-,price\n1,Cup,,,12.5\n2,Pot,,,13.5\n")
    let error = #expect(throws: CatalogError.self) {
      try proposal(of: "Cup;1958;1958;a.jpg\nPot;1835;1836;b.jpg\nJug;1315;1315;c.jpg\n")
    }

    let ended = try proposal(of: "id;name;price\n1;Cup;12.5;\n2;Pot;13.5;\n")
    #expect(ended.listings[0].sections[0].items.map(\.title) == ["Cup", "Pot"])
    #expect(table.listings[0].sections[0].items.map(\.title) == ["Cup", "Pot"])
    #expect(error?.reason.contains("does not name the columns") == true)
  }

  @Test(arguments: [
    (
      #""foto_anfitriao": "https://c.example/user/NUMBER.jpg", "lista_fotos": {}"#, "thumbnail",
      ["    # thumbnail: $.foto_anfitriao   # 0.5:"]
    ),
    (
      #""avatar": "https://c.example/NUMBER.jpg?optimize={medium}""#, "thumbnail",
      ["    # thumbnail: $.avatar   # 0.3:"]
    ),
    (
      #""pris": "10NUMBER,00 kr""#, "currency",
      ["currency: SEK   # 0.6: prices have \"kr\", as in SEK, NOK, DKK, ISK"]
    ),
    (
      #""pris": ["9,50 €", "8,50 €", "7,50 €", "6,50 €", "9.50 kr"][NUMBER]"#, "salePrice",
      ["  # salePrice: $.pris   # 1.0: not all are amounts of EUR: "]
    ),
    (
      #""price": "8NUMBER.000$""#, "salePrice",
      ["  # salePrice: $.price   # 0.6: \"81.000$\" is read as $81.00, which is a guess: text in"]
    ),
    (
      #""price": "8NUMBER.000 £""#, "salePrice",
      ["  # salePrice: $.price   # 0.6: \"81.000 £\" is read as £81.00, which is a guess: "]
    ),
    (
      #""price": ["1.299,50$", "1.283.000$", "83.000$"][NUMBER]"#, "salePrice",
      ["  # salePrice: $.price   # 0.6: \"83.000$\" is read as $83.00, which is a guess: "]
    ),
    (
      #""precio": "¢24NUMBER00""#, "currency",
      [
        "currency: CRC   # 0.6: prices have \"¢\", as in CRC, GHS",
        "  salePrice: $.precio   # ",
      ]
    ),
  ])
  func `a doubtful choice is named with its rivals`(
    _ fields: String,
    _ key: String,
    _ lines: [String]
  ) throws {
    let file = try Self.propose(#""id": NUMBER, "name": "Casa NUMBER", "# + fields, count: 10)

    #expect(file.unsure.contains(key), "\(file.text)")
    for line in lines { #expect(file.text.contains(line), "\(file.text)") }
  }

  @Test(arguments: ["\"8NUMBER.000 €\"", "8NUMBER.000", "[\"8.000$\", \"8.50$\"][NUMBER]"])
  func `the reading of a price with a clear point is sure`(_ price: String) throws {
    let file = try Self.propose(#""id": NUMBER, "name": "Casa NUMBER", "price": "# + price)

    #expect(!file.unsure.contains("salePrice"), "\(file.text)")
  }

  @Test
  func
    `a dollar in Chinese texts is that of Taiwan, and a few Ukrainian letters tell the hryvnia`()
    throws
  {
    let chinese = try Self.propose(##""id": NUMBER, "name": "藍色杯子", "price": "$9NUMBER""##)
    let ukrainian = try Self.propose(
      #""id": NUMBER, "name": "[Мед з мятою, Мед, Чай, Липовий мед, Квіти][NUMBER]", "price": 9NUMBER"#
    )

    #expect(chinese.text.contains("currency: TWD   # 0.6"))
    #expect(ukrainian.text.contains("currency: UAH   # 0.4"))
  }

  @Test func `a list price that few items have is read, and a word for none is none`() throws {
    let prices =
      (["\"29.5\"", "\"28.5\"", "\"27.5\""] + Array(repeating: "\"Missing\"", count: 7))
      .joined(separator: ", ")
    let file = try Self.propose(
      #""id": NUMBER, "name": "Cup NUMBER", "price": "9.5", "full_price": [\#(prices)][NUMBER]"#,
      count: 20
    )

    #expect(
      file.text.contains("  normalPrice: {path: $.full_price, none: \"Missing\"}"),
      "\(file.text)"
    )
  }

  @Test func `a text that few items have is no description, and one that most have goes first`()
    throws
  {
    let long = "It is put together in an hour by two people with a tool."
    let one = #"["\#(long)"\#(String(repeating: ", null", count: 19))][NUMBER]"#
    let item = #""id": NUMBER, "name": "Cup NUMBER", "#
    let rare = try Self.propose(item + "\"guide\": " + one, count: 40)
    let usual = try Self.propose(
      item + #""summary": "\#(long) NUMBER", "description": "# + one,
      count: 40
    )

    #expect(!rare.text.contains("guide"), "\(rare.text)")
    #expect(usual.text.contains("  description: $.summary"), "\(usual.text)")
  }

  @Test func `another price that a few items lack makes the price unsure`() throws {
    let prices = (["\" - \""] + (3...21).map { "\" \($0).50 \"" }).joined(separator: ", ")
    let file = try Self.propose(
      #""id": "cNUMBER", "nom": "Pill NUMBER", "PPV": [\#(prices)][NUMBER], "prix_br": "NUMBER.20 ""#,
      count: 20
    )

    #expect(file.unsure.contains("salePrice"), "\(file.text)")
    #expect(file.text.contains("  # salePrice: $.PPV   # 0.5"), "\(file.text)")
  }

  @Test func `an id that many different items share is in doubt`() throws {
    let file = try Self.propose(
      #""id": [1, 2, 3, 4, 5, 6][NUMBER], "name": "Cup", "price": 9.5NUMBER"#,
      count: 9
    )

    #expect(file.unsure.contains("id"), "\(file.text)")
  }

  @Test func `a list that is left out and longer than the others is asked about`() throws {
    let pizzas = (1...9).map { #"{"id": \#($0), "name": "Pizza \#($0)"}"# }.joined(separator: ",")
    let drinks = (1...3).map { #"{"id": "d\#($0)", "name": "Tea \#($0)", "price": 9.5}"# }
      .joined(separator: ",")
    let sauces = drinks.replacing("d", with: "s")
    let file = try proposal(
      of: #"{"pizzas": [\#(pizzas)], "drinks": [\#(drinks)], "sauces": [\#(sauces)]}"#
    )

    #expect(file.unsure.contains("items"), "\(file.text)")
  }

  @Test(arguments: ["users", "témoignages", "shippingMethods", "categories", "partners"])
  func `a list beside the products is no section`(_ name: String) throws {
    let others = (1...3).map {
      #"{"id": \#($0), "name": "Ann \#($0)", "image": "/u\#($0).jpg"}"#
    }.joined(separator: ",")
    let price = name == "shippingMethods" ? "\"price\": 4.5," : ""
    let file = try proposal(
      of: """
        {"products": [{"id": 1, "name": "Cup", "price": 9.5, "image": "/1.jpg"},
        {"id": 2, "name": "Mug", "price": 8.5, "image": "/2.jpg"},
        {"id": 3, "name": "Jug", "price": 7.5, "image": "/3.jpg"},
        {"id": 4, "name": "Pot", "price": 6.5, "image": "/4.jpg"}],
        "\(name)": [\(others.replacing("\"image", with: price + "\"image"))]}
        """
    )

    #expect(
      file.listings[0].sections.flatMap(\.items).map(\.title) == ["Cup", "Mug", "Jug", "Pot"]
    )
    #expect(file.text.contains("# items: $.\(name)   # 0.1"), "\(file.text)")
    #expect(file.unsure.contains("items") == (name == "partners"), "\(file.unsure)")
  }

  @Test func `ids that begin with 1 in each list are no ids`() throws {
    func list(_ name: String) -> String {
      "["
        + (1...3).map { #"{"id": \#($0), "name": "\#(name) \#($0)", "price": 9.5}"# }
        .joined(separator: ",") + "]"
    }
    let file = try proposal(
      of: #"{"men": \#(list("Shirt")), "women": \#(list("Skirt")), "kids": \#(list("Cap"))}"#
    )

    #expect(Set(file.listings[0].sections.flatMap(\.items).map(\.id)).count == 9, "\(file.text)")
    #expect(file.unsure.contains("id"))
  }

  @Test func `lists in objects beside each other are all sections`() throws {
    func list(_ name: String) -> String {
      #"[{"name": "\#(name) 1", "price": 9.5}, {"name": "\#(name) 2", "price": 8.5}]"#
    }
    let file = try proposal(
      of: """
        {"food": {"soups": \(list("Soup")), "mains": \(list("Steak"))},
        "drinks": {"hot": \(list("Tea")), "cold": \(list("Cola"))}}
        """
    )

    let titles = file.listings[0].sections.flatMap(\.items).map(\.title)
    #expect(
      titles
        == ["Soup 1", "Soup 2", "Steak 1", "Steak 2", "Tea 1", "Tea 2", "Cola 1", "Cola 2"],
      "\(file.text)"
    )
  }

  @Test func `a few values that are no amounts are borne, and the price is asked about`() throws {
    let words = #"["$9.5", "$8.5", "$7.5", "$6.5", "Sold out", "$5.5", "$4.5", "Ask us"][NUMBER]"#
    let packs =
      "[\(Array(repeating: "\"$9.5\"", count: 19).joined(separator: ", ")), \"$7/2 pack\"][NUMBER]"
    let many = "[\(Array(repeating: "15.99", count: 39).joined(separator: ", ")), 15.475][NUMBER]"
    let item = #""id": NUMBER, "name": "Cup NUMBER", "price": "#
    let files = try [(words, 40), (packs, 20), (many, 40)].map {
      try Self.propose(item + $0.0, count: $0.1)
    }

    #expect(
      files[0].text.contains(#"  salePrice: {path: $.price, none: ["Ask us", "Sold out"]}"#),
      "\(files[0].text)"
    )
    #expect(!files[0].unsure.contains("salePrice"))
    for file in files.dropFirst() {
      #expect(file.text.contains("\n  salePrice: $.price"), "\(file.text)")
      #expect(file.unsure.contains("salePrice"))
    }
  }

  @Test func `a record with the first number of a price that is no amount is read`() throws {
    let read = try decode(
      #"[{"id": 1, "name": "A", "price": "from 1 299,50/mo."}, {"id": 2, "name": "B", "price": "?"}]"#,
      ##"records: (.price | strings) |= [match("[0-9]([0-9 .,]*[0-9])?").string][0]"##
        + "\nitems: $\nitem: {id: $.id, title: $.name, salePrice: $.price}",
      currency: "EUR"
    )

    #expect(read.sections[0].items.map { $0.salePrice?.minorUnits } == [129_950, nil])
  }

  @Test(arguments: ["extras", "dodaci", "editions"])
  func `a list inside things that have prices of their own is a part of them`(_ list: String)
    throws
  {
    func thing(_ number: Int) -> String {
      let parts = (1...2).map {
        #"{"id": "\#(number)-\#($0)", "name": "Part \#($0)", "price": 0.\#($0)5}"#
      }
      return
        #"{"id": \#(number), "name": "Pizza \#(number)", "price": 9.\#(number)5, "#
        + "\"\(list)\": [\(parts.joined(separator: ","))]}"
    }

    let file = try proposal(of: "{\"menu\": [\((1...4).map(thing).joined(separator: ","))]}")

    #expect(file.text.contains("\nitems: $.menu "), "\(file.text)")
  }

  @Test func `ids of a format that several items share are unsure`() throws {
    let pages = ["a", "a", "b"].enumerated().map { place, page in
      "<url><loc>https://shop.example/\(page)</loc><image:image><image:loc>https://shop.example/\(place).jpg"
        + "</image:loc></image:image></url>"
    }

    let file = try proposal(
      of: "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" "
        + "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\(pages.joined())</urlset>"
    )

    #expect(file.unsure == ["id"])
  }

  @Test func `entries without a title that have a price are items, and others are left out`()
    throws
  {
    func file(_ other: String) throws -> ProposedFile {
      let named = (1...6).map {
        #"{"id": \#($0), "title": "Flat \#($0)", "address": "Road \#($0)", "price": 9.5\#($0)}"#
      }
      return try proposal(
        of: "[\((named + Array(repeating: other, count: 3)).joined(separator: ","))]"
      )
    }

    #expect(try file(#"{"main": {"0": "a"}}"#).text.contains("items: \"$[?length(@.title) > 0]\""))
    let address = #"{"id": 9, "title": null, "address": "Road 9", "price": 9.5}"#
    #expect(try file(address).listings[0].elementCount == 9)
  }

  @Test func `a record without the points that group thousands gives the whole amount`() throws {
    let items = #"[{"id": 1, "name": "A", "price": "83.000$"}, {"id": 2, "name": "B"}]"#
    let read = try decode(
      items,
      "records: (.price | strings) |= gsub(\"[.]\"; \"\")\nitems: $\n"
        + "item: {id: $.id, title: $.name, salePrice: $.price}",
      currency: "USD"
    )

    #expect(read.sections[0].items.map { $0.salePrice?.minorUnits } == [8_300_000, nil])
  }

  @Test(arguments: [
    "RTX 3070,3000,5\nRTX 3080,3500,5\nRTX 3090,7000,10\n", "RTX 3070,3000\nRTX 3080,3500\n",
  ])
  func `a first line with an amount above amounts is a record and has no names`(_ table: String) {
    let error = #expect(throws: CatalogError.self) { try proposal(of: table) }

    #expect(error?.reason.contains("does not name the columns") == true, "\(error?.reason ?? "")")
    #expect(TableRecords.isTable(bytes("name,2019,2020\nCup,5,6\nPot,7,8\n")))
  }

  @Test func `white space before an XML declaration is skipped, and its lines are counted`() throws
  {
    let cup = "<r><p><id>a</id><name>Cup</name></p><p><id>b</id><name>Pot</name></p></r>"
    let head = " \n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let file = try proposal(of: head + cup)
    let error = #expect(throws: CatalogError.self) { try proposal(of: head + "<r><p></r>") }

    #expect(file.listings[0].sections[0].items.map(\.title) == ["Cup", "Pot"])
    #expect(error?.reason.contains("line 3 is not well-formed XML") == true)
  }

  @Test(arguments: [
    (#""id": NUMBER, "preke": "SukneleNUMBER", "kaina": "1NUMBER.50""#, "preke", "kaina"),
    (#""id": NUMBER, "cim": "AlfaNUMBER", "ar": "349NUMBER Ft""#, "cim", "ar"),
    (#""id": NUMBER, "cím": "AlfaNUMBER", "ár": "349NUMBER Ft""#, "cím", "ár"),
  ])
  func `titles and prices have names of many languages`(
    _ item: String,
    _ title: String,
    _ price: String
  ) throws {
    let lines = linesWithoutComments(of: try Self.propose(item, count: 4).text)

    #expect(lines.contains("  title: $.\(title)"), "\(lines)")
    #expect(lines.contains("  salePrice: $.\(price)"), "\(lines)")
  }

  @Test func `the currency of the items is that of a format's feed`() throws {
    let item = "<SHOPITEM><ITEM_ID>1</ITEM_ID><PRODUCTNAME>Cup</PRODUCTNAME><PRICE_VAT>589"
    let named = try proposal(
      of: "<SHOP>\(item)</PRICE_VAT><CURRENCY>CZK</CURRENCY></SHOPITEM></SHOP>"
    )
    let written = try proposal(of: "<SHOP>\(item) Kč</PRICE_VAT></SHOPITEM></SHOP>")

    #expect(named.text.contains("currency: CZK   # 1.0: the items name it\n"), "\(named.text)")
    let reason = "0.9: prices have \"kč\""
    #expect(written.text.contains("currency: CZK   # \(reason)\n"), "\(written.text)")
  }

  @Test func `a playlist is refused, because it lists no pictures`() {
    let error = #expect(throws: CatalogError.self) {
      try proposal(of: "#EXTM3U\n#EXTINF:-1,One\nhttps://s.example/1/main.m3u8\n")
    }

    #expect(error?.reason.contains("playlist") == true)
  }

  @Test func `a list that is less deep is a rival too`() throws {
    let items = { (name: String) in
      (1...9).map {
        """
        {"id": "\(name)\($0)", "title": "Cup \(name) \($0)", "price": \($0).5, "image": "https://c.example/\(name)\($0).jpg"}
        """
      }.joined(separator: ",")
    }
    let source = ProposedSource(url: "https://shop.example/cups.json")
    let body = bytes(
      #"{"data": {"shop": {"products": [\#(items("a"))]}}, "archive": [\#(items("b"))]}"#
    )

    let file = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")

    #expect(file.text.contains("items: $.data.shop.products"), "\(file.text)")
    #expect(file.text.contains("# items: $.archive"), "\(file.text)")
  }

  @Test func `a colon within a path is not a scheme`() {
    #expect(ProposedSource(url: "https://shop.example/values/A1:D").url == "./A1:D")
  }

  @Test func `a name of something in half of the records does not leave out the others`() throws {
    let fuels = [#"{"naziv": "Benzin"}"#, #"{"naziv": "Dizel"}"#, "null", "null"]
    let records = fuels.enumerated().map { place, fuel in
      #"{"vrstaVozila": "Vozilo\#(place)", "o": {"broj": 2\#(place)25, "gorivo": \#(fuel), "cenaDan": 2\#(place)00}}"#
    }

    let file = try proposal(of: "[\(records.joined(separator: ","))]")

    #expect(file.listings[0].sections[0].items.map(\.title) == (0..<4).map { "Vozilo\($0)" })
  }

  @Test func `a text that repeats is a better title than a number`() throws {
    let lands = ["Peru", "Peru", "Chile", "Chile", "Cuba"]
    let records = lands.enumerated().map {
      #"{"id": \#($0), "pais": "\#($1)", "precio": 1\#($0)0}"#
    }

    let file = try proposal(of: "[\(records.joined(separator: ","))]")

    #expect(file.listings[0].sections[0].items.map(\.title) == lands)
    #expect(file.unsure.contains("title"))
  }

  @Test(arguments: ["verd", "utpris", "rent"])
  func `a price has a name in each language`(_ name: String) throws {
    let file = try Self.propose(#""id": "aNUMBER", "name": "Cup NUMBER", "\#(name)": "9.NUMBER5""#)

    #expect(linesWithoutComments(of: file.text).contains("  salePrice: $.\(name)"))
  }

  /// The proposal for twelve items, which `members` makes of the numbers from 0.
  private static func twelve(_ members: (Int) -> String) throws -> ProposedFile {
    let items = (0..<12).map { #"{"id": "c\#($0)", "name": "Cup \#($0)", \#(members($0))}"# }
    return try proposal(of: "[\(items.joined(separator: ","))]")
  }

  @Test func `a price that is 1, 2, 3 or 4 in all items may be a level`() throws {
    #expect(try Self.twelve { #""price": \#($0 % 4 + 1)"# }.unsure.contains("salePrice"))
    #expect(try !Self.twelve { #""price": \#($0 % 4).5"# }.unsure.contains("salePrice"))
  }

  @Test func `a description or picture that few items have is not sure`() throws {
    let text = "A long sentence about the terms of a coupon, which nobody reads."
    let few = try Self.twelve { place in
      place < 2
        ? #""price": 9.5, "couponData": {"terms": {"description": "\#(text) \#(place)"}}, "project": {"picture": {"uri": "https://c.example/\#(place).jpg"}}"#
        : #""price": 9.5"#
    }

    #expect(few.unsure.contains("thumbnail"))
    #expect(!linesWithoutComments(of: few.text).contains { $0.hasPrefix("  description:") })
  }

  @Test func `an address with a mark before it is no sure picture`() throws {
    let file = try Self.twelve { #""price": 9.5, "image": "@https://c.example/\#($0).jpg""# }

    #expect(file.unsure.contains("thumbnail"))
  }

  @Test
  func
    `a feed whose CDATA sections are escaped is read, and prices that cannot be read are unsure`()
    throws
  {
    func feed(_ price: String) -> String {
      let items = (0..<4).map { place in
        let title = "&lt;![CDATA[Cup \(place)]]&gt;"
        return "<item><g:id>\(place)</g:id><g:title>\(title)</g:title><g:price>\(price)</g:price>"
          + "<g:image_link>https://c.example/\(place).jpg</g:image_link></item>"
      }
      return #"<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>"#
        + items.joined() + "</channel></rss>"
    }

    let read = try proposal(of: feed("&lt;![CDATA[82.88 TRY]]&gt;"))
    let unread = try proposal(of: feed("82.88 of something"))

    #expect(read.text.contains("format: google-merchant"))
    let items = read.listings[0].sections[0].items
    #expect(items.map(\.title) == (0..<4).map { "Cup \($0)" })
    #expect(items.allSatisfy { $0.salePrice?.minorUnits == 8288 })
    #expect(unread.unsure.contains("salePrice"))
  }

  @Test func `a currency that only most prices have is not sure`() throws {
    let mixed = try Self.twelve { #""price": "\#($0).50 \#($0 % 3 == 0 ? "EUR" : "USD")""# }
    let one = try Self.twelve { #""price": "$ \#($0).50 USD""# }

    #expect(mixed.unsure.contains("currency"))
    #expect(!one.unsure.contains("currency"))
    // A home is for sale in dollars, and others are for rent in another currency.
    let homes = try Self.twelve { number in
      let price = number % 2 == 0 ? "US$\(number)00,000" : "Q\(number),000 / mes"
      return
        #""\#(number < 2 ? "precioVenta": "precio")": "\#(number < 2 ? "US$1\(number),000" : price)""#
    }
    #expect(homes.unsure.contains("currency"), "\(homes.text)")
  }

  @Test func `a title that is a list in some items is read in the others too`() throws {
    let items = (0..<12).map { number in
      let title = #"{"text": "Title \#(number)"}"#
      let titles = #"[\#(title), {"text": "Original \#(number)"}]"#
      return
        #"{"id": "c\#(number)", "price": "\#(number).50 €", "tytul": \#(number % 3 == 0 ? title : titles)}"#
    }
    let file = try proposal(of: "[\(items.joined(separator: ","))]")

    #expect(file.text.contains(#"title: [$.tytul.text, "$.tytul[0].text"]"#), "\(file.text)")
    #expect(file.listings[0].sections[0].items.count == 12)
  }

  @Test func `the level of sections with the most items is read, and the other is named`() throws {
    func goods(_ place: Int, _ count: Int) -> String {
      let items = (0..<count).map {
        #"{"id": "\#(place)-\#($0)", "name": "Cup \#(place)-\#($0)", "price": 9.5, "image": "/\#($0).jpg"}"#
      }
      return "[\(items.joined(separator: ","))]"
    }
    func section(_ name: String, _ items: String, _ inner: [String] = []) -> String {
      #"{"id": "\#(name)", "name": "\#(name)", "products": \#(items), "children": [\#(inner.joined(separator: ","))]}"#
    }
    let inner = (0..<6).map { place in
      section(
        "m\(place)",
        goods(place, 1),
        (0..<3).map { section("n\(place)\($0)", goods(10 * place + $0 + 100, 4)) }
      )
    }

    let file = try proposal(of: #"{"menus": [\#(section("all", "[]", inner))]}"#)

    #expect(file.listings[0].sections.map(\.items.count).reduce(0, +) == 72)
    #expect(file.unsure.contains("items"))
  }

  @Test func `the titles of a list that may be another one are named as unsure`() throws {
    func list(_ name: String) -> String {
      let items = (0..<4).map {
        #"{"id": "\#(name)\#($0)", "name": "Cup \#(name) \#($0)", "price": 9.5}"#
      }
      return #""\#(name)": [\#(items.joined(separator: ","))]"#
    }

    let two = try proposal(of: "{\(list("spring")), \(list("autumn")), \"a\": 1}")
    let one = try proposal(of: "{\(list("spring")), \"a\": 1}")

    #expect(two.unsure.contains("items") == two.unsure.contains("title"))
    #expect(!one.unsure.contains("title"))
  }

  /// A table with a row for each of the numbers from 0.
  private static func table(_ head: String, _ count: Int, _ row: (Int) -> String) throws
    -> ProposedFile
  {
    try proposal(of: ([head] + (0..<count).map(row)).joined(separator: "\n") + "\n")
  }

  @Test func `titles that repeat are read, though a better text is missing in many rows`() throws {
    let cars = try Self.table("Model auta,Extra,Cena (Kč)", 60) {
      "Škoda Fabia \($0 % 9),\($0 % 3 == 0 ? "" : "alarm no. \($0) and radio"),\(200_000 + 900 * $0)"
    }

    #expect(linesWithoutComments(of: cars.text).contains(#"  title: "$['Model auta']""#))
    #expect(cars.unsure.contains("title"))
  }

  @Test func `a list whose price is in doubt or cannot be read is proposed nevertheless`() throws {
    let totals = try Self.table("id,district,floor,total price (Toman)", 20) {
      "AZS\($0)kq,ekhtiar \($0 % 17) west,\($0 % 5),\(17 + $0)000000"
    }
    let texts = try Self.table("location,price,area", 60) {
      "\($0 % 4) BHK in sector \($0 % 50),\"₹ 1.\($0 % 50) Cr₹ 7,224/sq.ft.\",\(900 + $0 % 50) sq.ft."
    }

    #expect(totals.unsure.contains("title"))
    #expect(texts.unsure.contains("salePrice"))
  }

  @Test func `the name of a shop is the title of last resort`() throws {
    let places = try Self.table("店铺名称,店铺评分,人均消费,营业时间", 60) {
      "茶 馆 \($0 % 40),\($0 % 5),\(20 + $0),\($0 % 9):00 - 2\($0 % 4):00"
    }

    #expect(linesWithoutComments(of: places.text).contains("  title: $.店铺名称"))
    #expect(places.unsure.contains("title"))
  }

  @Test(
    "the heading of a column tells its currency, and that it counts no cents",
    arguments: [("Cena [€]", "EUR"), ("Cena (Kč)", "CZK"), ("Price (DKK)", "DKK")]
  )
  func headings(_ heading: String, _ code: String) throws {
    let file = try Self.table("id,name,\(heading)", 12) { "\($0),Cup \($0),\(1000 + 137 * $0)" }

    #expect(file.text.contains("currency: \(code)"))
    #expect(!file.unsure.contains("salePrice") && !file.unsure.contains("currency"))
  }

  @Test(arguments: ["http://schema.example/WebPage", "https://c.example/none.png"])
  func `one address in all items is no sure picture`(_ address: String) throws {
    let file = try Self.twelve { _ in #""price": 9.5, "image_url": "\#(address)""# }

    #expect(file.unsure.contains("thumbnail"))
  }

  @Test func `a price of 0 in most items is not sure`() throws {
    let file = try Self.twelve { #""price": \#($0 == 3 ? "9.5" : "0")"# }

    #expect(file.unsure.contains("salePrice"))
  }

  @Test func `the titles of things that hold lists with prices are not sure`() throws {
    let towns = ["Montevideo", "Maldonado", "Canelones"].map { town in
      let flats = (0..<4).map { #"{"precio": \#(900 + $0), "area": \#(40 + $0)}"# }
      return #"{"nombre": "\#(town)", "propiedades": [\#(flats.joined(separator: ","))]}"#
    }

    let file = try proposal(of: #"{"ciudades": [\#(towns.joined(separator: ","))]}"#)

    #expect(file.unsure.contains("items") == file.unsure.contains("title"))
  }

  @Test func `a table whose first row is a record is not read, also if some prices are empty`() {
    let rows = (0..<12).map { row in
      let price =
        row % 3 == 2 ? "" : row % 3 == 1 ? "\"Q2,900 (Rebajado 3%)\"" : "\"$1,35\(row % 10)\""
      return "Casa \(row),Zona \(row),\(price),Texto \(row)"
    }

    #expect {
      try proposal(of: rows.joined(separator: "\n"))
    } throws: {
      "\($0)".contains("its first line does not name the columns")
    }
  }

  @Test func `rows with more cells than columns are not read as if they were shifted`() throws {
    let rows = (0..<60).map { row in
      row < 12 ? "Bio,1\(row).5,Life \(row),u\(row)" : "Art,,1\(row).5,Art \(row),u\(row)"
    }

    #expect {
      try proposal(of: (["category,price,title,upc"] + rows).joined(separator: "\n"))
    } throws: {
      "\($0)".contains("48 of its rows cannot be read, the first because line 14 has 5 cells")
    }
  }

  @Test func `a krone at a Danish host is a Danish one`() throws {
    let file = try Self.twelve {
      #""pris": "34\#($0),30 kr", "url": "https://www.shop.dk/s-\#($0).html""#
    }

    #expect(file.text.contains("currency: DKK"))
  }

  @Test func `the target of a link around a picture is no sure picture`() throws {
    func file(_ name: String, _ ending: String) throws -> ProposedFile {
      try Self.twelve {
        #""price": 9.5, "\#(name)": "https://www.shop.example/flat-\#($0)\#(ending)""#
      }
    }

    #expect(try file("gallery-container href", "").unsure.contains("thumbnail"))
    #expect(try !file("gallery-container href", ".jpg").unsure.contains("thumbnail"))
  }

  @Test func `what people spend at a place is no sure price`() throws {
    let file = try Self.twelve { #""costs": {"name": "\#(2001 + $0)～3000円"}"# }

    #expect(!linesWithoutComments(of: file.text).contains { $0.hasPrefix("  salePrice:") })
  }

  @Test func `the attribute id of a title is not its text in Indonesian`() throws {
    let phones = (1...6).map {
      "<PHONE><TITLE id=\"\($0)\">Phone \($0)</TITLE><PRICE>$5\($0)0</PRICE></PHONE>"
    }
    let file = try Self.read("<CATALOG>\(phones.joined())</CATALOG>")

    #expect(file.text.contains("  title: \"$.TITLE['#text']\""))
  }

  @Test func `a name that begins with key is no sure id`() throws {
    let file = try Self.propose(
      #""token": "gZNUMBERWGY", "title": "Car NUMBER", "KEY_PROP_NAME": "b9cfde1NUMBER-c63e-4388-8451-73d14431216NUMBER""#
    )

    #expect(file.unsure.contains("id"))
  }

  @Test func `a number can be how many there are, and zero is no place`() throws {
    let goods = try Self.read(
      #"{"products": [{"name": "Bread", "number": "12", "price": "4"}, {"name": "Water", "number": "16", "price": "3"}, {"name": "Beer", "number": "4", "price": "50"}]}"#
    )
    let places = (1...9).map {
      let at = $0 < 3 ? "34.9\($0), 31.6\($0)" : "0.0, 0.0"
      return
        #"{"id": \#($0), "name": "Winery \#($0)", "Latitude": "32.99\#($0)", "Longitude": "35.21\#($0)", "geometry": {"coordinates": [\#(at)]}}"#
    }
    let wineries = try Self.read("[\(places.joined(separator: ","))]")

    #expect(goods.unsure.contains("id"))
    #expect(wineries.text.contains("  latitude: $.Latitude"))
  }

  @Test func `a list of things with a price for each size can have the items`() throws {
    let extras = (1...4).map { #"{"id": "e\#($0)", "name": "Syrup \#($0)", "price": 9.5}"# }
    let drinks = (1...6).map {
      #"{"id": "d\#($0)", "name": "Mocha \#($0)", "prices": {"medium": 3.\#($0), "large": 4.\#($0)}}"#
    }
    let body =
      #"{"extras": [\#(extras.joined(separator: ","))], "drinks": [\#(drinks.joined(separator: ","))]}"#

    #expect(try Self.read(body).text.contains("# items: $.drinks   # 0.6: an array of 6 objects"))
  }

  @Test func `an id that is not taken is not called missing`() throws {
    let long = String(repeating: "x", count: 250)
    let file = try Self.propose(#""id": "\#(long)NUMBER", "name": "Cup NUMBER""#)

    #expect(file.text.contains("  id: $.name   # 0.5: no field is a sure id, and this one"))
  }

  @Test func `empty cells behind the last name of a table's head are nothing`() throws {
    let rows = (1...6).map { "PERFUME \($0);BRAND \($0);1\($0).90;;;;" }
    let file = try Self.read("Nome;Marca;Prezzo;;;;\n\(rows.joined(separator: "\n"))")

    #expect(file.text.contains("  title: $.Nome") && file.text.contains("$.Prezzo"))
  }
}
