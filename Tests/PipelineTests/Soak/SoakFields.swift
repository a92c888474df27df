import Base
import Transport

/// The header fields that control caching.
///
/// The origin writes them, and the model reads them.
struct SoakFields: Hashable, Sendable {
  /// The directives of `Cache-Control`.
  struct Control: Hashable, Sendable {
    var maxAge: Int64?
    var noCache = false
    var noStore = false
    var staleIfError: Int64?
    /// Directives without effect on a private cache.
    var others: [String] = []
  }

  var date: Int64?
  var age: Int64?
  var control: Control?
  /// The date in `Expires`.
  ///
  /// `.some(nil)` stands for an invalid date, which means that the response has already expired.
  var expires: Int64??
  var tag: String?
  var modified: Int64?
  var vary: String?

  /// The fields as header lines.
  var lines: [String] {
    var lines: [String] = []
    if let date { lines.append("Date: \(UnixTime(date).httpDate)") }
    if let age { lines.append("Age: \(age)") }
    if let control {
      var words: [String] = []
      if let maxAge = control.maxAge { words.append("max-age=\(maxAge)") }
      if control.noCache { words.append("no-cache") }
      if control.noStore { words.append("no-store") }
      if let seconds = control.staleIfError { words.append("stale-if-error=\(seconds)") }
      words += control.others
      lines.append("Cache-Control: \(words.joined(separator: ", "))")
    }
    if let expires { lines.append("Expires: \(expires.map { UnixTime($0).httpDate } ?? "0")") }
    if let tag { lines.append("ETag: \(tag)") }
    if let modified { lines.append("Last-Modified: \(UnixTime(modified).httpDate)") }
    if let vary { lines.append("Vary: \(vary)") }
    return lines
  }

  /// Whether a 304 with the validators of `new` may renew this version.
  ///
  /// The strongest validator that both have decides. (RFC 9111, section 4.3.4)
  func mayBeRenewed(by new: SoakFields) -> Bool {
    if let newTag = new.tag { return newTag == tag }
    guard let modified, let newModified = new.modified else { return true }
    return modified == newModified
  }

  /// The fields without all but the date of the version.
  var dateAlone: SoakFields { SoakFields(modified: modified) }

  /// The entity-tag without `W/`.
  var opaqueTag: Substring? { tag.map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] } }

  /// The stored fields after a 304 with the fields `new`.
  ///
  /// Fields that the 304 has too are replaced. `Age` and `Date` apply only to the answer that has them. (RFC 9111,
  /// section 3.2)
  func renewed(by new: SoakFields) -> SoakFields {
    SoakFields(
      date: new.date,
      age: new.age,
      control: new.control ?? control,
      expires: new.expires ?? expires,
      tag: new.tag ?? tag,
      modified: new.modified ?? modified,
      vary: new.vary ?? vary
    )
  }

  /// The number of seconds from `now` during which the response is fresh by the origin's declaration; nil if the origin
  /// declared none.
  ///
  /// (RFC 9111, sections 4.2.1 and 4.2.3)
  func lifetime(at now: Int64) -> Int64? {
    if vary == "*" { return 0 }
    let age = max(self.age ?? 0, now - (date ?? now), 0)
    if let control {
      if control.noCache || control.noStore { return 0 }
      if let maxAge = control.maxAge { return maxAge - age }
    }
    if let expires { return (expires ?? 0) - (date ?? now) - age }
    return nil
  }

  /// The longest heuristic lifetime in seconds: a tenth of the version's age, at most a day. (RFC
  /// 9111, section 4.2.2)
  func guess(at now: Int64) -> Int64 {
    guard let modified else { return 0 }
    let age = max(self.age ?? 0, now - (date ?? now), 0)
    return min(max(0, (date ?? now) - modified) / 10, 86_400) - age
  }
}

/// The time during which an answer needs no request.
struct SoakTerm: Hashable, Sendable {
  /// When the answer was received, by larder's clock.
  var since: Int64
  /// Before this time a request would be wrong.
  var surely: Int64
  /// From this time on a request is required.
  var perhaps: Int64

  /// If a clock is set back by at most this number of seconds, stored times that are then in the future are still
  /// trusted.
  static let tolerance: Int64 = 300

  /// The term of an answer after redirects, which is the shortest term of all redirects and the answer.
  init(_ hops: [(status: Int, fields: SoakFields)], at now: Int64) {
    since = now
    surely = .max
    perhaps = .max
    for (status, fields) in hops {
      let said = fields.lifetime(at: now)
      surely = min(surely, now + (said ?? 0))
      switch status {
      case 301, 308: perhaps = min(perhaps, now + (said ?? Int64.max / 2))
      case 302, 303, 307: perhaps = min(perhaps, now + (said ?? 0))
      default: perhaps = min(perhaps, now + (said ?? fields.guess(at: now)))
      }
    }
  }

  /// The term after an interrupted run, which may be the old or the new one.
  init(_ old: SoakTerm?, or new: SoakTerm?) {
    since = min(old?.since ?? .max, new?.since ?? .max)
    surely = .min
    perhaps = max(old?.perhaps ?? .min, new?.perhaps ?? .min)
  }

  /// Whether a request would be unnecessary.
  func forbids(askingAt now: Int64) -> Bool { now >= since && now < surely }
  /// Whether a request is required.
  func demands(askingAt now: Int64) -> Bool {
    now >= perhaps || (now < since - Self.tolerance && surely != .min)
  }
}
