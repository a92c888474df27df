import Base

/// One resource to fetch, or one body to post.
package struct Request: Sendable {
  /// The HTTP method.
  package enum Method: Sendable {
    /// Reads the resource; the request is retried after temporary failures.
    case get
    /// Sends ``Request/body`` to the resource. It is neither repeated nor redirected unless ``Request/isQuery`` is
    /// true.
    case post
  }

  /// Who named the host, and so whether its address may be private.
  package enum Trust: Sendable {
    /// The user did, on the command line or in the catalog file.
    case named
    /// Fetched data did. The address must be public, unless the options name the host.
    case discovered
  }

  /// The order of requests that wait for one host.
  package enum Priority: Int, Sendable, CaseIterable {
    /// Sections, without which nothing else is known.
    case section
    /// Details, which name further pictures.
    case detail
    /// Pictures.
    case image
  }

  /// The preferred media type, and whether the response may be compressed.
  package struct Accept: Hashable, Sendable {
    /// The `Accept` field's value.
    package let value: String
    /// Whether gzip, brotli and the like are requested; pictures gain nothing from them.
    package let compressed: Bool

    /// Makes another preference.
    package init(_ value: String, compressed: Bool) {
      self.value = value
      self.compressed = compressed
    }

    /// JSON; the response may be compressed.
    package static let json = Accept("application/json, */*;q=0.5", compressed: true)
    /// Pictures, preferably those that can be cropped; uncompressed, so that an interrupted transfer can be resumed.
    ///
    /// Newer formats are not named: servers that convert to a named format seldom look at `q`.
    package static let picture = Accept(
      "image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5",
      compressed: false
    )
    /// Anything; the response may not be compressed.
    package static let anything = Accept("*/*", compressed: false)
  }

  /// The URL.
  package var url: WebURL
  /// The method.
  package var method: Method = .get
  /// Fields for the host of `url` and every host that a redirect leads to.
  ///
  /// `Authorization` and `Cookie` go only to `url`'s origin.
  package var headers = Headers()
  /// Fields that are sent only to the origin of `url`, and to no other origin that a redirect leads to.
  package var credentials = Headers()
  /// Whether `url` may get the catalog's credentials, even if there are none yet.
  package var mayGetCredentials = false
  /// The validators of a conditional request; sent only to the resource that they are from.
  ///
  /// A 304 counts as a success only if it may refer to the version with these validators. If it refers to another
  /// version, for example after a redirect to another resource, the whole body is fetched.
  package var condition: Condition?
  /// The body of a POST.
  package var body: [UInt8]?
  /// Whether a POST is only a query that changes nothing on the server, so that it may be repeated and redirected.
  package var isQuery = false
  /// The maximum number of decoded body bytes; a longer body fails with `too-large`.
  package var bodyLimit = ByteCount.mebibytes(64)
  /// Who named the host.
  package var trust: Trust = .discovered
  /// The priority.
  package var priority: Priority = .image
  /// The preferred media type.
  package var accept: Accept = .anything
  /// When to give up on this request, in addition to the deadline of the run.
  package var deadline: MonotonicTime?
  /// Whether the fields ask for a range, so that a 206 answers the request; a catalog's own fields never do.
  package var asksForPart = false
  /// How the request is signed for an object store, and which verb it has there; nil for all other requests.
  package var signing: RequestSigning?

  /// Whether the response has only a head, whose `Content-Length` does not announce a body. (RFC 9110, section 9.3.2)
  package var asksForHead: Bool { signing?.verb == .head }

  /// Whether sending the request twice has the same effect as sending it once. (RFC 9110, section 9.2.2)
  package var isRepeatable: Bool { method == .get || isQuery }

  /// Whether a response with that status carries the requested representation.
  ///
  /// For a GET, that is a representation of the resource itself. An unknown 2xx counts as 200. A status that is
  /// defined to carry something else does not count: a 202 may carry the state of a job. (RFC 9110, sections 9.3.1
  /// and 15.3)
  package func isAnswered(by status: Int) -> Bool {
    guard (200...299).contains(status) else { return false }
    return method == .post || ![201, 202, 207, 208, 226].contains(status)
  }

  /// Makes a GET request with the defaults above.
  package init(_ url: WebURL) {
    self.url = url
  }
}

/// Signs requests to an object store with AWS Signature Version 4, and names their verb.
///
/// A request with a body is a ``Request/Method/post`` that may be repeated. Every other request is a
/// ``Request/Method/get``. No redirect is followed, because the signature is valid for one host. Only libcurl gets
/// the secret, and it is never printed.
package final class RequestSigning: Sendable, CustomStringConvertible {
  /// The operation on the object.
  package enum Verb: String, Sendable {
    /// Reads it.
    case get = "GET"
    /// Reads the metadata, and no body.
    case head = "HEAD"
    /// Writes it.
    case put = "PUT"
    /// Begins or completes a multipart upload.
    case post = "POST"
    /// Removes it.
    case delete = "DELETE"
  }

  /// The verb.
  package let verb: Verb
  /// The scope of the signature, in libcurl's notation: `aws:amz:eu-central-1:s3`.
  package let scope: String
  /// The access key's public part.
  package let user: String
  /// The access key's secret part.
  package let secret: String

  /// Makes the signing of requests with one verb.
  ///
  /// - Parameters:
  ///   - verb: The operation.
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
