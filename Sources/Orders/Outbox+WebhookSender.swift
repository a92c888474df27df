import Base
import GRDB

/// The next step of a ``WebhookSender``.
enum NextMessage {
  /// Send this message now.
  ///
  /// Its state `sending` is stored, and survives a power cut.
  case attempt(OutgoingMessage, Delivery)
  /// Send nothing before the given time.
  case wait(until: OrderTime)
  /// Send nothing, because the webhook no longer accepts messages.
  ///
  /// The value is the reason.
  case stopped(String)
  /// Send nothing, because no message is queued.
  case idle
}

extension Outbox {
  /// Chooses the next message, and changes its state to `sending`, in one transaction.
  ///
  /// The caller must have the ``WebhookLock``. Messages are sent in the order in which they were queued. If a message
  /// waits for its next attempt, or is in the state `ambiguous`, only later messages about the same order wait for it.
  ///
  /// - Parameters:
  ///   - webhook: The webhook to send to.
  ///   - mail: The kind of the messages to send.
  ///   - plan: The plan for messages whose attempt was interrupted by a crash.
  ///   - now: The current time.
  ///   - random: A random number from 0 up to but not including 1.
  /// - Returns: The next step.
  /// - Throws: ``LarderError`` if the outbox cannot be written. Then the caller must not send a message.
  func claim(
    _ webhook: Webhook,
    _ mail: MessageKind,
    _ plan: DeliveryPlan,
    at now: OrderTime,
    random: Double
  ) throws(LarderError) -> NextMessage {
    let which = mail.condition(webhook)
    return try write { db in
      // Messages may be as an earlier process left them: before it crashed, with another policy, or with a wrong clock.
      try revive(which, plan, at: now, random, db)
      if plan.policy == .hold { try hold(which, db) }
      try reschedule(which, at: now, db)
      let remembered = try self.state(of: webhook, db)
      let state = remembered.trusted(at: now)
      if state != remembered { try store(state, of: webhook, db) }
      if let reason = state.stopped { return .stopped(reason) }
      guard let row = try Self.firstDue(which, at: now, db) else {
        guard let due = try Self.nextDue(which, db) else { return .idle }
        return .wait(until: max(due, state.earliest(at: now) ?? due))
      }
      if let moment = state.earliest(at: now) { return .wait(until: moment) }
      let delivery = row.standing(.queued).claimed
      guard let message = try self.message(row, delivery, mail, db) else {
        // This row is damaged. The message is given up, so that the messages after it can be sent.
        try store(row.standing(.queued).settled(.dead, "unreadable"), row.id, db)
        return .wait(until: now)
      }
      try store(delivery, message.id, db)
      try AttemptRow(message: row.rowID, number: delivery.attempts, began: now).insert(db)
      try store(state.spaced(webhook.payload, at: now), of: webhook, db)
      return .attempt(message, delivery)
    }
  }

  /// Stores the outcome of an attempt.
  ///
  /// The caller must still have the ``WebhookLock``.
  ///
  /// - Returns: The new delivery of the message.
  /// - Throws: ``LarderError`` if the outbox cannot be written. Then the message stays in the state `sending`, as after
  ///   a crash.
  func record(
    _ outcome: AttemptOutcome,
    _ message: OutgoingMessage,
    _ delivery: Delivery,
    _ webhook: Webhook,
    _ plan: DeliveryPlan,
    at now: OrderTime,
    random: Double
  ) throws(LarderError) -> Delivery {
    try write { db in
      let next = plan.next(delivery, after: outcome, at: now, random: random)
      let kept = try record(next, message.id, outcome, at: now, db)
      let state = try self.state(of: webhook, db)
      try store(state.after(outcome, at: now), of: webhook, db)
      return kept
    }
  }

