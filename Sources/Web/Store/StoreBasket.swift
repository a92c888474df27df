import Catalog
import Orders

/// What a visitor put aside: the items and how many of each, small enough for a cookie.
struct StoreBasket: Equatable {
  /// An item and how many.
  struct Line: Equatable {
    var id: String
    var quantity: Int
  }

  /// The most items, and the most pieces of one.
  static let mostLines = 20
  static let mostPieces = 999
  /// Browsers keep 4096 bytes of a cookie, its name and attributes included.
  private static let mostBytes = 3500

  /// The lines, in the order in which they came.
  private(set) var lines: [Line] = []

  /// An empty basket.
  init() {}

  /// Reads a cookie's value; what cannot be is left out.
  init(cookie: String?) {
    for part in (cookie ?? "").prefix(4096).split(separator: "!") {
      let pieces = part.split(separator: "*")
      guard pieces.count == 2, let count = Int(pieces[1]),
        let id = PercentDecoding.text(String(pieces[0]))
      else { continue }
      _ = add(id, count)
    }
  }

  /// The value of a cookie that holds it.
  var cookie: String {
    lines.map { "\(PercentEncoding.escaped($0.id))*\($0.quantity)" }.joined(separator: "!")
  }

  /// How many pieces in all.
  var count: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// Adds pieces of an item; false, and nothing added, when it does not fit.
  mutating func add(_ id: String, _ quantity: Int) -> Bool {
    guard (1...Self.mostPieces).contains(quantity), !id.isEmpty else { return false }
    var next = self
    if let place = lines.firstIndex(where: { $0.id == id }) {
      next.lines[place].quantity = min(lines[place].quantity + quantity, Self.mostPieces)
    } else {
      next.lines.append(Line(id: id, quantity: quantity))
    }
    guard next.lines.count <= Self.mostLines, next.cookie.utf8.count <= Self.mostBytes else {
      return false
    }
    self = next
    return true
  }

  /// Sets how many of an item there are; 0 takes it out.
  mutating func set(_ id: String, _ quantity: Int) {
    if quantity < 1 {
      lines.removeAll { $0.id == id }
    } else if let place = lines.firstIndex(where: { $0.id == id }) {
      lines[place].quantity = min(quantity, Self.mostPieces)
    }
  }

  /// Takes the pairs of a form, each item followed by its quantity.
  ///
  /// - Returns: Whether all quantities could be read.
  mutating func read(_ form: [(name: String, value: String)]) -> Bool {
    var isRead = true
    var id: String?
    for (name, value) in form {
      if name == "item" { id = value }
      guard name == "quantity", let item = id else { continue }
      if let count = Int(PlainText.line(value)), (0...Self.mostPieces).contains(count) {
        set(item, count)
      } else {
        isRead = false
      }
    }
    return isRead
  }
}
