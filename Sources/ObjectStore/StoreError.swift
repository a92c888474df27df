import Cache
import Transport

/// Why an object store could not do what it was asked, with what to do about it.
package struct StoreError: Error, Equatable, CustomStringConvertible {
  /// What went wrong, as a stable word; an open set.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    package let rawValue: String

    /// Makes a code from its word.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The text names no place in a store.
    package static let location = Code(rawValue: "location")
    /// The environment lacks what a store needs, or what it has is wrong.
    package static let environment = Code(rawValue: "environment")
    /// The store refuses: the key, the signature, the right to do it.
    package static let refused = Code(rawValue: "refused")
    /// The store asks for less, or fails for a while.
    package static let busy = Code(rawValue: "busy")
    /// Nobody answers.
    package static let unreachable = Code(rawValue: "unreachable")
    /// What was to be made is there.
    package static let exists = Code(rawValue: "exists")
    /// There is no such object.
    package static let missing = Code(rawValue: "missing")
    /// The store does something else than it should.
    package static let unfit = Code(rawValue: "unfit")
  }

  /// What went wrong.
  package let code: Code
  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// The same for those who know caches only.
  package var cacheError: CacheError {
    switch code {
    case .busy: CacheError(.storeBusy, description)
    case .refused, .unreachable: CacheError(.storeRefused, description)
    case .location, .environment: CacheError(.storeUnnamed, description)
    default: CacheError(.disk, description)
    }
  }
}

extension StoreError {
  /// What a failed request comes to.
  ///
  /// - Parameters:
  ///   - failure: How it failed; what a store says of it is in its refusal.
  ///   - verb: What was to be done: "read", "write".
  ///   - thing: To what.
  ///   - isConditional: Whether it was to be done only where nothing is.
  init(
    _ failure: TransferFailure,
    _ verb: String,
    _ thing: String,
    isConditional: Bool = false
  ) {
    let (code, words) = Self.words(failure, StoreReply.refusal(failure.refusal), isConditional)
    self.init(code, "cannot \(verb) \(thing): \(words)")
  }

  /// What a refusal comes to that a store tells after it has said that all is well.
  ///
  /// - Parameters:
  ///   - said: The store's code.
  ///   - verb: What was to be done.
  ///   - thing: To what.
  init(_ said: String, _ verb: String, _ thing: String) {
    let (code, words) =
      Self.known(said) ?? (.unfit, "the store answers \(said), which larder did not expect")
    self.init(code, "cannot \(verb) \(thing): \(words)")
  }

  private static func words(
    _ failure: TransferFailure,
    _ said: String?,
    _ isConditional: Bool
  ) -> (Code, String) {
    if let said, let known = known(said) { return known }
    guard let status = failure.status else {
      let detail = failure.detail.isEmpty ? "" : " (\(failure.detail))"
      switch failure.reason {
      case .cancelled, .deadline: return (.busy, "the run ended first; run it again")
      case .urlInvalid:
        return (.environment, "its address is no URL; check AWS_ENDPOINT_URL_S3")
      default:
        return (
          .unreachable,
          "\(failure.reason)\(detail); check AWS_ENDPOINT_URL_S3, AWS_REGION and the network"
        )
      }
    }
    let name = said.map { "\($0) (\(status))" } ?? "\(status)"
    switch status {
    case 429, 500, 502, 503, 504:
      return (.busy, "the store answers \(name), and did so again; run it again later")
    case 301, 307, 308,
      400 where said == nil:
      return (
        .refused,
        "the store answers \(name); check that AWS_REGION is the bucket's own region"
      )
    case 401, 403:
      return (
        .refused,
        "the store answers \(name); check the credentials in the environment, and what they may do"
      )
    case 404: return (.missing, "the store has no such object")
    case 416: return (.missing, "the object has no such bytes")
    case 409 where isConditional, 412 where isConditional: return (.exists, "the store has it")
    case 412:
      return (
        .refused,
        "the store answers \(name), as to a request without a signature; look for a proxy in "
          + "between that takes it away, and check AWS_ENDPOINT_URL_S3"
      )
    default: return (.unfit, "the store answers \(name), which larder did not expect")
    }
  }

  /// The words for what stores say in their own codes.
  private static func known(_ said: String) -> (Code, String)? {
    switch said {
    case "SignatureDoesNotMatch":
      (
        .refused,
        "the signature is wrong; check AWS_SECRET_ACCESS_KEY, AWS_REGION and the endpoint's name"
      )
    case "InvalidAccessKeyId":
      (.refused, "the store does not know the access key; check AWS_ACCESS_KEY_ID")
    case "AccessDenied", "AllAccessDisabled", "AccountProblem":
      (
        .refused,
        "these credentials may not do that; allow it to them, or set those of somebody who may"
      )
    case "ExpiredToken", "TokenRefreshRequired":
      (
        .refused,
        "the session token has expired; get new credentials and set AWS_SESSION_TOKEN with them"
      )
    case "InvalidToken", "InvalidClientTokenId":
      (
        .refused,
        "the session token is wrong; set AWS_SESSION_TOKEN to the one of these credentials"
      )
    case "RequestTimeTooSkewed", "RequestExpired":
      (.refused, "this machine's clock differs from the store's; set it, and run it again")
    case "XAmzContentSHA256Mismatch", "BadDigest", "InvalidDigest":
      (
        .refused,
        "what arrived is not what was sent; look for a proxy in between that changes bodies"
      )
    case "NoSuchBucket": (.refused, "there is no such bucket; make it, or name another")
    case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException",
      "TemporaryRedirect":
      (.refused, "the bucket is in another region; set AWS_REGION to its own")
    // Where the status does not say so: with 409, with 400, or in the body of a 200.
    case "OperationAborted", "RequestTimeout", "SlowDown", "ServiceUnavailable", "InternalError":
      (.busy, "the store says \(said), and did so again; run it again later")
    default: nil
    }
  }
}
