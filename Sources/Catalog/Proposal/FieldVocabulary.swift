/// What shops call the fields of an item, and how surely a name means one.
enum FieldVocabulary {
  /// A field that is looked for.
  enum Field: String, CaseIterable {
    case id, title, description, badges, deliveryTypes, normalPrice, salePrice
    case latitude, longitude, thumbnail, gallery
  }

  /// How surely a place's name means a field, from 0 to 1.
  static func score(_ field: Field, _ place: FieldPlace) -> Double {
    let name = NameWords.plain(place.name)
    let parent = place.parent.map(NameWords.plain) ?? ""
    let known = names[field] ?? [:]
    // {"price": {"amount": 7}} and its kin are called by what stands before.
    if field == .normalPrice || field == .salePrice, valueWords.contains(name),
      let score = known[parent]
    {
      return max(score * 0.95, name == "price" ? known[name] ?? 0 : 0)
    }
    if let score = known[name] {
      // The name of a brand or a category is none of the item.
      let isOfAnother = !parent.isEmpty && !wrappers.contains(parent)
      return isOfAnother && (field == .id || field == .title) ? score * 0.4 : score
    }
    switch field {
    case .thumbnail, .gallery:
      let words = Set(NameWords.words(of: place.name))
      if pictureLinkWords.contains(name),
        isPicture(parent) || place.steps.dropLast().contains(where: { isPicture($0.name) })
      {
        return 0.9
      }
      return words.isDisjoint(with: pictureWords) ? 0 : 0.7
    case .badges, .deliveryTypes:
      guard ["name", "title", "label", "text"].contains(name) else { return 0 }
      return (known[parent] ?? 0) * 0.95
    case .id:
      let words = NameWords.words(of: place.name)
      return parent.isEmpty && ["id", "uuid", "sku"].contains(words.last) ? 0.5 : 0
    default: return 0
    }
  }

  /// Whether a name speaks of pictures.
  static func isPicture(_ name: String) -> Bool {
    !Set(NameWords.words(of: name)).isDisjoint(with: pictureWords)
  }

  private static let pictureWords: Set<String> = [
    "image", "images", "img", "imgs", "picture", "pictures", "photo", "photos", "thumb",
    "thumbnail", "thumbs", "thumbnails", "media", "gallery", "cover", "poster", "이미지", "사진",
  ]
  /// What an item may be wrapped in.
  private static let wrappers: Set<String> = ["node", "product", "item", "attributes", "fields"]
  private static let pictureLinkWords: Set<String> = [
    "src", "url", "href", "uri", "link", "original", "large", "file", "path",
  ]
  private static let valueWords: Set<String> = [
    "amount", "value", "current", "raw", "price", "cents", "minor", "cent amount",
  ]

  private static let names: [Field: [String: Double]] = [
    .id: [
      "id": 1, "product id": 0.95, "item id": 0.95, "uid": 0.9, "uuid": 0.9, "detail hash": 0.9,
      "hash": 0.8, "sku": 0.8, "article number": 0.8, "product code": 0.8, "code": 0.7,
      "asin": 0.7,
      "handle": 0.6, "key": 0.6, "slug": 0.6, "gtin": 0.6, "ean": 0.6, "no": 0.5, "상품번호": 0.9,
    ],
    .title: [
      "title": 1, "name": 0.95, "product name": 0.95, "product title": 0.95, "item name": 0.95,
      "display name": 0.9, "heading": 0.7, "label": 0.6, "alt": 0.5, "subject": 0.6, "상품명": 0.95,
      "이름": 0.9, "제목": 0.9,
    ],
    .description: [
      "description": 1, "product description": 0.95, "short description": 0.9, "body html": 0.9,
      "desc": 0.9, "summary": 0.8, "blurb": 0.8, "text": 0.6, "body": 0.6, "content": 0.6,
      "details": 0.6, "excerpt": 0.7, "subtitle": 0.5, "설명": 0.9,
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
    ],
    .salePrice: [
      "sale price": 1, "price": 0.95, "s price": 0.9, "final price": 0.95, "current price": 0.95,
      "selling price": 0.95, "special price": 0.9, "offer price": 0.9, "unit price": 0.7,
      "now": 0.6, "price in cents": 0.95, "price cents": 0.95, "prices": 0.6, "cost": 0.5,
      "amount": 0.4, "min price": 0.7, "price amount": 0.9, "discounted price": 0.95,
      "min variant price": 0.8, "minimum price": 0.7, "final": 0.5, "cents": 0.6,
      "discount price": 0.9, "판매가": 0.95, "가격": 0.9,
    ],
    .latitude: ["latitude": 1, "lat": 1],
    .longitude: ["longitude": 1, "lng": 1, "lon": 1, "long": 0.8],
    .thumbnail: [
      "thumbnail": 1, "thumb": 1, "thumbnail url": 1, "thumb url": 1, "image": 0.9,
      "image url": 0.9,
      "img": 0.9, "picture": 0.9, "photo": 0.9, "main image": 0.95, "featured image": 0.9,
      "cover": 0.8, "poster": 0.8, "images": 0.8, "img url": 0.9, "small image": 0.9,
    ],
    .gallery: [
      "images": 1, "gallery": 1, "pictures": 1, "photos": 1, "image urls": 1, "media": 0.8,
      "image": 0.6, "thumb images": 0.8,
    ],
  ]
}
