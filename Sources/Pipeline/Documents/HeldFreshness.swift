import Base
import Cache
import Transport

// This file alone decides whether an entry of the index is fresh. Each row stores the two times that the decision
// needs, so headers are parsed only when a request is due. A run first asks `PictureState.quiet`, which reads no
// headers. A dry run asks `PictureEntry.freshness`. A new rule must be added to both.

extension DocumentEntry {
  /// The action for a cached document: no request, a conditional one, or a full one.
  ///
  /// `traits` are the request's header fields and credentials that may select its response.
  func freshness(at now: UnixTime, for traits: CacheKeyFields?) -> Freshness {
    StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits) ?? .refetch
  }

  /// Whether a body from `base` has the same base URL as the cached one, so that relative references resolve to the
  /// same URLs.
  func came(from base: WebURL?) -> Bool {
    // A local file has no response headers, and its base URL never changes.
    guard let base, let stored = StoredResponse(word: response) else { return true }
    return stored.path.map { $0.source == base.resource } ?? (url == base.text)
  }

  /// The condition that revalidates a cached document; nil when it must be fetched in full.
  func condition(for traits: CacheKeyFields?) -> Condition? {
    guard let stored = StoredResponse(word: response), stored.answers(traits) else { return nil }
    return stored.condition
  }

  /// The action of an unattended run for a document that its origin does not have.
  ///
  /// An unattended run requests such a document once a day, unless the refusal had caching fields of its own.
  func missingFreshness(at now: UnixTime) -> Freshness {
    guard let fetched else { return .refetch }
    // If the row has no response headers, its expiry comes from the refusal. If it has them, the expiry comes from a
    // body that says that there is no detail; such an expiry does not count.
    let isSaid = response == nil && expiry != 0
    let end = isSaid ? expiry : fetched + FailureBackoff.longest
    let window = FreshnessPolicy.window(answered: fetched, expiry: end)
    return window.contains(now) ? .rest(until: end) : .refetch
  }

  /// Whether the origin allows the use of the cached document after this failure (`stale-if-error`).
  func excuses(_ failure: TransferFailure, at now: UnixTime, for traits: CacheKeyFields?) -> Bool {
    failure.isExcused(by: response, at: now, for: traits)
  }
}

extension PictureState {
  /// The reason why a picture needs no request; nil when it needs one.
  ///
  /// ``PictureEntry/freshness(at:for:onlyDue:)`` then decides which kind of request it is.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - onlyDue: Whether the run is unattended; only such a run waits after a failure before it requests a picture
  ///     again.
  /// - Returns: ``Freshness/fresh(until:)``, ``Freshness/rest(until:)`` or nil.
  func quiet(at now: UnixTime, onlyDue: Bool) -> Freshness? {
    let freshness = freshness(at: now)
    if case .rest = freshness, !onlyDue { return nil }
    return freshness
  }
}

extension PictureEntry {
  /// The action for a picture: no request, a conditional one, or a full one.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - traits: The header fields and credentials of its request that may select the response.
  ///   - onlyDue: Whether the run is unattended.
  /// - Returns: The action.
  func freshness(at now: UnixTime, for traits: CacheKeyFields?, onlyDue: Bool) -> Freshness {
    guard isHeld else {
      let row = PictureState(expiry: expiry, checked: checked ?? 0, content: 0)
      return row.quiet(at: now, onlyDue: onlyDue) ?? .refetch
    }
    guard let response else { return adoptedCondition.map(Freshness.revalidate) ?? .refetch }
    return StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits)
      ?? .refetch
  }

  /// The condition for an adopted file: a file that was found in the cache without an index row, and so without
  /// stored headers.
  ///
  /// The condition is the file's date, which larder had set to the origin's Last-Modified. (RFC 9110, section 13.1.3)
  private var adoptedCondition: Condition? {
    stamp.map {
      Condition(
        Validators(entityTag: nil, lastModified: $0.modified.httpDate),
        knowsDateOnly: true
      )
    }
  }

  /// Whether the origin allows the use of the cached picture after this failure (`stale-if-error`).
  func excuses(_ failure: TransferFailure, at now: UnixTime, for traits: CacheKeyFields) -> Bool {
    failure.isExcused(by: response, at: now, for: traits)
  }
}

