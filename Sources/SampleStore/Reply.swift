import CGlibc
import Glibc
import NIOCore
import NIOHTTP1

/// An answer before it is framed: a status, header lines and a body.
struct Reply {
  var status: Int
  /// The header lines without `Date`, `Connection` and framing lines, which are added last.
  var fields: [HeaderField]
  var body: ByteBuffer
  /// Whether the status allows a body. (RFC 9110, section 6.4.1)
  var mayHaveBody: Bool {
    status >= 200 && status != 204 && status != 304
  }

  init(_ status: Int, _ fields: [HeaderField] = [], body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// An answer with status 200 and the whole resource.
  static func whole(_ resource: Resource) -> Reply {
    var fields = [HeaderField("Content-Type", resource.type)] + validators(of: resource)
    fields.append(HeaderField("Accept-Ranges", "bytes"))
    return Reply(200, fields + resource.headers, body: resource.body)
  }

  /// An answer with status 304 and the fields that update a stored answer. (RFC 9110, section 15.4.5)
  static func notModified(_ resource: Resource) -> Reply {
    let kept = ["content-location", "expires", "vary"]
    let extra = resource.headers.filter { field in kept.contains { field.isNamed($0) } }
    return Reply(304, validators(of: resource) + extra)
  }

  /// An answer with an error status and a short JSON body.
  static func problem(_ status: Int, _ text: String, _ fields: [HeaderField] = []) -> Reply {
    let body = "{\"status\":\(status),\"error\":\(JSONText.quoted(text))}\n"
    return Reply(
      status,
      [HeaderField("Content-Type", MediaType.json)] + fields,
      body: ByteBuffer(string: body)
    )
  }

  private static func validators(of resource: Resource) -> [HeaderField] {
    var fields: [HeaderField] = []
    if let etag = resource.etag { fields.append(HeaderField("ETag", etag)) }
    if let seconds = resource.lastModified {
      fields.append(HeaderField("Last-Modified", HTTPDate.text(seconds)))
    }
    if let rule = resource.cacheControl { fields.append(HeaderField("Cache-Control", rule)) }
    return fields
  }

  /// The status line and header lines, with the correct length.
  ///
  /// The caller adds the rest of the head.
  var rendered: ByteBuffer {
    rendered(length: mayHaveBody ? body.readableBytes : nil)
  }

  /// The status line and header lines with a given length; nil leaves the length out.
  func rendered(length: Int?) -> ByteBuffer {
    var head = ByteBuffer()
    head.reserveCapacity(384)
    let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
    head.writeString("HTTP/1.1 \(status) \(phrase)\r\n")
    for field in fields {
      head.writeString(field.name)
      head.writeStaticString(": ")
      head.writeString(field.value)
      head.writeStaticString("\r\n")
    }
    if let length { head.writeString("Content-Length: \(length)\r\n") }
    return head
  }
}

extension Reply {
  /// Answers a GET or HEAD: evaluates first preconditions, then ranges.
  ///
  /// The order is from RFC 9110, section 13.2.2. The reply to a HEAD also has the body, which ``WirePlan`` leaves out.
  static func to(method: String, fields: [HeaderField], with resource: Resource) -> Reply {
    switch Precondition(fields, resource) {
    case .failed: return .problem(412, "precondition failed")
    case .notModified: return .notModified(resource)
    case .passed: break
    }
    let whole = Reply.whole(resource)
    guard method == "GET", let range = fields["Range"],
      mayUseRange(ifRange: fields["If-Range"], resource)
    else { return whole }
    switch ByteRange(range, size: resource.body.readableBytes) {
    case .whole:
      return whole
    case .unsatisfiable:
      let size = HeaderField("Content-Range", "bytes */\(resource.body.readableBytes)")
      return .problem(416, "range not satisfiable", [size])
    case .part(let part):
      let size = resource.body.readableBytes
      let place = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
      var reply = whole
      reply.status = 206
      reply.fields.insert(HeaderField("Content-Range", place), at: 0)
      let start = resource.body.readerIndex + part.lowerBound
      reply.body = resource.body.getSlice(at: start, length: part.count) ?? ByteBuffer()
      return reply
    }
  }

