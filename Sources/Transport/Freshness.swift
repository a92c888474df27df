import Base

/// The action for a resource that may be in the cache, at a moment.
///
/// The same rules apply to pictures, details and sections, in runs and in plans.
package enum Freshness: Hashable, Sendable {
  /// Send no request until that moment: use the cached version.
  case fresh(until: UnixTime)
  /// Send a conditional request.
  case revalidate(Condition)
  /// Fetch the resource in full: there are no validators, or other request fields selected the cached version.
  case refetch
  /// Neither the cache nor the origin has a version: send no request until that moment.
  case rest(until: UnixTime)

  /// Whether no request is due.
  package var isQuiet: Bool {
    switch self {
    case .fresh, .rest: true
    case .revalidate, .refetch: false
    }
  }
}

/// The rules by which a private cache judges freshness. (RFC 9111, section 4.2)
package enum FreshnessPolicy {
  /// The longest freshness in seconds; it limits the harm of a clock or a server that is years off.
  package static let longestLifetime: Int64 = 365 * 86_400
  /// The longest heuristic freshness in seconds.
  package static let longestGuess: Int64 = 86_400
  /// How many seconds in the future a response may seem to be, because the clock was set back, and still be used.
  package static let clockTolerance: Int64 = 300

  /// The moments at which a response is fresh.
  ///
  /// The range begins a little before the response, because a clock may be set back, and ends with the response's
  /// expiry. A database that stores both ends finds the rows that need a request without reading a header.
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
  ///   - expiry: The end of the response's freshness, if it was stored; nil to compute it from the headers.
  ///   - now: The wall clock.
  ///   - traits: The fields that the request sends; nil when they do not matter.
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

  /// The moments at which the response is fresh; see ``FreshnessPolicy/window(answered:expiry:)``.
  package var freshWindow: Range<UnixTime> {
    FreshnessPolicy.window(answered: responseTime, expiry: expiry)
  }

  /// The first moment at which the response, or a redirect that led to it, is no longer fresh; `responseTime` or
  /// earlier if it never was.
  package var expiry: UnixTime {
    min(ownExpiry, path?.expiry ?? .distantFuture)
  }

  private var ownExpiry: UnixTime {
    let control = CacheControl(headers)
    // `Vary: *`: something other than the request's fields selected the response. (RFC 9111, section 4.1)
    if Vary(headers).isAnything { return .distantPast }
    let understood = Self.isUnderstood(status)
    if control.noCache || control.mustUnderstand && !understood { return .distantPast }
    // larder keeps `no-store` responses on disk, because a local copy is its purpose, but requests them each
    // time.
    if control.noStore && !control.mustUnderstand { return .distantPast }
    let left = lifetime(control).subtractingClamped(initialAge)
    return left > 0 ? responseTime + left : min(responseTime, responseTime + left)
  }

  /// Whether the response may be used instead of an error at that moment. (RFC 9111, section 4.2.4; RFC 5861, section
  /// 4)
  package func mayStandIn(at now: UnixTime) -> Bool {
    if freshWindow.contains(now) { return true }
    let control = CacheControl(headers)
    if control.mustRevalidate || control.noCache { return false }
    guard let grace = control.staleIfError else { return true }
    return now < expiry + grace
  }

  /// Whether the response itself allows its use instead of an error at that moment.
  ///
  /// Only the response's own `stale-if-error` counts, and only when nothing demands validation before each use. (RFC
  /// 5861, section 4)
  package func excusesError(at now: UnixTime, for traits: CacheKeyFields? = nil) -> Bool {
    let control = CacheControl(headers)
    guard control.staleIfError != nil, !control.noStore, answers(traits) else { return false }
    return now >= freshWindow.lowerBound && mayStandIn(at: now)
  }

  /// The response's age when it was received. (RFC 9111, section 4.2.3)
  var initialAge: Int64 {
    let apparent = max(0, responseTime - (date ?? responseTime))
    let told = headers["Age"].flatMap(Self.seconds) ?? 0
    let corrected = told.addingClamped(responseTime - requestTime)
    return max(0, max(apparent, corrected))
  }

  /// The response's freshness lifetime. (RFC 9111, sections 4.2.1 and 4.2.2)
  private func lifetime(_ control: CacheControl) -> Int64 {
    let limit = FreshnessPolicy.longestLifetime
    if let maxAge = control.maxAge { return min(maxAge, limit) }
    let expires = headers.all("Expires")
    if let first = expires.first {
      // An invalid date, such as "0", counts as a date in the past (section 5.3). So do several `Expires` fields that
      // differ (section 4.2.1).
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

  /// Reads the non-negative number of seconds in a field.
  ///
  /// Only the first member of a list counts, and a value that is not a number is ignored. (RFC 9111, section 5.1)
  private static func seconds(_ value: String) -> Int64? {
    let member = value.utf8.prefix { $0 != UInt8(ascii: ",") }
    var scanner = ByteScanner(Substring(member))
    scanner.skipBlanks()
    let seconds = scanner.number()
    scanner.skipBlanks()
    return scanner.isAtEnd ? seconds : nil
  }

  /// Whether a response with this status may be fresh by a heuristic. (RFC 9110, section 15.1)
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
/// Names may be in upper or lower case, and arguments may be quoted. Junk after a directive makes its argument
/// invalid, but not its name. If a directive is repeated, the strictest counts, so that contradictions never make a
/// response fresher.
package struct CacheControl: Hashable, Sendable {
  /// The number of seconds for which a response is fresh; the smallest value given.
  package private(set) var maxAge: Int64?
  /// For how many seconds after its freshness a response may be used instead of an error. (RFC 5861, section 4)
  package private(set) var staleIfError: Int64?
  /// Whether the server wants no copy to be kept.
  ///
  /// A directive with field names, such as `no-store="X"`, is ignored.
  package private(set) var noStore = false
  /// Whether each use needs validation.
  ///
  /// A directive with field names, such as `no-cache="X"`, is ignored.
  package private(set) var noCache = false
  /// Whether a stale copy may never be used without validation.
  package private(set) var mustRevalidate = false
  /// Whether the body never changes while fresh. (RFC 8246)
  package private(set) var immutable = false
  /// Whether the response is public, regardless of the requester.
  package private(set) var isPublic = false
  /// Whether only caches that understand the status may keep the response; such caches then ignore `no-store`.
  package private(set) var mustUnderstand = false

  /// Reads all `Cache-Control` fields.
  package init(_ headers: Headers) {
    // Read line by line, so that an unclosed quote does not affect other lines.
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
    // Read the text after an unclosed quote as directives, because they may be strict.
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

  /// Reads a number of seconds; a number that is too large becomes the largest `Int64`. (RFC 9111, section 1.2.2)
  private static func seconds(_ argument: ArraySlice<UInt8>?) -> Int64? {
    guard let argument, !argument.isEmpty, argument.allSatisfy(\.isDigit) else { return nil }
    return Int64(saturatingDigits: argument)
  }
}
