import Base
import Cache
import Transport

// The one freshness decision for entries of the index. A row keeps the two moments that tell
// whether it is fresh, so that no header is read to find that nothing is to be done.

extension DocumentEntry {
  /// The action for a held document, for a request with these traits.
  func freshness(at now: UnixTime, for traits: CacheKeyFields?) -> Freshness {
    StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits) ?? .refetch
  }

  /// Whether a body from `base` has the same base URL as the held one, so that relative references resolve the same.
  func came(from base: WebURL?) -> Bool {
    // A local file has no response headers, and does not move.
    guard let base, let stored = StoredResponse(word: response) else { return true }
    return stored.path.map { $0.source == base.resource } ?? (url == base.text)
  }

  /// The condition that revalidates a held document; nil when it must be fetched in full.
  func condition(for traits: CacheKeyFields?) -> Condition? {
    guard let stored = StoredResponse(word: response), stored.answers(traits) else { return nil }
    return stored.condition
  }

  /// The action of an unattended run for a document that its origin lacks: a request once a day, unless the
  /// origin gave another freshness.
  func missingFreshness(at now: UnixTime) -> Freshness {
    guard let fetched else { return .refetch }
    // Without response headers, the expiry is how long the refusal itself holds. With them it belongs to a body that
    // says that there is nothing, and does not count.
    let isSaid = response == nil && expiry != 0
    let end = isSaid ? expiry : fetched + FailureBackoff.longest
    let window = FreshnessPolicy.window(answered: fetched, expiry: end)
    return window.contains(now) ? .rest(until: end) : .refetch
  }

  /// Whether its origin said that it may stand in for an error like this for a while.
  func excuses(_ failure: TransferFailure, at now: UnixTime, for traits: CacheKeyFields?) -> Bool {
    failure.isExcused(by: response, at: now, for: traits)
  }
}

extension PictureState {
  /// Why nothing is to be done about a picture; nil when it is due, and its entry says how.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - onlyDue: whether the run is unattended: only such a run leaves unavailable documents alone.
  /// - Returns: ``Freshness/fresh(until:)``, ``Freshness/rest(until:)`` or nil.
  func quiet(at now: UnixTime, onlyDue: Bool) -> Freshness? {
    let freshness = freshness(at: now)
    if case .rest = freshness, !onlyDue { return nil }
    return freshness
  }
}

extension PictureEntry {
  /// The action for a picture.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - traits: the traits of a request for it.
  ///   - onlyDue: whether the run is unattended.
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
  func excuses(_ failure: TransferFailure, at now: UnixTime, for traits: CacheKeyFields) -> Bool {
    failure.isExcused(by: response, at: now, for: traits)
  }
}

extension TransferFailure {
  /// Errors that may pass are excused, and a host that is not asked because it gave nothing else.
  fileprivate func isExcused(
    by word: String?,
    at now: UnixTime,
    for traits: CacheKeyFields?
  ) -> Bool {
    guard RetryPolicy.mayPass(self) || reason == .circuitOpen else { return false }
    return StoredResponse(word: word)?.excusesError(at: now, for: traits) ?? false
  }

  /// When the refusal expires by its own header fields; nil when they say nothing.
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
  /// Enters the validity that came with new bytes.
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
    // The transport lets no 304 of another version through; were there one, nothing would be known.
    return vouched(word ?? .none, answered)
  }

  private func vouched(_ word: StoredHeaders, _ answered: UnixTime) -> PictureEntry {
    var entry = self
    entry.response = word.text
    entry.expiry = word.expiry
    entry.checked = answered
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }
}

/// How long an unattended run does not ask again for a picture after a lasting failure.
///
/// The rest is as long as the picture has already failed: 1, 2, 4 hours and so on, and a day at most.
enum FailureBackoff {
  /// The longest rest in seconds: a day.
  static let longest: Int64 = 86_400

  /// How many seconds to leave a picture alone that failed at a moment.
  ///
  /// - Parameters:
  ///   - reason: why it failed.
  ///   - since: since when every attempt failed.
  ///   - now: the moment.
  /// - Returns: The rest; 0 for a reason after which every run asks again.
  static func seconds(after reason: FailureReason, since: UnixTime, now: UnixTime) -> Int64 {
    isRested(reason) ? min(longest, max(0, now - since)) : 0
  }

  /// Whether a picture rests after a failure.
  ///
  /// A 401 or 403 is lasting, but ends as soon as the user corrects a token: every run asks again.
  static func isRested(_ reason: FailureReason) -> Bool {
    reason.isLasting && !reason.isUnauthorized
  }
}

extension PictureEntry {
  /// Enters that the last attempt failed at a moment.
  ///
  /// `end` is the moment until which the origin itself said that the failure holds; a picture that rests does so at
  /// least until then.
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
/// The first line has the times of the request and the response, and the other data that decides on freshness. The
/// header fields that freshness and revalidation depend on follow, one a line. This type only stores them;
/// ``StoredResponse`` decides.
struct StoredHeaders: Sendable, Equatable {
  /// The fields as text; nil when there are none, as of a local file.
  var text: String?
  /// When it expires; long past when every use needs a request.
  var expiry: UnixTime

  /// Nothing was said.
  static let none = StoredHeaders(text: nil, expiry: 0)

  /// The validity that a held document came with, or that a 304 last renewed.
  static func held(_ entry: DocumentEntry) -> StoredHeaders {
    StoredHeaders(text: entry.response, expiry: entry.expiry)
  }

  /// The fields that are kept.
  ///
  /// Others would only make every row longer.
  private static let kept: [StaticString] = [
    "ETag", "Last-Modified", "Date", "Age", "Expires", "Cache-Control", "Vary",
  ]

  /// A validity as it was kept.
  init(text: String?, expiry: UnixTime) {
    self.text = text
    self.expiry = expiry
  }

  /// The validity that came with a new body.
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

  /// The validity that a 304 renews; nil when the 304 is about another version than the held one.
  ///
  /// RFC 9111, section 4.3.4. The transport has fetched that version by itself.
  init?(
    renewing text: String?,
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: CacheKeyFields
  ) {
    guard let held = StoredResponse(word: text) else {
      // An adopted file has no stored headers yet: the 304 brings the first.
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
      // By bytes: as characters this one line took a tenth of the instructions of a run that revalidates.
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