  /// Whether `If-Range` allows a partial answer. (RFC 9110, section 13.1.5)
  private static func mayUseRange(ifRange: String?, _ resource: Resource) -> Bool {
    guard let ifRange else { return true }
    if ifRange.hasPrefix("\"") || ifRange.hasPrefix("W/") {
      return !ifRange.hasPrefix("W/") && ifRange == resource.etag
    }
    guard let seconds = resource.lastModified else { return false }
    return HTTPDate.seconds(ifRange) == seconds
  }
}

/// The result of the conditions of a GET or HEAD, such as `If-None-Match`. (RFC 9110, section 13)
enum Precondition: Equatable {
  case passed, failed, notModified

  init(_ fields: [HeaderField], _ resource: Resource) {
    if let list = fields.list("If-Match") {
      guard Self.matches(list, resource.etag, weakly: false) else {
        self = .failed
        return
      }
    } else if let before = fields["If-Unmodified-Since"].flatMap(HTTPDate.seconds),
      let changed = resource.lastModified, changed > before
    {
      self = .failed
      return
    }
    if let list = fields.list("If-None-Match") {
      self = Self.matches(list, resource.etag, weakly: true) ? .notModified : .passed
    } else if let since = fields["If-Modified-Since"].flatMap(HTTPDate.seconds),
      let changed = resource.lastModified, changed <= since
    {
      self = .notModified
    } else {
      self = .passed
    }
  }

  /// Whether a list of entity tags contains the resource's tag, or is `*`. (RFC 9110, section 8.8.3.2)
  static func matches(_ list: String, _ etag: String?, weakly: Bool) -> Bool {
    if list == "*" { return true }
    guard let etag else { return false }
    return tags(list).contains { tag in
      if tag.hasPrefix("W/") || etag.hasPrefix("W/") {
        return weakly && opaque(tag) == opaque(etag)
      }
      return tag == etag
    }
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// Splits a list at commas outside quotes, because a tag may contain commas.
  private static func tags(_ list: String) -> [String] {
    var tags: [String] = []
    var tag = ""
    var quoted = false
    for character in list {
      if character == "\"" { quoted.toggle() }
      if character == ",", !quoted {
        tags.append(tag)
        tag = ""
      } else if quoted || character != " " {
        tag.append(character)
      }
    }
    return (tags + [tag]).filter { !$0.isEmpty }
  }
}

/// The part of a body that a `Range` header selects. (RFC 9110, section 14.2)
enum ByteRange: Equatable {
  /// The whole body: for other units than bytes, for several ranges and for malformed values.
  case whole
  case part(Range<Int>)
  case unsatisfiable

  init(_ text: String, size: Int) {
    self = Self.read(text, size) ?? .whole
  }

  private static func read(_ text: String, _ size: Int) -> ByteRange? {
    let pair = text.split(separator: "=", maxSplits: 1)
    guard pair.count == 2, pair[0].lowercased() == "bytes" else { return nil }
    let ends = pair[1].filter { $0 != " " }.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    // A number that overflows Int is beyond the end of any body.
    let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? Int.max }
    switch (numbers[0], numbers[1]) {
    case (nil, nil):
      return nil
    case (nil, let count?):
      return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    case (let first?, let last):
      if let last, last < first { return nil }
      guard first < size else { return .unsatisfiable }
      return .part(first..<min(size - 1, last ?? Int.max) + 1)
    }
  }
}

/// Writes and parses the dates of HTTP, as seconds since 1970. (RFC 9110, section 5.6.7)
enum HTTPDate {
  /// A date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int) -> String { written(seconds, "%a, %d %b %04Y %T GMT") }

  /// A date such as `1994-11-06T08:49:37Z`. (RFC 3339)
  static func rfc3339(_ seconds: Int) -> String { written(seconds, "%04Y-%m-%dT%TZ") }

  /// Parses a date in the preferred form; nil for the two obsolete forms.
  ///
  /// RFC 9110 requires servers to accept the obsolete forms too, but no client of this store sends them.
  static func seconds(_ text: String) -> Int? {
    var (text, parts) = (text, tm())
    let form = text.withUTF8 { larder_read_date($0.baseAddress, $0.count, &parts) }
    return form == 0 ? timegm(&parts) : nil
  }

  private static func written(_ seconds: Int, _ form: String) -> String {
    String(unsafeUninitializedCapacity: 40) {
      larder_write_date($0.baseAddress, $0.count, form, seconds)
    }
  }
}
