import Base
import Catalog
import Orders
import Pipeline

/// A visitor's basket: items with quantities.
///
/// The basket is kept in a cookie, so its size is limited.
struct StorefrontBasket: Equatable {
  /// An item's id and its quantity.
  struct Line: Equatable {
    var id: String
    var quantity: Int
  }

  /// The maximum number of lines.
  static let mostLines = 20
  /// The largest quantity of one line.
  static let mostPieces = 999
  /// The longest value of the cookie, in bytes.
  ///
  /// Browsers keep at most 4096 bytes of a cookie, including its name and attributes.
  private static let mostBytes = 3500

  /// The lines in the order in which the visitor added them.
  private(set) var lines: [Line] = []

  /// Creates an empty basket.
  init() {}

  /// Parses the value of the cookie, such as `A1*2!B7*1`, and ignores invalid parts.
  init(cookie: String?) {
    for part in (cookie ?? "").prefix(4096).split(separator: "!") {
      let pieces = part.split(separator: "*")
      guard pieces.count == 2, let count = Int(pieces[1]),
        let id = PercentEncoding.text(String(pieces[0]))
      else { continue }
      _ = add(id, count)
    }
  }

  /// Reads the lines of a form, where a field `quantity` follows each field `item`.
  ///
  /// A line with quantity 0 is left out.
  ///
  /// - Parameters:
  ///   - form: The names and values of the form.
  ///   - isRead: Set to false if a quantity is not a number, or if a line does not fit.
  init(form: [(name: String, value: String)], isRead: inout Bool) {
    for line in Self.lines(of: form) {
      guard let quantity = line.quantity, quantity == 0 || add(line.id, quantity) else {
        isRead = false
        continue
      }
    }
  }

  /// The value of the cookie, such as `A1*2!B7*1`.
  var cookie: String {
    lines.map { "\(PercentEncoding.escaped($0.id))*\($0.quantity)" }.joined(separator: "!")
  }

