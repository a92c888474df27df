/// Decides about one redirect. (RFC 9110, section 15.4)
package enum RedirectPolicy {
  /// The most hops that one request may take.
  package static let limit = 10

  /// Whether a status sends a request elsewhere.
  package static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// Whether a redirect with this status turns a POST that only queries into a GET: 303. (RFC 9110, section 15.4.4)
  ///
  /// After 301 and 302 the body is sent again: without it, the query would be a different one.
  package static func dropsBody(_ status: Int) -> Bool { status == 303 }

  /// Judges the step to `target` after `visited`, the URLs fetched so far with the current one last.
  ///
  /// - Parameters:
  ///   - target: Where `Location` leads.
  ///   - visited: At least one URL.
  /// - Returns: Why not to follow, nil to follow.
  package static func refusal(of target: WebURL, after visited: [WebURL]) -> FailureReason? {
    if visited.last?.scheme == .https, target.scheme == .http { return .redirectDowngrade }
    if visited.contains(where: { $0.text == target.text }) { return .redirectLoop }
    if visited.count > limit { return .tooManyRedirects }
    return nil
  }
}
