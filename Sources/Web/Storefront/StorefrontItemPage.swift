import Base
import Catalog
import Imaging
import Orders
import Pipeline
import SystemPackage

/// The template data of an item's page.
///
/// A text that the item does not have is empty.
struct StorefrontItemPage: PageView {
  static let template = "storefront-item"

  /// A picture of the gallery at the top of the page.
  struct Picture {
    let number: Int
    let whole, small: String
    let isCurrent, isLater: Bool
  }

  /// A picture of the long description below.
  struct Sheet {
    let number: Int
    let source: String
    /// The picture's size; nil if its file cannot be read.
    let size: PixelSize?
  }

  let item: StorefrontCard
  let shop, speech, id, listed, long, units, money, stale: String
  /// The price in the item's detail document, if it differs from the price in the shop's list, which orders use.
  let other: String
  /// The title of the first section that lists the item.
  let section, sectionAddress: String
  let facts: [PriceLineView.Fact]
  let pictures: [Picture]
  let count: Int
  let sheets: [Sheet]
  let cards: [StorefrontCard]
  /// The chart of the item's price; nil if the price never changed.
  let line: PriceLineView?
  let most = StorefrontBasket.mostPieces
  let isMany, hasStory, isAdded, isFull, isOrderable: Bool

  init(
    _ open: OpenStorefront,
    _ shown: ShownItem,
    on shelf: StorefrontSections.Shelf,
    since: UnixTime?,
    more: [ShownItem]
  ) {
    let (store, visit) = (open.store, open.visit)
    let item = shown.item
    self.item = StorefrontCard(
      shown,
      ItemView.Words(visit.language),
      store.squares,
      isEager: true
    )
    shop = store.shop
    speech = shelf.speech
    id = item.id
    let text = item.description.map(PlainText.block) ?? ""
    listed = text == PlainText.line(item.title) ? "" : text
    let described = shown.detail?.description.map(PlainText.block) ?? ""
    long = described == text ? "" : described
    let price = shown.detail?.prices.last
    other = item.price == nil || price == item.price ? "" : price?.formatted() ?? ""
    (section, sectionAddress) = (shelf.title, StorefrontAddress.section(shelf.section.key))
    line = PriceLineView(shown, visit.clock, visit.language)
    facts = Self.facts(shown, visit) + [line?.lowest].compactMap { $0 }
    stale = shown.isStale ? visit.asLastSeen(since) : ""
    pictures = Self.gallery(shown, visit, store.squares)
    count = pictures.count
    isMany = count > 1
    let parts = shown.pictures.filter { $0.role == .section && $0.path != nil }
    sheets = parts.enumerated().map { place, image in
      Sheet(
        number: place + 1,
        source: StorefrontAddress.picture(image.path ?? ""),
        size: store.sizes.size(of: image)
      )
    }
    hasStory = !long.isEmpty || !sheets.isEmpty
    let words = ItemView.Words(visit.language, within: speech)
    cards = more.map { StorefrontCard($0, words, store.squares, isEager: false) }
    isOrderable = store.content.orders != nil && !item.isSoldOut && item.price != nil
    units = item.price.map { "\($0.minorUnits)" } ?? ""
    money = item.price.map { StorefrontMoney.pattern($0.currency) } ?? ""
    let done = visit.asked("added")
    (isAdded, isFull) = (done == "1", done == "0")
  }

  private static func gallery(
    _ shown: ShownItem,
    _ visit: StorefrontRequest,
    _ squares: StorefrontSquares
  ) -> [Picture] {
    var seen: Set<String> = []
    func held(_ roles: [ShownPicture]) -> [ShownPicture] {
      roles.filter { $0.path != nil && seen.insert($0.sha256 ?? $0.url).inserted }
    }
    var images = held(shown.pictures.filter { $0.role == .top || $0.role == .gallery })
    if images.isEmpty { images = held(shown.pictures.filter { $0.role == .thumbnail }) }
    // Without JavaScript, the fragment of a link scrolls to the picture, and the query parameter marks it as the
    // current one.
    let asked = min(max(visit.asked("picture").flatMap { Int($0) } ?? 1, 1), images.count)
    return images.enumerated().map { place, image in
      Picture(
        number: place + 1,
        whole: StorefrontAddress.picture(image.path ?? ""),
        small: squares.address(image.path ?? "", 128),
        isCurrent: place + 1 == asked,
        isLater: place > 0
      )
    }
  }

