import FoundationEssentials

/// A visitor's request to the store, parsed by the HTTP server.
package struct StorefrontExchange: Sendable {
  /// The method; a HEAD request is a GET whose body is not sent.
  package enum Method: Sendable, Equatable {
    /// Shows a page.
    case get
    /// Changes something.
    case post
  }

  /// The method.
  package var method: Method
  /// The path, percent-decoded, beginning with `/`.
  package var path: String
  /// The query's pairs in their order, percent-decoded.
  package var query: [(name: String, value: String)] = []
  /// The pairs of a posted `application/x-www-form-urlencoded` body in their order, decoded.
  package var form: [(name: String, value: String)] = []
  /// The cookies by name.
  package var cookies: [String: String] = [:]
  /// The header `Accept-Language`.
  package var languages: String?
  /// The header `Origin`.
  package var origin: String?
  /// The header `Host`, already checked by the server.
  package var host: String?
  /// The header `Sec-Fetch-Site`.
  package var fetchSite: String?
  /// The time of the request.
  package var now: Date

  /// Creates a request.
  package init(_ method: Method = .get, _ path: String, at now: Date) {
    (self.method, self.path, self.now) = (method, path, now)
  }

  /// The first value that the query has for a name.
  func asked(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The first value that the form has for a name.
  func posted(_ name: String) -> String? { form.first { $0.name == name }?.value }
}

/// The store's answer, except for the header fields that the HTTP server adds (length, date and security headers).
package struct StorefrontAnswer: Sendable {
  /// The status.
  package var status: Int
  /// The headers: content type, caching, cookies, redirect target and content security policy.
  package var headers: [(name: String, value: String)]
  /// The body.
  package var body: [UInt8]
  /// The cause of an internal failure, for the log; never shown to the visitor.
  package var cause: String?

  /// Creates an answer from its parts.
  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8] = []) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}