  /// The number of pieces: the sum of all quantities.
  var count: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// Adds a quantity of an item.
  ///
  /// Returns false and adds nothing if the item does not fit, or if the quantity is not valid.
  mutating func add(_ id: String, _ quantity: Int) -> Bool {
    guard (1...Self.mostPieces).contains(quantity), !id.isEmpty else { return false }
    var next = self
    if let place = lines.firstIndex(where: { $0.id.exact == id.exact }) {
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

  /// Sets the quantity of an item that is in the basket; 0 removes the item.
  mutating func set(_ id: String, _ quantity: Int) {
    if quantity < 1 {
      lines.removeAll { $0.id.exact == id.exact }
    } else if let place = lines.firstIndex(where: { $0.id.exact == id.exact }) {
      lines[place].quantity = min(quantity, Self.mostPieces)
    }
  }

  /// Removes all items that are also in another basket.
  mutating func remove(_ other: StorefrontBasket) {
    lines.removeAll { line in other.lines.contains { $0.id.exact == line.id.exact } }
  }

  /// Sets the quantities of items in the basket from a form.
  ///
  /// Invalid quantities, and items that are not in the basket, are ignored.
  mutating func read(_ form: [(name: String, value: String)]) {
    for line in Self.lines(of: form) {
      if let quantity = line.quantity { set(line.id, quantity) }
    }
  }

  /// The items and quantities of a form; a quantity is nil if it is not valid.
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

/// A basket with the current prices of its items, and with its total.
struct BasketBill {
  /// A reason why an item cannot be ordered.
  enum Trouble: String, PageCase {
    case unknown, soldOut, unpriced, otherCurrency
  }

  /// A line of the basket.
  struct Line {
    let id: String
    let quantity: Int
    /// The item as its first section lists it; nil if no section does.
    let item: ShownItem?
    let trouble: Trouble?
    /// The price times the quantity; nil if the item has no price, or on overflow.
    let sum: Price?
  }

  let lines: [Line]
  /// The total of all lines that can be ordered; nil on overflow.
  let total: Price?

  init(_ basket: StorefrontBasket, _ items: [ExactText: ShownItem], currency: String) {
    lines = basket.lines.map { line in
      let item = items[line.id.exact]
      return Line(
        id: line.id,
        quantity: line.quantity,
        item: item,
        trouble: Self.trouble(item, currency),
        sum: item?.price.flatMap { $0.times(line.quantity) }
      )
    }
    let nothing: Price? = Price(minorUnits: 0, currency: currency)
    total = lines.filter { $0.trouble == nil }.reduce(nothing) { all, line in
      line.sum.flatMap { all?.plus($0) }
    }
  }

  private static func trouble(_ item: ShownItem?, _ currency: String) -> Trouble? {
    guard let item else { return .unknown }
    if item.isSoldOut { return .soldOut }
    guard let price = item.price else { return .unpriced }
    return price.currency == currency ? nil : .otherCurrency
  }

  /// The basket in a few words, such as "Dish A1 and 2 more".
  func summary(_ language: Language) -> String {
    language.summary(
      of: lines.compactMap { line in
        guard line.trouble == nil, let item = line.item, let price = item.price else { return nil }
        let title = PlainText.line(item.title)
        return OrderLine(item: line.id, title: title, price: price, quantity: line.quantity)
      }
    )
  }
}

/// The template data of the basket page with its order form.
struct StorefrontBasketPage: PageView {
  static let template = "storefront-basket"

  /// A line.
  struct Line {
    let id, title, address, picture, noPicture, each, sum, units, speech: String
    let trouble: BasketBill.Trouble?
    let quantity: Int
    let most = StorefrontBasket.mostPieces
  }

  let lines: [Line]
  let summary, speech, total, totalUnits, money, key: String
  let draft: StorefrontDraft
  /// The server's limit for every order; empty if there is none.
  let house: String
  let limit: String
  /// The amount by which the total is below or above the limit; empty if there is none.
  let left: String
  let isOver, isNameless: Bool
  let faults: [OrderFault]
  /// The message of the error that ``OrderFault/other`` stands for; empty if there is none.
  let problem: String

  init(
    _ open: OpenStorefront,
    _ bill: BasketBill,
    draft: StorefrontDraft,
    key: OrderID.Nonce,
    faults: [OrderFault],
    problem: String
  ) {
    let language = open.visit.language
    let words = ItemView.Words(language)
    lines = bill.lines.map { line in
      let view = line.item.map { ItemView($0, number: 0, picture: nil, words) }
      let path = line.item?.thumbnail?.path
      let price = line.trouble == nil ? line.item?.price : nil
      return Line(
        id: line.id,
        title: view?.title ?? PlainText.line(line.id),
        address: line.item == nil ? "" : StorefrontAddress.item(line.id),
        picture: path.map { open.store.squares.address($0, 256) } ?? "",
        noPicture: view?.noPicture ?? words.missing,
        each: price?.formatted() ?? "",
        sum: line.trouble == nil ? line.sum?.formatted() ?? "–" : "",
        units: price.map { "\($0.minorUnits)" } ?? "",
        speech: line.item?.sections.first.flatMap(open.sections.shelf)?.speech ?? "",
        trouble: line.trouble,
        quantity: line.quantity
      )
    }
    summary = bill.summary(language)
    speech = open.sections.speech
    total = bill.total?.formatted() ?? "–"
    totalUnits = bill.total.map { "\($0.minorUnits)" } ?? ""
    money = StorefrontMoney.pattern(open.currency)
    self.key = key.rawValue
    self.draft = draft
    let budget = open.budget(draft)
    isOver = bill.total.map(budget.isExceeded) ?? false
    left = bill.total.flatMap(budget.difference)?.formatted() ?? ""
    house = budget.house?.formatted() ?? ""
    limit = budget.house.map { "\($0.minorUnits)" } ?? ""
    isNameless = faults.contains(.name)
    (self.faults, self.problem) = (faults, problem)
  }
}
