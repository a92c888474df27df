/// The parts of a request target, as they were sent. (RFC 9112, section 3.2)
///
/// For `http://shop.example/a%20b?c=d`, the authority is `shop.example`, the path `/a%20b` and the query `c=d`.
package struct TargetParts: Sendable {
  /// The host and port before the path, which only the absolute form has, as sent to a proxy.
  package let authority: Substring?
  /// The path before any decoding; `/` if the absolute form has none.
  package let path: Substring
  /// The text after the question mark; nil if there is no question mark.
  package let query: Substring?

  /// Splits a target in origin form or absolute form; nil for any other text.
  package init?(_ text: String) {
    let slash = UInt8(ascii: "/")
    var rest = text[...]
    if rest.utf8.first == slash {
      authority = nil
    } else {
      guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) })
      else { return nil }
      rest = rest.dropFirst(scheme.count)
      let host = rest.utf8.prefix { $0 != slash && $0 != UInt8(ascii: "?") }
      authority = Substring(host)
      rest = rest[host.endIndex...]
      if rest.utf8.first != slash { rest = "/" + rest }
    }
    let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?"))
    path = rest[..<(mark ?? rest.endIndex)]
    query = mark.map { rest[rest.utf8.index(after: $0)...] }
  }
}
