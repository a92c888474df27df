/// Requests to one host that will most likely follow soon.
package struct ExpectedRequests: Sendable {
  /// One like them; its path does not matter.
  package let request: Request
  /// How many there will be, as far as that is known.
  package let count: Int

  /// Notes what is expected.
  package init(_ request: Request, count: Int) {
    self.request = request
    self.count = count
  }

  /// How many of them may be under way on connections of their own.
  ///
  /// Over TLS one connection tells whether it carries the others too, and each waits for that.
  package var connections: Int { request.url.scheme == .https ? min(1, count) : count }
}
