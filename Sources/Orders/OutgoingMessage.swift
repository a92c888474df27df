import Base
import Catalog
import Transport

/// A message to a webhook: that an order reached a state, or a notice about changes of a catalog.
struct OutgoingMessage: Sendable {
  /// The content of a message.
  enum Content: Sendable {
    /// An order was placed, or reached another state at a time.
    case order(PlacedOrder, OrderState, changed: OrderTime)
    /// A notice.
    ///
    /// A message to Slack contains pictures only in the first attempt, because Slack refuses a whole message if it
    /// cannot fetch one of the pictures.
    case notice(Notice, showsPictures: Bool)
  }

  /// The id of the message, which is the same in all attempts.
  ///
  /// The fields `webhook-id` and `Idempotency-Key` contain it.
  let id: String
  /// The order or the notice.
  let content: Content

  /// The maximum length of the response's body.
  private static let replyLimit = ByteCount.mebibytes(1)

  /// The id of the message about a state of an order, for example `ord_…_ready`.
  ///
  /// The id of the message about the state `ordered` is the id of the order.
  static func name(_ order: OrderID, _ state: OrderState) -> String {
    state == .ordered ? order.rawValue : "\(order.rawValue)_\(state.rawValue)"
  }

  /// The id that reports contain.
  ///
  /// It is the id of the order or of the notice.
  var subject: OrderID {
    if case .order(let order, _, _) = content { order.id } else { OrderID(rawValue: id) }
  }

  /// The outcome to record for an attempt with the outcome `seen`.
  ///
  /// Usually it is `seen` itself. But a refusal becomes a failure if the next attempt sends the message without
  /// pictures.
  func outcome(_ seen: AttemptOutcome) -> AttemptOutcome {
    guard case .refused(let reason) = seen, case .notice(_, true) = content else { return seen }
    return .failed(AttemptOutcome.Failure(reason))
  }

  /// Makes the request for one attempt, with its header fields and signatures.
  ///
  /// - Parameters:
  ///   - webhook: The webhook to send to.
  ///   - now: The current time, which is a part of the signature.
  /// - Returns: The request, or nil if the message cannot be encoded as JSON.
  func request(to webhook: Webhook, at now: OrderTime) -> Request? {
    guard let body = try? body(for: webhook).jsonLine() else { return nil }
    var request = Request(webhook.url)
    request.method = .post
    request.trust = .named
    request.priority = .section
    request.bodyLimit = Self.replyLimit
    request.headers = ["Content-Type": "application/json", "Idempotency-Key": id]
    request.body = body
    guard webhook.payload == .json else { return request }
    request.headers.append("webhook-id", id)
    request.headers.append("webhook-timestamp", String(now.seconds))
    let signatures = webhook.secrets.map {
      $0.signature(id: id, timestamp: now.seconds, body: body)
    }
    if !signatures.isEmpty {
      request.headers.append("webhook-signature", signatures.joined(separator: " "))
    }
    return request
  }

  private func body(for webhook: Webhook) -> JSONMembers {
    switch (content, webhook.payload) {
    case (.order(let order, let state, _), .slack):
      SlackPayload.message(about: order, state)
    case (.order(let order, let state, let time), .json): order.event(state, at: time)
    case (.notice(let notice, let showsPictures), .slack):
      SlackPayload.message(about: notice, id: id, showsPictures: showsPictures)
    case (.notice(let notice, _), .json): notice.event
    }
  }
}

extension JSONMembers {
  /// Makes a message in the format of Standard Webhooks 1.0, with a type, a time and data. ("Webhook payload")
  static func event(
    _ type: String,
    at time: OrderTime,
    _ data: [String: any Encodable]
  ) -> JSONMembers {
    JSONMembers(["type": type, "timestamp": time.text, "data": JSONMembers(data)])
  }
}

extension PlacedOrder {
  /// The JSON of the message that the order reached a state at a time.
  ///
  /// It depends only on the order and its state, so that every attempt sends the same bytes.
  fileprivate func event(_ state: OrderState, at time: OrderTime) -> JSONMembers {
    let items = lines.map {
      JSONMembers(["id": $0.item, "title": $0.title, "quantity": $0.quantity, "price": $0.price])
    }
    var data: [String: any Encodable] = [
      "order": id.rawValue, "by": by, "state": state.rawValue, "total": total, "items": items,
      "placed": placed.text,
    ]
    if let note { data["note"] = note }
    return .event(state == .ordered ? "order.placed" : "order.\(state.rawValue)", at: time, data)
  }
}
