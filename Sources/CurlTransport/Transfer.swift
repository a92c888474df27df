import Transport

/// One `fetch` from its submission to its completion, over all attempts and redirects.
final class Transfer: @unchecked Sendable {
  // SAFETY: the `let` properties are Sendable; the others are touched on the transfer thread only, to which the
  // inbox's mutex hands the object over.
  let request: Request
  let sink: any BodySink
  private let completion: @Sendable (Result<Response, TransferFailure>) -> Void

  /// The URL of the current hop.
  var url: WebURL
  /// The URLs of this attempt's earlier hops.
  var visited: [WebURL] = []
  /// The responses of this attempt's earlier hops.
  var redirects: [Redirect] = []
  /// The request's condition; nil once a 304 referred to another version.
  var condition: Condition?
  /// The number of attempts that were started.
  var attempts = 0
  /// The point at which the current attempt resumes the body; nil when it fetches the whole body.
  var resume: ResumePoint?
  /// Whether the sink holds, or may hold, bytes of an attempt that failed.
  var hasBegun = false
  /// Whether attempts may resume the body; set to false once a resumption failed, so that the next attempts fetch the
  /// whole body.
  var mayResume: Bool
  /// Whether to take the bytes of the body without decoding, as browsers do; set to true when the server named an
  /// unknown coding.
  ///
  /// If the response to a POST may not be compressed, this is true from the start, because a POST may not be
  /// repeated.
  var takesCodedBytes: Bool
  /// Whether a redirect turned the POST into a GET.
  var hasDroppedBody = false
  /// Whether the next attempt opens a connection of its own, because a reused connection failed.
  var wantsFreshConnection = false
  /// The failure of the last attempt.
  ///
  /// If there is one, the transfer counts as a retry.
  var failure: TransferFailure?
  /// The number by which the schedule knows the host of `url`.
  var host = 0
  /// The counter in which the transfer counts as under way: that of the host that it was last sent to.
  var counted: ActivityTally.Host?
  /// Whether the current hop's host may have a private address.
  var isTrusted = false
  /// The proxy of the current hop, if it goes through one.
  var proxy: Proxy?
  /// The address to give a proxy instead of the name of the current hop's host.
  var pin: IPAddress?
  /// The transfer's own number in the loop's table.
  var index = 0

  init(
    _ request: Request,
    _ sink: any BodySink,
    _ completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    self.request = request
    self.sink = sink
    self.completion = completion
    url = request.url
    condition = request.method == .get ? request.condition : nil
    mayResume = request.method == .get && !request.accept.compressed
    takesCodedBytes = request.method == .post && !request.accept.compressed
  }

  /// Whether the current hop is a POST.
  var isPost: Bool { request.method == .post && !hasDroppedBody }

  /// Whether the current hop may get credentials that belong to the first URL.
  var isAtFirstOrigin: Bool {
    visited.isEmpty
      || (url.scheme == request.url.scheme && url.port == request.url.port
        && url.host == request.url.host)
  }

  /// The validators for the current hop; nil if the hop leads to another resource than the condition's.
  var validators: Validators? {
    guard let condition else { return nil }
    let isItsSource = condition.source.map { $0 == url.resource } ?? visited.isEmpty
    return isItsSource ? condition.validators : nil
  }

  /// Prepares sink and state for an attempt from the first URL.
  func beginAttempt() {
    attempts += 1
    resume = mayResume ? sink.resumePoint : nil
    if let resume, resume.offset <= 0 || resume.validator.isEmpty { self.resume = nil }
    if resume == nil, hasBegun {
      sink.restart()
      hasBegun = false
    }
  }

  /// Goes back to the first URL.
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
  /// Follows a redirect.
  ///
  /// - Parameters:
  ///   - location: The `Location` field; nil if there is none.
  ///   - head: The head of the redirect.
  /// - Throws: ``TransferFailure`` when the redirect has no valid target, or one that is not allowed.
  func follow(_ location: String?, of head: ResponseHead?) throws(TransferFailure) {
    if let head {
      redirects.append(Redirect(head))
      if RedirectPolicy.dropsBody(head.status) { hasDroppedBody = true }
    }
    guard let location else { throw failure(.redirectInvalid, detail: "no Location") }
    var target: WebURL
    do throws(TransferFailure) {
      target = try CurlURLParser.parse(
        // Escape `${`, so that no text from an origin can be taken for a variable.
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

extension Redirect {
  /// Keeps the fields of a redirect's head that limit its freshness and its audience.
  fileprivate init(_ head: ResponseHead) {
    self.init(
      status: head.status,
      headers: head.headers.endToEnd.only([
        "Age", "Cache-Control", "Date", "Expires", "Last-Modified", "Vary",
      ])
    )
  }
}
