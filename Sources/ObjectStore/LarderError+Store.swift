import Base
import Transport

extension LarderError {
  /// Makes the error for a failed request.
  ///
  /// - Parameters:
  ///   - failure: The failure. Its `refusal` is the body of the reply, which contains the store's XML error.
  ///   - verb: The action that failed, such as "read" or "write".
  ///   - thing: The thing that could not be read or written, such as `s3://bucket/images/3f/….jpg`.
  ///   - isConditional: Whether the request had the header field `If-None-Match: *`.
  init(
    _ failure: TransferFailure,
    _ verb: String,
    _ thing: String,
    isConditional: Bool = false
  ) {
    let (code, words) = Self.words(failure, S3Reply.refusal(failure.refusal), isConditional)
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
      case .cancelled, .deadline: return (.storeBusy, "the run ended first; run it again")
      case .urlInvalid:
        return (.storeUnnamed, "its address is not a URL; check AWS_ENDPOINT_URL_S3")
      default:
        return (
          .storeRefused,
          "\(failure.reason)\(detail); check AWS_ENDPOINT_URL_S3, AWS_REGION and the network"
        )
      }
    }
    let name = said.map { "\($0) (\(status))" } ?? "\(status)"
    switch status {
    case 429, 500, 502, 503, 504:
      return (.storeBusy, "the store keeps replying \(name); run it again later")
    case 301, 307, 308,
      400 where said == nil:
      return (
        .storeRefused,
        "the store replies \(name); check that AWS_REGION is the bucket's region"
      )
    case 401, 403:
      return (
        .storeRefused,
        "the store replies \(name); check the credentials in the environment and their permissions"
      )
    case 404: return (.objectMissing, "the store has no such object")
    case 416: return (.objectMissing, "the object is shorter than the requested range")
    case 409 where isConditional, 412 where isConditional:
      return (.objectExists, "the object already exists")
    case 412:
      return (
        .storeRefused,
        "the store replies \(name), as if the request were unsigned; look for a proxy that "
          + "removes the signature, and check AWS_ENDPOINT_URL_S3"
      )
    default: return (.storeUnfit, "unexpected reply from the store: \(name)")
    }
  }

  /// The code and the message for an error code of S3; nil if larder does not know the code.
  private static func known(_ said: String) -> (Code, String)? {
    switch said {
    case "SignatureDoesNotMatch":
      (
        .storeRefused,
        "the signature is wrong; check AWS_SECRET_ACCESS_KEY, AWS_REGION and the endpoint's name"
      )
    case "InvalidAccessKeyId":
      (.storeRefused, "the store does not know the access key; check AWS_ACCESS_KEY_ID")
    case "AccessDenied", "AllAccessDisabled", "AccountProblem":
      (
        .storeRefused,
        "these credentials lack the permission; grant it, or use other credentials"
      )
    case "ExpiredToken", "TokenRefreshRequired":
      (
        .storeRefused,
        "the session token has expired; get new credentials and set AWS_SESSION_TOKEN with them"
      )
    case "InvalidToken", "InvalidClientTokenId":
      (
        .storeRefused,
        "the session token is wrong; set AWS_SESSION_TOKEN to the token of these credentials"
      )
    case "RequestTimeTooSkewed", "RequestExpired":
      (.storeRefused, "this machine's clock differs from the store's; set it, and run it again")
    case "XAmzContentSHA256Mismatch", "BadDigest", "InvalidDigest":
      (
        .storeRefused,
        "the data that arrived differs from the data sent; check for a proxy that changes bodies"
      )
    case "NoSuchBucket": (.storeRefused, "there is no such bucket; create it, or name another")
    case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException",
      "TemporaryRedirect":
      (.storeRefused, "the bucket is in another region; set AWS_REGION to its own")
    // The status of a reply does not show that these errors are temporary: it is 409 or 400, or even 200.
    case "OperationAborted", "RequestTimeout", "SlowDown", "ServiceUnavailable", "InternalError":
      (.storeBusy, "the store keeps replying \(said); run it again later")
    default: nil
    }
  }
}
