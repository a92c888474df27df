import Base

/// The action that a cache takes when a resource is needed, for example to use the cached version.
package enum Freshness: Hashable, Sendable {
  /// Use the cached version.
  ///
  /// Send no request before the given time.
  case fresh(until: UnixTime)
  /// Ask with a conditional request whether the cached version is current.
  case revalidate(Condition)
  /// Fetch the whole resource, because the cached version has no `ETag` and no `Last-Modified`, or is the response to
  /// other request fields.
  case refetch
  /// Send no request before the given time, although the cache has no version.
  ///
  /// The server refused the last request.
  case rest(until: UnixTime)

  /// Whether no request is sent.
  package var isQuiet: Bool {
    switch self {
    case .fresh, .rest: true
    case .revalidate, .refetch: false
    }
  }
}

/// The limits and the time range of freshness.
///
/// A fresh response can be used without a request. (RFC 9111, section 4.2)
package enum FreshnessPolicy {
  /// The longest time in seconds for which a response is fresh.
  ///
  /// The limit matters if a server or a clock is wrong by years.
  package static let longestLifetime: Int64 = 365 * 86_400
  /// The longest time in seconds for which a response is fresh if the server gave no lifetime.
  package static let longestGuess: Int64 = 86_400
  /// The number of seconds by which the clock can be set back before a response is no longer used.
  package static let clockTolerance: Int64 = 300

  /// The range of times at which a response is fresh.
  ///
  /// The range starts ``clockTolerance`` before the response was received, because the clock may be set back. It ends
  /// when the response expires. A database can store both ends, and can then find the rows that need a request without
  /// parsing any header fields.
  package static func window(answered: UnixTime, expiry: UnixTime) -> Range<UnixTime> {
    let start = answered + -clockTolerance
    // A response that was stale on arrival does not become fresh if the clock is set back.
    return start..<(expiry > answered ? expiry : start)
  }
}

extension StoredResponse {
  /// The action that a cache with this response takes when the resource is needed.
  ///
  /// - Parameters:
  ///   - expiry: The time at which the response stops being fresh, or nil to compute it from the header fields.
  ///   - now: The current time.
  ///   - traits: The header fields of the new request, or nil to ignore them.
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

  /// The range of times at which the response is fresh.
  ///
  /// See ``FreshnessPolicy/window(answered:expiry:)``.
  var freshWindow: Range<UnixTime> {
    FreshnessPolicy.window(answered: responseTime, expiry: expiry)
  }

  /// The time at which the response stops being fresh, or the earlier time at which a redirect to it stops being fresh.
  ///
  /// If the response was never fresh, this is the time at which it was received, or an earlier time.
  package var expiry: UnixTime {
    min(ownExpiry, path?.expiry ?? .distantFuture)
  }

  private var ownExpiry: UnixTime {
    let control = CacheControl(headers)
    // `Vary: *` means that the response depended on more than the request's header fields. (RFC 9111, section 4.1)
    if Vary(headers).isAnything { return .distantPast }
    // larder stores responses with `no-store` nevertheless, because a local copy is its purpose. But it requests them
    // each time.
    if control.noCache || control.noStore && !control.mustUnderstand { return .distantPast }
    if control.mustUnderstand && !Self.understood.contains(status) { return .distantPast }
    let left = lifetime(control).subtractingClamped(initialAge)
    return left > 0 ? responseTime + left : min(responseTime, responseTime + left)
  }

  /// Whether the response can be used if a new request fails, because it has the directive `stale-if-error`.
  ///
  /// The directive has no effect beside `no-store`. When the response is no longer fresh, the directive has no effect
  /// beside `no-cache` or `must-revalidate` either. (RFC 5861, section 4; RFC 9111, section 4.2.4)
  package func excusesError(at now: UnixTime, for traits: CacheKeyFields? = nil) -> Bool {
    let control = CacheControl(headers)
    guard let grace = control.staleIfError, !control.noStore, answers(traits) else { return false }
    let fresh = freshWindow
    if fresh.contains(now) { return true }
    return !control.mustRevalidate && !control.noCache && now >= fresh.lowerBound
      && now < expiry + grace
  }

  /// The age in seconds that the response had when it was received. (RFC 9111, section 4.2.3)
  var initialAge: Int64 {
    let apparent = max(0, responseTime - (date ?? responseTime))
    // In a list such as `60, 120`, only the first number counts. (RFC 9111, section 5.1)
    let told = headers["Age"].flatMap { Int64(digits: $0.prefix { $0 != "," }) } ?? 0
    let corrected = told.addingClamped(responseTime - requestTime)
    return max(0, max(apparent, corrected))
  }

