/// Signs requests to an object store with AWS Signature Version 4, and names their verb.
///
/// A request with a body is a ``Request/Method/post`` that may be repeated, all others are a ``Request/Method/get``. No
/// redirect is followed: the signature holds for one host. The secret is for libcurl alone, and printed nowhere.
package final class RequestSigning: Sendable, CustomStringConvertible {
  /// What is done to the object.
  package enum Verb: String, Sendable {
    /// Reads it.
    case get = "GET"
    /// Reads what is known of it, and no body.
    case head = "HEAD"
    /// Writes it.
    case put = "PUT"
    /// Begins or ends an upload in parts.
    case post = "POST"
    /// Removes it.
    case delete = "DELETE"
  }

  /// The verb.
  package let verb: Verb
  /// What the signature is for, in libcurl's words: `aws:amz:eu-central-1:s3`.
  package let scope: String
  /// The access key's public part.
  package let user: String
  /// The access key's secret part.
  package let secret: String

  /// Makes a signing for requests of one verb.
  ///
  /// - Parameters:
  ///   - verb: What is done.
  ///   - region: The store's region.
  ///   - user: The access key's public part.
  ///   - secret: The access key's secret part.
  package init(_ verb: Verb, region: String, user: String, secret: String) {
    self.verb = verb
    scope = "aws:amz:\(region):s3"
    self.user = user
    self.secret = secret
  }

  /// The verb and the scope.
  package var description: String { "\(verb.rawValue) signed for \(scope)" }
}
