import Transport

extension Transfer {
  /// Moves on to where a redirect leads.
  ///
  /// - Parameters:
  ///   - location: the `Location` field, nil without one.
  ///   - head: the head of the answer that redirects.
  /// - Throws: ``TransferFailure`` when it leads nowhere, or where it may not.
  func follow(_ location: String?, of head: ResponseHead?) throws(TransferFailure) {
    if let head {
      redirects.append(Redirect(head))
      if RedirectPolicy.dropsBody(head.status) { hasDroppedBody = true }
    }
    guard let location else { throw failure(.redirectInvalid, detail: "no Location") }
    var target: WebURL
    do throws(TransferFailure) {
      target = try CurlURLParser.parse(
        // Nothing that an origin says can pass for a variable.
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
  /// Keeps of a redirect's head what tells how long it holds, and for whom.
  fileprivate init(_ head: ResponseHead) {
    self.init(
      status: head.status,
      headers: head.headers.endToEnd.only([
        "Age", "Cache-Control", "Date", "Expires", "Last-Modified", "Vary",
      ])
    )
  }
}
