import Catalog

/// One position of an order, as the catalog had it when the order was placed.
public struct OrderLine: Hashable, Sendable {
  /// The item's id.
  public let item: String
  /// What it was called.
  public let title: String
  /// What one of it cost.
  public let price: Price
  /// How many.
  public let quantity: Int

  /// Makes a position.
  public init(item: String, title: String, price: Price, quantity: Int) {
    self.item = item
    self.title = title
    self.price = price
    self.quantity = quantity
  }
}

/// Who wants what for how much: fixed once it is placed.
public struct Order: Hashable, Sendable {
  /// Its name.
  public let id: OrderID
  /// Who ordered.
  public let by: String
  /// What is ordered; never empty.
  public let lines: [OrderLine]
  /// The sum over all positions.
  public let total: Price
  /// What else there is to say.
  public let note: String?
  /// The language of its messages.
  public let language: Language
  /// When it was placed.
  public let placed: OrderTime

  /// Makes an order of parts that were checked before; see ``OrderDraft``.
  init(
    id: OrderID,
    by: String,
    lines: [OrderLine],
    total: Price,
    note: String?,
    language: Language,
    placed: OrderTime
  ) {
    self.id = id
    self.by = by
    self.lines = lines
    self.total = total
    self.note = note
    self.language = language
    self.placed = placed
  }

  /// How many pieces in all.
  public var quantity: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// What is ordered, in a few words: the only title with its number, or the first and how many
  /// more.
  public var summary: String { language.summary(of: lines) }
}
