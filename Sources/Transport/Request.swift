import Base

/// An HTTP request: one resource to fetch, or one body to post.
package struct Request: Sendable {
  /// The HTTP method.
  package enum Method: Sendable {
    /// Fetches the resource.
    ///
    /// The request is retried after temporary failures.
    case get
    /// Sends ``Request/body`` to the resource.
    ///
    /// The request is retried and redirected only if ``Request/isQuery`` is true.
    case post
  }

  /// Whether the user named the request's host.
  ///
  /// If the user did not, the host must have a public address.
  package enum Trust: Sendable {
    /// The user named the host, on the command line or in the catalog file.
    case named
    /// The host appears only in fetched data.
    ///
    /// Its address must be public, unless the transport's options name the host.
    case discovered
  }

  /// The order in which requests that wait for the same host are sent.
  package enum Priority: Int, Sendable, CaseIterable {
    /// A list of items.
    ///
    /// It is first, because it contains the URLs of details and pictures.
    case section
    /// The document about one item.
    ///
    /// It can contain the URLs of further pictures.
    case detail
    /// A picture.
    case image
  }

  /// The preferred media type of the response, and whether the response is allowed to be compressed.
  package struct Accept: Hashable, Sendable {
    /// The value of the `Accept` field.
    package let value: String
    /// Whether the response is allowed to be compressed, for example with gzip.
    ///
    /// Compression does not make pictures smaller.
    package let compressed: Bool

    /// JSON.
    ///
    /// The response is allowed to be compressed.
    package static let json = Accept(value: "application/json, */*;q=0.5", compressed: true)
    /// Pictures, preferably in a common format.
    ///
    /// They are not compressed, so that an interrupted transfer can be resumed.
    ///
    /// Newer formats such as AVIF are not listed. Some servers convert pictures to any listed format, even if its `q`
    /// is low.
    package static let picture = Accept(
      value: "image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5",
      compressed: false
    )
    /// Any media type, not compressed.
    package static let anything = Accept(value: "*/*", compressed: false)
  }

  /// The URL.
  package var url: WebURL
  /// The method.
  package var method: Method = .get
  /// The header fields.
  ///
  /// They are also sent to every host that a redirect leads to.
  ///
  /// The fields `Authorization` and `Cookie` are sent only to the origin of `url`.
  package var headers = Headers()
  /// Header fields that are sent only to the origin of `url`, and not to other origins that a redirect leads to.
  package var credentials = Headers()
  /// Whether the catalog's credentials are allowed to be sent to `url`, even if there are no credentials yet.
  package var mayGetCredentials = false
  /// The condition of the request, with the validators of the cached version.
  ///
  /// The validators are sent only to the resource that they are from. The request succeeds with a 304 only if the 304
  /// can refer to the cached version. Otherwise the whole body is fetched.
  package var condition: Condition?
  /// The body of a POST.
  package var body: [UInt8]?
  /// Whether a POST changes nothing on the server, so that it can be repeated and redirected.
  package var isQuery = false
  /// The maximum size of the decoded body.
  ///
  /// A transfer with a longer body fails with the reason `too-large`.
  package var bodyLimit = ByteCount.mebibytes(64)
  /// Whether the user named the host.
  package var trust: Trust = .discovered
  /// The priority among the requests that wait for the same host.
  package var priority: Priority = .image
  /// The preferred media type of the response.
  package var accept: Accept = .anything
  /// Whether the header fields ask for a range of bytes, so that the response may have the status 206.
  package var asksForPart = false
  /// The signature and the verb of a request to an object store.
  ///
  /// Nil for all other requests.
  package var signing: RequestSigning?

  /// Whether the response has no body although it can have a `Content-Length`. (RFC 9110, section 9.3.2)
  package var asksForHead: Bool { signing?.verb == .head }

  /// Whether it is harmless to send the request twice. (RFC 9110, section 9.2.2)
  package var isRepeatable: Bool { method == .get || isQuery }

  /// Whether the body of a response with this status is the one that was requested.
  ///
  /// After a GET, a body is not the requested one if its status is defined for other content. For example, a 202 may
  /// carry the state of a job. An unknown status from 200 to 299 counts as 200. (RFC 9110, sections 9.3.1 and 15.3)
  package func isAnswered(by status: Int) -> Bool {
    guard (200...299).contains(status) else { return false }
    return method == .post || ![201, 202, 207, 208, 226].contains(status)
  }

  /// Makes a GET request.
  ///
  /// All other properties have the default values above.
  package init(_ url: WebURL) {
    self.url = url
  }
}

/// The verb of a request to an object store, and the keys to sign the request with AWS Signature Version 4.
///
/// A request with a body has the method ``Request/Method/post`` and can be repeated. Any other request has the method
/// ``Request/Method/get``. Redirects are not followed, because the signature is valid for only one host. The secret is
/// passed only to libcurl, and is never printed.
package final class RequestSigning: Sendable, CustomStringConvertible {
  /// The HTTP method that is actually sent.
  package enum Verb: String, Sendable {
    /// Reads an object.
    case get = "GET"
    /// Reads the metadata of an object.
    case head = "HEAD"
    /// Writes an object.
    case put = "PUT"
    /// Removes an object.
    case delete = "DELETE"
  }

  /// The HTTP method that is actually sent.
  package let verb: Verb
  /// The scope of the signature in libcurl's notation, for example `aws:amz:eu-central-1:s3`.
  package let scope: String
  /// The public part of the access key.
  package let user: String
  /// The secret part of the access key.
  package let secret: String

  /// Makes a signature for requests with one verb.
  ///
  /// - Parameters:
  ///   - verb: The HTTP method.
  ///   - region: The region of the object store, for example `eu-central-1`.
  ///   - user: The public part of the access key.
  ///   - secret: The secret part of the access key.
  package init(_ verb: Verb, region: String, user: String, secret: String) {
    self.verb = verb
    scope = "aws:amz:\(region):s3"
    self.user = user
    self.secret = secret
  }

  /// The verb and the scope, without the keys.
  package var description: String { "\(verb.rawValue) signed for \(scope)" }
}
