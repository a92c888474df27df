import Catalog
import GRDB

// The rows of the outbox's tables. Each property is a column. If a damaged file contains an unexpected value, reading a
// row throws an error, and never traps.

/// A row of the table `placed`, which contains the orders.
struct PlacedRow: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "placed"

  /// The row's number, by which other tables refer to the row.
  ///
  /// Nil in a new row, because SQLite chooses the number when it inserts the row.
  let row: Int64?
  let id: String
  let by: String
  let note: String?
  let currency: String
  /// The total in minor units of `currency`, for example won or cents.
  ///
  /// The table `line` has its prices in the same unit.
  let total: Int
  let language: String
  let placed: OrderTime
  let state: String

  /// Makes the row of a new order.
  init(_ order: PlacedOrder) {
    row = nil
    id = order.id.rawValue
    by = order.by
    note = order.note
    currency = order.total.currency
    total = order.total.minorUnits
    language = order.language.rawValue
    placed = order.placed
    state = OrderState.ordered.rawValue
  }

  /// The order with its lines.
  func order(_ lines: [LineRow]) -> PlacedOrder {
    PlacedOrder(
      id: OrderID(rawValue: id),
      by: by,
      lines: lines.map {
        OrderLine(
          item: $0.item,
          title: $0.title,
          price: Price(minorUnits: $0.price, currency: currency),
          quantity: $0.quantity
        )
      },
      total: Price(minorUnits: total, currency: currency),
      note: note,
      language: Language(rawValue: language) ?? .english,
      placed: placed
    )
  }
}

/// A row of the table `line`, which contains the items of orders.
struct LineRow: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "line"

  let placed: Int64
  let position: Int
  let item: String
  let title: String
  let price: Int
  let quantity: Int
}

/// A row of the table `change`, which contains the states that orders reached.
struct ChangeRow: Codable, FetchableRecord {
  let placed: Int64
  let state: String
  let time: OrderTime

  var change: Order.Change {
    Order.Change(state: OrderState(rawValue: state) ?? .ordered, time: time)
  }
}

/// A row of the table `message`, which contains messages about orders and notices about changes of a catalog.
struct MessageRow: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "message"

  /// The row's number, by which other tables refer to the row.
  ///
  /// Nil in a new row, because SQLite chooses the number when it inserts the row.
  let row: Int64?
  let id: String
  /// The row of the message's order in the table `placed`.
  ///
  /// For a notice, it is the negated row number of the notice's subscription.
  let placed: Int64
  let state: String
  let changed: OrderTime
  let delivery: String
  let attempts: Int
  let tries: Int
  let error: String?
  let next: OrderTime?

  /// Makes the row of a new message, which is due at once.
  ///
  /// A notice has the state `notice`.
  init(id: String, placed: Int64, state: String, at now: OrderTime) {
    row = nil
    (self.id, self.placed, self.state, changed) = (id, placed, state, now)
    delivery = Delivery.State.queued.rawValue
    (attempts, tries, error, next) = (0, 0, nil, now)
  }

  /// The number of a stored row.
  var rowID: Int64 { row ?? 0 }

  var orderState: OrderState { OrderState(rawValue: state) ?? .ordered }

  /// The delivery of the message.
  ///
  /// `fallback` replaces a state that this larder does not know.
  func standing(_ fallback: Delivery.State) -> Delivery {
    Delivery(
      state: Delivery.State(rawValue: delivery) ?? fallback,
      attempts: attempts,
      tries: tries,
      lastError: error,
      due: next
    )
  }
}

/// A row of the table `attempt`, which contains the attempts to send messages.
struct AttemptRow: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "attempt"

  let message: Int64
  let number: Int
  let began: OrderTime
  var ended: OrderTime?
  var outcome: String?

  var attempt: Order.Attempt {
    Order.Attempt(began: began, ended: ended, outcome: outcome)
  }
}

/// Reads a row of the table `webhook`, which contains the states of webhooks.
extension WebhookState: FetchableRecord {
  package static let databaseColumnDecodingStrategy =
    DatabaseColumnDecodingStrategy.convertFromSnakeCase
}

extension OrderTime: DatabaseValueConvertible {
  /// The number of milliseconds since 1970.
  package var databaseValue: DatabaseValue { milliseconds.databaseValue }

  /// Makes a time from the number of milliseconds since 1970.
  package static func fromDatabaseValue(_ value: DatabaseValue) -> OrderTime? {
    Int64.fromDatabaseValue(value).map(OrderTime.init(milliseconds:))
  }
}
