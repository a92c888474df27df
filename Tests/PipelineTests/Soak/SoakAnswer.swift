import Base
import Support

/// A request that the shop has received.
struct SoakRequest: Sendable {
  let url: String
  let ifNoneMatch: String?
  let ifModifiedSince: String?
  let range: String?
  let ifRange: String?

  /// Whether it is conditional.
  var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }

  init(_ received: ScriptedServer.Received) {
    // The head is parsed from bytes, because parsing text is too slow for thousands of heads.
    var fields: [String: String] = [:]
    for line in received.bytes.split(separator: UInt8(ascii: "\n")).dropFirst() {
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = line.dropFirst(name.count + 1).filter { $0 != UInt8(ascii: "\r") }
      let text = String(decoding: value, as: UTF8.self)
      fields[String(decoding: name, as: UTF8.self).lowercased()] = String(text.drop { $0 == " " })
    }
    url = "http://\(fields["host"] ?? "")\(received.path)"
    ifNoneMatch = fields["if-none-match"]
    ifModifiedSince = fields["if-modified-since"]
    range = fields["range"]
    ifRange = fields["if-range"]
  }
}

/// An answer of the shop: the bytes to send, and the conclusion that a client may draw from them.
struct SoakAnswer: Sendable {
  /// The conclusion that a careful client may draw from an answer.
  enum Worth: Sendable {
    /// The URL has this content now.
    case body(SoakContent)
    /// The stored content is current. It is the given content if the origin is honest.
    case same(SoakContent?)
    /// A 304 for another version, so that the content must be fetched again.
    case another
    /// The content is at another URL.
    case moved(String)
    /// There is nothing at the URL.
    case gone
    /// No conclusion is possible.
    case nothing

    /// A description for messages: the case, and the number of items of each section.
    var words: String {
      func count(_ content: SoakContent?) -> String {
        guard case .listing(let sections) = content else { return "" }
        return "of \(sections.map { "\($0.readable.count) + \($0.unreadable.count)" })"
      }
      return switch self {
      case .body(let content): "body \(count(content))"
      case .same(let content): "same \(content == nil ? "perhaps" : count(content))"
      case .another: "another"
      case .moved(let url): "moved to \(url)"
      case .gone: "gone"
      case .nothing: "nothing"
      }
    }
  }

  var status: Int
  var fields = SoakFields()
  var worth: Worth
  var actions: [ScriptedServer.Action]
}

extension SoakShop {
  /// The answer of the requested resource, in its current ``SoakMood``.
  func answer(_ request: SoakRequest) -> SoakAnswer {
    guard let resource = resources[request.url] else { return refusal(404) }
    var fields = resource.fields(at: time)
    switch resource.mood {
    case .status(let status): return refusal(status)
    case .reset: return SoakAnswer(status: 0, worth: .nothing, actions: [.reset])
    case .loop: return redirect(302, to: request.url, .nothing)
    case .nowhere:
      return redirect(302, to: "http://shop.test/nowhere", .moved("http://shop.test/nowhere"))
    case .otherTag where request.isConditional:
      fields.tag = "\"other\(age)\""
      return notModified(fields, .another)
    case .blind304:
      return notModified(
        SoakFields(date: fields.date),
        request.isConditional ? .same(nil) : .nothing
      )
    case .renamed:
      let content = SoakContent.listing([SoakSection(key: "", items: [SoakItem(id: "a")])])
      return whole(
        content.bytes,
        fields,
        resource.content.isOneSection ? .body(content) : .nothing
      )
    case .garbage(let text):
      // After a good page, a body without a list means that there are no more pages.
      let isVoid =
        ["null", "{\"items\": null}", "{\"items\": {}}", "{\"data\": []}"].contains(text)
      var worth = SoakAnswer.Worth.nothing
      if isVoid, case .listing = resource.content { worth = .gone }
      return whole(Array(text.utf8), fields, worth)
    default: break
    }
    if let moved = resource.moved {
      return redirect(moved.status, to: moved.url, .moved(moved.url))
    }
    if case .short(let count) = resource.mood, case .listing(let sections) = resource.content {
      let content = SoakContent.listing(
        sections.map { SoakSection(key: $0.key, items: Array($0.items.prefix(count))) }
      )
      if content != resource.content { fields.tag = fields.tag.map { _ in "\"short\(age)\"" } }
      fields.modified = fields.modified.map { _ in time }
      return whole(content.bytes, fields, .body(content))
    }
    if isUnchanged(fields, request) {
      return notModified(fields, .same(resource.isHonest ? resource.content : nil))
    }
    let bytes = resource.content.bytes
    switch resource.mood {
    case .cut:
      let half = Array(bytes.prefix(bytes.count / 2))
      return SoakAnswer(
        status: 200,
        fields: fields,
        worth: .nothing,
        actions: [.bytes(head(200, fields, length: bytes.count) + half), .close]
      )
    case .longer:
      let size = String(bytes.count + 1, radix: 16)
      return SoakAnswer(
        status: 200,
        fields: fields,
        worth: .nothing,
        actions: [
          .bytes(
            head(200, fields, more: ["Transfer-Encoding: chunked"]) + Array("\(size)\r\n".utf8)
              + bytes
          ),
          .close,
        ]
      )
    case .shorter:
      return SoakAnswer(
        status: 200,
        fields: fields,
        worth: .nothing,
        actions: [.bytes(head(200, fields, length: max(1, bytes.count - 9)) + bytes), .close]
      )
    default: break
    }
    if let offset = offset(request, fields, bytes) {
      let isWrong = resource.mood == .wrongRange
      let first = isWrong ? max(0, offset - 1) : offset
      let range = "Content-Range: bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
      return SoakAnswer(
        status: 206,
        fields: fields,
        worth: isWrong ? .nothing : .body(resource.content),
        actions: [
          .bytes(head(206, fields, length: bytes.count - first, more: [range]) + bytes[first...])
        ]
      )
    }
    return whole(bytes, fields, .body(resource.content))
  }

