/// What a courier is to do next.
enum Claim {
  /// Send this now; it is `sending` and durable as such.
  case attempt(OrderMessage, Delivery)
  /// Nothing before that moment.
  case wait(until: OrderTime)
  /// Nothing at all: the webhook was stopped for that reason.
  case stopped(String)
  /// Nothing is left to send.
  case idle
}
