/// What shops call the fields of an item, and how surely a name means one.
enum FieldVocabulary {
  /// A field that is looked for.
  enum Field: String, CaseIterable {
    case id, title, description, badges, deliveryTypes, normalPrice, salePrice
    case latitude, longitude, address, thumbnail, gallery
  }

  /// How surely a place's name means a field, from 0 to 1.
  static func score(_ field: Field, _ place: FieldPlace) -> Double {
    let path = place.names.map(NameWords.plain)
    let name = path.last ?? ""
    let parent = path.dropLast().last ?? ""
    let known = names[field] ?? [:]
    if field == .normalPrice || field == .salePrice { return priceScore(field, path) }
    if let score = known[name] {
      // The name of a brand or a category is none of the item.
      let isOfAnother = !parent.isEmpty && !wrappers.contains(parent)
      if isOfAnother, field == .id || field == .title { return score * 0.4 }
      let isOfOthers = !others.isDisjoint(with: path.dropLast())
      return isOfOthers && (field == .thumbnail || field == .gallery) ? score * 0.3 : score
    }
    switch field {
    case .thumbnail, .gallery: return pictureScore(place, name, parent, path)
    case .badges, .deliveryTypes:
      guard ["name", "title", "label", "text"].contains(name) else { return 0 }
      return (known[parent] ?? 0) * 0.95
    case .id:
      let words = NameWords.words(of: place.name)
      return parent.isEmpty && ["id", "uuid", "sku"].contains(words.last) ? 0.5 : 0
    case .title:
      // "goods_nm", "place_name"; what brands and the like are called is none.
      let words = NameWords.words(of: place.name)
      let isName = ["name", "nm", "title"].contains(words.last) && words.count == 2
      let isOfOthers = words.contains {
        others.contains($0) || ["file", "user", "first", "last"].contains($0)
      }
      return isName && !isOfOthers && (parent.isEmpty || wrappers.contains(parent)) ? 0.6 : 0
    default: return 0
    }
  }

  /// How surely a name means the price to pay or the one before a reduction.
  private static func priceScore(_ field: Field, _ path: [String]) -> Double {
    let name = path.last ?? ""
    var score = namedPrice(field, name)
    // {"price": {"amount": 7}} and its kin are called by what stands before; {"price": {"EUR": 7}} too.
    let isCode = Currency.codes.contains(name.uppercased())
    let isValue = Self.isValue(name)
    if isValue || isCode,
      let before = path.dropLast().last(where: {
        namedPrice(field, $0) > 0 || !Self.isValue($0)
      })
    {
      let named = namedPrice(field, before)
      // "min price" says by itself what it is; "min" does not.
      let isSilent = valueWords.contains(name) && name != "price"
      score = named > 0 ? named * (isCode ? 0.8 : 0.95) : isSilent || isCode ? 0 : score
    }
    // {"calculated_price": {"calculated_amount": 7, "original_amount": 9}}
    if !isValue, score == 0, has(valueWords, in: name), has(formerWords, in: name),
      path.dropLast().contains(where: { has(["price", "prices"], in: $0) })
    {
      return field == .normalPrice ? 0.8 : 0
    }
    // {"compareAtPriceRange": {"minVariantPrice": …}}: what stands further out says that it was.
    let isFormer = path.dropLast().contains { has(formerWords, in: $0) }
    if isFormer, !formerWords.contains(name) {
      let other = names[.salePrice]?[name] ?? 0
      return field == .salePrice ? score * 0.3 : max(score, other > 0 || isValue ? 0.8 : 0)
    }
    // A price by the kilogram, of shipping, or that members alone pay is not the item's.
    let isAside = path.contains { has(asideWords, in: $0) }
    return isAside ? score * 0.4 : score
  }

  /// Whether a name only says that a number is an amount: `amount`, `calculated amount`.
  private static func isValue(_ name: String) -> Bool {
    if valueWords.contains(name) { return true }
    let words = name.split(separator: " ").map(String.init)
    return words.contains(where: valueWords.contains)
      && words.allSatisfy { valueWords.contains($0) || amountWords.contains($0) }
  }

  /// Whether a place speaks of money that is not the item's price.
  static func isPriceAside(_ place: FieldPlace) -> Bool {
    place.names.map(NameWords.plain).contains {
      has(asideWords, in: $0) || has(otherMoneyWords, in: $0) || has(formerWords, in: $0)
        || has(highWords, in: $0)
    }
  }

