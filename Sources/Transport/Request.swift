import Base

/// One resource to fetch, or one body to post.
package struct Request: Sendable {
  /// The HTTP method.
  package enum Method: Sendable {
    /// A read; it is retried after temporary failures.
    case get
    /// Send `body` to it; neither repeated nor redirected unless ``Request/isQuery`` says so.
    case post
  }

  /// Who named the host, and so whether its address may be private.
  package enum Trust: Sendable {
    /// The user did: on the command line or in the catalog file.
    case named
    /// Fetched data did: its address must be public unless the options name the host.
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

    /// JSON, compressed on the way.
    package static let json = Accept("application/json, */*;q=0.5", compressed: true)
    /// Pictures, preferably those that can be cropped; uncompressed, so that an interrupted one can be resumed.
    ///
    /// Newer formats are not named: servers that convert to a named format seldom look at `q`.
    package static let picture = Accept(
      "image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5",
      compressed: false
    )
    /// Anything, uncompressed.
    package static let anything = Accept("*/*", compressed: false)
  }

  /// The URL.
  package var url: WebURL
  /// The method.
  package var method: Method = .get
  /// Fields that go to every host a redirect leads to; `Authorization` and `Cookie` stay with `url`'s origin.
  package var headers = Headers()
  /// Fields that go to the origin of `url` only, never to another one that it redirects to.
  package var credentials = Headers()
  /// Whether `url` may get the catalog's credentials, even if there are none yet.
  package var mayGetCredentials = false
  /// The validators of a conditional request; sent only to their resource.
  ///
  /// A 304 succeeds only if it may refer to that version. If it refers to another one, as after a redirect that leads
  /// elsewhere, the whole body is fetched.
  package var condition: Condition?
  /// The body of a POST.
  package var body: [UInt8]?
  /// Whether a POST is only a query that changes nothing on the server, so that it may be repeated and redirected.
  package var isQuery = false
  /// The most decoded body bytes to take; a longer body fails with `too-large`.
  package var bodyLimit = ByteCount.mebibytes(64)
  /// Who named the host.
  package var trust: Trust = .discovered
  /// The priority.
  package var priority: Priority = .image
  /// The preferred media type.
  package var accept: Accept = .anything
  /// When to give up on this request, in addition to the deadline of the run.
  package var deadline: MonotonicTime?
  /// Whether its fields request a range, so that a 206 answers it; a catalog's own fields never do.
  package var asksForPart = false
  /// How the request is signed for an object store, and which verb it has there; nil for all others.
  package var signing: RequestSigning?

  /// Whether the response has only a head, whose `Content-Length` does not announce a body. (RFC 9110, section 9.3.2)
  package var asksForHead: Bool { signing?.verb == .head }

  /// Whether sending it twice does no more than sending it once. (RFC 9110, section 9.2.2)
  package var isRepeatable: Bool { method == .get || isQuery }

  /// Whether a response of that status carries the requested representation.
  ///
  /// A GET accepts the resource itself. An unknown 2xx counts as 200, but not a status that is defined to hold
  /// something else: 202 may hold the state of a job. (RFC 9110, sections 9.3.1 and 15.3)
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
/// A request with a body is a ``Request/Method/post`` that may be repeated, all others are a ``Request/Method/get``. No
/// redirect is followed: the signature holds for one host. The secret is only for libcurl, and never printed.
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
