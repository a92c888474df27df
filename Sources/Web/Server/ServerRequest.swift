import NIOHTTP1

/// A request whose head was read and judged, with its body.
struct ServerRequest: Sendable {
  /// What is done with the target; any other method was refused.
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
  }

  let method: Method
  let target: RequestTarget
  let headers: HTTPHeaders
  /// The body of a POST.
  var body: [UInt8] = []

  /// The value of a header field; several of one name are one list. (RFC 9110, section 5.3)
  func list(_ name: String) -> String? {
    let values = headers[name]
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// The value of a header field that has one value; nil when there are none or several.
  func single(_ name: String) -> String? {
    let values = headers[name]
    return values.count == 1 ? values[0] : nil
  }
}
