import Base
import CCurl
import FoundationEssentials
import Transport

/// Everything that determines the header lines of a request; as long as it is equal, libcurl's list of lines is
/// reused.
struct HeaderKey: Equatable {
  let headers: Headers
  let credentials: Headers
  let accept: Request.Accept
  let userInfo: String?
  let resume: ResumePoint?
  let condition: Validators?
  let isPost: Bool
  let takesCodedBytes: Bool
  let isSigned: Bool

  init(_ transfer: Transfer) {
    let request = transfer.request
    let atHome = transfer.isAtFirstOrigin
    if atHome, !transfer.hasDroppedBody {
      headers = request.headers
      credentials = request.credentials
    } else if atHome {
      var kept = request.headers
      kept.remove("Content-Type")
      headers = kept
      credentials = request.credentials
    } else {
      var kept = request.headers
      if transfer.hasDroppedBody { kept.remove("Content-Type") }
      kept.remove("Authorization")
      kept.remove("Cookie")
      headers = kept
      credentials = Headers()
    }
    accept = request.accept
    userInfo = transfer.url.userInfo
    resume = transfer.resume
    condition = transfer.validators
    isPost = transfer.isPost
    takesCodedBytes = transfer.takesCodedBytes
    isSigned = request.signing != nil
  }

  /// The key of a request's first hop.
  init(_ request: Request) {
    headers = request.headers
    credentials = request.credentials
    accept = request.accept
    userInfo = request.url.userInfo
    resume = nil
    condition = nil
    isPost = request.method == .post
    takesCodedBytes = false
    isSigned = request.signing != nil
  }

  /// Whether a transfer has these header lines.
  ///
  /// This is checked for each transfer, and nearly always true.
  func fits(_ transfer: Transfer) -> Bool {
    let request = transfer.request
    guard transfer.isAtFirstOrigin, !transfer.hasDroppedBody else {
      return self == HeaderKey(transfer)
    }
    return headers == request.headers && credentials == request.credentials
      && accept == request.accept && userInfo == transfer.url.userInfo && resume == transfer.resume
      && condition == transfer.validators
      && isPost == (request.method == .post) && takesCodedBytes == transfer.takesCodedBytes
      && isSigned == (request.signing != nil)
  }

  /// The codings that libcurl is told to accept; nil disables decoding.
  ///
  /// An empty text asks for all codings that libcurl can decode. `identity` asks for no coding. A coded body is
  /// nevertheless decoded, because some stores keep pictures compressed and send them to everyone in that form.
  var codings: String? {
    if takesCodedBytes { return nil }
    return accept.compressed ? "" : "identity"
  }

  /// The header lines to send, without `Host` and the lines that frame the message: libcurl writes those itself.
  ///
  /// A line in this list is cheaper than a line that libcurl adds by itself: libcurl formats the former once for each
  /// request, the latter twice.
  func list(userAgent: String) -> HeaderList {
    var list = HeaderList()
    list.append(fields(userAgent: userAgent))
    if let condition { list.append(condition.conditionalHeaders) }
    if let resume {
      list.append("Range", "bytes=\(resume.offset)-")
      list.append("If-Range", resume.validator)
    }
    // libcurl before 8.0 signs even a line that it is told to leave out, and the signature would then cover a missing
    // line.
    if isPost, !isSigned {
      // With `Expect: 100-continue`, a request to a server that does not know the field would wait for a second.
      list.suppress("Expect")
      if isOpen("Content-Type") { list.suppress("Content-Type") }
    }
    return list
  }

  /// The lines that may select the response, without the `Accept-Encoding` that libcurl may write itself.
  func fields(userAgent: String) -> Headers {
    var fields = headers
    fields.append(credentials)
    // libcurl signs every line in the list, and proxies may change the lines that are added below.
    if isSigned { return fields }
    if isOpen("User-Agent") { fields.append("User-Agent", userAgent) }
    if isOpen("Accept") { fields.append("Accept", accept.value) }
    if isOpen("Accept-Encoding"), codings != "" { fields.append("Accept-Encoding", "identity") }
    if let userInfo, isOpen("Authorization") {
      fields.append(
        "Authorization",
        "Basic " + Data(PercentEncoding.decoded(userInfo.utf8)).base64EncodedString()
      )
    }
    return fields
  }

  private func isOpen(_ name: String) -> Bool {
    !headers.contains(name) && !credentials.contains(name)
  }
}

/// A libcurl string list of header lines, freed exactly once.
struct HeaderList: ~Copyable {
  /// The list; nil while it is empty.
  ///
  /// Only the handle wrappers use it.
  private(set) var raw: UnsafeMutablePointer<curl_slist>?

  init() {}

  deinit { larder_slist_free(raw) }

  /// Adds a field.
  mutating func append(_ name: String, _ value: String) {
    var (name, value) = (name, value)
    name.withUTF8 { name in value.withUTF8 { append(name, $0) } }
  }

  /// Adds fields, except those that only libcurl may write because they say where the message ends.
  mutating func append(_ headers: Headers) {
    headers.lines.withUnsafeBufferPointer { bytes in
      for line in HeaderLines(bytes)
      where !line.isNamed("Content-Length") && !line.isNamed("Transfer-Encoding") {
        append(
          UnsafeBufferPointer(rebasing: bytes[line.name]),
          UnsafeBufferPointer(rebasing: bytes[line.value])
        )
      }
    }
  }

  /// Keeps libcurl from sending a header that it adds by itself.
  mutating func suppress(_ name: String) { append(line: name + ":") }

  /// Adds a line unchanged.
  mutating func append(line: String) {
    if let longer = larder_slist_append(raw, line) { raw = longer }
  }

  private mutating func append(
    _ name: UnsafeBufferPointer<UInt8>,
    _ value: UnsafeBufferPointer<UInt8>
  ) {
    // libcurl drops a line that ends at its colon; a semicolon tells it that the value is empty on purpose.
    let between: StaticString = value.isEmpty ? ";" : ": "
    let count = name.count + between.utf8CodeUnitCount + value.count
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 1) { text in
      var end = text.update(fromContentsOf: name)
      between.withUTF8Buffer { end = text[end...].update(fromContentsOf: $0) }
      end = text[end...].update(fromContentsOf: value)
      text[end] = 0
      text.withMemoryRebound(to: CChar.self) {
        if let longer = larder_slist_append(raw, $0.baseAddress) { raw = longer }
      }
    }
  }
}
