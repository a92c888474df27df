import Base
import Cache
import Catalog
import Transport

/// Decides which documents a run requests, and with which condition.
///
/// Used by the stages of a run and by its plan (`--dry-run`). The traits of a request, of type ``CacheKeyFields``, are
/// its header fields and credentials that may select the response.
final class RevalidationPolicy: Sendable {
  private let named: NamedOrigins
  private let credentials: Headers
  private let transport: any Fetching
  private let onlyDue: Bool
  /// The traits of most requests: those to an origin that gets the catalog file's headers, and those to any other.
  private let usual: (credentialOrigins: CacheKeyFields, other: CacheKeyFields)

  /// Makes the policy of one run.
  ///
  /// - Parameters:
  ///   - named: The origins that the user named.
  ///   - credentials: The catalog file's headers, for named origins only.
  ///   - transport: The transport that sends the requests.
  ///   - onlyDue: Whether the run is unattended; such a run requests only documents that are due.
  init(named: NamedOrigins, credentials: Headers, transport: any Fetching, onlyDue: Bool) {
    self.named = named
    self.credentials = credentials
    self.transport = transport
    self.onlyDue = onlyDue
    // The host does not matter: no header field depends on it.
    let anywhere = WebURL(scheme: .https, host: "_")
    var entrusting = NamedOrigins()
    entrusting.allowCredentials(anywhere)
    usual = (
      CacheKeyFields(
        Request(document: anywhere, from: entrusting, credentials: credentials),
        over: transport
      ),
      CacheKeyFields(
        Request(document: anywhere, from: NamedOrigins(), credentials: credentials),
        over: transport
      )
    )
  }

  /// The traits of a request for a document; nil for a file.
  ///
  /// These are the header fields and credentials that may select the response. They are computed once for all
  /// documents, except those with a request body or a password in the URL.
  func traits(of source: DocumentSource) -> CacheKeyFields? {
    if case .web(let url) = source, !named.hasUserInfo(for: url) {
      return named.mayGetCredentials(url) ? usual.credentialOrigins : usual.other
    }
    return Request(document: source, from: named, credentials: credentials).map {
      CacheKeyFields($0, over: transport)
    }
  }

  /// The kind of request for a document that is due: conditional if possible.
  ///
  /// - Parameters:
  ///   - held: The cached document, if it was decoded with the mapping in force.
  ///   - source: The document's source.
  /// - Returns: ``Freshness/revalidate(_:)``, or ``Freshness/refetch`` when there are no validators.
  func question(about held: DocumentEntry?, _ source: DocumentSource) -> Freshness {
    // The answer to a POST is not cached, so every run sends the POST again. (RFC 9110, section 9.3.3)
    guard source.method == .get else { return .refetch }
    return held?.condition(for: traits(of: source)).map(Freshness.revalidate) ?? .refetch
  }

  /// The action for a section's page, or for the shared document with all details.
  ///
  /// An unattended run requests only stale data. Any other run always asks the origin, because a user waits for the
  /// current catalog.
  ///
  /// - Parameters:
  ///   - held: The cached document, if it was decoded with the mapping in force.
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

  /// The action for the detail of one item.
  ///
  /// - Parameters:
  ///   - known: The cached detail; nil when there is none.
  ///   - held: The document from which the detail was decoded; nil if it was decoded with a mapping that is no longer
  ///     in force.
  ///   - source: The document's source.
  ///   - now: The current time.
  /// - Returns: The action.
  func need(
    ofDetail known: DetailEntry?,
    in held: DocumentEntry?,
    _ source: DocumentSource,
    at now: UnixTime
  ) -> Freshness {
    guard let known, known.state != .failed, let held else { return .refetch }
    let freshness =
      onlyDue && known.state == .missing
      ? held.missingFreshness(at: now) : held.freshness(at: now, for: traits(of: source))
    return freshness.isQuiet ? freshness : question(about: held, source)
  }
}

extension Request {
  /// A request for a section's page or an item's detail.
  init(document url: WebURL, from named: NamedOrigins, credentials: Headers) {
    self = named.request(for: url, carrying: credentials)
    mayGetCredentials = named.mayGetCredentials(url)
    accept = .json
  }

  /// A request for a document; nil for a file.
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
  /// The traits of a request over a transport; a password in its URL counts as a credential.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transport: The transport that sends it.
  ///   - isPicture: Whether the request is for a picture. A catalog's pictures are the same for every user, so a new
  ///     token is no reason to fetch them again.
  init(_ request: Request, over transport: any Fetching, isPicture: Bool = false) {
    var credentials = isPicture ? Headers() : request.credentials
    if let userInfo = request.url.userInfo { credentials.append("Authorization", userInfo) }
    self.init(
      fields: transport.fields(of: request),
      credentials: credentials,
      digest: ContentDigest.number(of:)
    )
  }
}

/// The traits of requests for pictures.
///
/// They are equal for all pictures, except where the origin gets headers or a password.
struct PictureTraits: Sendable {
  private let usual: CacheKeyFields
  private let named: NamedOrigins
  private let transport: any Fetching

  /// The traits of pictures that a transport fetches.
  init(from named: NamedOrigins, over transport: any Fetching) {
    self.named = named
    self.transport = transport
    // The host does not matter: no header field depends on it.
    let anywhere = WebURL(scheme: .https, host: "_")
    usual = CacheKeyFields(
      named.pictureRequest(for: anywhere),
      over: transport,
      isPicture: true
    )
  }

  /// The digest of everything that the requests send; it equals that of an earlier run if that run sent the same.
  var digest: Int64 {
    ContentDigest.number(of: usual.fields.lines + named.pictureHeaders.lines)
  }

  /// The traits of a request for the picture at a URL.
  func callAsFunction(_ url: WebURL) -> CacheKeyFields {
    let request = named.pictureRequest(for: url)
    guard named.hasUserInfo(for: url) || !request.credentials.isEmpty else { return usual }
    return CacheKeyFields(request, over: transport, isPicture: true)
  }
}
