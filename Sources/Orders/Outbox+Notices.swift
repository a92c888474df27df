import Base
import FoundationEssentials
import GRDB

/// Which messages a sender takes.
package enum MessageKind: Sendable {
  /// Those about orders: they go where the sender is told.
  case orders
  /// Notices of changes: each belongs to one webhook.
  case notices

  /// The condition on a row of `message`.
  func condition(_ webhook: Webhook) -> String {
    switch self {
    case .orders: "placed > 0"
    case .notices:
      // Hexadecimal digits, and a name of ours.
      """
      placed IN (SELECT -row FROM subscription \
      WHERE webhook = '\(webhook.digest)' AND payload = '\(webhook.payload.rawValue)')
      """
    }
  }
}

/// A standing wish to be told of a catalog's changes.
package struct Subscription: Hashable, Sendable {
  /// The cache's path; its runs are numbered for themselves.
  package let cache: String
  /// The catalog's name.
  package let catalog: String
  /// Which changes, in words that are the same for the same wish.
  package let wish: String

  /// A wish for the changes of a catalog in a cache.
  package init(cache: String, catalog: String, wish: String) {
    (self.cache, self.catalog, self.wish) = (cache, catalog, wish)
  }
}

/// Where the next notice of a subscription begins.
package struct NoticeStart: Equatable, Sendable {
  /// The last run that was told; nil before the first notice.
  package let told: Int64?
  /// The message that waits and that the next one takes the place of.
  let waiting: String?
  /// Its content.
  let content: Notice?
  /// The run behind which the next notice begins; nil before the first.
  package let after: Int64?
  /// Whether an attempt at the waiting message may have arrived.
  let mayRepeat: Bool
}

extension Outbox {
  /// Where the next notice begins: behind the last one, or with the changes of one that waits.
  ///
  /// A message waits while it is queued, or dead because its whole schedule passed. So a webhook that was away for a
  /// week gets one message afterwards.
  ///
  /// - Throws: ``LarderError`` when the outbox cannot be read.
  package func start(
    of subscription: Subscription,
    at webhook: Webhook
  ) throws(LarderError) -> NoticeStart {
    try read { try Self.start(of: subscription, at: webhook, $0) }
  }

  private static let subscribed =
    "webhook = ? AND payload = ? AND cache = ? AND catalog = ? AND wish = ?"

  private static func key(_ subscription: Subscription, _ webhook: Webhook) -> StatementArguments {
    [
      webhook.digest, webhook.payload.rawValue, subscription.cache, subscription.catalog,
      subscription.wish,
    ]
  }

  private static func start(
    of subscription: Subscription,
    at webhook: Webhook,
    _ db: Database
  ) throws -> NoticeStart {
    let row = try Row.fetchOne(
      db,
      sql: "SELECT row, told FROM subscription WHERE \(subscribed)",
      arguments: key(subscription, webhook)
    )
    guard let row else {
      return NoticeStart(told: nil, waiting: nil, content: nil, after: nil, mayRepeat: false)
    }
    let told: Int64 = try row.decode(forColumn: "told")
    let last = try MessageRow.fetchOne(
      db,
      sql: "SELECT * FROM message WHERE placed = -? ORDER BY row DESC LIMIT 1",
      arguments: [try row.decode(Int64.self, forColumn: "row")]
    )
    guard let last, last.isWaiting,
      let notice = try Row.fetchOne(
        db,
        sql: "SELECT after, content FROM notice WHERE message = ?",
        arguments: [last.rowID]
      )
    else {
      return NoticeStart(told: told, waiting: nil, content: nil, after: told, mayRepeat: false)
    }
    let content = try Self.notice(notice)
    let mayHaveArrived =
      try Bool.fetchOne(
        db,
        sql: """
          SELECT EXISTS (SELECT 1 FROM attempt WHERE message = ? \
          AND (outcome IS NULL OR outcome LIKE 'unknown %'))
          """,
        arguments: [last.rowID]
      ) ?? false
    return NoticeStart(
      told: told,
      waiting: last.id,
      content: content,
      after: try notice.decode(forColumn: "after"),
      mayRepeat: mayHaveArrived || content?.mayRepeat == true
    )
  }

  private static func notice(_ row: Row) throws -> Notice? {
    let content: Data = try row.decode(forColumn: "content")
    return try? JSONDecoder().decode(Notice.self, from: content)
  }

  /// The notice of a message; nil where a damaged page holds none.
  static func notice(of message: MessageRow, _ db: Database) throws -> Notice? {
    try Row.fetchOne(
      db,
      sql: "SELECT content FROM notice WHERE message = ?",
      arguments: [message.rowID]
    ).flatMap(notice)
  }

