import Base
import Cache
import Catalog
import Mustache
import Pipeline

/// The template data of the home page: the best offer, and the first items of each section.
struct StorefrontHome: PageView {
  static let template = "storefront-home"

  /// A row of cards: a section with its first items.
  struct Shelf {
    let anchor, title, subtitle, address, all, speech, note: String
    let cards: [StorefrontCard]
  }

  let shop, speech: String
  /// The best offer: the item with the largest difference between normal price and sale price.
  let deal: StorefrontCard?
  let shelves: [Shelf]
}

extension ItemSort: PageCase {}

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

  let title, subtitle, note, path, clear, unit, speech: String
  /// The number of matching items in words, such as "3 items".
  let found: String
  let page: Int
  let pageCount: String
  /// Whether the section has no items at all.
  let isBare: Bool
  let isSearch, isWrong, isNarrowed, isFiltered: Bool
  let query: StorefrontQuery
  let badges: [Badge]
  let cards: [StorefrontCard]
  let pages: [PageLink]

  /// Filters and sorts the items of a list, and chooses those of one page.
  ///
  /// - Parameters:
  ///   - items: All items.
  ///   - query: The filters, the sort order and the number of the page.
  /// - Returns: The number of matching items, the number of pages, the number of the page, and the page's items. If the
  ///   query's page does not exist, the last page is chosen.
  static func chosen(
    _ items: [(item: StoreItem, section: RunSection)],
    _ query: StorefrontQuery
  ) -> (count: Int, pages: Int, page: Int, some: [(item: StoreItem, section: RunSection)]) {
    let rules = query.items
    let arranged = rules.arranged(items.filter { rules.admits($0.item) }) { $0.item }
    let pages = max(1, (arranged.count + pageSize - 1) / pageSize)
    let page = min(query.page, pages)
    let some = Array(arranged.dropFirst((page - 1) * pageSize).prefix(pageSize))
    return (arranged.count, pages, page, some)
  }

  init(
    _ open: OpenStorefront,
    heading: (title: String, subtitle: String, speech: String, note: String),
    path: String,
    query: StorefrontQuery,
    among items: [(item: StoreItem, section: RunSection)]
  ) throws(LarderError) {
    let language = open.visit.language
    let chosen = Self.chosen(items, query)
    (title, subtitle, speech, note) = heading
    self.path = path
    isSearch = path == "/search"
    isBare = items.isEmpty
    self.query = query
    (isWrong, isNarrowed) = (query.isWrongRange, query.isNarrowed)
    // On a phone, the fields for prices and sort order are hidden behind a button, unless one of them is set.
    isFiltered = !query.low.isEmpty || !query.high.isEmpty || query.order != nil
    clear = query.with { ($0.badge, $0.low, $0.high) = ("", "", "") }.address(path)
    unit = Self.unit(of: open.currency)
    (page, pageCount) = (chosen.page, chosen.pages.grouped)
    found = language.count(chosen.count, "item", "items", "상품")
    // A badge's count is the number of items that the list would have if the visitor chose the badge.
    let within = query.with { $0.badge = "" }.items
    badges = Self.offered(items.filter { within.admits($0.item) }, query, path)
    let words = ItemView.Words(language, within: heading.speech)
    cards = try open.reader.shown(chosen.some).enumerated().map {
      StorefrontCard($1, words, open.store.squares, isEager: $0 < 4)
    }
    pages = PageLink.all(chosen.page, of: chosen.pages, language) { page in
      query.with { $0.page = page }.address(path)
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
  private let members: [String: Any]

  /// Creates a card.
  ///
  /// - Parameters:
  ///   - shown: The item.
  ///   - words: The labels that all cards share.
  ///   - squares: The square pictures that the server offers.
  ///   - isEager: Whether the browser loads the card's picture at once, because the card is near the top of the page.
  init(_ shown: ShownItem, _ words: ItemView.Words, _ squares: StorefrontSquares, isEager: Bool) {
    let path = shown.thumbnail?.path ?? shown.pictures.first { $0.path != nil }?.path
    // Prefer a picture of the item's page at the shop, because it is larger than the thumbnail of the shop's list.
    let top = shown.pictures.first { $0.role == .top && $0.path != nil }?.path
    let picture = (top ?? path).map(StorefrontAddress.picture)
    item = ItemView(shown, number: 0, picture: picture, words)
    members = [
      "address": StorefrontAddress.item(shown.item.id),
      "small": path.map { squares.address($0, 256) } ?? "",
      "large": path.map { squares.address($0, 512) } ?? "",
      "smallSide": squares.side(256) ?? 256,
      "largeSide": squares.side(512) ?? 512,
      "hasSizes": squares.side(256) != squares.side(512),
      "off": shown.item.percentOff.map(String.init) ?? "",
      "isSoldOut": shown.item.isSoldOut,
      "isEager": isEager,
      "hasBadges": !item.badges.isEmpty || item.isStale,
    ]
  }

  func child(named name: String) -> Any? { members[name] ?? item.child(named: name) }
}

extension StoreItem {
  /// The normal price minus the sale price, in minor units such as cents; 0 if the sale price is not lower.
  var saving: UInt {
    guard let normal = struckPrice, let sale = salePrice, sale.minorUnits >= 0 else { return 0 }
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

/// A link to the previous or the next page of a list.
struct PageLink {
  let title, address: String
  /// `prev` or `next`.
  let rel: String

  /// The links below a list.
  static func all(
    _ page: Int,
    of count: Int,
    _ language: PageLanguage,
    _ address: (Int) -> String
  ) -> [PageLink] {
    let links = [
      PageLink(title: language.of("Previous", "이전"), address: address(page - 1), rel: "prev"),
      PageLink(title: language.of("Next", "다음"), address: address(page + 1), rel: "next"),
    ]
    return links.filter { $0.rel == "prev" ? page > 1 : page < count }
  }
}
