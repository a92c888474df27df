import Base
import Catalog

/// A page of the store, parsed from a request's path.
enum StorefrontRoute: Equatable {
  case home, search, basket, orders
  case section(String)
  case item(String)
  case order(String)
  case cancel(String)

  /// The page at a decoded path; nil when the path is not one of the store's.
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
      // Keys and ids come from the feed and may contain anything, even slashes.
      if let key = rest(of: "/sections/") {
        self = .section(key)
      } else if let id = rest(of: "/items/") {
        self = .item(id)
      } else if let id = rest(of: "/orders/") {
        let isCancel = id.hasSuffix("/cancel")
        let id = isCancel ? String(id.dropLast("/cancel".count)) : id
        // The id must be complete; only the command line accepts the beginning of an id.
        guard id.utf8.count == 30, id.hasPrefix("ord_") else { return nil }
        self = isCancel ? .cancel(id) : .order(id)
      } else {
        return nil
      }
    }
  }

  /// Whether the address accepts POST.
  var takesForms: Bool {
    switch self {
    case .basket, .orders, .cancel: true
    default: false
    }
  }

  /// Whether the address accepts GET.
  var isPage: Bool {
    if case .cancel = self { return false }
    return true
  }
}

/// A visitor's search and filters, as the query of an address, such as `?q=tea&low=5000`.
struct StorefrontQuery: Equatable {
  /// The search words.
  var search = ""
  /// The badge to filter by; empty for any.
  var badge = ""
  /// The lowest and the highest price, as typed; empty for no bound.
  var low = ""
  var high = ""
  /// The sort order; nil for the catalog's.
  var order: ItemSort?
  /// The page, from 1.
  var page = 1

  /// The longest value of a parameter, in characters; a longer value is cut off.
  private static let longest = 200

  /// Creates a query that matches every item.
  init() {}

  /// Parses the parameters of a request; invalid ones are ignored.
  init(_ visit: StorefrontRequest) {
    func word(_ name: String) -> String {
      String(PlainText.line(visit.asked(name) ?? "").prefix(Self.longest))
    }
    search = word("q")
    badge = word("badge")
    low = word("low")
    high = word("high")
    order = ItemSort(rawValue: word("sort"))
    page = min(max(Int(word("page")) ?? 1, 1), 1_000_000)
  }

  /// Whether the typed prices are not a valid range.
  var isWrongRange: Bool { !(low + high).isEmpty && bounds == nil }

  /// Whether a filter is set.
  var isNarrowed: Bool { !(badge + low + high).isEmpty }

  private var bounds: PriceBounds? {
    func plain(_ text: String) -> String { text.filter { !$0.isWhitespace && $0 != "," } }
    return PriceBounds("\(plain(low))..\(plain(high))")
  }

  /// This search as an ``ItemQuery``, which has no pages.
  var items: ItemQuery {
    ItemQuery(
      search: search.isEmpty ? nil : SearchText(search),
      badge: badge.isEmpty ? nil : SearchText(badge),
      price: bounds,
      order: order
    )
  }

  /// The address of this query at a path.
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

  /// A copy with a change, for page 1 unless the change sets another page.
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

  /// A picture in the cache, at its full size.
  ///
  /// `path` is the picture's path in the cache; it begins with `images/`, as the served path does.
  static func picture(_ path: String) -> String {
    "/" + PercentEncoding.escaped(path, keeping: "/")
  }
}

/// The square versions of pictures that the server offers.
struct StorefrontSquares: Sendable {
  /// The available sizes, in pixels along a side, the smallest first.
  private let sides: [Int]

  init(_ sides: [Int]) {
    self.sides = sides.sorted()
  }

  /// The smallest available side of at least `wanted` pixels, else the largest; nil if there are no squares.
  func side(_ wanted: Int) -> Int? { sides.first { $0 >= wanted } ?? sides.last }

  /// The address of a picture as the square that ``side(_:)`` chooses, or of the whole picture if there are no squares.
  func address(_ path: String, _ wanted: Int) -> String {
    StorefrontAddress.picture(path) + (side(wanted).map { "?square=\($0)" } ?? "")
  }
}
