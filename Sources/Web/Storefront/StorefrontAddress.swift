import Base
import Catalog

/// The pages of the store by their addresses.
enum StorefrontRoute: Equatable {
  case home, search, basket, orders
  case section(String)
  case item(String)
  case order(String)
  case cancel(String)

  /// The page at a decoded path; nil when it is none of the store's.
  init?(_ path: String) {
    func rest(of prefix: String) -> String? {
      guard path.hasPrefix(prefix), path.utf8.count > prefix.utf8.count else { return nil }
      return String(path.dropFirst(prefix.count))
    }
    switch path {
    case "/": self = .home
    case "/search": self = .search
    case "/basket": self = .basket
    case "/orders": self = .orders
    default:
      // Keys and ids are the feed's, and may hold anything, slashes too.
      if let key = rest(of: "/sections/") {
        self = .section(key)
      } else if let id = rest(of: "/items/") {
        self = .item(id)
      } else if let id = rest(of: "/orders/") {
        let isCancel = id.hasSuffix("/cancel")
        let id = isCancel ? String(id.dropLast("/cancel".count)) : id
        // An id of the order book, whole: the beginning of one is enough for people alone.
        guard id.utf8.count == 30, id.hasPrefix("ord_") else { return nil }
        self = isCancel ? .cancel(id) : .order(id)
      } else {
        return nil
      }
    }
  }

  /// Whether it takes forms.
  var takesForms: Bool {
    switch self {
    case .basket, .orders, .cancel: true
    default: false
    }
  }

  /// Whether it is for reading, too.
  var isPage: Bool {
    if case .cancel = self { return false }
    return true
  }
}

/// A visitor's search: parsed from an address, and written as one.
struct StorefrontQuery: Equatable {
  /// The words that are searched for.
  var search = ""
  /// The badge that is wanted; empty for any.
  var badge = ""
  /// The lowest and the highest price that are wanted, as they were typed; empty for any.
  var low = ""
  var high = ""
  /// The order; nil for the catalog's.
  var order: ItemSort?
  /// The page, from 1.
  var page = 1

  /// How long a word of an address may be, in characters.
  private static let longest = 200

  /// Asks for everything.
  init() {}

  /// Parses an address's pairs; invalid ones are ignored.
  init(_ request: StorefrontExchange) {
    func word(_ name: String) -> String {
      String(PlainText.line(request.asked(name) ?? "").prefix(Self.longest))
    }
    search = word("q")
    badge = word("badge")
    low = word("low")
    high = word("high")
    order = ItemSort(rawValue: word("sort"))
    page = min(max(Int(word("page")) ?? 1, 1), 1_000_000)
  }

  /// Whether the prices are no range.
  var isWrongRange: Bool { !(low + high).isEmpty && bounds == nil }

  /// Whether more is asked for than a page.
  var isNarrowed: Bool { !(badge + low + high).isEmpty }

  private var bounds: PriceBounds? {
    func plain(_ text: String) -> String { text.filter { !$0.isWhitespace && $0 != "," } }
    return PriceBounds("\(plain(low))..\(plain(high))")
  }

  /// The same by the rules of lists, without a page.
  var items: ItemQuery {
    ItemQuery(
      search: search.isEmpty ? nil : SearchText(search),
      badge: badge.isEmpty ? nil : SearchText(badge),
      price: bounds,
      order: order
    )
  }

  /// The address of a page that shows this.
  func address(_ path: String) -> String {
    var pairs: [(name: String, value: String)] = []
    func add(_ name: String, _ value: String) {
      if !value.isEmpty { pairs.append((name, value)) }
    }
    add("q", search)
    add("badge", badge)
    add("low", low)
    add("high", high)
    add("sort", order?.rawValue ?? "")
    add("page", page == 1 ? "" : "\(page)")
    return pairs.isEmpty ? path : path + "?" + PercentEncoding.query(pairs)
  }

  /// The same with something else.
  func with(_ change: (inout StorefrontQuery) -> Void) -> StorefrontQuery {
    var query = self
    query.page = 1
    change(&query)
    return query
  }
}

/// The addresses of the store's pages.
enum StorefrontAddress {
  /// An item's page.
  static func item(_ id: String) -> String { "/items/\(PercentEncoding.escaped(id))" }
  /// A section's page.
  static func section(_ key: String) -> String { "/sections/\(PercentEncoding.escaped(key))" }
  /// An order's page.
  static func order(_ id: String) -> String { "/orders/\(PercentEncoding.escaped(id))" }

  /// A held picture, whole.
  ///
  /// Its path in the cache begins with the folder that pictures are served from.
  static func picture(_ path: String) -> String {
    "/" + PercentEncoding.escaped(path, keeping: "/")
  }
}

/// The available squares of pictures.
struct StorefrontSquares: Sendable {
  /// Pixels along a side, the smallest first.
  private let sides: [Int]

  init(_ sides: [Int]) {
    self.sides = sides.sorted()
  }

  /// The side of the smallest square that is no smaller than asked for, or of the largest; nil for none.
  func side(_ wanted: Int) -> Int? { sides.first { $0 >= wanted } ?? sides.last }

  /// A picture as such a square, or whole where there are none.
  func address(_ path: String, _ wanted: Int) -> String {
    StorefrontAddress.picture(path) + (side(wanted).map { "?square=\($0)" } ?? "")
  }
}
