import Base

/// The HTTP version of a response.
package enum HTTPVersion: String, Sendable {
  /// HTTP/1.0.
  ///
  /// The server closes the connection after each response.
  case http10 = "HTTP/1.0"
  /// HTTP/1.1.
  case http11 = "HTTP/1.1"
  /// HTTP/2.
  ///
  /// One connection carries several transfers at the same time.
  case http2 = "HTTP/2"
}

/// A redirect that was followed before the final response.
package struct Redirect: Sendable {
  /// The status code, for example 302.
  package let status: Int
  /// The header fields.
  package fileprivate(set) var headers: Headers

  /// Makes a redirect.
  package init(status: Int, headers: Headers) {
    self.status = status
    self.headers = headers
  }
}

/// The status and the header fields of a response, and where the response came from.
package struct ResponseHead: Sendable {
  /// The status code.
  package let status: Int
  /// The header fields of the final response.
  ///
  /// The fields of interim responses are not included.
  package private(set) var headers: Headers
  /// The URL of the final request, after all redirects.
  package private(set) var url: WebURL
  /// The HTTP version.
  package let version: HTTPVersion
  /// The length of the body as the server announced it.
  ///
  /// Nil if the server announced no length, or if the body has a content coding such as gzip.
  package let contentLength: ByteCount?
  /// Whether the body has a content coding such as gzip.
  ///
  /// The transfer of such a body is never resumed, because larder knows only the offset in the decoded body.
  package let isEncoded: Bool
  /// The redirects that were followed, in order.
  package private(set) var redirects: [Redirect]

  /// Makes a head.
  ///
  /// Only transports and tests call this.
  package init(
    status: Int,
    headers: Headers,
    url: WebURL,
    version: HTTPVersion = .http11,
    contentLength: ByteCount? = nil,
    isEncoded: Bool = false,
    redirects: [Redirect] = []
  ) {
    self.status = status
    self.headers = headers
    self.url = url
    self.version = version
    self.contentLength = contentLength
    self.isEncoded = isEncoded
    self.redirects = redirects
  }

  /// A copy of the head with another URL and with changed header fields.
  ///
  /// The header fields of the redirects are changed too. A transport that wraps another one calls this function instead
  /// of making a new head, because a new head could lack some properties of the old one.
  ///
  /// - Parameters:
  ///   - url: The new URL.
  ///   - change: Returns the changed header fields.
  /// - Returns: The copy.
  package func renamed(_ url: WebURL, fields change: (Headers) -> Headers) -> ResponseHead {
    var head = self
    head.url = url
    head.headers = change(headers)
    for hop in redirects.indices { head.redirects[hop].headers = change(redirects[hop].headers) }
    return head
  }
}

/// The result of a successful transfer.
///
/// The status is from 200 to 299 and the body went to the sink, or the status is 304 and there is no body.
///
/// A transport that wraps another one changes a response with ``with(head:)`` or ``counting(attempts:)``. It must not
/// make a new response, because that could lack some properties of the old one.
package struct Response: Sendable {
  /// The status, the header fields and the final URL.
  package private(set) var head: ResponseHead
  /// The number of decoded body bytes that the last attempt passed to the sink.
  package let bodyBytes: ByteCount
  /// The number of body bytes that the server sent in the last attempt, before decoding.
  package let wireBytes: ByteCount
  /// The number of attempts.
  ///
  /// A redirect does not start a new attempt.
  package private(set) var attempts: Int
  /// The number of seconds from the start of the last attempt to the first byte of the response.
  package let firstByte: Double
  /// The number of seconds from the start of the last attempt to its end.
  package let total: Double
  /// Whether the last attempt used a connection that was open before.
  package let connectionReused: Bool
  /// Whether the connection was still open when the transfer ended.
  ///
  /// If a server violates HTTP/2, libcurl closes the connection and reports the end of the body. So if the connection
  /// is closed, the body may be incomplete.
  package let connectionIsOpen: Bool

  /// Makes a response.
  ///
  /// Only transports and tests call this.
  package init(
    head: ResponseHead,
    bodyBytes: ByteCount,
    wireBytes: ByteCount,
    attempts: Int = 1,
    firstByte: Double = 0,
    total: Double = 0,
    connectionReused: Bool = false,
    connectionIsOpen: Bool = true
  ) {
    self.head = head
    self.bodyBytes = bodyBytes
    self.wireBytes = wireBytes
    self.attempts = attempts
    self.firstByte = firstByte
    self.total = total
    self.connectionReused = connectionReused
    self.connectionIsOpen = connectionIsOpen
  }

  /// A copy with another number of attempts.
  package func counting(attempts: Int) -> Response {
    var response = self
    response.attempts = attempts
    return response
  }

  /// A copy with a head that ``ResponseHead/renamed(_:fields:)`` returned.
  package func with(head: ResponseHead) -> Response {
    var response = self
    response.head = head
    return response
  }

  /// Whether the server confirmed that the cached version is current.
  package var isNotModified: Bool { head.status == 304 }
}

/// The rules for redirects. (RFC 9110, section 15.4)
package enum RedirectPolicy {
  /// The maximum number of redirects for one request.
  package static let limit = 10

  /// Whether a response with this status redirects to the URL in its `Location` field.
  package static func isRedirect(_ status: Int) -> Bool {
    [301, 302, 303, 307, 308].contains(status)
  }

  /// Whether a redirect with this status turns a POST into a GET. (RFC 9110, section 15.4.4)
  ///
  /// Only 303 does. After 301 and 302 the body is sent again, because without its body the query would be a different
  /// one.
  package static func dropsBody(_ status: Int) -> Bool { status == 303 }

  /// The reason for which a redirect is not followed; nil if it is followed.
  ///
  /// - Parameters:
  ///   - target: The URL in the `Location` field.
  ///   - visited: The URLs of the requests so far, in order. The last one is the URL that redirects to `target`.
  /// - Returns: The reason, or nil.
  package static func refusal(of target: WebURL, after visited: [WebURL]) -> FailureReason? {
    if visited.last?.scheme == .https, target.scheme == .http { return .redirectDowngrade }
    if visited.contains(where: { $0.text == target.text }) { return .redirectLoop }
    if visited.count > limit { return .tooManyRedirects }
    return nil
  }
}
