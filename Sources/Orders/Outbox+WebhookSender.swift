import Base
import GRDB

/// The next task of a sender.
enum NextMessage {
  /// Send this message now; its state `sending` is durable.
  case attempt(any Outgoing, Delivery)
  /// Send nothing before this moment.
  case wait(until: OrderTime)
  /// The webhook was stopped for this reason.
  case stopped(String)
  /// Nothing is left to send.
  case idle
}

extension Outbox {
  /// Chooses the next message and marks it `sending`, in one transaction.
  ///
  /// The caller holds the ``WebhookLock``. Messages are sent in the sequence in which they were queued. A message that
  /// waits or is held delays only later messages about the same order.
  ///
  /// - Parameters:
  ///   - webhook: The webhook to send to.
  ///   - mail: The kind of messages to send.
  ///   - plan: The plan for messages whose sender died.
  ///   - now: The present moment.
  ///   - random: A random number in 0..<1.
  /// - Returns: The task.
  /// - Throws: ``LarderError`` when the outbox cannot be written; in that case the caller must send nothing.
  func claim(
    _ webhook: Webhook,
    _ mail: MessageKind,
    _ plan: DeliveryPlan,
    at now: OrderTime,
    random: Double
  ) throws(LarderError) -> NextMessage {
    let which = mail.condition(webhook)
    return try write { db in
      try recover(which, plan, at: now, random, db)
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
        // The row is damaged: skip this message, and send the messages after it.
        try store(row.standing(.queued).settled(.dead, "unreadable"), row.id, db)
        return .wait(until: now)
      }
      try store(delivery, message.id, db)
      try AttemptRow(message: row.rowID, number: delivery.attempts, began: now).insert(db)
      try store(state.spaced(webhook.payload, at: now), of: webhook, db)
      return .attempt(message, delivery)
    }
  }

  /// Records the outcome of an attempt; the caller still holds the ``WebhookLock``.
  ///
  /// - Returns: The new state of the message.
  /// - Throws: ``LarderError`` when the outbox cannot be written; the message stays `sending`, as if the sender had
  ///   died.
  func record(
    _ outcome: AttemptOutcome,
    _ message: any Outgoing,
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

  /// Allows messages to a stopped webhook again.
  package func resume(_ webhook: Webhook) throws(LarderError) {
    try write { db in
      try db.execute(
        sql: "UPDATE webhook SET stopped = NULL, stopped_at = NULL WHERE digest = ?",
        arguments: [webhook.digest]
      )
    }
  }

  /// The stored state of a webhook.
  package func state(of webhook: Webhook) throws(LarderError) -> WebhookState {
    try read { db in try state(of: webhook, db) }
  }

  /// The SQL for queued messages that need not wait for an earlier message about the same order; a notice waits for no
  /// other message.
  ///
  /// Both conditions on `delivery` are needed: SQLite only uses the partial index if the query has the index's own
  /// condition.
  private static func waiting(_ which: String) -> String {
    """
    message AS m WHERE delivery = 'queued' AND delivery NOT IN ('delivered', 'dead') AND \(which) \
    AND (placed < 0 OR NOT EXISTS (SELECT 1 FROM message WHERE placed = m.placed AND row < m.row \
    AND delivery NOT IN ('delivered', 'dead')))
    """
  }

  /// The first message that is due.
  ///
  /// A message without an attempt since it was queued or replayed is always due; see
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

  /// Adjusts messages of earlier senders to this sender's plan and clock.
  private func recover(
    _ which: String,
    _ plan: DeliveryPlan,
    at now: OrderTime,
    _ random: Double,
    _ db: Database
  ) throws {
    try revive(which, plan, at: now, random, db)
    if plan.policy == .hold { try hold(which, db) }
    try reschedule(which, at: now, db)
  }

  /// Holds messages that may have arrived, although another sender queued them again under the policy `resend`.
  ///
  /// Only attempts of the present schedule count: a replay, or a run that resends, begins a new schedule. Attempts that
  /// ended as `stopped` or `unsent` do not count for the schedule.
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

  /// Reschedules messages whose next attempt was computed with a clock that was fast.
  ///
  /// If the last attempt of such a message ended in the future, its end is set to now. Without this, the wait would
  /// start again with every call.
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

  /// Records the outcome of messages whose sender died, and queues held messages again if the policy is `resend`.
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
        // The policy `resend` was chosen, so the schedule begins again.
        try store(delivery.revived(at: now), message.id, db)
      } else {
        let outcome = AttemptOutcome.unknown("interrupted")
        let next = plan.next(delivery, after: outcome, at: now, random: random)
        _ = try record(next, message.id, outcome, at: now, db)
      }
    }
  }

  /// Records the outcome of an attempt; a cancelled order's message is not queued again.
  private func record(
    _ delivery: Delivery,
    _ id: String,
    _ outcome: AttemptOutcome,
    at now: OrderTime,
    _ db: Database
  ) throws -> Delivery {
    var delivery = delivery
    let isWithdrawn =
      try Bool.fetchOne(
        db,
        sql: """
          SELECT placed.state = 'cancelled' AND message.state <> 'cancelled' FROM message \
          JOIN placed ON placed.row = message.placed WHERE message.id = ?
          """,
        arguments: [id]
      ) ?? false
    if isWithdrawn, delivery.state == .queued { delivery = delivery.settled(.dead, "cancelled") }
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

  private func message(
    _ row: MessageRow,
    _ delivery: Delivery,
    _ mail: MessageKind,
    _ db: Database
  ) throws -> (any Outgoing)? {
    if mail == .notices {
      return try Self.notice(of: row, db).map {
        NoticeMessage(id: row.id, notice: $0, showsPictures: delivery.tries == 1)
      }
    }
    guard let entry = try Self.entries(db, where: "row = ?", [row.placed]).first else {
      return nil
    }
    return OrderMessage(
      id: row.id,
      order: entry.order,
      state: row.orderState,
      changed: row.changed
    )
  }

  private func state(of webhook: Webhook, _ db: Database) throws -> WebhookState {
    try WebhookRow.fetchOne(
      db,
      sql: "SELECT * FROM webhook WHERE digest = ?",
      arguments: [webhook.digest]
    )?.state ?? WebhookState()
  }

  private func store(_ state: WebhookState, of webhook: Webhook, _ db: Database) throws {
    try WebhookRow(state, of: webhook).insert(db)
  }
}
