import NIOCore

/// How much a client may have of the server, and for how long.
package struct ServerLimits: Sendable {
  /// Connections at once; the one that has waited longest without asking gives way to a new one.
  package var connections = 4096
  /// Requests a second from one address beyond loopback; nil for any number.
  package var perClient: Double? = 200
  /// The same for every address, loopback too.
  package var perAnyClient: Double?
  /// How long a request may take to arrive.
  package var requestTime = Duration.seconds(15)
  /// How long a connection may stay without a request.
  package var idleTime = Duration.seconds(60)
  /// How long a client may take none of an answer.
  package var answerTime = Duration.seconds(30)
  /// How long open answers have once the server is to stop.
  package var stopTime = Duration.seconds(10)
  /// The longest body of a POST, in bytes.
  package var body = 64 << 10
  /// All fields of a request's head, in bytes.
  package var head = 32 << 10

  /// The ordinary limits.
  package init() {}
}
