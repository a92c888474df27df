import Transport

/// One call of `fetch`, from its start to its completion.
///
/// A transfer makes one or more attempts. In each attempt, it sends a request to its first URL, and another request for
/// each redirect that it follows. These requests are called hops.
final class Transfer: @unchecked Sendable {
  // SAFETY: the `let` properties are Sendable. The other properties are used only on the transfer thread. The mutex of
  // the mailbox passes the object to this thread.
  let request: Request
  let sink: any BodySink
  private let completion: Fetching.Callback

  /// The URL of the current hop.
  var url: WebURL
  /// The URLs of the earlier hops of this attempt.
  var visited: [WebURL] = []
  /// The redirects of the earlier hops of this attempt.
  var redirects: [Redirect] = []
  /// The condition of the request.
  ///
  /// Nil if there is none, or after a 304 that did not refer to the cached version.
  var condition: Condition?
  /// The number of attempts that were started.
  var attempts = 0
  /// The point from which the current attempt resumes the body.
  ///
  /// Nil if it fetches the whole body.
  var resume: ResumePoint?
  /// Whether the sink may have bytes of a failed attempt.
  var hasBegun = false
  /// Whether an attempt is allowed to resume the body.
  ///
  /// After a resumption that failed, the next attempts fetch the whole body.
  var mayResume: Bool
  /// Whether libcurl decodes the body.
  ///
  /// Otherwise larder decodes gzip itself, because libcurl takes gzip data that ends too early for whole. libcurl decodes
  /// the body if the request asks for certain codings, or if the server has chosen a coding other than gzip.
  var letsLibcurlDecode = false
  /// Whether a redirect turned the POST into a GET.
  var hasDroppedBody = false
  /// Whether the next attempt must open a new connection, because the last attempt failed on a reused one.
  var wantsFreshConnection = false
  /// The failure of the last attempt, or nil during the first attempt.
  var failure: TransferFailure?
  /// The number of the current hop's host in the schedule.
  var host = 0
  /// The number of the host for which this transfer is counted, which is the host of the last hop that was sent.
  var counted: Int?
  /// Whether the host of the current hop is allowed to have a private address.
  var isTrusted = false
  /// The proxy of the current hop, or nil if there is none.
  var proxy: Proxy?
  /// The address that the proxy gets instead of the name of the current hop's host.
  var pin: IPAddress?
  /// The number of this transfer in the schedule.
  var number = 0

  init(_ request: Request, _ sink: any BodySink, _ completion: @escaping Fetching.Callback) {
    self.request = request
    self.sink = sink
    self.completion = completion
    url = request.url
    condition = request.method == .get ? request.condition : nil
    mayResume = request.method == .get && !request.accept.compressed
    letsLibcurlDecode = request.headers.contains("Accept-Encoding") && !takesCodedBytes
  }

  /// Whether the body is passed to the sink without decoding.
  ///
  /// This is so for a POST whose response must not be compressed. Such a POST must not be repeated, so its response must
  /// not fail because of a wrong coding.
  var takesCodedBytes: Bool { request.method == .post && !request.accept.compressed }

  /// Whether the current hop is a POST.
  var isPost: Bool { request.method == .post && !hasDroppedBody }

  /// Whether the current hop has the same origin as the first URL.
  ///
  /// Only then is the hop allowed to carry the request's credentials.
  var isAtFirstOrigin: Bool {
    visited.isEmpty || url.origin == request.url.origin
  }

  /// The validators to send in the current hop.
  ///
  /// Nil if the validators are from a resource other than the hop's.
  var validators: Validators? {
    guard let condition else { return nil }
    let isItsSource = condition.source.map { $0 == url.resource } ?? visited.isEmpty
    return isItsSource ? condition.validators : nil
  }

  /// Prepares the sink and the transfer for the next attempt.
  func beginAttempt() {
    attempts += 1
    resume = mayResume ? sink.resumePoint : nil
    if let resume, resume.offset <= 0 || resume.validator.isEmpty { self.resume = nil }
    if resume == nil, hasBegun {
      sink.restart()
      hasBegun = false
    }
  }

  /// Makes the request to the first URL the current hop again.
  func rewind() {
    url = request.url
    visited.removeAll()
    redirects.removeAll()
    hasDroppedBody = false
  }

  func failure(_ reason: FailureReason, detail: String = "") -> TransferFailure {
    TransferFailure(reason: reason, url: url.redacted, detail: detail, attempts: attempts)
  }

  func complete(_ result: Result<Response, TransferFailure>) { completion(result) }
}

extension Transfer {
  /// Makes the request that a redirect leads to the current hop.
  ///
  /// - Parameters:
  ///   - location: The value of the `Location` field, or nil if there is none.
  ///   - head: The head of the redirect.
  /// - Throws: ``TransferFailure`` if the redirect has no valid URL, or if it must not be followed.
  func follow(_ location: String?, of head: ResponseHead?) throws(TransferFailure) {
    if let head {
      let fields = head.headers.endToEnd.only(StoredResponse.kept)
      redirects.append(Redirect(status: head.status, headers: fields))
      if RedirectPolicy.dropsBody(head.status) { hasDroppedBody = true }
    }
    guard let location else { throw failure(.redirectInvalid, detail: "no Location") }
    var target: WebURL
    do throws(TransferFailure) {
      target = try CurlURLParser().parse(
        // `${` is escaped, so that text from a server is never taken for a variable such as `${NAME}`.
        location.replacing("${", with: "$%7B"),
        relativeTo: url
      )
    } catch {
      let reason = error.reason == .schemeRefused ? error.reason : .redirectInvalid
      throw failure(reason, detail: "Location \(error.url)")
    }
    if url.userInfo != nil, target.userInfo == nil, target.origin == url.origin {
      target = target.with(userInfo: url.userInfo)
    }
    visited.append(url)
    if let reason = RedirectPolicy.refusal(of: target, after: visited) {
      throw failure(reason, detail: "to \(target.redacted)")
    }
    url = target
  }
}
