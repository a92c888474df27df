import Cache
import Transport

/// What an origin said about a body, in the form that the index keeps.
///
/// The header fields that freshness and revalidation are judged by, one a line, after a line that
/// says when they were asked for and answered. The transport judges; this only keeps.
struct OriginWord: Sendable, Equatable {
  /// The fields as text; nil when nobody said anything, as of a local file.
  var text: String?
  /// When the word ends, in seconds since 1970; long past when it must always be asked again.
  var expiry: Int64

  /// No word at all.
  static let none = OriginWord(text: nil, expiry: 0)

  /// The word was taken back: there is nothing to ask with, not even a file's date.
  static let refuted = OriginWord(text: "", expiry: 0)

  /// The word that a held document came with or was last renewed by.
  static func held(_ entry: DocumentEntry) -> OriginWord {
    OriginWord(text: entry.response, expiry: entry.expiry)
  }

  /// Whether a held document needs no question at a moment.
  ///
  /// What was answered in the future was answered by a clock that has been set back since.
  static func isFresh(_ entry: DocumentEntry, at now: Int64) -> Bool {
    guard entry.expiry > now else { return false }
    let times = entry.response?.prefix { $0 != "\n" }.split(separator: " ") ?? []
    let answered = times.count == 2 ? Int64(times[1]) ?? 0 : 0
    return now >= answered - clockTolerance
  }

  private static let clockTolerance: Int64 = 300

  /// The fields that are kept.
  ///
  /// Others would only make every row longer.
  private static let kept: [StaticString] = [
    "ETag", "Last-Modified", "Date", "Age", "Expires", "Cache-Control", "Vary",
  ]

  private init(text: String?, expiry: Int64) {
    self.text = text
    self.expiry = expiry
  }

  /// The word that came with a new body.
  init(_ head: ResponseHead, asked: UnixTime, answered: UnixTime) {
    self.init(
      StoredResponse(
        status: 200,
        headers: Self.selected(head.headers),
        requestTime: asked,
        responseTime: answered
      )
    )
  }

  /// The word that a 304 renews.
  ///
  /// When the 304 speaks of another version than is held, nothing is left of it, and the next run
  /// fetches the body anew. (RFC 9111, section 4.3.4)
  init(renewing text: String?, by head: ResponseHead, asked: UnixTime, answered: UnixTime) {
    let held = Self.response(text)
    let fields = Self.selected(head.headers)
    if let held {
      let renewed = held.renewed(by: fields, requestTime: asked, responseTime: answered)
      self = renewed.map { OriginWord($0) } ?? .refuted
    } else {
      // An adopted file has no word of its own yet: the 304 gives it one.
      self.init(head, asked: asked, answered: answered)
    }
  }

  /// The word on a body that was not taken because a file of its length is held: how long it holds,
  /// and nothing to ask with, so that the body is fetched in full once that has ended.
  init(assuming head: ResponseHead, asked: UnixTime, answered: UnixTime) {
    self.init(
      StoredResponse(
        status: 200,
        headers: head.headers.only(["Date", "Age", "Expires", "Cache-Control", "Vary"]),
        requestTime: asked,
        responseTime: answered
      )
    )
  }

  private init(_ response: StoredResponse) {
    let fields = response.headers.text
    var text = String(response.requestTime.seconds)
    text.reserveCapacity(fields.utf8.count + 48)
    text += " "
    text += String(response.responseTime.seconds)
    text += "\n"
    text += fields
    self.init(text: text, expiry: response.expiry.seconds)
  }

  private static func selected(_ headers: Headers) -> Headers {
    headers.only(kept)
  }

  /// Reads back what is kept; nil when there is nothing, or nothing that makes sense.
  private static func response(_ text: String?) -> StoredResponse? {
    guard var text else { return nil }
    return text.withUTF8 { bytes in
      guard let end = bytes.firstIndex(of: 10),
        let space = bytes[..<end].firstIndex(of: UInt8(ascii: " ")),
        let asked = Int64(String(decoding: bytes[..<space], as: UTF8.self)),
        let answered = Int64(String(decoding: bytes[(space + 1)..<end], as: UTF8.self))
      else { return nil }
      return StoredResponse(
        status: 200,
        headers: Headers(text: UnsafeBufferPointer(rebasing: bytes[(end + 1)...])),
        requestTime: UnixTime(asked),
        responseTime: UnixTime(answered)
      )
    }
  }

  /// What asks whether a held document is still right; nothing when there is nothing to ask with.
  static func conditionalHeaders(for entry: DocumentEntry) -> Headers {
    response(entry.response)?.conditionalHeaders ?? Headers()
  }

  /// Whether a held picture's origin said that it may stand in for an error like this for a while.
  static func excuses(_ failure: TransferFailure, of entry: PictureEntry, at now: UnixTime) -> Bool
  {
    excuses(failure, text: entry.response, at: now)
  }

  /// Whether a held document's origin said that it may stand in for an error like this for a while.
  static func excuses(
    _ failure: TransferFailure,
    of entry: DocumentEntry,
    at now: UnixTime
  ) -> Bool {
    excuses(failure, text: entry.response, at: now)
  }

  /// Errors that may pass are excused, and a host that is not asked because it gave nothing else.
  private static func excuses(_ failure: TransferFailure, text: String?, at now: UnixTime) -> Bool
  {
    guard RetryPolicy.mayPass(failure) || failure.reason == .circuitOpen else { return false }
    return response(text)?.excusesError(at: now) ?? false
  }

  /// What asks whether a held picture is still right.
  ///
  /// A file that was adopted without its row has only its own date to ask with, which larder set
  /// to the origin's Last-Modified. (RFC 9110, section 13.1.3)
  static func conditionalHeaders(for entry: PictureEntry) -> Headers {
    if let text = entry.response { return response(text)?.conditionalHeaders ?? Headers() }
    guard let stamp = entry.stamp else { return Headers() }
    return ["If-Modified-Since": UnixTime(stamp.modified).httpDate]
  }
}

extension PictureEntry {
  /// Enters the word that came with new bytes.
  mutating func enter(_ head: ResponseHead, asked: UnixTime, answered: UnixTime) {
    let word = OriginWord(head, asked: asked, answered: answered)
    response = word.text
    expiry = word.expiry
    fetched = answered.seconds
    checked = answered.seconds
    lastModified = head.headers["Last-Modified"]
      .flatMap { UnixTime(httpDate: $0, now: answered) }.map(\.seconds)
  }

  /// The entry after the origin sent the head of a body of its length.
  func assumed(by head: ResponseHead, asked: UnixTime, answered: UnixTime) -> PictureEntry {
    var entry = self
    let word = OriginWord(assuming: head, asked: asked, answered: answered)
    entry.response = word.text
    entry.expiry = word.expiry
    entry.checked = answered.seconds
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }

  /// The entry after a 304.
  func renewed(by head: ResponseHead, asked: UnixTime, answered: UnixTime) -> PictureEntry {
    var entry = self
    let word = OriginWord(renewing: response, by: head, asked: asked, answered: answered)
    entry.response = word.text
    entry.expiry = word.expiry
    entry.checked = answered.seconds
    entry.failure = nil
    entry.failingSince = nil
    return entry
  }
}
