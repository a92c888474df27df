import Base
import Transport

/// The header fields that a cache judges by, as values: the origin writes them, the model reads them.
struct SoakFields: Hashable, Sendable {
  /// What `Cache-Control` says.
  struct Control: Hashable, Sendable {
    var maxAge: Int64?
    var noCache = false
    var noStore = false
    var staleIfError: Int64?
    /// Directives that change nothing for a private cache.
    var others: [String] = []
  }

  var date: Int64?
  var age: Int64?
  var control: Control?
  /// `Expires`; `.some(nil)` is one that is no date, which means that it is over.
  var expires: Int64??
  var tag: String?
  var modified: Int64?
  var vary: String?

  /// The fields as they are sent.
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

  /// Whether a 304 with these validators may speak of the version that has those: the strongest that
  /// both have decides. (RFC 9111, section 4.3.4)
  func mayBeRenewed(by new: SoakFields) -> Bool {
    if let newTag = new.tag { return newTag == tag }
    guard let modified, let newModified = new.modified else { return true }
    return modified == newModified
  }

  /// The entity-tag without the mark of a weak one.
  var opaqueTag: Substring? { tag.map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] } }

  /// What is known after a 304 brought `new`: what it repeats is replaced, an age and a date were
  /// those of the answer that carried them. (RFC 9111, section 3.2)
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

  /// How many seconds the origin said that an answer is good for, when it came at `now`.
  ///
  /// Nil when it said nothing of it. (RFC 9111, sections 4.2.1 and 4.2.3)
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

  /// How many seconds a cache may at most guess, where nothing was said: a tenth of the time that the
  /// version has stood, and a day. (RFC 9111, section 4.2.2)
  func guess(at now: Int64) -> Int64 {
    guard let modified else { return 0 }
    let age = max(self.age ?? 0, now - (date ?? now), 0)
    return min(max(0, (date ?? now) - modified) / 10, 86_400) - age
  }
}

/// Until when an answer needs no question.
struct SoakTerm: Hashable, Sendable {
  /// When it came, by the clock of the machine that larder runs on.
  var since: Int64
  /// Before this it must not be asked for again.
  var surely: Int64
  /// From this on it must be.
  var perhaps: Int64

  /// A clock may be set back by so much before what was stored "in the future" is doubted.
  static let tolerance: Int64 = 300

  /// The term of an answer at the end of some redirects: no better than the least of all.
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

  /// A term after a run that was cut short: it may be the old one or the new one.
  init(_ old: SoakTerm?, or new: SoakTerm?) {
    since = min(old?.since ?? .max, new?.since ?? .max)
    surely = .min
    perhaps = max(old?.perhaps ?? .min, new?.perhaps ?? .min)
  }

  /// Whether a question would be needless.
  func forbids(askingAt now: Int64) -> Bool { now >= since && now < surely }
  /// Whether there has to be a question.
  func demands(askingAt now: Int64) -> Bool {
    now >= perhaps || (now < since - Self.tolerance && surely != .min)
  }
}
