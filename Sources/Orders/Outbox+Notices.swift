import Base
import FoundationEssentials
import GRDB

/// The kind of the messages that a ``WebhookSender`` sends.
package enum MessageKind: Sendable {
  /// Messages about orders.
  ///
  /// They are sent to any webhook that the user gives.
  case orders
  /// Notices about changes of a catalog.
  ///
  /// Each of them is for one webhook.
  case notices

  /// The SQL condition for messages about orders in the table `message`.
  static let aboutOrders = "message.placed > 0"

  /// The SQL condition for the messages of this kind in the table `message`.
  func condition(_ webhook: Webhook) -> String {
    switch self {
    case .orders: Self.aboutOrders
    case .notices:
      // The values need no escaping, because they are hexadecimal digits and the name of an enumeration's case.
      """
      message.placed IN (SELECT -row FROM subscription \
      WHERE webhook = '\(webhook.digest)' AND payload = '\(webhook.payload.rawValue)')
      """
    }
  }
}

/// A subscription to the changes of a catalog.
///
/// After a sync, a webhook receives a notice about these changes.
package struct Subscription: Hashable, Sendable {
  /// The path of the cache.
  ///
  /// Each cache counts its syncs separately.
  package let cache: String
  /// The name of the catalog.
  package let catalog: String
  /// A text about the selected changes.
  ///
  /// Two subscriptions with equal texts select the same changes.
  package let wish: String

  /// Makes a subscription.
  package init(cache: String, catalog: String, wish: String) {
    (self.cache, self.catalog, self.wish) = (cache, catalog, wish)
  }
}

/// The state of a subscription before its next notice is made.
package struct NoticeStart: Equatable, Sendable {
  /// The number of the last sync that was reported.
  ///
  /// Nil if no sync was reported yet.
  package let told: Int64?
  /// The id of a notice that was not delivered, and that the next notice replaces.
  ///
  /// Nil if there is none.
  let waiting: String?
  /// The content of this notice.
  package let content: Notice?
  /// The number of a sync.
  ///
  /// The next notice contains the changes after this sync. Nil if no sync was reported yet.
  package let after: Int64?
  /// Whether the notice that is replaced may have arrived in an earlier attempt.
  package let mayRepeat: Bool
}

extension Outbox {
  /// The state of a subscription before its next notice is made.
  ///
  /// If the last notice was delivered, the next notice contains the changes after it. If the last notice is queued, or
  /// if all its attempts have failed, the next notice replaces it and also contains its changes. So a webhook that
  /// could not be reached for a week receives only one notice afterwards.
  ///
  /// - Throws: ``LarderError`` if the outbox cannot be read.
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
    // The last notice counts only if it is queued, or if all attempts to send it have failed.
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT told, message.id AS waiting, content, ifnull(after, told) AS after, \
        EXISTS (SELECT 1 FROM attempt WHERE attempt.message = message.row \
        AND (outcome IS NULL OR outcome LIKE 'unknown %')) AS mayHaveArrived \
        FROM subscription LEFT JOIN (message JOIN notice ON notice.message = message.row) \
        ON message.row = (SELECT max(row) FROM message WHERE placed = -subscription.row) \
        AND (delivery = 'queued' OR delivery = 'dead' AND tries > \(DeliveryPlan.delays.count)) \
        WHERE \(subscribed)
        """,
      arguments: key(subscription, webhook)
    )
    guard let row else {
      return NoticeStart(told: nil, waiting: nil, content: nil, after: nil, mayRepeat: false)
    }
    let content = try notice(row)
    return NoticeStart(
      told: try row.decode(forColumn: "told"),
      waiting: try row.decode(forColumn: "waiting"),
      content: content,
      after: try row.decode(forColumn: "after"),
      mayRepeat: try row.decode(forColumn: "mayHaveArrived") || content?.mayRepeat == true
    )
  }

  /// The content of the notice in a row; nil if there is none, or if it cannot be read.
  private static func notice(_ row: Row) throws -> Notice? {
    let content: Data? = try row.decode(forColumn: "content")
    return content.flatMap { try? JSONDecoder().decode(Notice.self, from: $0) }
  }

  /// The content of a notice's message.
  ///
  /// Nil if it cannot be read, because the file is damaged.
  static func notice(of message: MessageRow, _ db: Database) throws -> Notice? {
    try Row.fetchOne(
      db,
      sql: "SELECT content FROM notice WHERE message = ?",
      arguments: [message.rowID]
    ).flatMap(notice)
  }

  /// Queues the next notice of a subscription, and stores the number of the last sync that it contains.
  ///
  /// If an earlier notice was not delivered, the new notice replaces it. Then the new notice gets a new id, and the
  /// delays between its attempts start from the first one. When this returns, the notice survives a power cut.
  ///
  /// - Parameters:
  ///   - notice: The notice, or nil if there are no changes.
  ///   - subscription: The subscription.
  ///   - webhook: The webhook to send to.
  ///   - after: The number of a sync. The notice contains the changes after it.
  ///   - run: The number of the last sync whose changes the notice contains.
  ///   - start: The state of the subscription when the notice was made.
  ///   - now: The current time.
  /// - Returns: Whether the notice was stored. False means that another process has changed the subscription since
  ///   `start` was read.
  /// - Throws: ``LarderError`` if the outbox cannot be written.
  package func keep(
    _ notice: Notice?,
    for subscription: Subscription,
    at webhook: Webhook,
    behind after: Int64,
    through run: Int64,
    from start: NoticeStart,
    at now: OrderTime
  ) throws(LarderError) -> Bool {
    // Nothing is written if the queue has the same changes already.
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
        if let waiting = start.waiting, start.content?.mayRepeat != true {
          // All changes of the waiting notice were reverted. One that tells of reverted changes still holds.
          try withdraw("id = ?", [waiting], because: "outdated", db)
        }
        return true
      }
      if start.content?.says(notice) == true { return true }
      notice.mayRepeat = start.mayRepeat
      guard let content = try? notice.jsonLine() else { return true }
      // The id of a notice is `ntc_` and a ULID.
      let id: String = "ntc_" + OrderID(at: now).rawValue.dropFirst(OrderID.prefix.count)
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
          arguments: [id, now, waiting]
        )
        return true
      }
      let row = try Int64.fetchOne(
        db,
        sql: "SELECT row FROM subscription WHERE \(Self.subscribed)",
        arguments: Self.key(subscription, webhook)
      )
      // Earlier notices that may have arrived are not sent again any more, because a new notice follows them.
      let held = "placed = -? AND delivery = 'ambiguous'"
      try withdraw(held, [row], because: "may have arrived", db)
      try MessageRow(id: id, placed: -(row ?? 0), state: "notice", at: now).insert(db)
      try db.execute(
        sql: "INSERT INTO notice(message, after, content) VALUES (?,?,?)",
        arguments: [db.lastInsertedRowID, after, Data(content)]
      )
      return true
    }
  }

  /// Gives up the messages that satisfy an SQL condition, without sending them again with later changes.
  private func withdraw(
    _ condition: String,
    _ arguments: StatementArguments,
    because error: String,
    _ db: Database
  ) throws {
    try db.execute(
      sql:
        "UPDATE message SET delivery = 'dead', error = ?, tries = 0, next = NULL WHERE \(condition)",
      arguments: [error] + arguments
    )
  }
}
