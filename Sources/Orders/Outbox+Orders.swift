import Base
import Catalog
import GRDB

extension Outbox {
  /// Stores an order, and queues the message about it, unless an order with the same random bits in its id is stored
  /// already.
  ///
  /// When this returns, the order survives a power cut.
  ///
  /// - Returns: The id of the order that is stored now. If an earlier order has these random bits, it is the id of
  ///   that order.
  /// - Throws: ``LarderError`` if the outbox cannot be written. Then the order is not stored.
  @discardableResult
  package func place(_ order: PlacedOrder) throws(LarderError) -> OrderID {
    try write { db in
      let chance = String(order.id.rawValue.suffix(OrderID.Nonce.count))
      let earlier = try String.fetchOne(
        db,
        sql: "SELECT id FROM placed WHERE \(Self.hasChance)",
        arguments: [chance]
      )
      if let earlier { return OrderID(rawValue: earlier) }
      try insert(order, db)
      return order.id
    }
  }

  /// The SQL condition for an order whose id ends with given random bits.
  private static let hasChance = "substr(id, -\(OrderID.Nonce.count)) = ?"

  private func insert(_ order: PlacedOrder, _ db: Database) throws {
    try PlacedRow(order).insert(db)
    let row = db.lastInsertedRowID
    for (position, line) in order.lines.enumerated() {
      try LineRow(
        placed: row,
        position: position,
        item: line.item,
        title: line.title,
        price: line.price.minorUnits,
        quantity: line.quantity
      ).insert(db)
    }
    try enter(.ordered, row, at: order.placed, db)
    try post(.ordered, order.id, row, at: order.placed, db)
  }

  /// The order whose id has the given random bits, or nil if there is none.
  package func order(_ chance: OrderID.Nonce) throws(LarderError) -> Order? {
    try read { db in try Self.entries(db, where: Self.hasChance, [chance.rawValue]).first }
  }

  /// The newest orders, sorted from newest to oldest, and the number of all orders.
  ///
  /// The result has at most `count` orders. The `skipped` newest orders are left out.
  package func latest(_ count: Int, after skipped: Int = 0) throws(LarderError)
    -> (entries: [Order], all: Int)
  {
    try read { db in
      let entries = try Self.entries(
        db,
        where: "row IN (SELECT row FROM placed ORDER BY row DESC LIMIT ? OFFSET ?)",
        [count, skipped]
      )
      return (entries.reversed(), try Int.fetchOne(db, sql: "SELECT count(*) FROM placed") ?? 0)
    }
  }

  /// All orders, sorted from oldest to newest.
  package func orders() throws(LarderError) -> [Order] {
    try read { db in try Self.entries(db, where: "TRUE", []) }
  }

  /// The order with the given id.
  ///
  /// The beginning of the id is sufficient if no other id begins with it.
  ///
  /// - Throws: ``LarderError`` if no order matches, or if several orders match.
  package func order(_ id: String) throws(LarderError) -> Order {
    try read { db in
      try Self.entry(id, db).order
    }
  }

  private static func entry(_ id: String, _ db: Database) throws -> (row: Int64, order: Order) {
    let row = try row(of: id, db)
    guard let order = try entries(db, where: "row = ?", [row]).first else {
      throw LarderError(.unknown, "cannot find order \(id)", remedy: .list, thing: id)
    }
    return (row, order)
  }

  /// The number of messages about orders in each state of delivery.
  ///
  /// Messages of cancelled orders are left out if they were not delivered.
  package func counts() throws(LarderError) -> DeliveryCounts {
    try read { db in try Self.counts(MessageKind.aboutOrders, db) }
  }

