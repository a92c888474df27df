/// Writes an order as `larder order list --json` prints it: every key is present, with null for a missing value.
extension Order: Encodable {
  private enum CodingKeys: String, CodingKey {
    case order, item, title, by, quantity, total, delivery, state, attempts, lastError
    case nextAttempt, placed, note, items, history
  }

  /// Writes everything except the messages; ``OrderWithMessages`` writes those too.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(id.rawValue, forKey: .order)
    try body.encode(lines.first?.item, forKey: .item)
    try body.encode(lines.first?.title, forKey: .title)
    try body.encode(by, forKey: .by)
    try body.encode(order.quantity, forKey: .quantity)
    try body.encode(total, forKey: .total)
    try body.encode(delivery.state.rawValue, forKey: .delivery)
    try body.encode(state.rawValue, forKey: .state)
    try body.encode(delivery.attempts, forKey: .attempts)
    try body.encode(delivery.lastError, forKey: .lastError)
    try body.encode(delivery.due?.text, forKey: .nextAttempt)
    try body.encode(order.placed.text, forKey: .placed)
    try body.encode(note, forKey: .note)
    try body.encode(lines, forKey: .items)
    try body.encode(history, forKey: .history)
  }
}

extension Order.Change: Encodable {
  private enum CodingKeys: String, CodingKey { case state, time }

  /// Writes the new state, and the time of the change.
  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(state.rawValue, forKey: .state)
    try body.encode(time.text, forKey: .time)
  }
}

/// An order as `larder order show --json` prints it: the object of `larder order list --json`, with the key `messages`
/// added.
package struct OrderWithMessages: Encodable {
  private let order: Order

  private enum CodingKeys: String, CodingKey { case messages }

  /// Makes the document of an order.
  package init(_ order: Order) {
    self.order = order
  }

  /// Writes the order, then its messages into the same object.
  package func encode(to encoder: any Encoder) throws {
    try order.encode(to: encoder)
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(order.messages, forKey: .messages)
  }
}

extension Order.Message: Encodable {
  private enum CodingKeys: String, CodingKey {
    case id, state, delivery, lastError, nextAttempt, attempts
  }

  /// Writes the message with its delivery and every attempt.
  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(id, forKey: .id)
    try body.encode(state.rawValue, forKey: .state)
    try body.encode(delivery.state.rawValue, forKey: .delivery)
    try body.encode(delivery.lastError, forKey: .lastError)
    try body.encode(delivery.due?.text, forKey: .nextAttempt)
    try body.encode(attempts, forKey: .attempts)
  }
}

extension Order.Attempt: Encodable {
  private enum CodingKeys: String, CodingKey { case began, ended, outcome }

  /// Writes the times and the outcome; an attempt that is under way has null for both end and outcome.
  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(began.text, forKey: .began)
    try body.encode(ended?.text, forKey: .ended)
    try body.encode(outcome, forKey: .outcome)
  }
}

/// Writes the result of a run as `larder order send --json` prints it.
extension SendReport: Encodable {
  private enum CodingKeys: String, CodingKey {
    case delivered, dead, queued, ambiguous, stopped, unreachable, held, troubles
  }

  /// Writes two counts of this run, two counts of the messages that are left, and the problems.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(delivered.count, forKey: .delivered)
    try body.encode(dead.count, forKey: .dead)
    try body.encode(counts[.queued] + counts[.sending], forKey: .queued)
    try body.encode(held.count, forKey: .ambiguous)
    try body.encode(stopped, forKey: .stopped)
    try body.encode(unreachable, forKey: .unreachable)
    try body.encode(held.map(\.rawValue), forKey: .held)
    try body.encode(troubles, forKey: .troubles)
  }
}

extension SendReport.Trouble: Encodable {
  private enum CodingKeys: String, CodingKey { case order, delivery, lastError, nextAttempt }

  /// Writes the message's id, and the state of its delivery.
  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(order.rawValue, forKey: .order)
    try body.encode(delivery.state.rawValue, forKey: .delivery)
    try body.encode(delivery.lastError, forKey: .lastError)
    try body.encode(delivery.due?.text, forKey: .nextAttempt)
  }
}