  /// The counts of the messages of a kind, and those of them that may have arrived and wait for the user's decision.
  ///
  /// An order with several such messages occurs once.
  func sums(_ mail: MessageKind, _ webhook: Webhook) throws(LarderError)
    -> (counts: DeliveryCounts, held: [OrderID])
  {
    let which = mail.condition(webhook)
    return try read { db in
      let held = try String.fetchAll(
        db,
        sql: """
          SELECT DISTINCT ifnull(placed.id, message.id) \
          FROM message LEFT JOIN placed ON placed.row = message.placed \
          WHERE delivery = 'ambiguous' AND \(which) ORDER BY message.row
          """
      )
      return (try Self.counts(which, db), held.map(OrderID.init(rawValue:)))
    }
  }

  /// Allows messages to a webhook again, after the webhook had stopped accepting messages.
  package func resume(_ webhook: Webhook) throws(LarderError) {
    try write { db in
      try db.execute(
        sql: "UPDATE webhook SET stopped = NULL WHERE digest = ?",
        arguments: [webhook.digest]
      )
    }
  }

  /// The SQL that selects the queued messages, except those that wait for an earlier message about the same order.
  ///
  /// A notice never waits for another message. The second condition for `delivery` is the condition of the index
  /// `message_waiting`. Without it, SQLite would not use the index.
  private static func waiting(_ which: String) -> String {
    """
    message WHERE delivery = 'queued' AND delivery NOT IN ('delivered', 'dead') AND \(which) \
    AND (placed < 0 OR NOT EXISTS (SELECT 1 FROM message AS earlier \
    WHERE earlier.placed = message.placed AND earlier.row < message.row \
    AND earlier.delivery NOT IN ('delivered', 'dead')))
    """
  }

  /// The first message that can be sent now.
  ///
  /// If there was no attempt since a message was queued, the message can always be sent. See
  /// ``DeliveryPlan/due(_:attempted:at:)``.
  private static func firstDue(_ which: String, at now: OrderTime, _ db: Database) throws
    -> MessageRow?
  {
    try MessageRow.fetchOne(
      db,
      sql: "SELECT * FROM \(waiting(which)) AND (next <= ? OR tries = 0) ORDER BY row LIMIT 1",
      arguments: [now]
    )
  }

  private static func nextDue(_ which: String, _ db: Database) throws -> OrderTime? {
    try OrderTime.fetchOne(db, sql: "SELECT min(next) FROM \(waiting(which))")
  }

