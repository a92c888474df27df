import Base
import Catalog
import GRDB

extension Outbox {
  /// Keeps an order and the message about it; durable when this returns.
  ///
  /// - Throws: ``LarderError``; the order is not kept then.
  package func place(_ order: PlacedOrder) throws(LarderError) {
    try write { try insert(order, $0) }
  }

  /// Keeps an order and the message about it, unless one with the same chance in its id is there.
  ///
  /// - Parameters:
  ///   - order: the order.
  ///   - chance: the chance in its id.
  /// - Returns: The id of the order that is there now.
  /// - Throws: ``LarderError``; the order is not kept then.
  package func place(
    _ order: PlacedOrder,
    once chance: OrderID.Nonce
  ) throws(LarderError) -> OrderID {
    try write { db in
      if let earlier = try Self.row(of: chance, db) {
        return try String.fetchOne(
          db,
          sql: "SELECT id FROM placed WHERE row = ?",
          arguments: [earlier]
        )
        .map(OrderID.init(rawValue:)) ?? order.id
      }
      try insert(order, db)
      return order.id
    }
  }

  private func insert(_ order: PlacedOrder, _ db: Database) throws {
    try PlacedRow(order).insert(db)
    let row = PlacedRow.ID(rawValue: db.lastInsertedRowID)
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

  private static func row(of chance: OrderID.Nonce, _ db: Database) throws -> PlacedRow.ID? {
    try PlacedRow.ID.fetchOne(
      db,
      sql: "SELECT row FROM placed WHERE substr(id, ?) = ?",
      arguments: [-OrderID.Nonce.count, chance.rawValue]
    )
  }

  /// The order whose id has this chance; nil when there is none yet.
  package func order(_ chance: OrderID.Nonce) throws(LarderError) -> Order? {
    try read { db in
      guard let row = try Self.row(of: chance, db) else { return nil }
      return try Self.entries(db, where: "row = ?", [row]).first
    }
  }

  /// Some of the orders, the last placed first, and how many there are.
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

  /// Every order, in the order of placing.
  package func orders() throws(LarderError) -> [Order] {
    try read { db in try Self.entries(db, where: "TRUE", []) }
  }

  /// The order of that id, or of the only id that begins so.
  ///
  /// - Throws: ``LarderError`` when there is none, or several.
  package func order(_ id: String) throws(LarderError) -> Order {
    try read { db in
      let row = try Self.row(of: id, db)
      guard let entry = try Self.entries(db, where: "row = ?", [row]).first else {
        throw LarderError(.unknown, "cannot find order \(id)", remedy: .list, thing: id)
      }
      return entry
    }
  }

  /// How many messages are in each state of delivery.
  package func counts() throws(LarderError) -> DeliveryCounts {
    try read { db in try Self.counts(db) }
  }

  /// Adds the remaining orders to a report: counts, and the orders that need a decision.
  func sum(_ report: inout SendReport) throws(LarderError) {
    let (counts, held) = try read { db in
      (
        try Self.counts(db),
        try String.fetchAll(
          db,
          sql: """
            SELECT DISTINCT placed.id FROM message JOIN placed ON placed.row = message.placed \
            WHERE delivery = 'ambiguous' ORDER BY message.row
            """
        )
      )
    }
    report.counts = counts
    report.held = held.map(OrderID.init(rawValue:))
  }

  static func counts(_ db: Database) throws -> DeliveryCounts {
    var counts: [Delivery.State: Int] = [:]
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT delivery, count(*) AS count FROM message JOIN placed ON placed.row = message.placed \
        WHERE NOT (placed.state = 'cancelled' AND message.state <> 'cancelled' \
        AND delivery IN ('queued', 'ambiguous', 'dead')) GROUP BY delivery
        """
    )
    for row in rows {
      let state = Delivery.State(rawValue: try row.decode(forColumn: "delivery"))
      if let state { counts[state] = try row.decode(forColumn: "count") }
    }
    return DeliveryCounts(counts)
  }

  /// The row of an order by its id or the beginning of it.
  static func row(of id: String, _ db: Database) throws -> PlacedRow.ID {
    if let row = try PlacedRow.ID.fetchOne(
      db,
      sql: "SELECT row FROM placed WHERE id = ?",
      arguments: [id]
    ) {
      return row
    }
    // A prefix must contain at least the time, or it would match any later order.
    let rows =
      id.count < OrderID.prefix.count + 4
      ? []
      : try PlacedRow.ID.fetchAll(
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

  /// Writes down a state, and when.
  func enter(_ state: OrderState, _ row: PlacedRow.ID, at now: OrderTime, _ db: Database) throws {
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

  /// Queues a message.
  func post(
    _ state: OrderState,
    _ id: OrderID,
    _ row: PlacedRow.ID,
    at now: OrderTime,
    _ db: Database
  )
    throws
  {
    try MessageRow(state, of: id, in: row, at: now).insert(db)
  }
}

extension Outbox {
  /// Orders with their lines, history, messages and attempts: five queries, for any number of orders.
  static func entries(
    _ db: Database,
    where condition: String,
    _ arguments: StatementArguments
  ) throws -> [Order] {
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
  /// Moves an order to another state and keeps when.
  ///
  /// An order that is cancelled before its message left is never sent. If the message may
  /// already be with the shop, the shop learns of the cancellation only when that is posted.
  ///
  /// - Parameters:
  ///   - id: the order's id, or the beginning of it.
  ///   - state: where to; nil for one step on.
  ///   - posting: whether the webhook is told too.
  ///   - now: when.
  /// - Returns: The order afterwards.
  /// - Throws: ``LarderError`` of code `state` when the move is refused, saying why.
  package func move(_ id: String, to state: OrderState?, posting: Bool, at now: OrderTime)
    throws(LarderError) -> Order
  {
    try write { db in
      let row = try Self.row(of: id, db)
      guard let entry = try Self.entries(db, where: "row = ?", [row]).first else {
        throw LarderError(.unknown, "cannot find order \(id)", remedy: .list, thing: id)
      }
      let target = state ?? entry.state.next ?? .preparing
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
      if target == .cancelled { mayBeKnown = try withdraw(entry, row, db) }
      if posting, mayBeKnown { try post(target, entry.order.id, row, at: now, db) }
      return try Self.entries(db, where: "row = ?", [row]).first ?? entry
    }
  }

  /// Keeps the messages of a cancelled order from leaving; tells whether one may have left before.
  private func withdraw(_ entry: Order, _ row: PlacedRow.ID, _ db: Database) throws -> Bool {
    var mayBeKnown = false
    for message in entry.messages {
      switch message.delivery.state {
      case .queued, .ambiguous:
        let wasHeld = message.delivery.state == .ambiguous
        mayBeKnown = mayBeKnown || wasHeld || message.attempts.contains(where: \.mayHaveArrived)
        let error = wasHeld ? "cancelled, may have arrived" : "cancelled"
        try store(message.delivery.settled(.dead, error), message.id, db)
      // The sender that posts it now settles it.
      case .sending, .delivered: mayBeKnown = true
      case .dead: break
      }
    }
    return mayBeKnown
  }

  /// Queues dead and held messages again, from the start of the schedule and under their old ids.
  ///
  /// - Parameters:
  ///   - ids: orders, by id or the beginning of it; nil for all that have dead messages.
  ///   - now: when.
  /// - Returns: The ids of the orders whose messages are queued now.
  /// - Throws: ``LarderError`` of code `state` when a named order has nothing to replay; nothing is
  ///   changed then.
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
            "cannot replay \(entry.order.id): it is \(entry.delivery.state.rawValue), "
              + "and only dead and ambiguous ones are replayed"
          )
        }
        for message in revived { try store(message.delivery.revived(at: now), message.id, db) }
        return entry.order.id
      }
    }
  }

  /// Records that held messages did arrive, as a person saw at the receiver.
  ///
  /// - Parameter ids: orders, by id or the beginning of it.
  /// - Returns: Their ids.
  /// - Throws: ``LarderError`` of code `state` when one has no held message; nothing is changed then.
  package func confirm(arrived ids: [String]) throws(LarderError) -> [OrderID] {
    try write { db in
      try chosen(ids, db).map { entry in
        let held = entry.messages.filter { $0.delivery.state == .ambiguous }
        guard !held.isEmpty else {
          throw LarderError(
            .state,
            "cannot settle \(entry.order.id): it is \(entry.delivery.state.rawValue), "
              + "and only an ambiguous one may have arrived"
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
    return try ids.flatMap { id in
      try Self.entries(db, where: "row = ?", [try Self.row(of: id, db)])
    }
  }

  /// Writes down how far a message is.
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
