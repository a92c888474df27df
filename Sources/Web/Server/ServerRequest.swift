import Base
import HTTPServing
import NIOHTTP1

/// A request that passed the checks of ``Site``, with its body.
struct ServerRequest: Sendable {
  /// The methods that are accepted.
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
  }

  let method: Method
  let target: RequestTarget
  let headers: HTTPHeaders
  /// The body of a POST.
  var body: [UInt8] = []

  /// The value of a header field; several fields of one name are joined into a list. (RFC 9110, section 5.3)
  func list(_ name: String) -> String? {
    let values = headers[name]
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Whether a page of another site sent this POST, according to the browser.
  ///
  /// Browsers set `Sec-Fetch-Site` and `Origin`, and a page cannot forge them. A program that sends neither is accepted.
  /// (W3C, Fetch Metadata)
  var isForeign: Bool {
    guard method == .post else { return false }
    if let site = list("Sec-Fetch-Site"), site != "same-origin" { return true }
    guard let origin = list("Origin") else { return false }
    guard let host = target.authority ?? headers.first(name: "Host") else { return true }
    return origin != "http://\(host)" && origin != "https://\(host)"
  }
}

/// The target of a request: its path and query, decoded once. (RFC 9112, section 3.2)
///
/// Paths are looked up as keys and never resolved in a file system, so `..` has no special meaning.
struct RequestTarget: Sendable {
  /// The path, decoded, beginning with a slash.
  let path: String
  /// The segments of the path, each decoded after the split, so that `%2F` does not separate segments.
  let segments: [String]
  /// The pairs of the query, decoded like those of a form.
  let query: [(name: String, value: String)]
  /// The authority before the path in an absolute-form target, as sent to a proxy.
  let authority: String?

  /// The longest target that is accepted, in bytes.
  static let limit = 8192

  /// Parses a target; nil if it is malformed.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), let parts = TargetParts(text) else {
      return nil
    }
    authority = parts.authority.map(String.init)
    var segments: [String] = []
    for part in parts.path.utf8.dropFirst().split(
      separator: UInt8(ascii: "/"),
      omittingEmptySubsequences: false
    ) {
      guard let segment = Self.decoded(part, plusIsSpace: false) else { return nil }
      segments.append(segment)
    }
    self.segments = segments
    path = "/" + segments.joined(separator: "/")
    guard let pairs = Self.pairs((parts.query ?? "").utf8) else { return nil }
    query = pairs
  }

  /// The value of the first pair of this name.
  func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// Reads `application/x-www-form-urlencoded` pairs; nil when an escape is malformed, or the decoded text is invalid.
  static func pairs(_ bytes: some Collection<UInt8>) -> [(name: String, value: String)]? {
    var pairs: [(name: String, value: String)] = []
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
      guard let name = decoded(part[..<end], plusIsSpace: true),
        let value = decoded(part[end...].dropFirst(), plusIsSpace: true)
      else { return nil }
      pairs.append((name, value))
    }
    return pairs
  }

  /// Decodes percent-encoding; nil for a broken escape, invalid UTF-8 or a NUL.
  ///
  /// Other control characters are allowed, because the id of an item can have them.
  private static func decoded(
    _ bytes: some Collection<UInt8>,
    plusIsSpace: Bool
  ) -> String? {
    guard let plain = PercentEncoding.validated(bytes, plusIsSpace: plusIsSpace),
      !plain.contains(0)
    else { return nil }
    return String(validating: plain, as: UTF8.self)
  }
}
