import Base
import Catalog

/// A page of the store, or the target of one of its forms, parsed from the path of a request.
enum StorefrontRoute: Equatable {
  case home, search, basket, orders
  case section(String)
  case item(String)
  case order(String)
  case cancel(String)

  /// Parses a decoded path, such as `/items/A1`; nil if it is not one of the store's paths.
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
      // Section keys and item ids come from the shop, and can contain any characters, even slashes.
      if let key = rest(of: "/sections/") {
        self = .section(key)
      } else if let id = rest(of: "/items/") {
        self = .item(id)
      } else if let id = rest(of: "/orders/") {
        let isCancel = id.hasSuffix("/cancel")
        let id = isCancel ? String(id.dropLast("/cancel".count)) : id
        // The order's id must be complete. Only the command line accepts the beginning of an id.
        guard id.utf8.count == 30, id.hasPrefix("ord_") else { return nil }
        self = isCancel ? .cancel(id) : .order(id)
      } else {
        return nil
      }
    }
  }

  /// The methods that the path allows, as in the field `Allow`.
  var methods: String {
    switch self {
    case .basket, .orders: "GET, HEAD, POST"
    case .cancel: "POST"
    default: "GET, HEAD"
    }
  }

  /// Whether the page belongs to the orders in the navigation.
  var isOrders: Bool {
    if case .order = self { true } else { self == .orders }
  }

  /// Whether the page shows the same to every visitor, apart from the frame.
  ///
  /// Caches must not keep any other page.
  var isPublic: Bool { self != .basket && !isOrders }
}

/// A visitor's search and filters, from the query of an address such as `/search?q=tea&low=5000`.
struct StorefrontQuery: Equatable {
  /// The words to search for; empty if all items match.
  var search = ""
  /// The badge that items must have; empty if they need no badge.
  var badge = ""
  /// The lowest price as the visitor typed it; empty if there is no lower bound.
  var low = ""
  /// The highest price as the visitor typed it; empty if there is no upper bound.
  var high = ""
  /// The sort order; nil if the items keep the shop's own order.
  var order: ItemSort?
  /// The number of the page, counted from 1.
  var page = 1

  /// The longest value of a parameter, in characters.
  ///
  /// Longer values are cut off.
  private static let longest = 200

  /// Creates a query that every item matches.
  init() {}

  /// Parses the parameters of a request, and ignores invalid ones.
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

  /// Whether the visitor typed prices that are not a valid range.
  var isWrongRange: Bool { !(low + high).isEmpty && bounds == nil }

  /// Whether the visitor has set a badge or a price.
  var isNarrowed: Bool { !(badge + low + high).isEmpty }

  private var bounds: PriceBounds? {
    func plain(_ text: String) -> String { text.filter { !$0.isWhitespace && $0 != "," } }
    return PriceBounds("\(plain(low))..\(plain(high))")
  }

  /// The search and the filters as the type that `larder list` uses too.
  var items: ItemQuery {
    ItemQuery(
      search: search.isEmpty ? nil : SearchText(search),
      badge: badge.isEmpty ? nil : SearchText(badge),
      price: bounds,
      order: order
    )
  }

  /// The address of a list with this query, given the path of the list.
  func address(_ path: String) -> String {
    let pairs = [
      (name: "q", value: search), ("badge", badge), ("low", low), ("high", high),
      ("sort", order?.rawValue ?? ""), ("page", page == 1 ? "" : "\(page)"),
    ].filter { !$0.value.isEmpty }
    return pairs.isEmpty ? path : path + "?" + PercentEncoding.query(pairs)
  }

  /// A changed copy that shows page 1, unless the change sets another page.
  func with(_ change: (inout StorefrontQuery) -> Void) -> StorefrontQuery {
    var query = self
    query.page = 1
    change(&query)
    return query
  }
}

/// The addresses of the store's pages.
enum StorefrontAddress {
  /// The address of an item's page.
  static func item(_ id: String) -> String { "/items/\(PercentEncoding.escaped(id))" }
  /// The address of a section's page.
  static func section(_ key: String) -> String { "/sections/\(PercentEncoding.escaped(key))" }
  /// The address of an order's page.
  static func order(_ id: String) -> String { "/orders/\(PercentEncoding.escaped(id))" }

  /// The address of a picture in the cache, at its full size.
  ///
  /// `path` is the picture's path in the cache. It begins with `images/`, and so does the path on the server.
  static func picture(_ path: String) -> String {
    "/" + PercentEncoding.escaped(path, keeping: "/")
  }
}

/// The sizes of square pictures that the server offers, such as 128, 256 and 512 pixels.
struct StorefrontSquares: Sendable {
  /// The sizes in pixels along a side, the smallest first.
  private let sides: [Int]

  init(_ sides: [Int]) {
    self.sides = sides.sorted()
  }

  /// The smallest offered side of at least `wanted` pixels, or the largest offered side if all are smaller.
  ///
  /// Nil if the server offers no squares.
  func side(_ wanted: Int) -> Int? { sides.first { $0 >= wanted } ?? sides.last }

  /// The address of the picture as a square of the side that ``side(_:)`` chooses.
  ///
  /// If the server offers no squares, it is the address of the whole picture.
  func address(_ path: String, _ wanted: Int) -> String {
    StorefrontAddress.picture(path) + (side(wanted).map { "?square=\($0)" } ?? "")
  }
}
