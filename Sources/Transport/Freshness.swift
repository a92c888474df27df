import Base

/// The action for a resource that may be in the cache, at a moment.
///
/// Pictures, details and sections are all decided by it, in runs and in plans.
package enum Freshness: Hashable, Sendable {
  /// No request until that moment: use the cached version.
  case fresh(until: UnixTime)
  /// A conditional request.
  case revalidate(Condition)
  /// Fetch it again: there are no validators, or the cached version was selected by other request fields.
  case refetch
  /// Nothing is held, and the origin has none: send no request until that moment.
  case rest(until: UnixTime)

  /// Whether no request is due.
  package var isQuiet: Bool {
    switch self {
    case .fresh, .rest: true
    case .revalidate, .refetch: false
    }
  }
}

/// How a private cache judges freshness. (RFC 9111, section 4.2)
package enum FreshnessPolicy {
  /// The longest freshness, so that a clock or a server that is years off cannot freeze a cache.
  package static let longestLifetime: Int64 = 365 * 86_400
  /// The longest heuristic freshness.
  package static let longestGuess: Int64 = 86_400
  /// The largest step back of the clock after which a response stored "in the future" is still believed.
  package static let clockTolerance: Int64 = 300

  /// The moments at which a response is fresh.
  ///
  /// They begin a little before the response, because a clock may be set back, and end with its expiry. A database that
  /// keeps both moments finds due rows without reading a header.
  package static func window(answered: UnixTime, expiry: UnixTime) -> Range<UnixTime> {
    let start = answered + -clockTolerance
    // A response that was stale on arrival does not become fresh if the clock is set back.
    return start..<(expiry > answered ? expiry : start)
  }
}

extension StoredResponse {
  /// The action for the response at a moment, for a request with these traits.
  ///
  /// - Parameters:
  ///   - expiry: The end of its freshness, if that was stored beside it; nil to compute it from its headers.
  ///   - now: The wall clock.
  ///   - traits: The fields that the request sends; nil when that does not matter.
  /// - Returns: The action.
  package func freshness(
    until expiry: UnixTime? = nil,
    at now: UnixTime,
    for traits: CacheKeyFields? = nil
  ) -> Freshness {
    guard answers(traits) else { return .refetch }
    let end = expiry ?? self.expiry
    if FreshnessPolicy.window(answered: responseTime, expiry: end).contains(now) {
      return .fresh(until: end)
    }
    return condition.map(Freshness.revalidate) ?? .refetch
  }

  /// When it is fresh; see ``FreshnessPolicy/window(answered:expiry:)``.
  package var freshWindow: Range<UnixTime> {
    FreshnessPolicy.window(answered: responseTime, expiry: expiry)
  }

  /// The first moment at which it, or a redirect that led to it, is no longer fresh; `responseTime` or earlier when
  /// it never is.
  package var expiry: UnixTime {
    min(ownExpiry, path?.expiry ?? .distantFuture)
  }

  private var ownExpiry: UnixTime {
    let control = CacheControl(headers)
    // `Vary: *`: something besides the request selected it. (RFC 9111, section 4.1)
    if Vary(headers).isAnything { return .distantPast }
    let understood = Self.isUnderstood(status)
    if control.noCache || control.mustUnderstand && !understood { return .distantPast }
    // larder keeps `no-store` responses on disk, because a local copy is its purpose, but requests them each
    // time.
    if control.noStore && !control.mustUnderstand { return .distantPast }
    let left = lifetime(control).subtractingClamped(initialAge)
    return left > 0 ? responseTime + left : min(responseTime, responseTime + left)
  }

  /// Whether the response may stand in for an error at that moment. (RFC 9111, section 4.2.4; RFC 5861, section 4)
  package func mayStandIn(at now: UnixTime) -> Bool {
    if freshWindow.contains(now) { return true }
    let control = CacheControl(headers)
    if control.mustRevalidate || control.noCache { return false }
    guard let grace = control.staleIfError else { return true }
    return now < expiry + grace
  }

  /// Whether the response itself allows its use instead of an error at that moment.
  ///
  /// Only its own `stale-if-error` counts, and only when nothing demands validation before each use. (RFC 5861,
  /// section 4)
  package func excusesError(at now: UnixTime, for traits: CacheKeyFields? = nil) -> Bool {
    let control = CacheControl(headers)
    guard control.staleIfError != nil, !control.noStore, answers(traits) else { return false }
    return now >= freshWindow.lowerBound && mayStandIn(at: now)
  }

