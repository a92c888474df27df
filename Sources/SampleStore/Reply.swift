import NIOCore
import NIOHTTP1

/// An answer before it meets the wire: a status, header lines, a body.
struct Reply {
  var status: Int
  /// Without `Date`, `Connection` and the framing, which come last.
  var fields: [HeaderField]
  var body: ByteBuffer
  /// Whether the status lets a body follow. (RFC 9110, section 6.4.1)
  var mayHaveBody: Bool {
    status >= 200 && status != 204 && status != 304
  }

  init(_ status: Int, _ fields: [HeaderField] = [], body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The whole resource with 200.
  static func whole(_ resource: Resource) -> Reply {
    var fields = [HeaderField("Content-Type", resource.type)] + validators(of: resource)
    fields.append(HeaderField("Accept-Ranges", "bytes"))
    return Reply(200, fields + resource.headers, body: resource.body)
  }

  /// 304: what a stored answer is brought up to date with. (RFC 9110, section 15.4.5)
  static func notModified(_ resource: Resource) -> Reply {
    let kept = ["content-location", "expires", "vary"]
    let extra = resource.headers.filter { field in kept.contains { field.isNamed($0) } }
    return Reply(304, validators(of: resource) + extra)
  }

  /// A short JSON body that names the trouble.
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

  /// Status line and header lines with the true length; the caller ends the head.
  var rendered: ByteBuffer {
    rendered(length: mayHaveBody ? body.readableBytes : nil)
  }

  /// The same with any length, or with none.
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