  /// The counts of the messages that satisfy an SQL condition, as ``counts()`` counts them.
  static func counts(_ which: String, _ db: Database) throws -> DeliveryCounts {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT delivery, count(*) AS count \
        FROM message LEFT JOIN placed ON placed.row = message.placed \
        WHERE \(which) AND NOT (placed.state IS 'cancelled' AND message.state <> 'cancelled' \
        AND delivery IN ('queued', 'ambiguous', 'dead')) GROUP BY delivery
        """
    )
    var counts: DeliveryCounts = [:]
    for row in rows {
      let state = Delivery.State(rawValue: try row.decode(forColumn: "delivery"))
      if let state { counts[state] = try row.decode(forColumn: "count") }
    }
    return counts
  }

  /// The row number of the order with the given id.
  ///
  /// The beginning of the id is sufficient if no other id begins with it.
  static func row(of id: String, _ db: Database) throws -> Int64 {
    if let row = try Int64.fetchOne(
      db,
      sql: "SELECT row FROM placed WHERE id = ?",
      arguments: [id]
    ) {
      return row
    }
    // The beginning of an id must have at least four digits. The first digits are the same in nearly all ids.
    let rows =
      id.count < OrderID.prefix.count + 4
      ? []
      : try Int64.fetchAll(
        db,
        sql: "SELECT row FROM placed WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2",
        arguments: [id]
      )
    guard let row = rows.first, rows.count == 1 else {
      throw LarderError(
        .unknown,
        rows.isEmpty
          ? "cannot find order \(id)"
          : "cannot choose: several orders begin with \(id); give more of the id",
        remedy: rows.isEmpty ? .list : nil,
        thing: id
      )
    }
    return row
  }

  /// Stores the new state of an order, and the time at which the order reached it.
  func enter(_ state: OrderState, _ row: Int64, at now: OrderTime, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO change(placed, position, state, time) \
        SELECT ?1, count(*), ?2, ?3 FROM change WHERE placed = ?1
        """,
      arguments: [row, state.rawValue, now]
    )
    try db.execute(
      sql: "UPDATE placed SET state = ? WHERE row = ?",
      arguments: [state.rawValue, row]
    )
  }

  /// Queues a message about an order.
  func post(
    _ state: OrderState,
    _ id: OrderID,
    _ row: Int64,
    at now: OrderTime,
    _ db: Database
  ) throws {
    let name = OutgoingMessage.name(id, state)
    try MessageRow(id: name, placed: row, state: state.rawValue, at: now).insert(db)
  }
}

