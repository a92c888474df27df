import Base

/// Writes an order as `larder order list --json` prints it: every key is present, with null for a missing value.
extension Order: Encodable {
  /// Writes the order, its states, and its messages with all attempts.
  public func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "order": id.rawValue, "item": lines.first?.item, "title": lines.first?.title, "by": by,
      "quantity": order.quantity, "total": total, "state": state.rawValue,
      "delivery": delivery.state.rawValue, "attempts": delivery.attempts,
      "lastError": delivery.lastError, "nextAttempt": delivery.due?.text,
      "placed": order.placed.text, "note": note, "items": lines, "history": history,
      "messages": messages,
    ])
  }
}

extension Order.Change: Encodable {
  /// Writes the new state, and the time of the change.
  package func encode(to encoder: any Encoder) throws {
    try encoder.write(["state": state.rawValue, "time": time.text])
  }
}

extension Order.Message: Encodable {
  /// Writes the message with its delivery and every attempt.
  package func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "id": id, "state": state.rawValue, "delivery": delivery.state.rawValue,
      "lastError": delivery.lastError, "nextAttempt": delivery.due?.text, "attempts": attempts,
    ])
  }
}

extension Order.Attempt: Encodable {
  /// Writes the times and the outcome; an attempt that is under way has null for both end and outcome.
  package func encode(to encoder: any Encoder) throws {
    try encoder.write(["began": began.text, "ended": ended?.text, "outcome": outcome])
  }
}

/// Writes the result of a run as `larder order send --json` prints it.
extension SendReport: Encodable {
  /// Writes two counts of this run, two counts of the messages that are left, and the problems.
  public func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "delivered": delivered.count, "dead": dead.count,
      "queued": counts.waiting, "ambiguous": held.count,
      "stopped": stopped, "unreachable": unreachable, "held": held.map(\.rawValue),
      "troubles": troubles,
    ])
  }
}

extension SendReport.Trouble: Encodable {
  /// Writes the message's id, and the state of its delivery.
  package func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "order": order.rawValue, "delivery": delivery.state.rawValue,
      "lastError": delivery.lastError, "nextAttempt": delivery.due?.text,
    ])
  }
}
