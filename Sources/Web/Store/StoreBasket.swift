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

  /// Reads the lines of a form, each an item followed by its quantity; 0 leaves a line out.
  ///
  /// - Parameters:
  ///   - form: The pairs of the form.
  ///   - isRead: Set to false when a quantity cannot be read, or a line does not fit.
  init(form: [(name: String, value: String)], isRead: inout Bool) {
    for line in Self.lines(of: form) {
      guard let quantity = line.quantity, quantity == 0 || add(line.id, quantity) else {
        isRead = false
        continue
      }
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

  /// Takes the items of another basket out.
  mutating func remove(_ other: StoreBasket) {
    lines.removeAll { line in other.lines.contains { $0.id == line.id } }
  }

  /// Takes quantities from a form, for the items that are in the basket; those that cannot be read stay as they are.
  mutating func read(_ form: [(name: String, value: String)]) {
    for line in Self.lines(of: form) {
      if let quantity = line.quantity { set(line.id, quantity) }
    }
  }

  /// The lines of a form; nil for a quantity that cannot be read.
  private static func lines(of form: [(name: String, value: String)])
    -> [(id: String, quantity: Int?)]
  {
    var lines: [(id: String, quantity: Int?)] = []
    var id: String?
    for (name, value) in form {
      if name == "item" { id = value }
      guard name == "quantity", let item = id else { continue }
      let count = Int(PlainText.line(value))
      lines.append((item, count.flatMap { (0...mostPieces).contains($0) ? $0 : nil }))
    }
    return lines
  }
}
