import Base

/// The protocol of a response.
package enum HTTPVersion: String, Sendable {
  /// HTTP/1.0, which closes the connection after each response.
  case http10 = "HTTP/1.0"
  /// HTTP/1.1.
  case http11 = "HTTP/1.1"
  /// HTTP/2, which has many transfers on one connection.
  case http2 = "HTTP/2"
  /// HTTP/3.
  case http3 = "HTTP/3"
}

/// A redirect on the way to a response.
package struct Redirect: Sendable {
  /// The status code.
  package let status: Int
  /// The header fields.
  package fileprivate(set) var headers: Headers

  /// Makes a redirect.
  package init(status: Int, headers: Headers) {
    self.status = status
    self.headers = headers
  }
}

/// The part of a response before its body.
package struct ResponseHead: Sendable {
  /// The status code.
  package let status: Int
  /// The header fields of the final response; interim ones are dropped.
  package private(set) var headers: Headers
  /// The URL that the response came from, after all redirects.
  package private(set) var url: WebURL
  /// The protocol.
  package let version: HTTPVersion
  /// The length of the whole body, if the server states it and there is no content coding.
  package let contentLength: ByteCount?
  /// Whether the body has a content coding.
  ///
  /// Such a body is never resumed, because offsets in the decoded body mean nothing to the server.
  package let isEncoded: Bool
  /// The redirects that were followed to `url`, in order.
  package private(set) var redirects: [Redirect]

  /// Makes a head; for transports and tests.
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

  /// A copy of the head with another URL and rewritten fields, those of the redirects included.
  ///
  /// This is the only way to change a head, so that a decorator cannot lose its other parts.
  ///
  /// - Parameters:
  ///   - url: The URL that the response came from.
  ///   - change: Rewrites header fields.
  /// - Returns: The head.
  package func renamed(_ url: WebURL, fields change: (Headers) -> Headers) -> ResponseHead {
    var head = self
    head.url = url
    head.headers = change(headers)
    for hop in redirects.indices { head.redirects[hop].headers = change(redirects[hop].headers) }
    return head
  }
}

/// The timing of the last attempt, in seconds from its start.
package struct TransferTiming: Hashable, Sendable {
  /// When the host's name was resolved.
  package var nameResolved = 0.0
  /// When the connection was open.
  package var connected = 0.0
  /// When TLS was ready; 0 without TLS, or on a reused connection.
  package var secured = 0.0
  /// When the first byte of the response was received.
  package var firstByte = 0.0
  /// When the attempt ended.
  package var total = 0.0

  /// Makes a timing of zeros.
  package init() {}
}

/// A finished transfer: a 2xx whose body went to the sink, or a 304 without a body.
///
/// Only a transport makes a response. A decorator changes a copy of it by ``with(head:)`` or ``counting(attempts:)``.
/// It never builds a response from parts, because it might lose some of them.
package struct Response: Sendable {
  /// Status, headers and final URL.
  package private(set) var head: ResponseHead
  /// The number of decoded body bytes that the last attempt passed to the sink.
  package let bodyBytes: ByteCount
  /// The number of body bytes on the wire, before decoding.
  package let wireBytes: ByteCount
  /// The number of attempts, not counting redirects.
  package private(set) var attempts: Int
  /// How long the last attempt took.
  package let timing: TransferTiming
  /// Whether the last attempt reused an open connection.
  package let connectionReused: Bool
  /// Whether the connection was still open when the transfer ended.
  ///
  /// When a server violates HTTP/2, libcurl closes the connection and reports the end of the body. So if the
  /// connection is closed, the end of the stream does not prove that the body is complete.
  package let connectionIsOpen: Bool

  /// Makes a response; for transports and tests.
  package init(
    head: ResponseHead,
    bodyBytes: ByteCount,
    wireBytes: ByteCount,
    attempts: Int = 1,
    timing: TransferTiming = TransferTiming(),
    connectionReused: Bool = false,
    connectionIsOpen: Bool = true
  ) {
    self.head = head
    self.bodyBytes = bodyBytes
    self.wireBytes = wireBytes
    self.attempts = attempts
    self.timing = timing
    self.connectionReused = connectionReused
    self.connectionIsOpen = connectionIsOpen
  }

  /// The same response with another number of attempts.
  package func counting(attempts: Int) -> Response {
    var response = self
    response.attempts = attempts
    return response
  }

  /// The same response with its head renamed; see ``ResponseHead/renamed(_:fields:)``.
  package func with(head: ResponseHead) -> Response {
    var response = self
    response.head = head
    return response
  }

  /// Whether the server confirms that the caller's version is current.
  package var isNotModified: Bool { head.status == 304 }
}

/// Decides about one redirect. (RFC 9110, section 15.4)
package enum RedirectPolicy {
  /// The maximum number of redirects for one request.
  package static let limit = 10

  /// Whether a status is a redirect to another URL.
  package static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// Whether a redirect with this status turns a POST that is only a query into a GET: 303. (RFC 9110, section
  /// 15.4.4)
  ///
  /// After a 301 or 302, the body is sent again: without the body, the query would be a different one.
  package static func dropsBody(_ status: Int) -> Bool { status == 303 }

  /// Judges the redirect to `target` after `visited`, the URLs fetched so far, of which the last is the current one.
  ///
  /// - Parameters:
  ///   - target: The URL in `Location`.
  ///   - visited: At least one URL.
  /// - Returns: The reason not to follow; nil to follow.
  package static func refusal(of target: WebURL, after visited: [WebURL]) -> FailureReason? {
    if visited.last?.scheme == .https, target.scheme == .http { return .redirectDowngrade }
    if visited.contains(where: { $0.text == target.text }) { return .redirectLoop }
    if visited.count > limit { return .tooManyRedirects }
    return nil
  }
}
