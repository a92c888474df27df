/// What the store answers: complete but for what whoever speaks HTTP adds (length, date, the
/// security headers that every answer has).
package struct StoreAnswer: Sendable {
  /// The status.
  package var status: Int
  /// The headers: content type and caching, cookies, where to go, the page's content security policy.
  package var headers: [(name: String, value: String)]
  /// The body.
  package var body: [UInt8]
  /// Why it is a failure of the store, for the log; the visitor is not told.
  package var cause: String?

  /// An answer from its parts.
  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8] = []) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}
