import Base
import Cache
import Catalog
import Mustache
import Pipeline

/// The template data of the home page: the best offer, and the first items of each section.
struct StorefrontHome: PageView {
  static let template = "storefront-home"

  /// The best offer: the item with the largest difference between normal price and sale price.
  struct Deal {
    let title, text, address, picture, price, normal: String
    let off: Int

    init?(_ shown: ShownItem?, _ language: PageLanguage) {
      guard let shown, let off = shown.item.percentOff, let path = shown.thumbnail?.path else {
        return nil
      }
      let view = ItemView(shown, number: 0, picture: path, ItemView.Words(language))
      (title, text, price, normal) = (view.title, view.text, view.price, view.normal)
      address = StorefrontAddress.item(shown.item.id)
      // Prefer a picture of the item's page at the shop, because it is larger than the thumbnail of the shop's list.
      let top = shown.pictures.first { $0.role == .top && $0.path != nil }?.path
      picture = StorefrontAddress.picture(top ?? path)
      self.off = off
    }
  }

  /// A row of cards: a section with its first items.
  struct Shelf {
    let anchor, title, subtitle, address, all, speech, note, message: String
    let way = "", wayWords = ""
    let cards: [StorefrontCard]
  }

  let shop, speech, message: String
  let way = "", wayWords = ""
  let deal: Deal?
  let shelves: [Shelf]
}

/// The template data of a section's page or of search results: items, filters, and links to the other pages.
struct StorefrontList: PageView {
  static let template = "storefront-list"

  /// The number of items on a page.
  static let pageSize = 48

  /// A badge to filter by, with the number of items that have it.
  struct Badge {
    let title, address: String
    let count: String
    let isCurrent: Bool
  }

  /// A sort order that the visitor can choose.
  struct Order {
    let value, title: String
    let isCurrent: Bool
  }

  let title, subtitle, note, path, clear, found, unit, speech: String
  let isSearch, isWrong, isNarrowed, isFiltered: Bool
  let query: StorefrontQuery
  let badges: [Badge]
  let orders: [Order]
  let cards: [StorefrontCard]
  let pages: [PageLink]
  let message, way, wayWords: String

  /// Filters and sorts the items of a list, and chooses those of one page.
  ///
  /// - Parameters:
  ///   - items: All items.
  ///   - query: The filters, the sort order and the number of the page.
  /// - Returns: The number of matching items, the number of the page, and the page's items. If the query's page does
  ///   not exist, the last page is chosen.
  static func chosen(
    _ items: [(item: StoreItem, section: RunSection)],
    _ query: StorefrontQuery
  ) -> (count: Int, page: Int, some: [(item: StoreItem, section: RunSection)]) {
    let rules = query.items
    let admitted = rules.isFiltering ? items.filter { rules.admits($0.item) } : items
    let arranged = rules.arranged(admitted) { $0.item }
    let pages = max(1, (arranged.count + pageSize - 1) / pageSize)
    let page = min(query.page, pages)
    return (
      arranged.count, page, Array(arranged.dropFirst((page - 1) * pageSize).prefix(pageSize))
    )
  }

  init(
    _ visit: StorefrontRequest,
    heading: (title: String, subtitle: String, speech: String, note: String),
    path: String,
    query: StorefrontQuery,
    among items: [(item: StoreItem, section: RunSection)],
    chosen: (count: Int, page: Int, shown: [ShownItem]),
    currency: String,
    squares: StorefrontSquares
  ) {
    let language = visit.language
    (title, subtitle, speech, note) = heading
    self.path = path
    isSearch = path == "/search"
    self.query = query
    (isWrong, isNarrowed) = (query.isWrongRange, query.isNarrowed)
    // On a phone, the fields for prices and sort order are hidden behind a button, unless one of them is set.
    isFiltered = !query.low.isEmpty || !query.high.isEmpty || query.order != nil
    clear = query.with { ($0.badge, $0.low, $0.high) = ("", "", "") }.address(path)
    unit = Self.unit(of: currency)
    let pageCount = max(1, (chosen.count + Self.pageSize - 1) / Self.pageSize)
    let number = language.count(chosen.count, "item", "items", "상품")
    found =
      pageCount == 1
      ? number
      : language.of(
        "\(number), page \(chosen.page) of \(pageCount.grouped)",
        "\(number) · \(pageCount.grouped)쪽 중 \(chosen.page)쪽"
      )
    // A badge's count is the number of items that the list would have if the visitor chose the badge.
    let within = query.with { $0.badge = "" }.items
    badges = Self.offered(
      within.isFiltering ? items.filter { within.admits($0.item) } : items,
      query,
      path
    )
    orders = [
      (nil, language.of("As the shop lists them", "상점 순서")),
      (ItemSort.price, language.of("Price, low to high", "낮은 가격순")),
      (.dearest, language.of("Price, high to low", "높은 가격순")),
      (.title, language.of("By name", "이름순")),
    ].map { order, title in
      Order(value: order?.rawValue ?? "", title: title, isCurrent: query.order == order)
    }
    let words = ItemView.Words(language, within: heading.speech)
    cards = chosen.shown.enumerated().map { StorefrontCard($1, words, squares, isEager: $0 < 4) }
    pages = PageLink.all(chosen.page, of: pageCount, language) { page in
      query.with { $0.page = page }.address(path)
    }
    if items.isEmpty {
      (message, way, wayWords) = (language.of("Nothing here yet.", "아직 상품이 없습니다."), "", "")
    } else if query.isNarrowed {
      message = language.of("No item matches.", "조건에 맞는 상품이 없습니다.")
      (way, wayWords) = (clear, language.of("Clear filters", "조건 지우기"))
    } else {
      message = language.of(
        "No item has these words in its name, description, badge or id.",
        "이름, 설명, 배지, 상품 번호에 이 말이 들어 있는 상품이 없습니다."
      )
      (way, wayWords) = ("/", language.of("See everything", "전체 상품 보기"))
    }
  }

