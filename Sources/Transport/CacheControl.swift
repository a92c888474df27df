/// The directives of a `Cache-Control` field. (RFC 9111, section 5.2)
///
/// Names match in any case, arguments may be quoted or not, and junk behind a directive spoils its argument but
/// not its name. Of a repeated directive the strictest counts, so that contradictions never make anything fresher.
package struct CacheControl: Hashable, Sendable {
  /// Seconds that a response is fresh; the least one given.
  package private(set) var maxAge: Int64?
  /// Seconds after its freshness that a response may stand in for an error. (RFC 5861, section 4)
  package private(set) var staleIfError: Int64?
  /// Whether the server wants no copy kept; also with field names, taken without them.
  package private(set) var noStore = false
  /// Whether each use needs validation; also with field names, taken without them.
  package private(set) var noCache = false
  /// Whether a stale copy may never be used without validation.
  package private(set) var mustRevalidate = false
  /// Whether the body never changes while fresh. (RFC 8246)
  package private(set) var immutable = false
  /// Whether the response is for everybody, whatever asked for it.
  package private(set) var isPublic = false
  /// Whether only those may keep it who know what its status demands; `no-store` is for the others.
  package private(set) var mustUnderstand = false

  /// Reads all `Cache-Control` fields.
  package init(_ headers: Headers) {
    // Line by line: a quote that does not end takes no other line with it.
    headers.forEachValue("Cache-Control") { read($0) }
  }

  /// Reads one field value.
  package init(_ value: String) {
    read(value)
  }

  private mutating func read(_ value: String) {
    var scanner = ByteScanner(value)
    while !scanner.isAtEnd {
      scanner.skipBlanks()
      let name = scanner.take(while: \.isTokenCharacter)
      scanner.skipBlanks()
      var argument: ArraySlice<UInt8>?
      if scanner.skip(UInt8(ascii: "=")) {
        scanner.skipBlanks()
        argument = Self.argument(&scanner)
      }
      // What is left before the comma belongs to no directive.
      let junk = scanner.take { $0 != UInt8(ascii: ",") }
      _ = scanner.skip(UInt8(ascii: ","))
      apply(name, junk.allSatisfy(\.isBlank) ? argument : nil)
    }
  }

  /// A token or a quoted string, nil when that does not end. (RFC 9110, sections 5.6.2 and 5.6.4)
  private static func argument(_ scanner: inout ByteScanner) -> ArraySlice<UInt8>? {
    guard scanner.skip(UInt8(ascii: "\"")) else {
      return scanner.take(while: \.isTokenCharacter)
    }
    let start = scanner
    var text: [UInt8] = []
    while let byte = scanner.next() {
      if byte == UInt8(ascii: "\"") { return text[...] }
      if byte == UInt8(ascii: "\\"), let escaped = scanner.next() {
        text.append(escaped)
      } else {
        text.append(byte)
      }
    }
    // What stands behind such a quote counts, for it may be strict.
    scanner = start
    return nil
  }

  private mutating func apply(_ name: ArraySlice<UInt8>, _ argument: ArraySlice<UInt8>?) {
    if name.equalsIgnoringCase("max-age") {
      // A lifetime that cannot be read counts as over. (RFC 9111, section 4.2.1)
      maxAge = min(maxAge ?? .max, Self.seconds(argument) ?? 0)
    } else if name.equalsIgnoringCase("stale-if-error") {
      staleIfError = min(staleIfError ?? .max, Self.seconds(argument) ?? 0)
    } else if name.equalsIgnoringCase("no-store") {
      noStore = true
    } else if name.equalsIgnoringCase("no-cache") {
      noCache = true
    } else if name.equalsIgnoringCase("must-revalidate") {
      mustRevalidate = true
    } else if name.equalsIgnoringCase("immutable") {
      immutable = true
    } else if name.equalsIgnoringCase("public") {
      isPublic = true
    } else if name.equalsIgnoringCase("must-understand") {
      mustUnderstand = true
    }
  }

  /// Delta-seconds, saturating. (RFC 9111, section 1.2.2)
  private static func seconds(_ argument: ArraySlice<UInt8>?) -> Int64? {
    guard let argument, !argument.isEmpty, argument.allSatisfy(\.isDigit) else { return nil }
    return Int64(saturatingDigits: argument)
  }
}
