/// The directives of a `Cache-Control` field. (RFC 9111, section 5.2)
///
/// Junk between commas is skipped, names match in any case, arguments may be quoted or not. Of a repeated
/// directive the strictest counts, so that contradictions never make anything fresher.
public struct CacheControl: Hashable, Sendable {
  /// Seconds that a response is fresh; the least one given.
  public private(set) var maxAge: Int64?
  /// Seconds after its freshness that a response may stand in for an error. (RFC 5861, section 4)
  public private(set) var staleIfError: Int64?
  /// Whether the server wants no copy kept; also with field names, taken without them.
  public private(set) var noStore = false
  /// Whether each use needs the server's word; also with field names, taken without them.
  public private(set) var noCache = false
  /// Whether a stale copy may never be used without the server's word.
  public private(set) var mustRevalidate = false
  /// Whether the body never changes while fresh. (RFC 8246)
  public private(set) var immutable = false

  /// Reads all `Cache-Control` fields.
  public init(_ headers: Headers) {
    self.init(headers.combined("Cache-Control") ?? "")
  }

  /// Reads one field value.
  public init(_ value: String) {
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
      if junk.allSatisfy(\.isBlank) { apply(name, argument) }
    }
  }

  /// A token or a quoted string. (RFC 9110, sections 5.6.2 and 5.6.4)
  private static func argument(_ scanner: inout ByteScanner) -> ArraySlice<UInt8> {
    guard scanner.skip(UInt8(ascii: "\"")) else {
      return scanner.take(while: \.isTokenCharacter)
    }
    var text: [UInt8] = []
    while let byte = scanner.next(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\"), let escaped = scanner.next() {
        text.append(escaped)
      } else {
        text.append(byte)
      }
    }
    return text[...]
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
    }
  }

  /// Delta-seconds, saturating. (RFC 9111, section 1.2.2)
  private static func seconds(_ argument: ArraySlice<UInt8>?) -> Int64? {
    guard let argument, !argument.isEmpty, argument.allSatisfy(\.isDigit) else { return nil }
    return Int64(saturatingDigits: argument)
  }
}