  /// Changes messages to the state `ambiguous` if they may have arrived, but were queued again with the policy
  /// `resend`.
  ///
  /// Attempts before the user queued the message again do not count. The column `tries` has the number of attempts
  /// since then, without attempts whose outcome was `stopped` or `unsent`.
  private func hold(_ which: String, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE message SET delivery = 'ambiguous', next = NULL \
        WHERE delivery = 'queued' AND tries > 0 AND \(which) AND EXISTS (SELECT 1 FROM attempt AS a \
        WHERE a.message = message.row AND a.outcome LIKE 'unknown %' \
        AND (SELECT count(*) FROM attempt AS b WHERE b.message = a.message \
        AND b.number >= a.number AND b.outcome NOT LIKE 'stopped %' AND b.outcome <> 'unsent') \
        <= message.tries)
        """
    )
  }

  /// Corrects the times of messages that were stored when the clock was fast.
  ///
  /// If the last attempt of such a message ended in the future, its end is set to now. Otherwise the delay would start
  /// again with each call, and would never end.
  private func reschedule(_ which: String, at now: OrderTime, _ db: Database) throws {
    let messages = try MessageRow.fetchAll(
      db,
      sql:
        "SELECT * FROM message WHERE delivery = 'queued' AND tries > 0 AND next > ? AND \(which)",
      arguments: [now]
    )
    for message in messages {
      var delivery = message.standing(.queued)
      var last = try AttemptRow.fetchOne(
        db,
        sql: "SELECT * FROM attempt WHERE message = ? AND number = ?",
        arguments: [message.row, message.attempts]
      )
      let attempted = last?.ended ?? last?.began
      let due = DeliveryPlan.due(delivery, attempted: attempted, at: now)
      guard due != delivery.due else { continue }
      delivery.due = due
      try store(delivery, message.id, db)
      if let ended = last?.ended, ended > now {
        last?.ended = now
        try last?.update(db, columns: ["ended"])
      }
    }
  }

  /// Stores the outcome of attempts that were interrupted by a crash.
  ///
  /// With the policy `resend`, also queues messages in the state `ambiguous` again.
  private func revive(
    _ which: String,
    _ plan: DeliveryPlan,
    at now: OrderTime,
    _ random: Double,
    _ db: Database
  ) throws {
    let left = plan.policy == .resend ? "'sending', 'ambiguous'" : "'sending'"
    let messages = try MessageRow.fetchAll(
      db,
      sql: """
        SELECT * FROM message WHERE delivery IN (\(left)) \
        AND delivery NOT IN ('delivered', 'dead') AND \(which) ORDER BY row
        """
    )
    for message in messages {
      let delivery = message.standing(.sending)
      if delivery.state == .ambiguous {
        // The user has chosen the policy `resend`, so the delays between attempts start again from the first one.
        let isWithdrawn = try Self.isWithdrawn(message.id, db)
        try store(isWithdrawn ? delivery.withdrawn : delivery.revived(at: now), message.id, db)
      } else {
        let outcome = AttemptOutcome.unknown("interrupted")
        let next = plan.next(delivery, after: outcome, at: now, random: random)
        _ = try record(next, message.id, outcome, at: now, db)
      }
    }
  }

  /// Stores the outcome of an attempt.
  ///
  /// The message of a cancelled order is not sent again.
  private func record(
    _ delivery: Delivery,
    _ id: String,
    _ outcome: AttemptOutcome,
    at now: OrderTime,
    _ db: Database
  ) throws -> Delivery {
    let delivery = try Self.isWithdrawn(id, db) ? delivery.withdrawn : delivery
    try store(delivery, id, db)
    try db.execute(
      sql: """
        UPDATE attempt SET ended = :now, outcome = :outcome WHERE number = :number \
        AND message = (SELECT row FROM message WHERE id = :id)
        """,
      arguments: ["now": now, "outcome": outcome.words, "number": delivery.attempts, "id": id]
    )
    return delivery
  }

  /// Whether a message is about a cancelled order, and not about its cancellation.
  private static func isWithdrawn(_ id: String, _ db: Database) throws -> Bool {
    try Bool.fetchOne(
      db,
      sql: """
        SELECT placed.state = 'cancelled' AND message.state <> 'cancelled' FROM message \
        JOIN placed ON placed.row = message.placed WHERE message.id = ?
        """,
      arguments: [id]
    ) ?? false
  }

  private func message(
    _ row: MessageRow,
    _ delivery: Delivery,
    _ mail: MessageKind,
    _ db: Database
  ) throws -> (OutgoingMessage)? {
    if mail == .notices {
      return try Self.notice(of: row, db).map {
        OutgoingMessage(id: row.id, content: .notice($0, showsPictures: delivery.tries == 1))
      }
    }
    guard let entry = try Self.entries(db, where: "row = ?", [row.placed]).first else {
      return nil
    }
    return OutgoingMessage(
      id: row.id,
      content: .order(entry.order, row.orderState, changed: row.changed)
    )
  }

  private func state(of webhook: Webhook, _ db: Database) throws -> WebhookState {
    try WebhookState.fetchOne(
      db,
      sql: "SELECT * FROM webhook WHERE digest = ?",
      arguments: [webhook.digest]
    ) ?? WebhookState()
  }

  private func store(_ state: WebhookState, of webhook: Webhook, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO webhook(digest, host, stopped, paused_until, paused_at, next_slot) \
        VALUES (?,?,?,?,?,?)
        """,
      arguments: [
        webhook.digest, webhook.host, state.stopped, state.pausedUntil, state.pausedAt,
        state.nextSlot,
      ]
    )
  }
}