  /// How surely one name means a price: one that is known, or that ends in the word.
  private static func namedPrice(_ field: Field, _ name: String) -> Double {
    if let score = names[field]?[name] { return score }
    guard [" price", " prc", "가격"].contains(where: name.hasSuffix) else { return 0 }
    // The high end of a range is nobody's price.
    if has(highWords, in: name) { return 0 }
    return has(formerWords, in: name) == (field == .normalPrice) ? 0.75 : 0
  }

  /// Whether one of the words of a plain name is among these.
  private static func has(_ words: Set<String>, in name: String) -> Bool {
    name.split(separator: " ").contains { words.contains(String($0)) }
  }

  private static func pictureScore(
    _ place: FieldPlace,
    _ name: String,
    _ parent: String,
    _ path: [String]
  ) -> Double {
    let words = Set(NameWords.words(of: place.name))
    let isOfOthers = !others.isDisjoint(with: path.dropLast())
    let share = isOfOthers ? 0.3 : 1.0
    let isLink =
      pictureLinkWords.contains(name) || !words.isDisjoint(with: ["url", "src", "href"])
    if isLink, isPicture(parent) || place.steps.dropLast().contains(where: { isPicture($0.name) })
    {
      return 0.9 * share
    }
    return words.isDisjoint(with: pictureWords) ? 0 : 0.7 * share
  }

  /// Whether a name speaks of pictures.
  static func isPicture(_ name: String) -> Bool {
    !Set(NameWords.words(of: name)).isDisjoint(with: pictureWords)
  }

  /// Whether a name is that of a text which may be there in several languages.
  static func isText(_ name: String) -> Bool {
    let plain = NameWords.plain(name)
    return names[.title]?[plain] != nil || names[.description]?[plain] != nil
  }

  private static let pictureWords: Set<String> = [
    "image", "images", "img", "imgs", "picture", "pictures", "pic", "pics", "photo", "photos",
    "thumb",
    "thumbnail", "thumbs", "thumbnails", "media", "gallery", "cover", "poster", "hero", "foto",
    "fotos",
    "bild", "bilder", "imagen", "imagenes", "imágenes", "imagem", "imagens", "immagine",
    "immagini",
    "이미지", "사진", "썸네일", "画像", "写真", "图片", "图像", "圖片", "фото", "изображение",
  ]
  /// What an item may be wrapped in.
  private static let wrappers: Set<String> = [
    "node", "product", "item", "attributes", "fields", "properties", "data", "item data", "info",
    "source",
    "current", "master data",
  ]
  /// What an item speaks of without being it: their pictures are not its own.
  private static let others: Set<String> = [
    "brand", "vendor", "seller", "shop", "store", "manufacturer", "author", "user", "reviews",
    "review",
    "category", "categories", "related", "recommendations", "merchant", "supplier", "icons",
    "flags",
    "badges", "badge", "company", "maker",
  ]
  private static let pictureLinkWords: Set<String> = [
    "src", "url", "href", "uri", "link", "original", "large", "file", "path", "small", "medium",
    "full",
    "big", "xl", "high", "low", "preview", "regular", "square", "source", "filename",
  ]
  /// Whether a picture at a place is of something that the item only speaks of.
  static func isOfAnother(_ place: FieldPlace) -> Bool {
    !others.isDisjoint(with: place.names.dropLast().map(NameWords.plain))
  }

  /// What shops call the largest form of a picture that is there in several sizes.
  static let largestNames: Set<String> = [
    "original", "large", "full", "xl", "big", "high", "zoom", "fullsize",
  ]

  /// How large a picture is of which a name speaks, to be compared with others: its numbers are pixels.
  static func pictureSize(_ name: String) -> Int {
    let plain = name.lowercased()
    if largestNames.contains(where: plain.contains) { return .max }
    if ["thumb", "small", "tiny", "mini", "icon"].contains(where: plain.contains) { return 0 }
    let numbers = plain.split { !$0.isWholeNumber }.compactMap { Int($0) }
    return numbers.max() ?? 400
  }