extension TransferFailure {
  /// Whether the cached version may be used after this failure.
  ///
  /// The failure must be temporary or come from an open circuit breaker, and the origin must allow the use.
  fileprivate func isExcused(
    by word: String?,
    at now: UnixTime,
    for traits: CacheKeyFields?
  ) -> Bool {
    guard RetryPolicy.mayPass(self) || reason == .circuitOpen else { return false }
    return StoredResponse(word: word)?.excusesError(at: now, for: traits) ?? false
  }

  /// When the refusal expires by its own header fields; nil when they say nothing about caching.
  func refusalExpiry(at now: UnixTime) -> UnixTime? {
    let control = CacheControl(headers)
    let says = control.maxAge != nil || control.noStore || control.noCache
    guard let status, says || headers.contains("Expires") else { return nil }
    let stored = StoredResponse(
      status: status,
      headers: headers.endToEnd,
      requestTime: now,
      responseTime: now
    )
    return min(stored.expiry, now + FailureBackoff.longest)
  }
}

extension PictureEntry {
  /// Stores the caching fields of new bytes.
  mutating func enter(
    _ head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: CacheKeyFields
  ) {
    let word = StoredHeaders(head, asked: asked, answered: answered, traits: traits)
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
    traits: CacheKeyFields
  ) -> PictureEntry {
    let word = StoredHeaders(
      renewing: response,
      by: head,
      asked: asked,
      answered: answered,
      traits: traits
    )
    var entry = self
    // The transport rejects a 304 for another version. If it did not, the entry would lose its caching fields here.
    entry.response = word?.text
    entry.expiry = word?.expiry ?? 0
    entry.checked = answered
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }
}

/// An exponential backoff: how long an unattended run waits before it requests a picture again after a lasting failure.
///
/// The wait is as long as the picture has been failing, so it doubles: 1, 2, 4 hours and so on, up to a day.
enum FailureBackoff {
  /// The longest wait in seconds: a day.
  static let longest: Int64 = 86_400

  /// The number of seconds to wait after a failure.
  ///
  /// - Parameters:
  ///   - reason: The reason for the failure.
  ///   - since: The time of the first of the consecutive failures.
  ///   - now: The time of the failure.
  /// - Returns: The seconds; 0 for a reason after which every run tries again.
  static func seconds(after reason: FailureReason, since: UnixTime, now: UnixTime) -> Int64 {
    isRested(reason) ? min(longest, max(0, now - since)) : 0
  }

  /// Whether an unattended run waits after a failure for this reason.
  ///
  /// A 401 or 403 is lasting, but ends as soon as the user corrects a token, so every run tries again.
  static func isRested(_ reason: FailureReason) -> Bool {
    reason.isLasting && !reason.isUnauthorized
  }
}

extension PictureEntry {
  /// Records that the last attempt failed.
  ///
  /// By the origin's own caching fields, the failure is valid until `end`. The backoff lasts at least until then.
  mutating func fail(for reason: FailureReason, at now: UnixTime, saidUntil end: UnixTime? = nil) {
    let since = failingSince ?? now
    failure = reason.rawValue
    failingSince = since
    guard !isHeld else { return }
    checked = now
    let rest = now + FailureBackoff.seconds(after: reason, since: since, now: now)
    expiry = FailureBackoff.isRested(reason) ? max(rest, end ?? rest) : rest
  }
}

/// An origin's caching fields for a body, in the form that the index keeps.
///
/// The first line has the times of the request and the response, and other data that decides on freshness. The relevant
/// header fields follow, one per line. This type only stores them; ``StoredResponse`` decides.
struct StoredHeaders: Sendable, Equatable {
  /// The fields as text; nil when there are none, as of a local file.
  var text: String?
  /// When the body expires; 0 when every use needs a request.
  var expiry: UnixTime

