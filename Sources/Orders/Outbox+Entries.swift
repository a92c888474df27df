import Catalog
import GRDB

extension Outbox {
  /// Orders with their lines, history, messages and attempts: five queries, whatever their number.
  static func entries(
    _ db: Database,
    where condition: String,
    _ arguments: StatementArguments
  ) throws -> [OrderEntry] {
    func rows(_ columns: String, _ table: String, _ order: String) throws -> [Int64: [Row]] {
      let chosen = "(SELECT row FROM placed WHERE \(condition))"
      return Dictionary(
        grouping: try Row.fetchAll(
          db,
          sql:
            "SELECT placed, \(columns) FROM \(table) WHERE placed IN \(chosen) ORDER BY \(order)",
          arguments: arguments
        )
      ) { $0[0] }
    }
    let lines = try rows("item, title, price, quantity", "line", "placed, position")
    let changes = try rows("state, time", "change", "placed, position")
    let messages = try rows(
      "row, id, state, delivery, attempts, tries, error, next",
      "message",
      "row"
    )
    let attempts = try rows(
      "message, began, ended, outcome",
      "message JOIN attempt ON message = message.row",
      "message, number"
    )
    return try Row.fetchAll(
      db,
      sql: """
        SELECT row, id, by, note, currency, total, language, placed FROM placed \
        WHERE \(condition) ORDER BY row
        """,
      arguments: arguments
    ).map { row in
      let number: Int64 = row[0]
      return OrderEntry(
        order: order(row, lines[number] ?? []),
        history: (changes[number] ?? []).map {
          OrderEntry.Change(
            state: OrderState(rawValue: $0[1]) ?? .ordered,
            time: OrderTime(milliseconds: $0[2])
          )
        },
        messages: (messages[number] ?? []).map { message($0, attempts[number] ?? []) }
      )
    }
  }

  /// An order from `row, id, by, note, currency, total, language, placed` and its lines.
  static func order(_ row: Row, _ lines: [Row]) -> Order {
    let currency: String = row[4]
    return Order(
      id: OrderID(rawValue: row[1]),
      by: row[2],
      lines: lines.map {
        OrderLine(
          item: $0[1],
          title: $0[2],
          price: Price(minorUnits: $0[3], currency: currency),
          quantity: $0[4]
        )
      },
      total: Price(minorUnits: row[5], currency: currency),
      note: row[3],
      language: Language(rawValue: row[6]) ?? .english,
      placed: OrderTime(milliseconds: row[7])
    )
  }

  private static func message(_ row: Row, _ attempts: [Row]) -> OrderEntry.Message {
    let number: Int64 = row[1]
    return OrderEntry.Message(
      id: row[2],
      state: OrderState(rawValue: row[3]) ?? .ordered,
      delivery: Delivery(
        state: Delivery.State(rawValue: row[4]) ?? .dead,
        attempts: row[5],
        tries: row[6],
        lastError: row[7],
        nextAttempt: (row[8] as Int64?).map(OrderTime.init(milliseconds:))
      ),
      attempts: attempts.filter { $0[1] == number }.map {
        OrderEntry.Attempt(
          began: OrderTime(milliseconds: $0[2]),
          ended: ($0[3] as Int64?).map(OrderTime.init(milliseconds:)),
          outcome: $0[4]
        )
      }
    )
  }
}