  /// What shops call a price that only reduced items have.
  static let reducedNames: Set<String> = [
    "sale price", "special price", "discount price", "discounted price", "offer price",
    "promo price",
    "할인가", "sale",
  ]
  private static let valueWords: Set<String> = [
    "amount", "value", "current", "raw", "price", "cents", "minor", "cent amount", "min", "from",
    "low",
    "minimum", "lowest", "gross", "net", "units", "unit amount", "start",
  ]
  /// What stands beside the word for an amount without saying whose it is.
  private static let amountWords: Set<String> = [
    "calculated", "decimal", "number", "total", "sale", "final",
  ]
  private static let highWords: Set<String> = ["max", "maximum", "high", "highest", "to"]
  /// What else costs or is worth something.
  private static let otherMoneyWords: Set<String> = [
    "fee", "fees", "tax", "taxes", "vat", "save", "saved", "saving", "savings", "discount",
    "discounts", "point", "points", "reward", "rewards", "credit", "bonus", "per", "tip",
    "minimum", "배송비", "적립금", "포인트", "送料",
  ]
  private static let formerWords: Set<String> = [
    "compare", "original", "org", "orig", "regular", "former", "previous", "old", "list", "was",
    "before", "msrp",
    "rrp",
  ]
  private static let asideWords: Set<String> = [
    "shipping", "delivery", "member", "members", "deposit", "wholesale", "installment",
  ]

