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
    /// The size with which a browser shows the picture, so that the page keeps its place while the picture loads; nil if
    /// the file cannot be read.
    let size: PixelSize?

    init(_ image: ShownPicture, number: Int, cache: String) {
      let path = image.path ?? ""
      (self.number, source) = (number, StorefrontAddress.picture(path))
      let probe = try? PictureFile(FilePath("\(cache)/\(path)")).probe
      size = probe.map { probe in
        // An EXIF orientation above 4 turns the picture by 90°.
        probe.orientation.rawValue > 4
          ? PixelSize(width: probe.height, height: probe.width)
          : PixelSize(width: probe.width, height: probe.height)
      }
    }
  }

  let item: StorefrontCard
  let shop, speech, id, listed, long, units, money, stale: String
  /// The price in the item's detail document, if it differs from the price in the shop's list, which orders use.
  let other: String
  /// The title of the first section that lists the item.
  let section, sectionAddress: String
  let facts: [ItemFact]
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
    let number = ItemFact(visit.say("Item number", "상품 번호"), PlainText.line(item.id))
    facts = ItemFact.all(of: shown, visit.language, visit.clock) + [number]
    stale = shown.isStale ? visit.asLastSeen(since) : ""
    pictures = Self.gallery(shown, visit, store.squares)
    count = pictures.count
    isMany = count > 1
    let parts = shown.pictures.filter { $0.role == .section && $0.path != nil }
    sheets = parts.enumerated().map {
      Sheet($1, number: $0 + 1, cache: store.content.cache)
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
