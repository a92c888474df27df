import GRDB

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
  /// - Throws: ``OrdersError`` of code `state` when the move is refused, saying why.
  package func move(_ id: String, to state: OrderState?, posting: Bool, at now: OrderTime)
    throws(OrdersError) -> OrderEntry
  {
    try write { db in
      let row = try Self.row(of: id, db)
      guard let entry = try Self.entries(db, where: "row = ?", [row]).first else {
        throw OrdersError(.unknown, "cannot find order \(id)", remedy: .list, thing: id)
      }
      let target = state ?? entry.state.next ?? .preparing
      if let reason = entry.state.refusal(of: target) {
        let verb = target == .cancelled ? "cancel" : "advance"
        throw OrdersError(
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
  private func withdraw(_ entry: OrderEntry, _ row: PlacedRow.ID, _ db: Database) throws -> Bool {
    var mayBeKnown = false
    for message in entry.messages {
      switch message.delivery.state {
      case .queued, .ambiguous:
        let wasHeld = message.delivery.state == .ambiguous
        mayBeKnown = mayBeKnown || wasHeld || message.attempts.contains(where: \.mayHaveArrived)
        let error = wasHeld ? "cancelled, may have arrived" : "cancelled"
        try store(message.delivery.settled(.dead, error), message.id, db)
      // The courier that sends it now settles it.
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
  /// - Throws: ``OrdersError`` of code `state` when a named order has nothing to replay; nothing is
  ///   changed then.
  package func replay(_ ids: [String]?, at now: OrderTime) throws(OrdersError) -> [OrderID] {
    try write { db in
      try chosen(ids, db).compactMap { entry in
        guard entry.state != .cancelled || entry.messages.last?.state == .cancelled else {
          guard ids != nil else { return nil }
          throw OrdersError(
            .state,
            "cannot replay \(entry.order.id): it was cancelled; place it anew"
          )
        }
        let revived = entry.messages.filter { message in
          (message.delivery.state == .dead || (ids != nil && message.delivery.state == .ambiguous))
            && (entry.state != .cancelled || message.state == .cancelled)
        }
        guard !revived.isEmpty else {
          guard ids != nil else { return nil }
          throw OrdersError(
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

  /// Writes down that held messages did arrive, as somebody saw at the receiver.
  ///
  /// - Parameter ids: orders, by id or the beginning of it.
  /// - Returns: Their ids.
  /// - Throws: ``OrdersError`` of code `state` when one has no held message; nothing is changed then.
  package func confirm(arrived ids: [String]) throws(OrdersError) -> [OrderID] {
    try write { db in
      try chosen(ids, db).map { entry in
        let held = entry.messages.filter { $0.delivery.state == .ambiguous }
        guard !held.isEmpty else {
          throw OrdersError(
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

  private func chosen(_ ids: [String]?, _ db: Database) throws -> [OrderEntry] {
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
        "error": delivery.lastError, "next": delivery.nextAttempt, "id": id,
      ]
    )
  }
}
