import Base
import Cache
import Transport

extension LarderError {
  /// A copy of this error with a code for callers of a cache, who need not know that the pictures are in an object
  /// store.
  package var ofCache: LarderError {
    switch code {
    case .busy: LarderError(.storeBusy, problem)
    case .storeDenied, .storeUnreachable: LarderError(.storeRefused, problem)
    case .storeLocation, .storeEnvironment: LarderError(.storeUnnamed, problem)
    default: LarderError(.disk, problem)
    }
  }

  /// The error for a failed request.
  ///
  /// - Parameters:
  ///   - failure: The failure; its `refusal` is the body with the store's XML error.
  ///   - verb: The failed action: "read", "write".
  ///   - thing: The object of the action, such as the name of a picture.
  ///   - isConditional: Whether the request had `If-None-Match: *`.
  init(
    _ failure: TransferFailure,
    _ verb: String,
    _ thing: String,
    isConditional: Bool = false
  ) {
    let (code, words) = Self.words(failure, S3Reply.refusal(failure.refusal), isConditional)
    self.init(code, "cannot \(verb) \(thing): \(words)")
  }

  /// The error for an error document in the body of a reply with status 200.
  ///
  /// - Parameters:
  ///   - said: The store's error code, such as `SlowDown`.
  ///   - verb: The failed action.
  ///   - thing: The object of the action, such as the name of a picture.
  init(_ said: String, _ verb: String, _ thing: String) {
    let (code, words) =
      Self.known(said) ?? (.storeUnfit, "unexpected reply from the store: \(said)")
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
        return (.storeEnvironment, "its address is not a URL; check AWS_ENDPOINT_URL_S3")
      default:
        return (
          .storeUnreachable,
          "\(failure.reason)\(detail); check AWS_ENDPOINT_URL_S3, AWS_REGION and the network"
        )
      }
    }
    let name = said.map { "\($0) (\(status))" } ?? "\(status)"
    switch status {
    case 429, 500, 502, 503, 504:
      return (.busy, "the store keeps replying \(name); run it again later")
    case 301, 307, 308,
      400 where said == nil:
      return (
        .storeDenied,
        "the store replies \(name); check that AWS_REGION is the bucket's region"
      )
    case 401, 403:
      return (
        .storeDenied,
        "the store replies \(name); check the credentials in the environment and their permissions"
      )
    case 404: return (.objectMissing, "the store has no such object")
    case 416: return (.objectMissing, "the object is shorter than the requested range")
    case 409 where isConditional, 412 where isConditional:
      return (.objectExists, "the object already exists")
    case 412:
      return (
        .storeDenied,
        "the store replies \(name), as if the request were unsigned; look for a proxy that "
          + "removes the signature, and check AWS_ENDPOINT_URL_S3"
      )
    default: return (.storeUnfit, "unexpected reply from the store: \(name)")
    }
  }

  /// The code and message for an error code of S3; nil for a code that larder does not know.
  private static func known(_ said: String) -> (Code, String)? {
    switch said {
    case "SignatureDoesNotMatch":
      (
        .storeDenied,
        "the signature is wrong; check AWS_SECRET_ACCESS_KEY, AWS_REGION and the endpoint's name"
      )
    case "InvalidAccessKeyId":
      (.storeDenied, "the store does not know the access key; check AWS_ACCESS_KEY_ID")
    case "AccessDenied", "AllAccessDisabled", "AccountProblem":
      (
        .storeDenied,
        "these credentials lack the permission; grant it, or use other credentials"
      )
    case "ExpiredToken", "TokenRefreshRequired":
      (
        .storeDenied,
        "the session token has expired; get new credentials and set AWS_SESSION_TOKEN with them"
      )
    case "InvalidToken", "InvalidClientTokenId":
      (
        .storeDenied,
        "the session token is wrong; set AWS_SESSION_TOKEN to the token of these credentials"
      )
    case "RequestTimeTooSkewed", "RequestExpired":
      (.storeDenied, "this machine's clock differs from the store's; set it, and run it again")
    case "XAmzContentSHA256Mismatch", "BadDigest", "InvalidDigest":
      (
        .storeDenied,
        "the data that arrived differs from the data sent; check for a proxy that changes bodies"
      )
    case "NoSuchBucket": (.storeDenied, "there is no such bucket; create it, or name another")
    case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException",
      "TemporaryRedirect":
      (.storeDenied, "the bucket is in another region; set AWS_REGION to its own")
    // Temporary errors that their HTTP status does not show: they come with 409 or 400, or in the body of a 200.
    case "OperationAborted", "RequestTimeout", "SlowDown", "ServiceUnavailable", "InternalError":
      (.busy, "the store keeps replying \(said); run it again later")
    default: nil
    }
  }
}
