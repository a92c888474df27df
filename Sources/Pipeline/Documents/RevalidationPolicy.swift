import Base
import Cache
import Catalog
import Transport

/// Decides which sections and details a run requests, and which of its requests are conditional.
///
/// A section is a list of items. A detail is the document about one item, with more data than the item has in a
/// section. An unattended run is one of `larder warm`.
///
/// The stages of a run use it, and so does the plan that `--dry-run` prints. The traits of a request are those of its
/// header fields and credentials that the response can depend on. For example, a server can send another response to a
/// request with another `Accept-Language`.
final class RevalidationPolicy: Sendable {
  private let request: RunRequest
  private let transport: any Fetching
  /// The traits of requests to origins that get the catalog file's headers, and the traits of all other requests.
  private let usual: (credentialOrigins: CacheKeyFields, other: CacheKeyFields)
  /// The traits of most requests for pictures.
  private let usualPicture: CacheKeyFields

  /// Makes the policy of one run.
  ///
  /// - Parameters:
  ///   - request: The input of the run. An unattended run does not request a section that is fresh.
  ///   - transport: The transport that sends the requests.
  init(_ request: RunRequest, over transport: any Fetching) {
    (self.request, self.transport) = (request, transport)
    // Any host will do, because no header field depends on it.
    let anywhere = WebURL(scheme: .https, host: "_")
    func traits(_ named: NamedOrigins) -> CacheKeyFields {
      CacheKeyFields(
        Request(document: anywhere, from: named, credentials: request.credentials),
        over: transport
      )
    }
    var entrusting = NamedOrigins()
    entrusting.allowCredentials(anywhere)
    usual = (traits(entrusting), traits(NamedOrigins()))
    usualPicture = CacheKeyFields(
      request.named.pictureRequest(for: anywhere),
      over: transport,
      isPicture: true
    )
  }

  /// Whether the run is unattended.
  var onlyDue: Bool { request.options.onlyDue }
  private var named: NamedOrigins { request.named }
  private var variables: URLSecrets { request.addresses.variables }

  /// The traits of a request for a picture.
  ///
  /// Most pictures have the same traits. Exceptions are pictures of origins that get headers or a password, and pictures
  /// with a variable in their identity. A variable that the catalog file leaves out of the identity, such as a token that
  /// changes daily, is no reason to fetch a picture again.
  func traits(ofPicture url: WebURL, _ identity: String) -> CacheKeyFields {
    let variables = self.variables.lines(in: identity)
    let isUsual = variables.isEmpty && !named.hasUserInfo(for: url)
    guard !isUsual || !named.pictureFields(for: url).isEmpty else { return usualPicture }
    return CacheKeyFields(
      named.pictureRequest(for: url),
      over: transport,
      variables: variables,
      isPicture: true
    )
  }

  /// Lets the pictures expire whose responses can differ from those of an earlier run; see ``Index/noteVary(_:variables:inShadow:)``.
  func notePictures(in index: Index, inShadow: Bool = false) throws(LarderError) {
    try index.noteVary(
      ContentDigest.number(of: usualPicture.fields.lines + named.pictureHeaders.lines),
      variables: variables.values.mapValues { ContentDigest.number(of: Array($0.utf8)) },
      inShadow: inShadow
    )
  }

  /// The traits of a request for a document; nil if the document is a file.
  ///
  /// The traits are computed once for all documents, except those with a request body, or with a password or a variable
  /// in the URL.
  func traits(of source: DocumentSource) -> CacheKeyFields? {
    let variables = source.base.map { self.variables.lines(in: $0.text) } ?? []
    if case .web(let url) = source, variables.isEmpty, !named.hasUserInfo(for: url) {
      return named.mayGetCredentials(url) ? usual.credentialOrigins : usual.other
    }
    return Request(document: source, from: named, credentials: request.credentials).map {
      CacheKeyFields($0, over: transport, variables: variables)
    }
  }

  /// The kind of request for a document that must be requested: conditional if possible, otherwise full.
  ///
  /// - Parameters:
  ///   - held: The cached document; nil if it is not in the cache, or if the catalog file's rules for decoding have
  ///     changed.
  ///   - source: The document's source.
  /// - Returns: ``Freshness/revalidate(_:)``, or ``Freshness/refetch`` if the cached document has no ETag and no
  ///   Last-Modified date.
  func question(about held: DocumentEntry?, _ source: DocumentSource) -> Freshness {
    // The answer to a POST has no validators, so every run sends the POST again. (RFC 9110, section 9.3.3)
    guard source.method == .get else { return .refetch }
    return held?.condition(for: traits(of: source)).map(Freshness.revalidate) ?? .refetch
  }

  /// The action for a page of a section, or for a document with the details of all items.
  ///
  /// An unattended run requests such a document only if it is no longer fresh. Any other run always requests it,
  /// because a user waits for the current catalog.
  ///
  /// - Parameters:
  ///   - held: The cached document; nil if it is not in the cache, or if the catalog file's rules for decoding have
  ///     changed.
  ///   - source: The document's source.
  ///   - now: The current time.
  /// - Returns: The action.
  func need(
    ofListing held: DocumentEntry?,
    _ source: DocumentSource,
    at now: UnixTime
  ) -> Freshness {
    let freshness = held?.freshness(at: now, for: traits(of: source)) ?? .refetch
    return onlyDue && freshness.isQuiet ? freshness : question(about: held, source)
  }
}

extension Request {
  /// Makes a request for a page of a section, or for a detail.
  init(document url: WebURL, from named: NamedOrigins, credentials: Headers) {
    self = named.request(for: url, carrying: credentials)
    mayGetCredentials = named.mayGetCredentials(url)
    accept = .json
  }

  /// Makes a request for a document; nil if the document is a file.
  init?(document source: DocumentSource, from named: NamedOrigins, credentials: Headers) {
    guard let url = source.base else { return nil }
    self.init(document: url, from: named, credentials: credentials)
    guard case .query(let query) = source, let body = query.body else { return }
    method = .post
    isQuery = true
    self.body = body
    headers.append("Content-Type", query.request.type)
  }
}

extension CacheKeyFields {
  /// Computes the traits of a request.
  ///
  /// A password in its URL counts as a credential.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transport: The transport that sends it.
  ///   - variables: The variables in its URL with their values, as lines.
  ///   - isPicture: Whether the request is for a picture. The headers with credentials are then ignored, because a shop
  ///     sends every user the same pictures, and a new token is no reason to fetch them again.
  init(
    _ request: Request,
    over transport: any Fetching,
    variables: [UInt8] = [],
    isPicture: Bool = false
  ) {
    var credentials = isPicture ? Headers() : request.credentials
    if let userInfo = request.url.userInfo { credentials.append("Authorization", userInfo) }
    self.init(
      fields: transport.fields(of: request),
      credentials: credentials,
      variables: variables,
      digest: ContentDigest.number(of:)
    )
  }
}