  /// The number of seconds for which the response is fresh after the server made it. (RFC 9111, sections 4.2.1 and
  /// 4.2.2)
  private func lifetime(_ control: CacheControl) -> Int64 {
    let limit = FreshnessPolicy.longestLifetime
    if let maxAge = control.maxAge { return min(maxAge, limit) }
    let expires = headers.all("Expires")
    if let first = expires.first {
      // An invalid date such as "0" counts as a date in the past (section 5.3). Several `Expires` fields with different
      // values also count as a date in the past (section 4.2.1).
      guard let moment = UnixTime(httpDate: first),
        expires.allSatisfy({ $0 == first })
      else { return 0 }
      return min(max(0, moment - (date ?? responseTime)), limit)
    }
    // The directive `public` shows that the server permits caching, so the lifetime is guessed with any status.
    // (Section 4.2.2)
    guard Self.cacheable.contains(status) || control.isPublic,
      let modified = headers["Last-Modified"].flatMap(UnixTime.init(httpDate:))
    else { return 0 }
    let unchanged = max(0, (date ?? responseTime) - modified)
    return min(unchanged / 10, FreshnessPolicy.longestGuess)
  }

  private var date: UnixTime? {
    headers["Date"].flatMap(UnixTime.init(httpDate:))
  }

  /// The statuses of responses that can be fresh although the server gave no lifetime. (RFC 9110, section 15.1)
  private static let cacheable = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

  /// The statuses whose caching rules larder knows, as `must-understand` requires. (RFC 9111, section 5.2.2.3)
  private static let understood = [200, 203, 204, 301, 302, 303, 304, 307, 308, 404, 410]
}

/// The directives of a `Cache-Control` field. (RFC 9111, section 5.2)
///
/// For example, `max-age=60, no-cache` has two directives. Names can be in upper or lower case, and arguments can be
/// quoted. In `max-age=60 x`, the junk makes the argument invalid, but the directive is still present. If a directive
/// is repeated, the strictest argument counts. So a contradiction never makes a response fresh for longer.
package struct CacheControl: Hashable, Sendable {
  /// The smallest number of seconds in a `max-age` directive: the response is fresh for this time.
  package private(set) var maxAge: Int64?
  /// The smallest number of seconds in a `stale-if-error` directive: if a request fails, the response can be used for
  /// this time after it stopped being fresh. (RFC 5861, section 4)
  package private(set) var staleIfError: Int64?
  /// Whether the server asks caches not to store the response.
  ///
  /// A list of field names, as in `no-store="X"`, makes no difference.
  package private(set) var noStore = false
  /// Whether a cache must ask the server before each use of the response.
  ///
  /// A list of field names, as in `no-cache="X"`, makes no difference.
  package private(set) var noCache = false
  /// Whether a cache must ask the server before it uses a response that is no longer fresh.
  package private(set) var mustRevalidate = false
  /// Whether the response can be used for requests with other credentials.
  package private(set) var isPublic = false
  /// Whether `no-store` has no effect, provided that the cache knows the status.
  package private(set) var mustUnderstand = false

  /// Reads all `Cache-Control` fields.
  package init(_ headers: Headers) {
    // Each field is read alone, so that an unclosed quote does not affect the other fields.
    for value in headers.all("Cache-Control") {
      var scanner = ByteScanner(value)
      while !scanner.isAtEnd {
        let (name, argument) = scanner.parameter(until: ",")
        _ = scanner.next()
        apply(name, argument)
      }
    }
  }

  private mutating func apply(_ name: ArraySlice<UInt8>, _ argument: ArraySlice<UInt8>?) {
    if name.equalsIgnoringCase("max-age") {
      // An invalid lifetime counts as 0. (RFC 9111, section 4.2.1)
      maxAge = min(maxAge ?? .max, Self.seconds(argument) ?? 0)
    } else if name.equalsIgnoringCase("stale-if-error") {
      staleIfError = min(staleIfError ?? .max, Self.seconds(argument) ?? 0)
    } else if name.equalsIgnoringCase("no-store") {
      noStore = true
    } else if name.equalsIgnoringCase("no-cache") {
      noCache = true
    } else if name.equalsIgnoringCase("must-revalidate") {
      mustRevalidate = true
    } else if name.equalsIgnoringCase("public") {
      isPublic = true
    } else if name.equalsIgnoringCase("must-understand") {
      mustUnderstand = true
    }
  }

  /// Parses a number of seconds.
  ///
  /// A number that is too large becomes the largest `Int64`. (RFC 9111, section 1.2.2)
  private static func seconds(_ argument: ArraySlice<UInt8>?) -> Int64? {
    guard let argument, !argument.isEmpty, argument.allSatisfy(\.isDigit) else { return nil }
    return Int64(saturatingDigits: argument)
  }
}
