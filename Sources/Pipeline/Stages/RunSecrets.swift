import Catalog
import FoundationEssentials
import Synchronization
import Transport

/// What a run sends and nobody is to see, so that what an origin repeats of it is not shown.
final class RunSecrets: Sendable {
  private let veil: Mutex<SecretVeil>

  /// Hides credentials, the user information of URLs and the environment's part of them.
  init(_ credentials: Headers, _ named: NamedOrigins, _ variables: URLVariables) {
    var veil = SecretVeil()
    for field in credentials.fields { veil.hide(field.value) }
    for value in named.pictureHeaders.values { veil.hide(value) }
    for value in variables.values.values { veil.hide(value) }
    for userInfo in named.givenUserInfo {
      let parts = userInfo.split(separator: ":", maxSplits: 1)
      if let secret = parts.last { veil.hide(String(secret).removingPercentEncoding ?? "") }
    }
    self.veil = Mutex(veil)
  }

  /// Hides one more.
  func hide(_ secret: String) {
    veil.withLock { $0.hide(secret) }
  }

  /// What is hidden now.
  var present: SecretVeil { veil.withLock(\.self) }

  /// A text without them.
  func applied(to text: String) -> String { present.applied(to: text) }
}

extension TransferFailure {
  /// The failure of a document with what its origin says about it, and what probably helps.
  ///
  /// - Parameters:
  ///   - request: What was asked.
  ///   - hasHeaders: Whether the catalog file gives headers.
  ///   - secrets: What the origin may repeat and nobody is to see.
  /// - Returns: The failure, with more in its detail.
  func explained(
    _ request: Request,
    hasHeaders: Bool,
    hiding secrets: RunSecrets
  ) -> TransferFailure {
    guard let status, reason == .http(status) else { return self }
    var parts = detail.isEmpty ? [] : [detail]
    if status == 401, request.credentials.isEmpty, request.url.userInfo == nil {
      parts.append(
        hasHeaders
          ? "\"headers\" go to the hosts of base and the section URLs only, and this is none of them"
          : "the catalog file has no \"headers\" to send"
      )
    }
    if let words = OriginWords(in: refusal, isRefusal: true) {
      parts.append(secrets.applied(to: words.description))
    }
    var failure = self
    failure.detail = parts.joined(separator: "; ")
    return failure
  }
}
