import Base
import Cache
import Transport

// This file decides whether a row of the index is fresh, so that its document or picture needs no request. A document
// is a page of a section, which is a list of items, or the detail of an item. An unattended run is one of `larder
// warm`. Each row stores the two times that the decision needs. Header fields are parsed only if a request is
// necessary. For pictures, `DueRule` first decides by these times, in a run and in a dry run. `PictureEntry.freshness`
// then judges the rows that are due. If the header fields of the requests have changed, both first let the
// pictures with `Vary` expire (`Index.noteVary`).

extension DocumentEntry {
  /// The action for a cached document: no request, a conditional request, or a full one.
  ///
  /// `traits` are the request's header fields and credentials that the response can depend on.
  func freshness(at now: UnixTime, for traits: CacheKeyFields?) -> Freshness {
    StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits) ?? .refetch
  }

  /// Whether relative references in a body from the URL `base` resolve to the same URLs as in the cached body.
  func came(from base: WebURL?) -> Bool {
    // A local file has no header fields, and the base of its references never changes.
    guard let base, let stored = StoredResponse(word: response) else { return true }
    return stored.path.map { $0.source == base.resource } ?? (url == base.text)
  }

  /// The condition for a request that asks whether the cached document is current; nil if the document must be fetched
  /// in full.
  func condition(for traits: CacheKeyFields?) -> Condition? {
    guard let stored = StoredResponse(word: response), stored.answers(traits) else { return nil }
    return stored.condition
  }

  /// The action of an unattended run for a document that the server did not have.
  ///
  /// An unattended run requests such a document once a day, unless the header fields of the response say otherwise.
  func missingFreshness(at now: UnixTime) -> Freshness {
    guard let fetched else { return .refetch }
    // If the row has no header fields, its expiry comes from the failed response. If it has header fields, the expiry
    // comes from a body which says that the item has no detail. Such an expiry does not count.
    let isSaid = response == nil && expiry != 0
    let end = isSaid ? expiry : fetched + FailureBackoff.longest
    let window = FreshnessPolicy.window(answered: fetched, expiry: end)
    return window.contains(now) ? .rest(until: end) : .refetch
  }
}

extension PictureEntry {
  /// The action for a picture: no request, a conditional request, or a full one.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - traits: The header fields and credentials of the request that the response can depend on.
  ///   - onlyDue: Whether the run is unattended.
  /// - Returns: The action.
  func freshness(at now: UnixTime, for traits: CacheKeyFields?, onlyDue: Bool) -> Freshness {
    guard isHeld else {
      return onlyDue && isCurrent(at: now) ? .rest(until: expiry) : .refetch
    }
    guard let response else { return adoptedCondition.map(Freshness.revalidate) ?? .refetch }
    return StoredResponse(word: response)?.freshness(until: expiry, at: now, for: traits)
      ?? .refetch
  }

  /// The condition for a request about an adopted file.
  ///
  /// An adopted file was found in the cache without a row in the index, so its header fields are unknown.
  ///
  /// The condition contains the file's modification time, because larder sets that time to the picture's Last-Modified
  /// date. (RFC 9110, section 13.1.3)
  private var adoptedCondition: Condition? {
    stamp.map {
      Condition(
        Validators(entityTag: nil, lastModified: $0.modified.httpDate),
        knowsDateOnly: true
      )
    }
  }
}

extension TransferFailure {
  /// Whether it is allowed to use the cached version after this failure.
  ///
  /// The failure must be temporary, or the host must be excluded from the run after too many failures. The stored
  /// header fields must also allow the use with `stale-if-error`.
  func isExcused(by word: String?, at now: UnixTime, for traits: CacheKeyFields?) -> Bool {
    guard RetryPolicy.mayPass(self) || reason == .circuitOpen else { return false }
    return StoredResponse(word: word)?.excusesError(at: now, for: traits) ?? false
  }

  /// The time at which the failed response expires by its own header fields; nil if they say nothing about caching.
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
  /// Stores the header fields of a response with new bytes.
  mutating func enter(_ stored: StoredResponse) {
    response = stored.word
    expiry = stored.expiry
    fetched = stored.responseTime
    checked = stored.responseTime
    lastModified = stored.headers["Last-Modified"].flatMap(UnixTime.init(httpDate:))
  }

