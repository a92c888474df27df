import GRDB

extension Outbox {
  /// Orders with their lines, history, messages and attempts: five queries, whatever their number.
  static func entries(
    _ db: Database,
    where condition: String,
    _ arguments: StatementArguments
  ) throws -> [OrderEntry] {
    let chosen = "(SELECT row FROM placed WHERE \(condition))"
    let lines = try LineRow.fetchAll(
      db,
      sql: "SELECT * FROM line WHERE placed IN \(chosen) ORDER BY placed, position",
      arguments: arguments
    )
    let changes = try ChangeRow.fetchAll(
      db,
      sql: "SELECT * FROM change WHERE placed IN \(chosen) ORDER BY placed, position",
      arguments: arguments
    )
    let messages = try MessageRow.fetchAll(
      db,
      sql: "SELECT * FROM message WHERE placed IN \(chosen) ORDER BY row",
      arguments: arguments
    )
    let attempts = try AttemptRow.fetchAll(
      db,
      sql: """
        SELECT attempt.* FROM attempt JOIN message ON message = message.row \
        WHERE placed IN \(chosen) ORDER BY message, number
        """,
      arguments: arguments
    )
    let linesOf = Dictionary(grouping: lines, by: \.placed)
    let changesOf = Dictionary(grouping: changes, by: \.placed)
    let messagesOf = Dictionary(grouping: messages, by: \.placed)
    let attemptsOf = Dictionary(grouping: attempts, by: \.message)
    return try PlacedRow.fetchAll(
      db,
      sql: "SELECT * FROM placed WHERE \(condition) ORDER BY row",
      arguments: arguments
    ).map { placed in
      let row = placed.rowID
      return OrderEntry(
        order: placed.order(linesOf[row] ?? []),
        history: (changesOf[row] ?? []).map(\.change),
        messages: (messagesOf[row] ?? []).map { message in
          OrderEntry.Message(
            id: message.id,
            state: message.orderState,
            delivery: message.standing(.dead),
            attempts: (attemptsOf[message.rowID] ?? []).map(\.attempt)
          )
        }
      )
    }
  }
}