  private static let names: [Field: [String: Double]] = [
    .id: [
      "id": 1, "product id": 0.95, "item id": 0.95, "uid": 0.9, "uuid": 0.9, "detail hash": 0.9,
      "hash": 0.8, "sku": 0.8, "article number": 0.8, "product code": 0.8, "code": 0.7,
      "asin": 0.7,
      "handle": 0.6, "key": 0.6, "slug": 0.6, "gtin": 0.6, "ean": 0.6, "no": 0.5, "상품번호": 0.9,
      "artikelnummer": 0.8, "referencia": 0.7, "reference": 0.7, "ref": 0.6, "codigo": 0.7,
      "código": 0.7,
      "item no": 0.8, "item number": 0.8, "product number": 0.8, "part number": 0.7,
      "goods no": 0.9,
      "상품코드": 0.9, "번호": 0.8, "商品番号": 0.9, "品番": 0.8, "编号": 0.8,
    ],
    .title: [
      "title": 1, "name": 0.95, "product name": 0.95, "product title": 0.95, "item name": 0.95,
      "display name": 0.9, "heading": 0.7, "label": 0.6, "alt": 0.5, "subject": 0.6, "상품명": 0.95,
      "이름": 0.9, "제목": 0.9, "headline": 0.7, "goods name": 0.95, "bezeichnung": 0.9, "titel": 0.95,
      "nombre": 0.95, "titulo": 0.95, "título": 0.95, "nom": 0.9, "titre": 0.95, "nome": 0.95,
      "nazwa": 0.9,
      "naam": 0.9, "nimi": 0.9, "namn": 0.9, "navn": 0.9, "produktname": 0.95, "메뉴명": 0.95,
      "商品名": 0.95,
      "名称": 0.9, "名前": 0.9, "标题": 0.9, "название": 0.95, "наименование": 0.95,
    ],
    .description: [
      "description": 1, "product description": 0.95, "short description": 0.9, "body html": 0.9,
      "desc": 0.9, "summary": 0.8, "blurb": 0.8, "text": 0.6, "body": 0.6, "content": 0.6,
      "details": 0.6, "excerpt": 0.7, "subtitle": 0.5, "설명": 0.9, "beschreibung": 0.95,
      "description html": 0.9, "long description": 0.85, "descripcion": 0.95, "descripción": 0.95,
      "descrizione": 0.95, "descrição": 0.95, "opis": 0.9, "상품설명": 0.95, "상세설명": 0.9, "説明": 0.9,
      "描述": 0.9,
      "описание": 0.95, "plain text": 0.6, "about": 0.6,
    ],
    .badges: [
      "badge": 1, "badges": 1, "tags": 0.8, "labels": 0.8, "ribbons": 0.8, "flags": 0.6,
      "category": 0.5, "categories": 0.5,
    ],
    .deliveryTypes: [
      "delivery type": 1, "delivery types": 1, "delivery": 0.8, "shipping": 0.7,
      "shipping information": 0.8, "shipping methods": 0.8, "delivery methods": 0.8,
    ],
    .normalPrice: [
      "normal price": 1, "regular price": 0.95, "list price": 0.95, "original price": 0.95,
      "compare at price": 0.95, "n price": 0.9, "old price": 0.9, "was": 0.8, "was price": 0.9,
      "msrp": 0.8, "rrp": 0.8, "retail price": 0.8, "market price": 0.8, "price before": 0.8,
      "price before discount": 0.9, "full price": 0.85, "strike price": 0.8, "정가": 0.9,
      "listprice": 0.95, "before price": 0.85, "previous price": 0.9, "regular": 0.6,
      "original": 0.5,
      "uvp": 0.8, "precio anterior": 0.9, "정상가": 0.95, "소비자가": 0.9, "定価": 0.9, "原价": 0.9,
    ],
    .salePrice: [
      "sale price": 1, "calculated price": 0.97, "price": 0.95, "s price": 0.9,
      "final price": 0.95, "current price": 0.95,
      "selling price": 0.95, "special price": 0.9, "offer price": 0.9, "unit price": 0.7,
      "now": 0.6, "price in cents": 0.95, "price cents": 0.95, "prices": 0.6, "cost": 0.5,
      "amount": 0.4, "min price": 0.8, "price amount": 0.9, "discounted price": 0.95,
      "min variant price": 0.8, "minimum price": 0.7, "final": 0.5, "cents": 0.6,
      "discount price": 0.9, "판매가": 0.95, "가격": 0.9, "price money": 0.9, "price range": 0.7,
      "base price": 0.8, "net price": 0.7, "gross price": 0.8, "preis": 0.95, "precio": 0.95,
      "prix": 0.95,
      "prezzo": 0.95, "preco": 0.95, "preço": 0.95, "cena": 0.9, "prijs": 0.95, "pris": 0.9,
      "fiyat": 0.95,
      "hinta": 0.9, "할인가": 0.9, "판매가격": 0.95, "価格": 0.95, "販売価格": 0.97, "价格": 0.95, "售价": 0.95,
      "цена": 0.95, "price minor": 0.95, "price value": 0.9, "offers": 0.5, "unit amount": 0.8,
    ],
    .latitude: ["latitude": 1, "lat": 1, "위도": 1, "geo lat": 0.9, "mapy": 0.7],
    .longitude: [
      "longitude": 1, "lng": 1, "lon": 1, "long": 0.8, "경도": 1, "geo lon": 0.9, "geo lng": 0.9,
      "mapx": 0.7,
    ],
    .address: [
      "address": 1, "full address": 0.95, "formatted address": 0.95, "road address": 0.95,
      "street address": 0.9,
      "address name": 0.9, "주소": 1, "addr": 0.9, "addr1": 0.9, "도로명주소": 0.95, "street": 0.6,
      "adresse": 0.95,
      "direccion": 0.95,
      "dirección": 0.95, "indirizzo": 0.95, "address line": 0.8, "address1": 0.8, "住所": 1, "地址": 1,
    ],
    .thumbnail: [
      "thumbnail": 1, "thumb": 1, "thumbnail url": 1, "thumb url": 1, "image": 0.9,
      "image url": 0.9,
      "img": 0.9, "picture": 0.9, "photo": 0.9, "main image": 0.95, "featured image": 0.9,
      "cover": 0.8, "poster": 0.8, "images": 0.8, "img url": 0.9, "small image": 0.9, "썸네일": 1,
      "대표이미지": 0.95, "이미지": 0.9, "image link": 0.9, "default image": 0.9, "primary image": 0.95,
    ],
    .gallery: [
      "images": 1, "gallery": 1, "pictures": 1, "photos": 1, "image urls": 1, "media": 0.8,
      "image": 0.6, "thumb images": 0.8, "additional images": 0.9, "additional image urls": 0.9,
      "additional image link": 0.9, "all images": 0.9,
    ],
  ]
}

/// A member's name taken apart into lower case words: `compareAtPrice`, `compare_at_price`.
enum NameWords {
  /// The words of a name, in order.
  static func words(of name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var wasLower = false
    for scalar in name.unicodeScalars {
      let properties = scalar.properties
      guard properties.isAlphabetic || properties.numericType != nil else {
        if !word.isEmpty { words.append(word) }
        (word, wasLower) = ("", false)
        continue
      }
      if properties.isUppercase, wasLower {
        words.append(word)
        word = ""
      }
      word += properties.lowercaseMapping
      wasLower = properties.isLowercase || properties.numericType != nil
    }
    return word.isEmpty ? words : words + [word]
  }

  /// The name with its words joined by spaces, which makes spellings of one name equal.
  static func plain(_ name: String) -> String {
    words(of: name).joined(separator: " ")
  }
}
