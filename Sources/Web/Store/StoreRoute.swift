/// The pages of the store by their addresses.
enum StoreRoute: Equatable {
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
