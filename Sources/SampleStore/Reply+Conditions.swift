import NIOCore

extension Reply {
  /// Answers GET or HEAD for a resource, preconditions first and ranges after them.
  ///
  /// The order is that of RFC 9110, section 13.2.2. A HEAD answer has the body here too; it is
  /// left out on the wire.
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

  /// A range counts only if it is of the same representation. (RFC 9110, section 13.1.5)
  private static func mayUseRange(ifRange: String?, _ resource: Resource) -> Bool {
    guard let ifRange else { return true }
    if ifRange.hasPrefix("\"") || ifRange.hasPrefix("W/") {
      return !ifRange.hasPrefix("W/") && ifRange == resource.etag
    }
    guard let seconds = resource.lastModified else { return false }
    return HTTPDate.seconds(ifRange) == seconds
  }
}