extension Outbox {
  /// Reads the orders that satisfy an SQL condition, with their lines, states, messages and attempts.
  ///
  /// The number of queries does not depend on the number of orders.
  static func entries(
    _ db: Database,
    where condition: String,
    _ arguments: StatementArguments
  ) throws -> [Order] {
    let chosen = "(SELECT row FROM placed WHERE \(condition))"
    func rows<Row: FetchableRecord>(_ table: String, by order: String) throws -> [Row] {
      let sql = "SELECT * FROM \(table) WHERE placed IN \(chosen) ORDER BY \(order)"
      return try Row.fetchAll(db, sql: sql, arguments: arguments)
    }
    let lines: [LineRow] = try rows("line", by: "placed, position")
    let changes: [ChangeRow] = try rows("change", by: "placed, position")
    let messages: [MessageRow] = try rows("message", by: "row")
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
      let row = placed.row ?? 0
      return Order(
        order: placed.order(linesOf[row] ?? []),
        history: (changesOf[row] ?? []).map(\.change),
        messages: (messagesOf[row] ?? []).map { message in
          Order.Message(
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

extension Outbox {
  /// Changes the state of an order.
  ///
  /// If an order is cancelled, its waiting messages are never sent. A message about the cancellation is queued only if
  /// an earlier message has arrived or may have arrived.
  ///
  /// - Parameters:
  ///   - id: The id of the order, or the beginning of the id.
  ///   - state: The new state, or nil for the state after the present one.
  ///   - posting: Whether to send a message about the new state.
  ///   - now: The current time.
  /// - Returns: The changed order.
  /// - Throws: ``LarderError`` with the code `state` if the order is not allowed to change to this state.
  package func move(_ id: String, to state: OrderState?, posting: Bool, at now: OrderTime)
    throws(LarderError) -> Order
  {
    try write { db in
      let (row, entry) = try Self.entry(id, db)
      let target = state ?? entry.state.next ?? .preparing
      // A cancellation that the webhook was not told can be told later.
      if target == .cancelled, entry.state == .cancelled, posting,
        !entry.messages.contains(where: { $0.state == .cancelled })
      {
        if entry.mayBeKnown { try post(target, entry.order.id, row, at: now, db) }
        return try Self.entries(db, where: "row = ?", [row]).first ?? entry
      }
      if let reason = entry.state.refusal(of: target) {
        let verb = target == .cancelled ? "cancel" : "advance"
        throw LarderError(
          .state,
          "cannot \(verb) \(entry.order.id): \(reason)",
          remedy: .history,
          thing: entry.order.id.rawValue
        )
      }
      try enter(target, row, at: now, db)
      var mayBeKnown = true
      if target == .cancelled { mayBeKnown = try withdraw(entry, db) }
      if posting, mayBeKnown { try post(target, entry.order.id, row, at: now, db) }
      return try Self.entries(db, where: "row = ?", [row]).first ?? entry
    }
  }

  /// Gives up the messages of a cancelled order that were not delivered.
  ///
  /// - Returns: Whether a message has arrived or may have arrived.
  private func withdraw(_ entry: Order, _ db: Database) throws -> Bool {
    var mayBeKnown = false
    for message in entry.messages {
      switch message.delivery.state {
      case .queued, .ambiguous:
        let wasHeld = message.delivery.state == .ambiguous
        mayBeKnown = mayBeKnown || wasHeld || message.attempts.contains(where: \.mayHaveArrived)
        try store(message.delivery.withdrawn, message.id, db)
      // The process that is sending the message stores its outcome.
      case .sending, .delivered: mayBeKnown = true
      case .dead: break
      }
    }
    return mayBeKnown
  }

  /// Queues messages about orders again if they are in the state `dead` or `ambiguous`.
  ///
  /// Each message keeps its id, and the delays between its attempts start again from the first one.
  ///
  /// - Parameters:
  ///   - ids: The ids of the orders, or the beginnings of the ids. If this is nil, all messages in the state `dead` are
  ///     queued, and none in the state `ambiguous`.
  ///   - now: The current time.
  /// - Returns: The ids of the orders whose messages were queued.
  /// - Throws: ``LarderError`` with the code `state` if a given order has no such message. Then no message is queued.
  package func replay(_ ids: [String]?, at now: OrderTime) throws(LarderError) -> [OrderID] {
    try write { db in
      try chosen(ids, db).compactMap { entry in
        guard entry.state != .cancelled || entry.messages.last?.state == .cancelled else {
          guard ids != nil else { return nil }
          throw LarderError(
            .state,
            "cannot replay \(entry.order.id): it was cancelled; place a new order"
          )
        }
        let revived = entry.messages.filter { message in
          (message.delivery.state == .dead || (ids != nil && message.delivery.state == .ambiguous))
            && (entry.state != .cancelled || message.state == .cancelled)
        }
        guard !revived.isEmpty else {
          guard ids != nil else { return nil }
          throw LarderError(
            .state,
            "cannot replay \(entry.order.id): its message is \(entry.delivery.state.rawValue); "
              + "only dead and ambiguous messages can be replayed"
          )
        }
        for message in revived { try store(message.delivery.revived(at: now), message.id, db) }
        return entry.order.id
      }
    }
  }

  /// Changes messages from the state `ambiguous` to `delivered`, because the user has found out that they arrived.
  ///
  /// - Parameter ids: The ids of the orders, or the beginnings of the ids.
  /// - Returns: The ids of the orders.
  /// - Throws: ``LarderError`` with the code `state` if an order has no such message. Then no message is changed.
  package func confirm(arrived ids: [String]) throws(LarderError) -> [OrderID] {
    try write { db in
      try chosen(ids, db).map { entry in
        let held = entry.messages.filter { $0.delivery.state == .ambiguous }
        guard !held.isEmpty else {
          throw LarderError(
            .state,
            "cannot confirm \(entry.order.id): its message is \(entry.delivery.state.rawValue); "
              + "only an ambiguous message can be confirmed"
          )
        }
        for message in held {
          try store(message.delivery.settled(.delivered, nil), message.id, db)
        }
        return entry.order.id
      }
    }
  }

  private func chosen(_ ids: [String]?, _ db: Database) throws -> [Order] {
    guard let ids else {
      return try Self.entries(
        db,
        where: "row IN (SELECT placed FROM message WHERE delivery = 'dead')",
        []
      )
    }
    return try ids.map { try Self.entry($0, db).order }
  }

  /// Stores the delivery of a message.
  func store(_ delivery: Delivery, _ id: String, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE message SET delivery = :state, attempts = :attempts, tries = :tries, \
        error = :error, next = :next WHERE id = :id
        """,
      arguments: [
        "state": delivery.state.rawValue, "attempts": delivery.attempts, "tries": delivery.tries,
        "error": delivery.lastError, "next": delivery.due, "id": id,
      ]
    )
  }
}
