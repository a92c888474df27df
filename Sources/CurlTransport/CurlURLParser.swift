import CCurl
import Glibc
import Transport

/// Parses URLs by libcurl's own parser; see `URLParsing`.
package struct CurlURLParser: URLParsing {
  /// Longer URLs are refused; servers refuse them far earlier.
  private static let lengthLimit = 32 << 10

  /// Makes a parser.
  package init() {}

  /// Parses a URL; see `URLParsing`.
  package func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try Self.parse(text, relativeTo: base)
  }

  /// Parses a URL without a parser at hand.
  ///
  /// - Parameters:
  ///   - text: An absolute or relative URL.
  ///   - base: What relative text is relative to.
  /// - Returns: The URL as it will be sent.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` or `scheme-refused`.
  package static func parse(
    _ text: String,
    relativeTo base: WebURL? = nil
  ) throws(TransferFailure) -> WebURL {
    let reference = URLReference(text)
    func failure(_ reason: FailureReason, _ detail: String) -> TransferFailure {
      TransferFailure(reason: reason, url: reference.redacted, detail: detail)
    }
    guard !reference.text.isEmpty else { throw failure(.urlInvalid, "the URL is empty") }
    guard reference.text.utf8.count <= lengthLimit else {
      throw failure(.urlInvalid, "the URL is too long")
    }
    if let scheme = reference.scheme, scheme != "http", scheme != "https" {
      throw failure(.schemeRefused, "only http:// and https:// are fetched")
    }
    guard base != nil || reference.scheme != nil else {
      throw failure(.urlInvalid, "it is relative, and there is no base URL")
    }
    if reference.text.utf8.first == UInt8(ascii: "#"), let base { return base }
    guard !reference.hasAmbiguousAuthority else {
      throw failure(.urlInvalid, "the host holds a character that no host has")
    }
    guard let handle = URLHandle() else {
      throw CurlTransport.absence.map { failure(.libraryRefused, $0) } ?? failure(.outOfMemory, "")
    }
    if let base, handle.set(base.text) != CURLUE_OK {
      throw failure(.urlInvalid, "the base URL cannot be parsed")
    }
    let code = handle.set(reference.text)
    guard code == CURLUE_OK else {
      throw failure(.urlInvalid, String(cString: larder_url_strerror(code)))
    }
    // A base's user information belongs to its authority, which a path alone inherits; libcurl never
    // sees it. (RFC 3986, section 5.2.2)
    let inherited = reference.hasAuthority ? nil : base?.userInfo
    return try assemble(handle, inheriting: inherited, or: failure)
  }

  private static func assemble(
    _ handle: borrowing URLHandle,
    inheriting inherited: String?,
    or failure: (FailureReason, String) -> TransferFailure
  ) throws(TransferFailure) -> WebURL {
    guard let scheme = handle.part(CURLUPART_SCHEME).flatMap(WebURL.Scheme.init) else {
      throw failure(.schemeRefused, "only http:// and https:// are fetched")
    }
    guard handle.part(CURLUPART_ZONEID) == nil else {
      throw failure(.urlInvalid, "an address with a zone is not supported")
    }
    guard let host = host(handle), !host.isEmpty else {
      throw failure(.urlInvalid, "the host name is invalid")
    }
    let port = handle.part(CURLUPART_PORT).flatMap { Int($0) }
    guard port.map({ (1...65535).contains($0) }) ?? true else {
      throw failure(.urlInvalid, "the port is invalid")
    }
    let user = handle.part(CURLUPART_USER)
    let password = handle.part(CURLUPART_PASSWORD)
    var userInfo = inherited
    if user != nil || password != nil { userInfo = (user ?? "") + ":" + (password ?? "") }
    return WebURL(
      scheme: scheme,
      userInfo: userInfo,
      host: host,
      port: port,
      path: handle.part(CURLUPART_PATH) ?? "/",
      query: handle.part(CURLUPART_QUERY)
    )
  }

  /// The host in lower case and punycode, without brackets.
  private static func host(_ handle: borrowing URLHandle) -> String? {
    guard let plain = handle.part(CURLUPART_HOST) else { return nil }
    if plain.utf8.first == UInt8(ascii: "[") {
      return String(plain.dropFirst().dropLast()).lowercased()
    }
    if plain.utf8.allSatisfy({ $0 < 0x80 }) { return plain.lowercased() }
    // libidn2 reads the name in the thread's character set, which is not UTF-8 under LC_ALL=C.
    guard let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else { return nil }
    let former = uselocale(utf8)
    defer {
      uselocale(former)
      freelocale(utf8)
    }
    return handle.part(CURLUPART_HOST, flags: CURLU_PUNYCODE)?.lowercased()
  }
}
