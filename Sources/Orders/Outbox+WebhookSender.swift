import Base
import GRDB

/// The next task of a sender.
enum NextMessage {
  /// Send this now; it is durable in the state `sending`.
  case attempt(any Outgoing, Delivery)
  /// Nothing before that moment.
  case wait(until: OrderTime)
  /// Nothing at all: the webhook was stopped for that reason.
  case stopped(String)
  /// Nothing is left to send.
  case idle
}

extension Outbox {
  /// Chooses the next message and marks it `sending`, in one transaction.
  ///
  /// The sender's lock is held. Messages go in the order of placing. One that waits for its time
  /// or is held lets those after it pass; only a later message about the same order waits for the
  /// earlier ones.
  ///
  /// - Parameters:
  ///   - webhook: where to.
  ///   - mail: which messages.
  ///   - plan: the plan for a message whose sender died.
  ///   - now: when.
  ///   - random: chance, in 0..<1.
  /// - Returns: The task.
  /// - Throws: ``LarderError``; nothing may be sent then.
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
        // A damaged page: the messages after it are sent regardless.
        try store(row.standing(.queued).settled(.dead, "unreadable"), row.id, db)
        return .wait(until: now)
      }
      try store(delivery, message.id, db)
      try AttemptRow(message: row.rowID, number: delivery.attempts, began: now).insert(db)
      try store(state.spaced(webhook.payload, at: now), of: webhook, db)
      return .attempt(message, delivery)
    }
  }

  /// Records the end of an attempt, while the sender's lock is still held.
  ///
  /// - Returns: How far the message is now.
  /// - Throws: ``LarderError``; the message stays `sending`, as if the sender had died.
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

  /// Lets a stopped webhook have messages again.
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

  /// Messages that wait for their time, and for no earlier one about the same order; a notice waits for none.
  ///
  /// Both conditions on `delivery` are needed: SQLite takes the small index only where it sees the
  /// index's own.
  private static func waiting(_ which: String) -> String {
    """
    message AS m WHERE delivery = 'queued' AND delivery NOT IN ('delivered', 'dead') AND \(which) \
    AND (placed < 0 OR NOT EXISTS (SELECT 1 FROM message WHERE placed = m.placed AND row < m.row \
    AND delivery NOT IN ('delivered', 'dead')))
    """
  }

  /// The first that is due.
  ///
  /// A message without an attempt since it was placed or replayed is due, regardless of the clock
  /// then: see ``DeliveryPlan/due(_:attempted:at:)``.
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

  /// Adjusts messages of other senders to the plan and the clock.
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

  /// Holds messages that were queued again although they may have arrived: they were queued under
  /// the other policy.
  ///
  /// Only the attempts of the present schedule count. A message that was queued again since, by
  /// `replay` or a run that resends, began a new schedule and is not held again. Attempts that
  /// ended as `stopped` or `unsent` take no place in a schedule.
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

  /// Reschedules messages whose next attempt was set by a clock that ran ahead.
  ///
  /// Their last attempt counts as ended now; if it ended in the future, the wait would start again at every call.
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

  /// Settles messages of dead senders, and queues held ones when the plan resends.
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
        // The user, or the default for programs, has decided: its schedule restarts.
        try store(delivery.revived(at: now), message.id, db)
      } else {
        let outcome = AttemptOutcome.unknown("interrupted")
        let next = plan.next(delivery, after: outcome, at: now, random: random)
        _ = try record(next, message.id, outcome, at: now, db)
      }
    }
  }

  /// Keeps the end of an attempt; a cancelled order's message is not queued again.
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
