/// What a held response needs before it may be shown.
public enum Freshness: Hashable, Sendable {
  /// Nothing, until that moment.
  case fresh(until: UnixTime)
  /// The server's word, asked for with these validators.
  case revalidate(Validators)
  /// To be fetched again: there is nothing to ask with, or it was chosen by other request fields.
  case refetch
}

/// How a private cache judges freshness. (RFC 9111, section 4.2)
public enum FreshnessPolicy {
  /// No response is fresh for longer, so that a clock or a server years off cannot freeze a cache.
  public static let longestLifetime: Int64 = 365 * 86_400
  /// No guess is longer.
  public static let longestGuess: Int64 = 86_400
  /// How far the clock may go back before what was stored "in the future" is no longer believed.
  public static let clockTolerance: Int64 = 300
}

/// Judges what a cache may hold at a moment; nothing held is to be fetched.
public func freshness(of stored: StoredResponse?, at now: UnixTime) -> Freshness {
  stored?.freshness(at: now) ?? .refetch
}

/// The fields that ask whether what a cache may hold is still right; none without it.
public func conditionalHeaders(for stored: StoredResponse?) -> Headers {
  stored?.conditionalHeaders ?? Headers()
}

extension StoredResponse {
  /// Judges the response at a moment, for a request with the given fields.
  public func freshness(at now: UnixTime, request: Headers? = nil) -> Freshness {
    let vary = Vary(headers)
    if let request, !vary.matches(selectingHeaders, request) { return .refetch }
    if !vary.isAnything, freshWindow.contains(now) { return .fresh(until: expiry) }
    return validators.isEmpty ? .refetch : .revalidate(validators)
  }

  /// When it is fresh: from a little before it came, for a clock may be set back, to its expiry.
  ///
  /// A database that keeps both bounds can tell what is due without reading a header.
  public var freshWindow: Range<UnixTime> {
    let start = responseTime + -FreshnessPolicy.clockTolerance
    return start..<max(start, expiry)
  }

  /// The first moment at which it is no longer fresh; `responseTime` or earlier when it never is.
  public var expiry: UnixTime {
    let control = CacheControl(headers)
    // A user keeps what `no-store` covers, for that is what larder is for, but asks each time.
    if control.noStore || control.noCache { return .distantPast }
    let left = lifetime(control) - initialAge
    return left > 0 ? responseTime + left : min(responseTime, responseTime + left)
  }

  /// Whether the server promises that the body never changes while fresh. (RFC 8246)
  public var isImmutable: Bool { CacheControl(headers).immutable }

  /// Whether the response may stand in for an error at that moment. (RFC 9111, section 4.2.4; RFC 5861, section 4)
  public func mayStandIn(at now: UnixTime) -> Bool {
    if freshWindow.contains(now) { return true }
    let control = CacheControl(headers)
    if control.mustRevalidate || control.noCache { return false }
    guard let grace = control.staleIfError else { return true }
    return now < expiry + grace
  }

  /// Whether the server itself said that an error at that moment may be passed over.
  ///
  /// Only its own `stale-if-error` counts, and nothing that asks for its word each time. (RFC 5861,
  /// section 4)
  public func excusesError(at now: UnixTime) -> Bool {
    let control = CacheControl(headers)
    guard control.staleIfError != nil, !control.noStore else { return false }
    return now >= freshWindow.lowerBound && mayStandIn(at: now)
  }

  /// The fields of a conditional request for it; none when it must be fetched anew.
  public var conditionalHeaders: Headers { validators.conditionalHeaders }

  /// Its age when it came. (RFC 9111, section 4.2.3)
  var initialAge: Int64 {
    let apparent = max(0, responseTime - (date ?? responseTime))
    let told = headers["Age"].flatMap(Self.seconds) ?? 0
    let corrected = told.addingClamped(responseTime - requestTime)
    return max(0, max(apparent, corrected))
  }

  /// How long it is fresh from its making. (RFC 9111, sections 4.2.1 and 4.2.2)
  private func lifetime(_ control: CacheControl) -> Int64 {
    let limit = FreshnessPolicy.longestLifetime
    if let maxAge = control.maxAge { return min(maxAge, limit) }
    if let expires = headers["Expires"] {
      // An invalid date, "0" above all, is one in the past. (Section 5.3)
      guard let moment = UnixTime(httpDate: expires, now: responseTime) else { return 0 }
      return min(max(0, moment - (date ?? responseTime)), limit)
    }
    guard Self.isHeuristicallyCacheable(status),
      let modified = headers["Last-Modified"].flatMap({ UnixTime(httpDate: $0, now: responseTime) }
      )
    else { return 0 }
    let unchanged = max(0, (date ?? responseTime) - modified)
    return min(unchanged / 10, FreshnessPolicy.longestGuess)
  }

  private var date: UnixTime? {
    headers["Date"].flatMap { UnixTime(httpDate: $0, now: responseTime) }
  }

  /// A non-negative number of seconds; lists count by their first member. (RFC 9111, section 5.1)
  private static func seconds(_ value: String) -> Int64? {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    return scanner.number()
  }

  /// RFC 9110, section 15.1.
  private static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }
}
