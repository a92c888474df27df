import FoundationEssentials
import Transport

/// All that decides which header lines a request sends: while it stays the same, so does libcurl's list.
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

  /// The lines of a request's first hop.
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

  /// Whether a transfer's header lines are these; asked for each, and nearly always so.
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

  /// What libcurl is told about codings; nil has nothing decoded.
  ///
  /// An empty text asks for all that libcurl can decode. `identity` asks for none, yet has what comes decoded all
  /// the same: some stores keep pictures compressed and send them so to everybody.
  var codings: String? {
    if takesCodedBytes { return nil }
    return accept.compressed ? "" : "identity"
  }

  /// The lines that libcurl is to send besides `Host` and those that frame the message.
  ///
  /// It prints what it is told here once for each request; lines that it makes itself, twice.
  func list(userAgent: String) -> HeaderList {
    var list = HeaderList()
    list.append(fields(userAgent: userAgent))
    if let condition { list.append(condition.conditionalHeaders) }
    if let resume {
      list.append("Range", "bytes=\(resume.offset)-")
      list.append("If-Range", resume.validator)
    }
    // libcurl before 8.0 signs a line that it is told to leave out, which is then missing.
    if isPost, !isSigned {
      // A server that does not know `Expect: 100-continue` would cost a second.
      list.suppress("Expect")
      if isOpen("Content-Type") { list.suppress("Content-Type") }
    }
    return list
  }

  /// The lines that may decide what is answered, but for those of codings that libcurl writes itself.
  func fields(userAgent: String) -> Headers {
    var fields = headers
    fields.append(credentials)
    // libcurl signs every line that it is given, and proxies may change those below.
    if isSigned { return fields }
    if isOpen("User-Agent") { fields.append("User-Agent", userAgent) }
    if isOpen("Accept") { fields.append("Accept", accept.value) }
    if isOpen("Accept-Encoding"), codings != "" { fields.append("Accept-Encoding", "identity") }
    if let userInfo, isOpen("Authorization") {
      fields.append(
        "Authorization",
        "Basic " + Data(percentDecoded(userInfo)).base64EncodedString()
      )
    }
    return fields
  }

  private func isOpen(_ name: String) -> Bool {
    !headers.contains(name) && !credentials.contains(name)
  }
}
