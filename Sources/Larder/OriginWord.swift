import Cache
import Transport

/// What an origin said about a body, in the form that the index keeps.
///
/// The header fields that decide freshness and revalidation, one a line, and when they were asked
/// for and answered. The transport judges; this only keeps.
struct OriginWord: Sendable, Equatable {
  /// The fields as text; nil when nobody said anything, as of a local file.
  var text: String?
  /// When the word ends, in seconds since 1970; long past when it must always be asked again.
  var expiry: Int64

  /// No word at all.
  static let none = OriginWord(text: nil, expiry: 0)

  init(text: String?, expiry: Int64) {
    self.text = text
    self.expiry = expiry
  }

  init(_ head: ResponseHead, asked: UnixTime, answered: UnixTime) {
    let etag = head.headers["ETag"] ?? ""
    let modified = head.headers["Last-Modified"] ?? ""
    text = etag + "\n" + modified
    let control = head.headers["Cache-Control"] ?? ""
    let age = control.firstRange(of: "max-age=").map {
      control[$0.upperBound...].prefix { $0.isNumber }
    }
    expiry = answered.seconds + (age.flatMap { Int64($0) } ?? 0)
  }
  init(renewing: String?, by head: ResponseHead, asked: UnixTime, answered: UnixTime) {
    self.init(head, asked: asked, answered: answered)
    text = renewing
  }
  static func conditionalHeaders(for text: String?) -> Headers {
    var headers = Headers()
    let parts = (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    if let etag = parts.first, !etag.isEmpty { headers.append("If-None-Match", String(etag)) }
    if parts.count > 1, !parts[1].isEmpty { headers.append("If-Modified-Since", String(parts[1])) }
    return headers
  }
  static func conditionalHeaders(for entry: PictureEntry) -> Headers {
    conditionalHeaders(for: entry.response)
  }
  static func conditionalHeaders(for entry: DocumentEntry) -> Headers {
    conditionalHeaders(for: entry.response)
  }
  static func enter(
    _ head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    into entry: inout PictureEntry
  ) {
    let word = OriginWord(head, asked: asked, answered: answered)
    entry.response = word.text
    entry.expiry = word.expiry
    entry.fetched = answered.seconds
    entry.checked = answered.seconds
  }
  static func renewed(
    _ held: PictureEntry,
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime
  ) -> PictureEntry {
    var entry = held
    let word = OriginWord(renewing: held.response, by: head, asked: asked, answered: answered)
    entry.response = word.text
    entry.expiry = word.expiry
    entry.checked = answered.seconds
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }
}
