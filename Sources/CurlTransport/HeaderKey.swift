import Base
import CCurl
import FoundationEssentials
import Transport

/// The values that determine the header lines of a request.
///
/// An ``Exchange`` keeps libcurl's list of header lines. If the values are the same for its next request, it uses this
/// list again.
struct HeaderKey: Equatable {
  private var headers: Headers
  private var credentials: Headers
  private let accept: Request.Accept
  private var userInfo: String?
  private var resume: ResumePoint?
  private var condition: Validators?
  private var isPost: Bool
  /// Whether libcurl decodes the body.
  ///
  /// See ``Transfer/letsLibcurlDecode``.
  private(set) var letsLibcurlDecode = false
  private let isSigned: Bool

  /// Makes the key for the current request of a transfer, which may be the request after a redirect.
  init(_ transfer: Transfer) {
    self.init(transfer.request)
    if transfer.hasDroppedBody { headers.remove("Content-Type") }
    if !transfer.isAtFirstOrigin {
      headers.remove("Authorization")
      headers.remove("Cookie")
      credentials = Headers()
    }
    userInfo = transfer.url.userInfo
    resume = transfer.resume
    condition = transfer.validators
    isPost = transfer.isPost
    letsLibcurlDecode = transfer.letsLibcurlDecode
  }

  /// Makes the key for the first attempt of a request, which has no redirect, no condition and no range.
  init(_ request: Request) {
    headers = request.headers
    credentials = request.credentials
    accept = request.accept
    userInfo = request.url.userInfo
    isPost = request.method == .post
    isSigned = request.signing != nil
  }

  /// The header lines to send.
  ///
  /// libcurl adds `Host` and the lines about the message's length, such as `Content-Length`.
  ///
  /// The list contains as many lines as possible, because libcurl needs more time for a line that it adds itself.
  func list(userAgent: String) -> HeaderList {
    var lines = fields(userAgent: userAgent)
    if let condition { lines.append(condition.conditionalHeaders) }
    if let resume {
      lines.append("Range", "bytes=\(resume.offset)-")
      lines.append("If-Range", resume.validator)
    }
    var list = HeaderList()
    list.append(lines)
    // libcurl before 8.0 also signs lines that it is told to leave out. Then the signature would be wrong.
    if isPost, !isSigned {
      // libcurl would add `Expect: 100-continue`, and would wait for a second if the server ignores it.
      list.suppress("Expect")
      if isOpen("Content-Type") { list.suppress("Content-Type") }
    }
    return list
  }

  /// The header fields that the response may depend on.
  func fields(userAgent: String) -> Headers {
    var fields = headers
    fields.append(credentials)
    // libcurl signs every line in the list, but proxies may change the lines that are added below.
    if isSigned { return fields }
    if isOpen("User-Agent") { fields.append("User-Agent", userAgent) }
    if isOpen("Accept") { fields.append("Accept", accept.value) }
    if isOpen("Accept-Encoding") {
      fields.append("Accept-Encoding", accept.compressed ? "gzip" : "identity")
    }
    if let userInfo, isOpen("Authorization") {
      fields.append(
        "Authorization",
        "Basic " + Data(PercentEncoding.decoded(userInfo.utf8)).base64EncodedString()
      )
    }
    return fields
  }

  /// Whether neither the headers nor the credentials contain a field with this name.
  private func isOpen(_ name: String) -> Bool {
    !headers.contains(name) && !credentials.contains(name)
  }
}

/// A list of lines in libcurl's form (`curl_slist`).
///
/// It is freed when the value is destroyed.
struct HeaderList: ~Copyable {
  /// libcurl's list, or nil while the list is empty.
  private(set) var raw: UnsafeMutablePointer<curl_slist>?

  init() {}

  deinit { larder_slist_free(raw) }

  /// Adds fields, except the fields about the message's length.
  ///
  /// Only libcurl may write these.
  mutating func append(_ headers: Headers) {
    let own = ["Content-Length", "Transfer-Encoding"]
    for (name, value) in headers.fields
    where !own.contains(where: { $0.equalsIgnoringCase(name) }) {
      // libcurl ignores a line that ends with a colon. A semicolon instead of the colon means that the value is empty.
      append(line: value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
  }

  /// Prevents libcurl from adding a field with this name.
  mutating func suppress(_ name: String) { append(line: name + ":") }

  /// Adds a line without a change.
  mutating func append(line: String) {
    if let longer = larder_slist_append(raw, line) { raw = longer }
  }
}
