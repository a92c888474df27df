import Catalog

/// One position of an order, as the catalog had it when the order was placed.
package struct OrderLine: Hashable, Sendable {
  /// The item's id.
  package let item: String
  /// What it was called.
  package let title: String
  /// What one of it cost.
  package let price: Price
  /// How many.
  package let quantity: Int

  /// Makes a position.
  package init(item: String, title: String, price: Price, quantity: Int) {
    self.item = item
    self.title = title
    self.price = price
    self.quantity = quantity
  }
}

/// Who wants what for how much: fixed once it is placed.
package struct Order: Hashable, Sendable {
  /// Its name.
  package let id: OrderID
  /// Who ordered.
  package let by: String
  /// What is ordered; never empty.
  package let lines: [OrderLine]
  /// The sum over all positions.
  package let total: Price
  /// What else there is to say.
  package let note: String?
  /// The language of its messages.
  package let language: Language
  /// When it was placed.
  package let placed: OrderTime

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
  package var quantity: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// What is ordered, in a few words: the only title with its number, or the first and how many
  /// more.
  package var summary: String { language.summary(of: lines) }

  /// The same in a language.
  package func summary(in language: Language) -> String { language.summary(of: lines) }
}
