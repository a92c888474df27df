import Base
import CCurl
import Glibc
import Transport

/// Parses URLs with the parser of libcurl, so that libcurl connects to the same host that larder has checked.
package struct CurlURLParser: URLParsing {
  /// The maximum length of a URL in bytes.
  ///
  /// Servers accept only much shorter URLs.
  private static let lengthLimit = 32 << 10

  /// Makes a parser.
  package init() {}

  /// Parses a URL.
  ///
  /// See ``URLParsing``.
  ///
  /// - Parameters:
  ///   - text: An absolute or relative URL.
  ///   - base: The URL that a relative URL refers to.
  /// - Returns: The URL as it is sent in a request.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` or `scheme-refused`.
  package func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    let reference = URLReference(text)
    func failure(_ reason: FailureReason, _ detail: String) -> TransferFailure {
      TransferFailure(reason: reason, url: reference.redacted, detail: detail)
    }
    guard !reference.text.isEmpty else { throw failure(.urlInvalid, "the URL is empty") }
    guard reference.text.utf8.count <= Self.lengthLimit else {
      throw failure(.urlInvalid, "the URL is too long")
    }
    if let scheme = reference.scheme, scheme != "http", scheme != "https" {
      throw failure(.schemeRefused, "only http:// and https:// are fetched")
    }
    guard base != nil || reference.scheme != nil else {
      throw failure(.urlInvalid, "it is relative, and there is no base of http or https")
    }
    if reference.text.utf8.first == UInt8(ascii: "#"), let base { return base }
    guard !reference.hasAmbiguousAuthority else {
      throw failure(.urlInvalid, "the host is missing or has an invalid character")
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
    // A relative URL without a host has the same user information as `base`. libcurl cannot know it, because
    // `base.text` does not contain it. (RFC 3986, section 5.2.2)
    let inherited = reference.hasAuthority ? nil : base?.userInfo
    return try Self.assemble(handle, inheriting: inherited, or: failure)
  }

  private static func assemble(
    _ handle: borrowing URLHandle,
    inheriting inherited: String?,
    or failure: (FailureReason, String) -> TransferFailure
  ) throws(TransferFailure) -> WebURL {
    guard handle.part(CURLUPART_ZONEID) == nil else {
      throw failure(.urlInvalid, "an address with a zone is not supported")
    }
    guard let scheme = handle.part(CURLUPART_SCHEME).flatMap(WebURL.Scheme.init),
      let host = host(handle), !host.isEmpty
    else { throw failure(.urlInvalid, "the host name is invalid") }
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

  /// The host in lower case.
  ///
  /// International names are in punycode, and IPv6 addresses have no brackets.
  private static func host(_ handle: borrowing URLHandle) -> String? {
    guard let plain = handle.part(CURLUPART_HOST) else { return nil }
    if plain.utf8.first == UInt8(ascii: "[") {
      return String(plain.dropFirst().dropLast()).lowercased()
    }
    if plain.utf8.allSatisfy({ $0 < 0x80 }) { return plain.lowercased() }
    // libidn2 uses the character set of the thread's locale. With LC_ALL=C, this would not be UTF-8.
    guard let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else { return nil }
    let former = uselocale(utf8)
    defer {
      uselocale(former)
      freelocale(utf8)
    }
    return handle.part(CURLUPART_HOST, flags: CURLU_PUNYCODE)?.lowercased()
  }
}

/// The text of an absolute or relative URL, prepared for libcurl's parser.
///
/// In the path and the query, characters that are not allowed in a URL are percent-encoded. These are spaces, quotes,
/// `<`, `>`, `{`, `}`, `|`, `^`, backquotes, and all characters outside ASCII. A backslash in the path becomes a slash.
/// Text that is already percent-encoded is not changed.
struct URLReference {
  /// The prepared text, without surrounding white space.
  let text: String
  /// The scheme in lower case.
  ///
  /// Nil if the URL is relative.
  let scheme: String?
  /// The part with the host, for example `user@shop.example:443`.
  ///
  /// It is empty if the URL has no host.
  private let authority: Substring
  /// The number of slashes before the host.
  private let slashes: Int

  init(_ original: String) {
    var utf8 = original[...].utf8
    while let byte = utf8.first, byte <= 0x20 { utf8.removeFirst() }
    while let byte = utf8.last, byte <= 0x20 { utf8.removeLast() }
    let trimmed = Substring(utf8)
    scheme = Self.scheme(of: trimmed)
    let afterScheme = trimmed.utf8.dropFirst(scheme.map { $0.utf8.count + 1 } ?? 0)
    slashes = afterScheme.prefix { $0 == UInt8(ascii: "/") }.count
    guard scheme != nil || slashes >= 2 else {
      authority = ""
      text = Self.encode(trimmed)
      return
    }
    let named = afterScheme.dropFirst(slashes)
    let end = named.firstIndex { "/?#".utf8.contains($0) } ?? named.endIndex
    authority = trimmed[named.startIndex..<end]
    text = String(trimmed[..<end]) + Self.encode(trimmed[end...])
  }

  /// Whether other programs might find another host in the URL.
  ///
  /// For example, some take a backslash for a slash, and some stop at NUL. After three slashes the host is empty, as in
  /// `https://$HOST/hook` without a value of HOST, but libcurl and browsers take the next word for it. (RFC 3986,
  /// section 3.2)
  var hasAmbiguousAuthority: Bool {
    slashes > 2
      || authority.utf8.contains { $0 == UInt8(ascii: "\\") || $0 <= 0x20 || $0 == 0x7F }
  }

  /// Whether the URL contains a host.
  var hasAuthority: Bool { scheme != nil || text.hasPrefix("//") }

  /// The text for error messages, without user information and query, and with at most 200 characters.
  var redacted: String {
    var shown = text
    if let at = authority.lastIndex(of: "@"), let range = text.firstRange(of: authority[...at]) {
      shown.removeSubrange(range)
    }
    return String(shown.prefix { $0 != "?" && $0 != "#" && $0 != "," }.prefix(200))
  }

  /// The text before the first colon in lower case, if it is a valid scheme. (RFC 3986, section 3.1)
  private static func scheme(of text: Substring) -> String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = text[..<colon]
    guard name.utf8.first?.isLetter == true,
      name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) })
    else { return nil }
    return name.lowercased()
  }

  /// Percent-encodes characters that are not allowed in a URL, and replaces a backslash in the path with a slash, as
  /// browsers do. (RFC 3986, section 2; WHATWG URL, path state)
  ///
  /// Variables such as `${NAME}` are not changed. They are replaced with their values when a request is sent.
  private static func encode(_ text: Substring) -> String {
    guard text.utf8.contains(where: mustChange) else { return String(text) }
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    var isPath = true
    var place = 0
    while place < source.count {
      let byte = source[place]
      if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isPath = false }
      if byte == UInt8(ascii: "\\"), isPath {
        bytes.append(UInt8(ascii: "/"))
      } else if let end = variableEnd(in: source, at: place) {
        bytes += source[place..<end]
        place = end
        continue
      } else if mustChange(byte) {
        bytes += PercentEncoding.escape(of: byte)
      } else {
        bytes.append(byte)
      }
      place += 1
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func mustChange(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte >= 0x7F || "\"<>\\^`{|}".utf8.contains(byte)
  }

  /// The end of a variable such as `${NAME}` that starts at `start`, or nil if no variable starts there.
  private static func variableEnd(in text: [UInt8], at start: Int) -> Int? {
    guard text[start...].starts(with: "${".utf8),
      let end = text[start...].firstIndex(of: UInt8(ascii: "}")), end > start + 2,
      text[(start + 2)..<end].allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") })
    else { return nil }
    return end + 1
  }
}

/// A libcurl URL handle, which parses a URL.
///
/// It is freed when the value is destroyed.
struct URLHandle: ~Copyable {
  private let raw: OpaquePointer

  init?() {
    guard let raw = larder_url_init() else { return nil }
    self.raw = raw
  }

  deinit { larder_url_cleanup(raw) }

  /// Parses a URL.
  ///
  /// If the handle already has a URL, `text` can be relative to that URL.
  func set(_ text: String) -> CURLUcode {
    // Without `withCString`, Swift would copy the text.
    text.withCString { larder_url_set(raw, CURLUPART_URL, $0) }
  }

  /// A part of the URL, percent-encoded as in the URL.
  ///
  /// Nil if the URL has no such part.
  func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard larder_url_get(raw, part, UInt32(flags), &text) == CURLUE_OK, let text else {
      return nil
    }
    defer { larder_curl_free(text) }
    return String(cString: text)
  }
}
