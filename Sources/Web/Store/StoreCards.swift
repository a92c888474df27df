import Catalog
import Mustache
import Pipeline

/// An item as a card of the store: what every page's card says, with its own address and pictures.
struct StoreCard: MustacheParent {
  private let item: ItemView
  private let address: String
  private let path: String?
  private let squares: StoreSquares
  private let off: Int?
  private let isSoldOut: Bool
  private let isEager: Bool

  /// A card.
  ///
  /// - Parameters:
  ///   - shown: the item.
  ///   - words: what all cards say.
  ///   - squares: the squares of pictures that there are.
  ///   - isEager: whether its picture is one of the first that are seen.
  init(_ shown: ShownItem, _ words: ItemView.Words, _ squares: StoreSquares, isEager: Bool) {
    self.squares = squares
    path = shown.thumbnail?.path ?? shown.images.first { $0.path != nil }?.path
    item = ItemView(shown, number: 0, picture: path, words)
    address = StoreAddress.item(shown.item.id)
    off = shown.item.percentOff
    isSoldOut = shown.item.isSoldOut
    self.isEager = isEager
  }

  // By hand: reflection takes longer than all else.
  func child(named name: String) -> Any? {
    switch name {
    case "address": address
    case "small": path.map { squares.address($0, 256) } ?? ""
    case "large": path.map { squares.address($0, 512) } ?? ""
    case "smallSide": squares.side(256) ?? 256
    case "largeSide": squares.side(512) ?? 512
    case "hasSizes": squares.side(256) != squares.side(512)
    case "off": off ?? 0
    case "hasOff": off != nil
    case "isSoldOut": isSoldOut
    case "isEager": isEager
    case "hasBadges": !item.badges.isEmpty || item.isStale
    default: item.child(named: name)
    }
  }
}

extension StoreItem {
  /// How much less the sale price is than the normal one, in whole percent; nil below one.
  var percentOff: Int? {
    guard let normal = normalPrice, let sale = salePrice, normal.currency == sale.currency,
      sale.minorUnits >= 0, normal.minorUnits > sale.minorUnits
    else { return nil }
    // In whole numbers: 10,800 of 12,000 is 10 % less, and 9.99… in floating point. Full width, for a feed's prices
    // may be near the largest integer.
    let saving = (normal.minorUnits - sale.minorUnits).magnitude
    let hundredfold = saving.multipliedFullWidth(by: 100)
    let percent = Int(normal.minorUnits.magnitude.dividingFullWidth(hundredfold).quotient)
    return percent > 0 ? percent : nil
  }
}

/// A link of a list's pages.
struct PageLink {
  let title: String
  let address: String
  let isLink: Bool
  let isCurrent: Bool
  let isStep: Bool
  let rel: String
  let hasRel: Bool

  private init(_ title: String, _ address: String?, isCurrent: Bool = false, step rel: String = "")
  {
    self.title = title
    self.address = address ?? ""
    isLink = address != nil
    self.isCurrent = isCurrent
    isStep = !rel.isEmpty
    self.rel = rel
    hasRel = !rel.isEmpty
  }

  /// The links of a page among others: the first, the last, and those around it.
  static func all(
    _ page: Int,
    of count: Int,
    _ language: PageLanguage,
    _ address: (Int) -> String
  ) -> [PageLink] {
    guard count > 1 else { return [] }
    var links: [PageLink] = []
    if page > 1 {
      links.append(PageLink(language.of("Previous", "이전"), address(page - 1), step: "prev"))
    }
    let wanted = Set([1, count] + (page - 2...page + 2).filter { (1...count).contains($0) })
    var last = 0
    for number in wanted.sorted() {
      if number > last + 1 { links.append(PageLink("…", nil)) }
      links.append(
        PageLink(PageLanguage.number(number), address(number), isCurrent: number == page)
      )
      last = number
    }
    if page < count {
      links.append(PageLink(language.of("Next", "다음"), address(page + 1), step: "next"))
    }
    return links
  }
}