  /// Queues the next notice of a subscription, and notes through which run it has been told.
  ///
  /// The notice replaces one that waits, under a new name: the schedule starts again. Durable when
  /// this returns.
  ///
  /// - Parameters:
  ///   - notice: The changes; nil for none.
  ///   - subscription: Whose.
  ///   - webhook: Where to.
  ///   - after: The run behind which the changes begin.
  ///   - run: The last run whose changes are told.
  ///   - start: Where the notice begins.
  ///   - now: When.
  ///   - id: The name of the message.
  /// - Returns: Whether it was kept; false when another process has told or sent something since `start`.
  /// - Throws: ``LarderError`` when the outbox cannot be written.
  package func keep(
    _ notice: Notice?,
    for subscription: Subscription,
    at webhook: Webhook,
    behind after: Int64,
    through run: Int64,
    from start: NoticeStart,
    at now: OrderTime,
    id: OrderID
  ) throws(LarderError) -> Bool {
    // Nothing happened since: the queue is as it should be.
    if start.told == run, notice == nil || notice.map({ start.content?.says($0) }) == true {
      return true
    }
    return try write { db in
      guard try Self.start(of: subscription, at: webhook, db) == start else { return false }
      try db.execute(
        sql: """
          INSERT INTO subscription(webhook, payload, cache, catalog, wish, told) VALUES (?,?,?,?,?,?) \
          ON CONFLICT(webhook, payload, cache, catalog, wish) DO UPDATE SET told = excluded.told
          """,
        arguments: Self.key(subscription, webhook) + [run]
      )
      guard var notice else {
        if let waiting = start.waiting, !start.mayRepeat { try withdraw(waiting, db) }
        return true
      }
      if start.content?.says(notice) == true { return true }
      notice.mayRepeat = start.mayRepeat
      guard let content = notice.content() else { return true }
      if let waiting = start.waiting {
        try db.execute(
          sql: """
            UPDATE notice SET content = ? WHERE message = (SELECT row FROM message WHERE id = ?)
            """,
          arguments: [Data(content), waiting]
        )
        try db.execute(
          sql: """
            UPDATE message SET id = ?1, changed = ?2, delivery = 'queued', tries = 0, next = ?2 WHERE id = ?3
            """,
          arguments: [id.rawValue, now, waiting]
        )
        return true
      }
      let row = try Int64.fetchOne(
        db,
        sql: "SELECT row FROM subscription WHERE \(Self.subscribed)",
        arguments: Self.key(subscription, webhook)
      )
      // A user who missed the one before has had until now to send it again.
      try db.execute(
        sql: """
          UPDATE message SET delivery = 'dead', error = 'may have arrived', tries = 0, next = NULL \
          WHERE placed = -? AND delivery = 'ambiguous'
          """,
        arguments: [row]
      )
      try MessageRow(noticeFor: row ?? 0, id: id, at: now).insert(db)
      try db.execute(
        sql: "INSERT INTO notice(message, after, content) VALUES (?,?,?)",
        arguments: [db.lastInsertedRowID, after, Data(content)]
      )
      return true
    }
  }

  /// Takes a waiting message back: everything that it says is as it was again.
  private func withdraw(_ id: String, _ db: Database) throws {
    try db.execute(
      sql:
        "UPDATE message SET delivery = 'dead', error = 'outdated', tries = 0, next = NULL WHERE id = ?",
      arguments: [id]
    )
  }

  /// Adds the notices of a webhook to a report: counts, and those of this run that may have arrived.
  func sumNotices(_ report: inout SendReport, of webhook: Webhook) throws(LarderError) {
    let which = MessageKind.notices.condition(webhook)
    let counts = try read { db in
      var counts: [Delivery.State: Int] = [:]
      let rows = try Row.fetchAll(
        db,
        sql: "SELECT delivery, count(*) AS count FROM message WHERE \(which) GROUP BY delivery"
      )
      for row in rows {
        let state = Delivery.State(rawValue: try row.decode(forColumn: "delivery"))
        if let state { counts[state] = try row.decode(forColumn: "count") }
      }
      return counts
    }
    report.counts = DeliveryCounts(counts)
    report.held = report.troubles.filter { $0.delivery.state == .ambiguous }.map(\.order)
  }
}

extension OrderID {
  /// Makes the name of a notice.
  package init(noticeAt time: OrderTime, using random: inout some RandomNumberGenerator) {
    let id = OrderID(at: time, using: &random).rawValue
    self.init(rawValue: "ntc_" + id.dropFirst(Self.prefix.count))
  }
}