  /// The entry after the server answered 304.
  ///
  /// - Parameters:
  ///   - head: The head of the 304.
  ///   - asked: The time of the request.
  ///   - answered: The time of the 304.
  ///   - traits: The header fields and credentials of the request that the response can depend on.
  /// - Returns: The entry.
  func renewed(
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: CacheKeyFields
  ) -> PictureEntry {
    let stored = StoredResponse(
      renewing: response,
      by: head,
      asked: asked,
      answered: answered,
      traits: traits
    )
    var entry = self
    // The transport rejects a 304 for another version. If it did not, the entry would lose its caching fields here.
    entry.response = stored?.word
    entry.expiry = stored?.expiry ?? 0
    entry.checked = answered
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }
}

/// The time that an unattended run waits before it requests a picture again, after a failure that is likely to last.
///
/// The wait is as long as the picture has been failing, up to a day. With each failure it therefore doubles, for
/// example to 1, 2 and 4 hours.
enum FailureBackoff {
  /// The longest wait, a day, in seconds.
  static let longest: Int64 = 86_400

  /// The number of seconds to wait after a failure.
  ///
  /// - Parameters:
  ///   - reason: The reason for the failure.
  ///   - since: The time when the picture began to fail.
  ///   - now: The time of the failure.
  /// - Returns: The number of seconds; 0 if every run tries again after such a failure.
  static func seconds(after reason: FailureReason, since: UnixTime, now: UnixTime) -> Int64 {
    isRested(reason) ? min(longest, max(0, now - since)) : 0
  }

  /// Whether an unattended run waits after a failure for this reason.
  ///
  /// A 401 or 403 is likely to last, but it ends as soon as the user corrects a token. Every run therefore tries again.
  static func isRested(_ reason: FailureReason) -> Bool {
    reason.isLasting && !reason.isUnauthorized
  }
}

extension PictureEntry {
  /// Records that the last attempt failed.
  ///
  /// `end` is the time at which the failed response expires by its own header fields, if they give one. An unattended
  /// run waits at least until then.
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

// The form in which the index stores a response.
extension StoredResponse {
  /// Updates the header fields of the cached version with those of a 304; nil if the 304 is about another version than
  /// the cached one.
  ///
  /// If the 304 is about another version, the transport has already fetched that version in full. (RFC 9111, section
  /// 4.3.4)
  init?(
    renewing word: String?,
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: CacheKeyFields
  ) {
    guard let held = StoredResponse(word: word) else {
      // The cached version has no header fields yet if its file was found without a row in the index. Those of the 304
      // are its first.
      self.init(
        head,
        status: 200,
        requestTime: asked,
        responseTime: answered,
        traits: traits
      )
      return
    }
    let renewed = held.renewed(
      by: head,
      requestTime: asked,
      responseTime: answered,
      traits: traits
    )
    guard let renewed else { return nil }
    self = renewed
  }

  /// The response as a text.
  ///
  /// The first line has the times of the request and the response in Unix seconds, and further data, for example
  /// `1700000000 1700000001 owner=*`. The header fields follow, one on each line.
  var word: String {
    let fields = headers.text
    var text = String(requestTime.seconds)
    text.reserveCapacity(fields.utf8.count + 48)
    text += " "
    text += String(responseTime.seconds)
    if status != 200 { text += " status=\(status)" }
    if let path { text += " until=\(path.expiry.seconds) from=\(path.source)" }
    if let selection { text += "\(PictureEntry.selected)\(selection)" }
    if let owner {
      if owner != 0 { text += " owner=\(owner)" }
    } else {
      text += " owner=*"
    }
    text += "\n"
    text += fields
    return text
  }

  /// Parses the text that ``word`` makes; nil if there is no text, or it is malformed.
  init?(word text: String?) {
    guard var text else { return nil }
    func string(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
      String(decoding: bytes, as: UTF8.self)
    }
    let read: StoredResponse? = text.withUTF8 { bytes in
      guard let end = bytes.firstIndex(of: 10) else { return nil }
      // Split bytes, not characters. Splitting characters took a tenth of the instructions of a run in which most
      // pictures are revalidated.
      let parts = bytes[..<end].split(separator: UInt8(ascii: " "))
      guard parts.count > 1, let asked = Int64(string(parts[0])),
        let answered = Int64(string(parts[1]))
      else { return nil }
      var values: [String: String] = [:]
      for part in parts.dropFirst(2) {
        let name = part.prefix { $0 != UInt8(ascii: "=") }
        values[string(name)] = string(part[name.endIndex...].dropFirst())
      }
      let expiry = values["until"].flatMap { Int64($0) }
      let path = values["from"].flatMap { source in
        expiry.map { Path(source: source, expiry: UnixTime($0)) }
      }
      return StoredResponse(
        status: values["status"].flatMap { Int($0) } ?? 200,
        headers: Headers(lines: Array(bytes[(end + 1)...])),
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