  /// No caching fields.
  static let none = StoredHeaders(text: nil, expiry: 0)

  /// The header fields that are kept.
  ///
  /// Freshness and revalidation need no others.
  private static let kept: [StaticString] = [
    "ETag", "Last-Modified", "Date", "Age", "Expires", "Cache-Control", "Vary",
  ]

  /// Restores stored fields.
  init(text: String?, expiry: UnixTime) {
    self.text = text
    self.expiry = expiry
  }

  /// The caching fields of a new body.
  init(_ head: ResponseHead, asked: UnixTime, answered: UnixTime, traits: CacheKeyFields) {
    self.init(
      StoredResponse(
        head,
        keeping: Self.kept,
        requestTime: asked,
        responseTime: answered,
        traits: traits
      )
    )
  }

  /// The caching fields as renewed by a 304; nil when the 304 is about another version than the cached one.
  ///
  /// RFC 9111, section 4.3.4. The transport then fetches the other version in full by itself.
  init?(
    renewing text: String?,
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: CacheKeyFields
  ) {
    guard let held = StoredResponse(word: text) else {
      // An adopted file has no stored headers yet; the fields of the 304 are the first.
      self.init(
        StoredResponse(
          head,
          status: 200,
          keeping: Self.kept,
          requestTime: asked,
          responseTime: answered,
          traits: traits
        )
      )
      return
    }
    let renewed = held.renewed(
      by: head,
      keeping: Self.kept,
      requestTime: asked,
      responseTime: answered,
      traits: traits
    )
    guard let renewed else { return nil }
    self.init(renewed)
  }

  private init(_ response: StoredResponse) {
    let fields = response.headers.text
    var text = String(response.requestTime.seconds)
    text.reserveCapacity(fields.utf8.count + 48)
    text += " "
    text += String(response.responseTime.seconds)
    if response.status != 200 { text += " status=\(response.status)" }
    if let path = response.path { text += " until=\(path.expiry.seconds) from=\(path.source)" }
    if let selection = response.selection { text += " selected=\(selection)" }
    if let owner = response.owner {
      if owner != 0 { text += " owner=\(owner)" }
    } else {
      text += " owner=*"
    }
    text += "\n"
    text += fields
    self.init(text: text, expiry: response.expiry)
  }
}

extension StoredResponse {
  /// Parses the stored form; nil when there is none, or it is malformed.
  init?(word text: String?) {
    guard var text else { return nil }
    func string(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
      String(decoding: bytes, as: UTF8.self)
    }
    let read: StoredResponse? = text.withUTF8 { bytes in
      guard let end = bytes.firstIndex(of: 10) else { return nil }
      // Parse bytes: when it parsed characters, this line took a tenth of the instructions of a revalidating run.
      var parts = bytes[..<end].split(separator: UInt8(ascii: " "))[...]
      guard let asked = parts.popFirst().flatMap({ Int64(string($0)) }),
        let answered = parts.popFirst().flatMap({ Int64(string($0)) })
      else { return nil }
      var values: [String: String] = [:]
      for part in parts {
        let halves = part.split(
          separator: UInt8(ascii: "="),
          maxSplits: 1,
          omittingEmptySubsequences: false
        )
        values[string(halves[0])] = halves.count > 1 ? string(halves[1]) : ""
      }
      let path = values["from"].flatMap { source in
        values["until"].flatMap { Int64($0) }.map {
          Path(source: source, expiry: UnixTime($0))
        }
      }
      return StoredResponse(
        status: values["status"].flatMap { Int($0) } ?? 200,
        headers: Headers(text: UnsafeBufferPointer(rebasing: bytes[(end + 1)...])),
        requestTime: UnixTime(asked),
        responseTime: UnixTime(answered),
        path: path,
        selection: values["selected"].flatMap { Int64($0) },
        owner: values["owner"].map { Int64($0) } ?? 0
      )
    }
    guard let read else { return nil }
    self = read
  }
}