  /// The eight most frequent badges, and the chosen badge.
  private static func offered(
    _ items: [(item: StoreItem, section: RunSection)],
    _ query: StorefrontQuery,
    _ path: String
  ) -> [Badge] {
    var counts: [String: Int] = [:]
    for (item, _) in items {
      for badge in Set(item.badges.map(PlainText.line)) where !badge.isEmpty {
        counts[badge, default: 0] += 1
      }
    }
    if !query.badge.isEmpty, counts[query.badge] == nil { counts[query.badge] = 0 }
    let order = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return order.enumerated().filter { $0 < 8 || $1.key == query.badge }.map { _, badge in
      let isCurrent = badge.key == query.badge
      return Badge(
        title: badge.key,
        address: query.with { $0.badge = isCurrent ? "" : badge.key }.address(path),
        count: badge.value.grouped,
        isCurrent: isCurrent
      )
    }
  }

  /// A currency's sign or code: `원`, `$` or `EUR`.
  private static func unit(of currency: String) -> String {
    Price(minorUnits: 0, currency: currency).formatted()
      .filter { !$0.isNumber && $0 != "." && $0 != "," && !$0.isWhitespace }
  }
}

/// The template data of an item's card in the store: an ``ItemView`` with the item's address and pictures.
struct StorefrontCard: MustacheParent {
  private let item: ItemView
  private let address: String
  private let path: String?
  private let squares: StorefrontSquares
  private let off: String
  private let isSoldOut: Bool
  private let isEager: Bool

  /// Creates a card.
  ///
  /// - Parameters:
  ///   - shown: The item.
  ///   - words: The labels that all cards share.
  ///   - squares: The square pictures that the server offers.
  ///   - isEager: Whether the browser loads the card's picture at once, because the card is near the top of the page.
  init(_ shown: ShownItem, _ words: ItemView.Words, _ squares: StorefrontSquares, isEager: Bool) {
    self.squares = squares
    path = shown.thumbnail?.path ?? shown.pictures.first { $0.path != nil }?.path
    item = ItemView(shown, number: 0, picture: path, words)
    address = StorefrontAddress.item(shown.item.id)
    off = shown.item.percentOff.map(String.init) ?? ""
    isSoldOut = shown.item.isSoldOut
    self.isEager = isEager
  }

  // This lookup is written out, because Mustache's reflection would take longer than the rest of the page.
  func child(named name: String) -> Any? {
    switch name {
    case "address": address
    case "small": path.map { squares.address($0, 256) } ?? ""
    case "large": path.map { squares.address($0, 512) } ?? ""
    case "smallSide": squares.side(256) ?? 256
    case "largeSide": squares.side(512) ?? 512
    case "hasSizes": squares.side(256) != squares.side(512)
    case "off": off
    case "isSoldOut": isSoldOut
    case "isEager": isEager
    case "hasBadges": !item.badges.isEmpty || item.isStale
    default: item.child(named: name)
    }
  }
}

extension StoreItem {
  /// The normal price minus the sale price, in minor units such as cents; 0 if the sale price is not lower.
  var saving: UInt {
    guard let normal = normalPrice, let sale = salePrice, normal.currency == sale.currency,
      sale.minorUnits >= 0, normal.minorUnits > sale.minorUnits
    else { return 0 }
    return (normal.minorUnits - sale.minorUnits).magnitude
  }

  /// The saving in percent of the normal price, rounded down; nil if it is less than 1 %.
  var percentOff: Int? {
    guard let normal = normalPrice, saving > 0 else { return nil }
    // Use integers, because floating point gives 9.99… % for a saving from 12,000 to 10,800, which is 10 %. Multiply in
    // full width, because a shop's prices may be near the largest integer.
    let hundredfold = saving.multipliedFullWidth(by: 100)
    let percent = Int(normal.minorUnits.magnitude.dividingFullWidth(hundredfold).quotient)
    return percent > 0 ? percent : nil
  }
}

/// A link to another page of a list.
struct PageLink {
  let title: String
  let address: String
  let isCurrent: Bool
  /// `prev` or `next`; empty if the link shows a page's number.
  let rel: String

  private init(_ title: String, _ address: String?, isCurrent: Bool = false, step rel: String = "")
  {
    (self.title, self.address) = (title, address ?? "")
    (self.isCurrent, self.rel) = (isCurrent, rel)
  }

  /// The links below a list: to the first and the last page, and to the two pages on each side of this one.
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
        PageLink(number.grouped, address(number), isCurrent: number == page)
      )
      last = number
    }
    if page < count {
      links.append(PageLink(language.of("Next", "다음"), address(page + 1), step: "next"))
    }
    return links
  }
}