  /// Whether the request's conditions find the resource unchanged. (RFC 9110, section 13.2.2)
  private func isUnchanged(_ fields: SoakFields, _ request: SoakRequest) -> Bool {
    func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
    if let tag = request.ifNoneMatch { return fields.tag.map(opaque) == opaque(tag) }
    guard let modified = fields.modified,
      let since = request.ifModifiedSince.flatMap(UnixTime.init(httpDate:))
    else { return false }
    return modified <= since.seconds
  }

  /// The start of the requested range; nil if the whole content must be sent. (RFC 9110, section 14.2)
  private func offset(_ request: SoakRequest, _ fields: SoakFields, _ bytes: [UInt8]) -> Int? {
    guard let range = request.range, let proof = request.ifRange,
      let offset = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }), offset < bytes.count,
      proof == fields.tag || proof == fields.modified.map({ UnixTime($0).httpDate })
    else { return nil }
    return offset
  }

  private func refusal(_ status: Int) -> SoakAnswer {
    let isGone = status == 404 || status == 410
    return SoakAnswer(
      status: status,
      worth: isGone ? .gone : .nothing,
      actions: [.bytes(head(status, SoakFields(date: time), length: 0, more: ["Retry-After: 7"]))]
    )
  }

  private func redirect(_ status: Int, to url: String, _ worth: SoakAnswer.Worth) -> SoakAnswer {
    var fields = SoakFields(date: time)
    // Some redirects say how long they are fresh.
    if url.utf8.count % 3 == 0 { fields.control = SoakFields.Control(maxAge: 1_800) }
    return SoakAnswer(
      status: status,
      fields: fields,
      worth: worth,
      actions: [.bytes(head(status, fields, length: 0, more: ["Location: \(url)"]))]
    )
  }

  private func notModified(_ fields: SoakFields, _ worth: SoakAnswer.Worth) -> SoakAnswer {
    SoakAnswer(status: 304, fields: fields, worth: worth, actions: [.bytes(head(304, fields))])
  }

  private func whole(_ bytes: [UInt8], _ fields: SoakFields, _ worth: SoakAnswer.Worth)
    -> SoakAnswer
  {
    SoakAnswer(
      status: 200,
      fields: fields,
      worth: worth,
      actions: [.bytes(head(200, fields, length: bytes.count) + bytes)]
    )
  }

  private func head(
    _ status: Int,
    _ fields: SoakFields,
    length: Int? = nil,
    more: [String] = []
  ) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) Words"] + fields.lines + more
    if let length { lines.append("Content-Length: \(length)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }
}
