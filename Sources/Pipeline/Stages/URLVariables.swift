import Catalog
import Transport

/// The environment's part of a catalog's URLs, which may be secret.
///
/// In every URL that a run handles, stores or shows, `${NAME}` stands in path and query in place of
/// the value, whatever the host; only ``VeilingTransport`` puts the value in, when a request leaves. A response,
/// and each URL that a body names, is veiled before anybody sees it. Fetched data cannot write a variable itself, see
/// ``defused(_:)``: a value goes back only to where the catalog file or the value itself stood. A host name is left
/// alone, because DNS and TLS show it anyway.
struct URLVariables: Hashable, Sendable {
  /// The values by name; none is empty.
  let values: [String: String]

  /// No variables.
  static let none = URLVariables(values: [:])

  /// Whether there is nothing to veil.
  var isEmpty: Bool { values.isEmpty }

  /// A URL with the values in, as it will be sent.
  func revealed(_ url: WebURL, _ parser: any URLParsing) throws(TransferFailure) -> WebURL {
    let text = revealed(url.text)
    guard text != url.text else { return url }
    return try parser.parse(text, relativeTo: nil).with(userInfo: url.userInfo)
  }

  /// The text of a URL with the values in.
  func revealed(_ text: String) -> String {
    guard text.contains("${") else { return text }
    let (path, query) = Self.parts(of: text)
    return filled(path, keeping: "/") + (query.map { "?" + filled($0, keeping: "") } ?? "")
  }

  private func filled(_ text: String, keeping kept: String) -> String {
    values.reduce(text) { text, variable in
      let value = PercentEncoding.escaped(variable.value, keeping: kept)
      return text.replacing("${\(variable.key)}", with: value)
    }
  }

  /// A URL with the values out of its path and query.
  func veiled(_ url: WebURL) -> WebURL {
    let target = String(Substring(url.text.utf8.dropFirst(url.pathStart)))
    let veiled = veiled(target)
    guard veiled != target else { return url }
    let (path, query) = Self.parts(of: veiled)
    return WebURL(
      scheme: url.scheme,
      userInfo: url.userInfo,
      host: url.host,
      port: url.port,
      path: path.hasPrefix("/") ? path : "/" + path,
      query: query
    )
  }

  /// A text with the values out, however they are escaped in it.
  func veiled(_ text: String) -> String {
    String(decoding: veiled(Array(text.utf8)), as: UTF8.self)
  }

  /// Bytes with the values out, however they are escaped in them.
  func veiled(_ text: [UInt8]) -> [UInt8] {
    var bytes = text
    // The longest first: one value may be part of another.
    let ordered = values.sorted { ($0.value.utf8.count, $1.key) > ($1.value.utf8.count, $0.key) }
    for (name, value) in ordered where value.utf8.count >= SecretVeil.shortestSecret {
      bytes = SecretVeil.replacing(Array(value.utf8), in: bytes, with: Array("${\(name)}".utf8))
    }
    return bytes
  }

  /// Header fields with the values out, and with nothing in them that can pass for a variable.
  ///
  /// A date stays as it is: a year is no secret, and a cache has to read it.
  func veiled(_ headers: Headers) -> Headers {
    var veiled: [UInt8] = []
    headers.lines.withUnsafeBufferPointer { bytes in
      for line in HeaderLines(bytes) {
        let text = String(decoding: bytes[line.whole], as: UTF8.self)
        let isDate =
          Self.dates.contains { line.isNamed($0) }
          && UnixTime(httpDate: String(decoding: bytes[line.value], as: UTF8.self), now: 0) != nil
        if isDate {
          veiled += bytes[line.whole]
        } else {
          let isPlain = !text.contains("${")
          veiled += self.veiled(
            isPlain ? Array(bytes[line.whole]) : Array(Self.defused(text).utf8)
          )
        }
        if veiled.last != 10 { veiled.append(10) }
      }
    }
    return Headers(lines: veiled)
  }

  private static let dates: [StaticString] = ["Date", "Expires", "Last-Modified"]

  /// A cursor as the index keeps it: with the values out, and told apart from a cursor that holds `${` itself.
  func kept(cursor: String) -> String {
    isEmpty ? cursor : veiled(cursor.replacing("${", with: "${$}{"))
  }

  /// The cursor that ``kept(cursor:)`` made this text of.
  func cursor(kept: String) -> String {
    values.reduce(kept) { $0.replacing("${\($1.key)}", with: $1.value) }
      .replacing("${$}{", with: "${")
  }

  /// A text that fetched data wrote, in which nothing can pass for a variable.
  static func defused(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    return text.replacing("${", with: "$%7B")
  }

  private static func parts(of text: String) -> (path: String, query: String?) {
    guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
    return (String(text[..<mark]), String(text[text.index(after: mark)...]))
  }
}
