import Base
import HTTPServing
import NIOCore
import NIOHTTP1

/// An answer before it is framed: a status, header lines and a body.
struct Reply {
  var status: Int
  /// The header lines without `Date`, `Connection` and framing lines, which are added last.
  var fields: HTTPHeaders
  var body: ByteBuffer
  /// Whether the status allows a body. (RFC 9110, section 6.4.1)
  var mayHaveBody: Bool {
    status >= 200 && status != 204 && status != 304
  }

  init(_ status: Int, _ fields: [(String, String)] = [], body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.fields = HTTPHeaders(fields)
    self.body = body
  }

  /// An answer with an error status and a short JSON body.
  static func problem(_ status: Int, _ text: String, _ fields: [(String, String)] = []) -> Reply {
    let problem = (try? JSONMembers(["status": status, "error": text]).jsonLine()) ?? []
    return Reply(
      status,
      [("Content-Type", MediaType.json)] + fields,
      body: ByteBuffer(bytes: problem + [UInt8(ascii: "\n")])
    )
  }

  /// The fields that a 304 has too, to update a stored answer. (RFC 9110, section 15.4.5)
  private static func validators(of resource: Resource) -> [(String, String)] {
    var fields: [(String, String)] = []
    if let etag = resource.etag { fields.append(("ETag", etag)) }
    if let seconds = resource.lastModified {
      fields.append(("Last-Modified", UnixTime(Int64(seconds)).httpDate))
    }
    let usual = resource.type.hasPrefix("image/") ? "max-age=3600" : "max-age=0"
    fields.append(("Cache-Control", resource.cacheControl ?? usual))
    return fields
  }

  /// The status line and header lines with a given length, or without a length if `length` is nil.
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
  static func to(method: String, fields asked: HTTPHeaders, with resource: Resource) -> Reply {
    let version = ServedVersion(
      etag: resource.etag,
      modified: resource.lastModified.map { UnixTime(Int64($0)) }
    )
    switch version.verdict({ asked[$0] }) {
    case .failed: return .problem(412, "precondition failed")
    case .notModified: return Reply(304, validators(of: resource))
    case .passed: break
    }
    let fields =
      [("Content-Type", resource.type)] + validators(of: resource) + [("Accept-Ranges", "bytes")]
    let size = resource.body.readableBytes
    switch method == "GET" ? version.range(of: size, { asked[$0] }) : .whole {
    case .whole:
      return Reply(200, fields, body: resource.body)
    case .unsatisfiable:
      return .problem(416, "range not satisfiable", [("Content-Range", "bytes */\(size)")])
    case .part(let part):
      let place = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
      let start = resource.body.readerIndex + part.lowerBound
      let body = resource.body.getSlice(at: start, length: part.count) ?? ByteBuffer()
      return Reply(206, [("Content-Range", place)] + fields, body: body)
    }
  }
}
