import Cache
import Transport

/// What an origin said about a body, in the form that the index keeps.
///
/// A first line says when the request was sent and when it was answered, and what else decides whether the
/// response still holds. The header fields that freshness and revalidation depend on follow, one a line. This type
/// only stores them; ``StoredResponse`` decides.
struct StoredValidity: Sendable, Equatable {
  /// The fields as text; nil when nobody said anything, as of a local file.
  var text: String?
  /// When it expires; long past when every use needs a request.
  var expiry: UnixTime

  /// Nothing was said.
  static let none = StoredValidity(text: nil, expiry: 0)

  /// The validity that a held document came with, or that a 304 last renewed.
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

  /// The validity that came with a new body.
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

  /// The validity that a 304 renews; nil when the 304 is about another version than the held one.
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
  /// Reads back what an ``StoredValidity`` keeps; nil when there is nothing, or nothing that makes sense.
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
