import NIOCore
import NIOHTTP1

extension Resource {
  /// Changes what is served, before conditions and ranges are judged.
  mutating func apply(_ fault: Fault) {
    if let bytes = fault.body { replaceBody(bytes) }
    if let type = fault.type { self.type = type }
    if fault.gzip {
      replaceBody(Gzip.stored(bytes))
      headers.set("Content-Encoding", "gzip")
    }
    if fault.dropsValidators { (etag, lastModified) = (nil, nil) }
  }

  private mutating func replaceBody(_ bytes: [UInt8]) {
    body = ByteBuffer(bytes: bytes)
    etag = Resource.etag(of: bytes)
  }
}

extension Reply {
  /// Changes status and header lines; an error status has a short body unless one was given.
  mutating func apply(_ fault: Fault) {
    if let code = fault.status {
      if code < 300 {
        status = code
      } else {
        let given = fault.body.map(ByteBuffer.init(bytes:))
        self = .problem(code, HTTPResponseStatus(statusCode: code).reasonPhrase.lowercased())
        if let given { body = given }
        if let type = fault.type { fields.set("Content-Type", type) }
      }
    }
    if let location = fault.location { fields.set("Location", location) }
    if let retryAfter = fault.retryAfter { fields.set("Retry-After", retryAfter) }
    for field in fault.headers { fields.set(field.name, field.value) }
  }
}
