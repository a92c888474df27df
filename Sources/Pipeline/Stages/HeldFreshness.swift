import Cache
import Transport

// The one freshness decision for what the index holds. A row keeps the two moments that tell
// whether it is fresh, so that no header is read to find that nothing is to be done.

extension DocumentEntry {
  /// What is to be done about a held document, for a request that sends this.
  func freshness(at now: UnixTime, for traits: RequestTraits?) -> Freshness {
    StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits) ?? .refetch
  }

  /// Whether a body from `base` has the same base URL as the held one, so that relative references resolve the same.
  func came(from base: WebURL?) -> Bool {
    // A local file has no response headers, and does not move.
    guard let base, let stored = StoredResponse(word: response) else { return true }
    return stored.path.map { $0.source == base.resource } ?? (url == base.text)
  }

  /// The condition that revalidates a held document; nil when it must be fetched in full.
  func condition(for traits: RequestTraits?) -> Condition? {
    guard let stored = StoredResponse(word: response), stored.answers(traits) else { return nil }
    return stored.condition
  }

  /// What an unattended run does about a document that its origin does not have: it asks once a day, unless the
  /// origin said for how long that holds.
  func missingFreshness(at now: UnixTime) -> Freshness {
    guard let fetched else { return .refetch }
    // Without response headers, the expiry is how long the refusal itself holds. With them it belongs to a body that
    // says that there is nothing, and does not count.
    let isSaid = response == nil && expiry != 0
    let end = isSaid ? expiry : fetched + FailureRest.longest
    let window = FreshnessPolicy.window(answered: fetched, expiry: end)
    return window.contains(now) ? .rest(until: end) : .refetch
  }

  /// Whether its origin said that it may stand in for an error like this for a while.
  func excuses(_ failure: TransferFailure, at now: UnixTime, for traits: RequestTraits?) -> Bool {
    failure.isExcused(by: response, at: now, for: traits)
  }
}

extension PictureState {
  /// Why nothing is to be done about a picture; nil when it is due, and its entry says how.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - onlyDue: whether the run is unattended: only such a run leaves alone what is not to be had.
  /// - Returns: ``Freshness/fresh(until:)``, ``Freshness/rest(until:)`` or nil.
  func quiet(at now: UnixTime, onlyDue: Bool) -> Freshness? {
    let freshness = freshness(at: now)
    if case .rest = freshness, !onlyDue { return nil }
    return freshness
  }
}

extension PictureEntry {
  /// What is to be done about a picture.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - traits: what a request for it sends.
  ///   - onlyDue: whether the run is unattended.
  /// - Returns: What is due.
  func freshness(at now: UnixTime, for traits: RequestTraits?, onlyDue: Bool) -> Freshness {
    guard isHeld else {
      let row = PictureState(expiry: expiry, checked: checked ?? 0, content: 0)
      return row.quiet(at: now, onlyDue: onlyDue) ?? .refetch
    }
    guard let response else { return adoptedCondition.map(Freshness.revalidate) ?? .refetch }
    return StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits)
      ?? .refetch
  }

  /// The condition for a file that was adopted without its row: its date, which larder set to the origin's
  /// Last-Modified. (RFC 9110, section 13.1.3)
  private var adoptedCondition: Condition? {
    stamp.map {
      Condition(
        Validators(entityTag: nil, lastModified: $0.modified.httpDate),
        knowsDateOnly: true
      )
    }
  }

  /// Whether its origin said that it may stand in for an error like this for a while.
  func excuses(_ failure: TransferFailure, at now: UnixTime, for traits: RequestTraits) -> Bool {
    failure.isExcused(by: response, at: now, for: traits)
  }
}

extension TransferFailure {
  /// Errors that may pass are excused, and a host that is not asked because it gave nothing else.
  fileprivate func isExcused(
    by word: String?,
    at now: UnixTime,
    for traits: RequestTraits?
  ) -> Bool {
    guard RetryPolicy.mayPass(self) || reason == .circuitOpen else { return false }
    return StoredResponse(word: word)?.excusesError(at: now, for: traits) ?? false
  }

  /// When the refusal expires by its own header fields; nil when they say nothing.
  func wordEnd(at now: UnixTime) -> UnixTime? {
    let control = CacheControl(headers)
    let says = control.maxAge != nil || control.noStore || control.noCache
    guard let status, says || headers.contains("Expires") else { return nil }
    let stored = StoredResponse(
      status: status,
      headers: headers.endToEnd,
      requestTime: now,
      responseTime: now
    )
    return min(stored.expiry, now + FailureRest.longest)
  }
}

extension PictureEntry {
  /// Enters the validity that came with new bytes.
  mutating func enter(
    _ head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: RequestTraits
  ) {
    let word = StoredValidity(head, asked: asked, answered: answered, traits: traits)
    response = word.text
    expiry = word.expiry
    fetched = answered
    checked = answered
    lastModified = head.headers["Last-Modified"].flatMap { UnixTime(httpDate: $0, now: answered) }
  }

  /// The entry after a 304.
  func renewed(
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: RequestTraits
  ) -> PictureEntry {
    let word = StoredValidity(
      renewing: response,
      by: head,
      asked: asked,
      answered: answered,
      traits: traits
    )
    // The transport lets no 304 of another version through; were there one, nothing would be known.
    return vouched(word ?? .none, answered)
  }

  private func vouched(_ word: StoredValidity, _ answered: UnixTime) -> PictureEntry {
    var entry = self
    entry.response = word.text
    entry.expiry = word.expiry
    entry.checked = answered
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }
}
