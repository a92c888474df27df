import Catalog
import GRDB

extension Outbox {
  /// Keeps an order and the message about it; durable when this returns.
  ///
  /// - Throws: ``OrdersError``; the order is not kept then.
  package func place(_ order: Order) throws(OrdersError) {
    try write { try insert(order, $0) }
  }

  /// Keeps an order and the message about it, unless one with the same chance in its id is there.
  ///
  /// - Parameters:
  ///   - order: the order.
  ///   - chance: the chance in its id.
  /// - Returns: The id of the order that is there now.
  /// - Throws: ``OrdersError``; the order is not kept then.
  package func place(_ order: Order, once chance: OrderID.Chance) throws(OrdersError) -> OrderID {
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

  private func insert(_ order: Order, _ db: Database) throws {
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

  private static func row(of chance: OrderID.Chance, _ db: Database) throws -> PlacedRow.ID? {
    try PlacedRow.ID.fetchOne(
      db,
      sql: "SELECT row FROM placed WHERE substr(id, ?) = ?",
      arguments: [-OrderID.Chance.count, chance.rawValue]
    )
  }

  /// The order whose id has this chance; nil when there is none yet.
  package func order(_ chance: OrderID.Chance) throws(OrdersError) -> OrderEntry? {
    try read { db in
      guard let row = try Self.row(of: chance, db) else { return nil }
      return try Self.entries(db, where: "row = ?", [row]).first
    }
  }

  /// Some of the orders, the last placed first, and how many there are.
  package func latest(_ count: Int, after skipped: Int = 0) throws(OrdersError)
    -> (entries: [OrderEntry], all: Int)
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
  package func orders() throws(OrdersError) -> [OrderEntry] {
    try read { db in try Self.entries(db, where: "TRUE", []) }
  }

  /// The order of that id, or of the only id that begins so.
  ///
  /// - Throws: ``OrdersError`` when there is none, or several.
  package func order(_ id: String) throws(OrdersError) -> OrderEntry {
    try read { db in
      let row = try Self.row(of: id, db)
      guard let entry = try Self.entries(db, where: "row = ?", [row]).first else {
        throw OrdersError(.unknown, "cannot find order \(id)", remedy: .list, thing: id)
      }
      return entry
    }
  }

  /// How many messages are in each state of delivery.
  package func counts() throws(OrdersError) -> DeliveryCounts {
    try read { db in try Self.counts(db) }
  }

  /// Adds to a report what is left: counts, and the orders that somebody has to decide about.
  func sum(_ report: inout CourierReport) throws(OrdersError) {
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
    // A beginning must tell at least of the time, or it would fit whatever comes next.
    let rows =
      id.count < OrderID.prefix.count + 4
      ? []
      : try PlacedRow.ID.fetchAll(
        db,
        sql: "SELECT row FROM placed WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2",
        arguments: [id]
      )
    guard let row = rows.first, rows.count == 1 else {
      throw OrdersError(
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