  /// Its age when it was received. (RFC 9111, section 4.2.3)
  var initialAge: Int64 {
    let apparent = max(0, responseTime - (date ?? responseTime))
    let told = headers["Age"].flatMap(Self.seconds) ?? 0
    let corrected = told.addingClamped(responseTime - requestTime)
    return max(0, max(apparent, corrected))
  }

  /// Its freshness lifetime. (RFC 9111, sections 4.2.1 and 4.2.2)
  private func lifetime(_ control: CacheControl) -> Int64 {
    let limit = FreshnessPolicy.longestLifetime
    if let maxAge = control.maxAge { return min(maxAge, limit) }
    let expires = headers.all("Expires")
    if let first = expires.first {
      // An invalid date, "0" above all, is one in the past (section 5.3), and so are dates that differ (4.2.1).
      guard let moment = UnixTime(httpDate: first, now: responseTime),
        expires.allSatisfy({ $0 == first })
      else { return 0 }
      return min(max(0, moment - (date ?? responseTime)), limit)
    }
    // `public` and the like show that the server considered caching, so they count for any status. (Section
    // 4.2.2)
    guard Self.isHeuristicallyCacheable(status) || control.isPublic,
      let modified = headers["Last-Modified"].flatMap({ UnixTime(httpDate: $0, now: responseTime) }
      )
    else { return 0 }
    let unchanged = max(0, (date ?? responseTime) - modified)
    return min(unchanged / 10, FreshnessPolicy.longestGuess)
  }

  private var date: UnixTime? {
    headers["Date"].flatMap { UnixTime(httpDate: $0, now: responseTime) }
  }

  /// A non-negative number of seconds; of a list only the first member counts, and one that is not a number is ignored.
  /// (RFC 9111, section 5.1)
  private static func seconds(_ value: String) -> Int64? {
    let member = value.utf8.prefix { $0 != UInt8(ascii: ",") }
    var scanner = ByteScanner(Substring(member))
    scanner.skipBlanks()
    let seconds = scanner.number()
    scanner.skipBlanks()
    return scanner.isAtEnd ? seconds : nil
  }

  /// RFC 9110, section 15.1.
  private static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }

  /// Whether larder understands the status, as `must-understand` demands. (RFC 9111, section 5.2.2.3)
  private static func isUnderstood(_ status: Int) -> Bool {
    [200, 203, 204, 301, 302, 303, 304, 307, 308, 404, 410].contains(status)
  }
}

/// The directives of a `Cache-Control` field. (RFC 9111, section 5.2)
///
/// Names match in any case, arguments may be quoted or not, and junk after a directive spoils its argument but
/// not its name. Of a repeated directive the strictest counts, so that contradictions never make anything fresher.
package struct CacheControl: Hashable, Sendable {
  /// Seconds that a response is fresh; the smallest value given.
  package private(set) var maxAge: Int64?
  /// Seconds after its freshness that a response may stand in for an error. (RFC 5861, section 4)
  package private(set) var staleIfError: Int64?
  /// Whether the server wants no copy to be kept; field names, as in `no-store="X"`, are ignored.
  package private(set) var noStore = false
  /// Whether each use needs validation; field names, as in `no-cache="X"`, are ignored.
  package private(set) var noCache = false
  /// Whether a stale copy may never be used without validation.
  package private(set) var mustRevalidate = false
  /// Whether the body never changes while fresh. (RFC 8246)
  package private(set) var immutable = false
  /// Whether the response is public, regardless of the requester.
  package private(set) var isPublic = false
  /// Whether only caches that understand the status may keep it; `no-store` is for the others.
  package private(set) var mustUnderstand = false

  /// Reads all `Cache-Control` fields.
  package init(_ headers: Headers) {
    // Line by line, so that an unclosed quote does not affect other lines.
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
      // The text left before the comma belongs to no directive.
      let junk = scanner.take { $0 != UInt8(ascii: ",") }
      _ = scanner.skip(UInt8(ascii: ","))
      apply(name, junk.allSatisfy(\.isBlank) ? argument : nil)
    }
  }

  /// A token or a quoted string; nil when the quote is not closed. (RFC 9110, sections 5.6.2 and 5.6.4)
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
    // The text after an unclosed quote is read as directives, because they may be strict.
    scanner = start
    return nil
  }

  private mutating func apply(_ name: ArraySlice<UInt8>, _ argument: ArraySlice<UInt8>?) {
    if name.equalsIgnoringCase("max-age") {
      // A lifetime that cannot be read counts as 0. (RFC 9111, section 4.2.1)
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