  private static func facts(_ shown: ShownItem, _ visit: StorefrontRequest) -> [PriceLineView.Fact]
  {
    var facts: [PriceLineView.Fact] = []
    func add(_ name: String, _ value: String) {
      facts.append(PriceLineView.Fact(name: name, value: value))
    }
    let delivery = shown.item.deliveryTypes.map(PlainText.line).filter { !$0.isEmpty }
    if !delivery.isEmpty { add(visit.say("Delivery", "배송"), delivery.joined(separator: ", ")) }
    for (name, value) in (shown.detail?.notes ?? [:]).sorted(by: { $0.key < $1.key }) {
      let value = PlainText.line(value)
      if !value.isEmpty { add(visit.language.note(name), value) }
    }
    if let address = shown.item.address { add(visit.say("Place", "위치"), PlainText.line(address)) }
    add(visit.say("Item number", "상품 번호"), PlainText.line(shown.item.id))
    if let since = shown.detailSince {
      add(visit.say("No detail since", "상세 정보 없음"), visit.clock.text(since))
    }
    return facts
  }
}

extension PageLanguage {
  /// The label of a note, which is an additional field of an item's detail document, such as `delivery_fee`.
  ///
  /// Three notes of larder's built-in formats have a fixed label. The label of any other note is its key in words.
  func note(_ name: String) -> String {
    switch name {
    case "point": of("Points", "적립금")
    case "delivery_info": of("Delivery days", "배송 안내")
    case "delivery_fee": of("Delivery fee", "배송비")
    default: Self.words(ofKey: PlainText.line(name))
    }
  }

  /// A JSON key in words: both `shippingInfo` and `shipping_info` become "Shipping info".
  ///
  /// A key that has spaces or characters outside ASCII stays as it is.
  static func words(ofKey key: String) -> String {
    guard key.wholeMatch(of: /[-0-z]*/) != nil else { return key }
    let words = key.replacing(/[-_]/, with: " ")
      .replacing(/([a-z])([A-Z])/) { "\($0.output.1) \($0.output.2.lowercased())" }
      .trimmingPrefix { $0 == " " }
    return words.isEmpty ? key : words.prefix(1).uppercased() + words.dropFirst()
  }
}

/// Formats of amounts for the store's script, which calculates totals in the browser.
enum StorefrontMoney {
  /// The format of a currency's amounts, with a nine for each digit: `9원` or `$9.99`.
  static func pattern(_ currency: String) -> String {
    String(
      Price(minorUnits: 0, currency: currency).formatted().map { $0.isNumber ? "9" : $0 }
    )
  }
}

/// The sizes of pictures in pixels, read from their files and then kept in memory.
final class PictureSizes: Sendable {
  private let cache: String
  private let known = LRUCache<PixelSize>(most: 1 << 20)

  init(cache: String) {
    self.cache = cache
  }

  /// The width and height with which a browser shows a picture; nil if the picture's file cannot be read.
  ///
  /// A photo that its EXIF orientation turns by 90° has exchanged width and height.
  func size(of image: ShownPicture) -> PixelSize? {
    guard let path = image.path, let digest = image.sha256 else { return nil }
    if let size = known[digest] { return size }
    guard let file = try? PictureFile(FilePath("\(cache)/\(path)")) else { return nil }
    let probe = file.probe
    let isLying = probe.orientation.rawValue > 4
    let size = PixelSize(
      width: isLying ? probe.height : probe.width,
      height: isLying ? probe.width : probe.height
    )
    known.add(size, cost: 0, for: digest)
    return size
  }
}
