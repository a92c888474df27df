import Cache
import Transport

/// What an origin said about a body, in the form that the index keeps.
///
/// The header fields that freshness and revalidation are judged by, one a line, after a line that
/// says when they were asked for and answered, and what else decides whether they still hold. The
/// transport judges; this only keeps.
struct StoredValidity: Sendable, Equatable {
  /// The fields as text; nil when nobody said anything, as of a local file.
  var text: String?
  /// When the word ends; long past when it must always be asked again.
  var expiry: UnixTime

  /// No word at all.
  static let none = StoredValidity(text: nil, expiry: 0)

  /// The word that a held document came with or was last renewed by.
  static func held(_ entry: DocumentEntry) -> StoredValidity {
    StoredValidity(text: entry.response, expiry: entry.expiry)
  }

  /// The fields that are kept.
  ///
  /// Others would only make every row longer.
  private static let kept: [StaticString] = [
    "ETag", "Last-Modified", "Date", "Age", "Expires", "Cache-Control", "Vary",
  ]

  private init(text: String?, expiry: UnixTime) {
    self.text = text
    self.expiry = expiry
  }

  /// The word that came with a new body.
  init(_ head: ResponseHead, asked: UnixTime, answered: UnixTime, traits: RequestTraits) {
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

  /// The word that a 304 renews; nil when the 304 speaks of another version than is held.
  ///
  /// RFC 9111, section 4.3.4. The transport has fetched that version by itself.
  init?(
    renewing text: String?,
    by head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: RequestTraits
  ) {
    guard let held = StoredResponse(word: text) else {
      // An adopted file has no word of its own yet: the 304 gives it one.
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

  /// The word on a body that was not taken because a file of its length is held: how long it holds,
  /// and nothing to ask with, so that the body is fetched in full once that has ended.
  init(
    assuming head: ResponseHead,
    asked: UnixTime,
    answered: UnixTime,
    traits: RequestTraits
  ) {
    self.init(
      StoredResponse(
        head,
        keeping: ["Date", "Age", "Expires", "Cache-Control", "Vary"],
        requestTime: asked,
        responseTime: answered,
        traits: traits
      )
    )
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
  /// Reads back what an ``StoredValidity`` keeps; nil when there is nothing, or nothing that makes sense.
  init?(word text: String?) {
    guard var text else { return nil }
    let read: StoredResponse? = text.withUTF8 { bytes in
      guard let end = bytes.firstIndex(of: 10) else { return nil }
      let heading = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
      guard heading.count >= 2, let asked = Int64(heading[0]), let answered = Int64(heading[1])
      else { return nil }
      var values: [Substring: Substring] = [:]
      for part in heading.dropFirst(2) {
        let name = part.prefix { $0 != "=" }
        values[name] = part.dropFirst(name.count + 1)
      }
      let path = values["from"].flatMap { source in
        values["until"].flatMap { Int64($0) }.map {
          Path(source: String(source), expiry: UnixTime($0))
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
