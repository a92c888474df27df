import Base
import FoundationEssentials
import GRDB

/// The kind of messages that a sender sends.
package enum MessageKind: Sendable {
  /// Messages about orders, which are sent to the sender's webhook.
  case orders
  /// Notices of changes; every notice belongs to one webhook.
  case notices

  /// The SQL condition that selects these messages in the table `message`.
  func condition(_ webhook: Webhook) -> String {
    switch self {
    case .orders: "placed > 0"
    case .notices:
      // No escaping is needed: the values are hexadecimal digits, and a raw value of an enumeration.
      """
      placed IN (SELECT -row FROM subscription \
      WHERE webhook = '\(webhook.digest)' AND payload = '\(webhook.payload.rawValue)')
      """
    }
  }
}

/// A webhook's subscription to changes of a catalog.
package struct Subscription: Hashable, Sendable {
  /// The path of the cache; each cache numbers its runs separately.
  package let cache: String
  /// The catalog's name.
  package let catalog: String
  /// The selected changes, as a text that is equal for equal selections.
  package let wish: String

  /// Makes a subscription to a catalog in a cache.
  package init(cache: String, catalog: String, wish: String) {
    (self.cache, self.catalog, self.wish) = (cache, catalog, wish)
  }
}

/// The starting point of a subscription's next notice.
package struct NoticeStart: Equatable, Sendable {
  /// The last run that was reported; nil before the first notice.
  package let told: Int64?
  /// The id of the unsent message that the next notice replaces; nil if there is none.
  let waiting: String?
  /// The content of that message.
  let content: Notice?
  /// The run after which the next notice's changes begin; nil before the first notice.
  package let after: Int64?
  /// Whether the unsent message may have arrived in an earlier attempt.
  let mayRepeat: Bool
}

extension Outbox {
  /// The starting point of the next notice: the end of the last notice, or the beginning of a notice that is still
  /// unsent.
  ///
  /// A message counts as unsent if it is queued, or was given up after the whole schedule. So a webhook that was
  /// unreachable for a week gets one message afterwards.
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

  /// The notice of a message; nil when it cannot be read from a damaged page.
  static func notice(of message: MessageRow, _ db: Database) throws -> Notice? {
    try Row.fetchOne(
      db,
      sql: "SELECT content FROM notice WHERE message = ?",
      arguments: [message.rowID]
    ).flatMap(notice)
  }

  /// Queues the next notice of a subscription, and records the last reported run.
  ///
  /// If there is an unsent notice, the new one replaces it, with a new id and from the start of the schedule. The
  /// notice is durable when this returns.
  ///
  /// - Parameters:
  ///   - notice: The notice; nil if there are no changes.
  ///   - subscription: The subscription.
  ///   - webhook: The webhook to send to.
  ///   - after: The run after which the changes begin.
  ///   - run: The last run whose changes are reported.
  ///   - start: The starting point that the notice was made from.
  ///   - now: The present moment.
  ///   - id: The id of the message.
  /// - Returns: Whether the notice was stored; false when another process has changed the subscription since `start`.
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
    // The queue already has the same changes, so it is up to date.
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
      guard let content = notice.json() else { return true }
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
      // An earlier notice that is still held as `ambiguous` is given up: the user had until now to resend it.
      try db.execute(
        sql: """
          UPDATE message SET delivery = 'dead', error = 'may have arrived', tries = 0, next = NULL \
          WHERE placed = -? AND delivery = 'ambiguous'
          """,
        arguments: [row]
      )
      try MessageRow(id: id.rawValue, placed: -(row ?? 0), state: "notice", at: now).insert(db)
      try db.execute(
        sql: "INSERT INTO notice(message, after, content) VALUES (?,?,?)",
        arguments: [db.lastInsertedRowID, after, Data(content)]
      )
      return true
    }
  }

  /// Withdraws an unsent message, because all its changes were reverted.
  private func withdraw(_ id: String, _ db: Database) throws {
    try db.execute(
      sql:
        "UPDATE message SET delivery = 'dead', error = 'outdated', tries = 0, next = NULL WHERE id = ?",
      arguments: [id]
    )
  }

  /// Adds a webhook's notices to a report: the counts, and the notices of this run that may have arrived.
  func sumNotices(_ report: inout SendReport, of webhook: Webhook) throws(LarderError) {
    let which = MessageKind.notices.condition(webhook)
    report.counts = try read { db in try Self.counts(of: "message WHERE \(which)", db) }
    report.held = report.troubles.filter { $0.delivery.state == .ambiguous }.map(\.order)
  }
}

extension OrderID {
  /// Makes the id of a notice: `ntc_` and a ULID.
  package init(noticeAt time: OrderTime, using random: inout some RandomNumberGenerator) {
    let id = OrderID(at: time, using: &random).rawValue
    self.init(rawValue: "ntc_" + id.dropFirst(Self.prefix.count))
  }
}
