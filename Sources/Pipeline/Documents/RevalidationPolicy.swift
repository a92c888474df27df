import Base
import Cache
import Catalog
import Transport

/// Decides which documents a run asks for, and with which condition.
///
/// The stages of a run and its plan ask it alike.
final class RevalidationPolicy: Sendable {
  private let named: NamedOrigins
  private let credentials: Headers
  private let transport: any Fetching
  private let onlyDue: Bool
  /// The traits of most requests, to an origin that gets the catalog file's headers, and to any other.
  private let usual: (credentialOrigins: CacheKeyFields, other: CacheKeyFields)

  /// Decides for one run.
  ///
  /// - Parameters:
  ///   - named: the origins that the user named.
  ///   - credentials: the catalog file's headers, for named origins only.
  ///   - transport: how to fetch.
  ///   - onlyDue: whether the run is unattended: nothing is then asked for before it is due.
  init(named: NamedOrigins, credentials: Headers, transport: any Fetching, onlyDue: Bool) {
    self.named = named
    self.credentials = credentials
    self.transport = transport
    self.onlyDue = onlyDue
    // Any host will do: none of the fields names it.
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
  /// The same for thousands of details: only a body and a password in the URL make it another.
  func traits(of source: DocumentSource) -> CacheKeyFields? {
    if case .web(let url) = source, !named.hasUserInfo(for: url) {
      return named.mayGetCredentials(url) ? usual.credentialOrigins : usual.other
    }
    return CacheKeyFields(document: source, from: named, credentials: credentials, over: transport)
  }

  /// The conditional request for a document that is due.
  ///
  /// - Parameters:
  ///   - held: the held document, read with the mapping in force.
  ///   - source: where it is.
  /// - Returns: ``Freshness/revalidate(_:)``, or ``Freshness/refetch`` where there is nothing to ask with.
  func question(about held: DocumentEntry?, _ source: DocumentSource) -> Freshness {
    // A POST is sent each time. (RFC 9110, section 9.3.3)
    guard source.method == .get else { return .refetch }
    return held?.condition(for: traits(of: source)).map(Freshness.revalidate) ?? .refetch
  }

  /// The action for a section's page, or for the one document that holds all details.
  ///
  /// An unattended run requests only stale data. A user who waits for a run wants the origin's answer in any
  /// case.
  ///
  /// - Parameters:
  ///   - held: the held document, read with the mapping in force.
  ///   - source: where it is.
  ///   - now: the wall clock.
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
  ///   - known: the detail as it is held; nil when there is none.
  ///   - held: the document that it was read from, read with the mapping in force.
  ///   - source: where that is.
  ///   - now: the wall clock.
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

  /// A request for a picture.
  init(picture url: WebURL, from named: NamedOrigins) {
    self = named.pictureRequest(for: url)
  }
}

extension CacheKeyFields {
  /// The traits of a request over a transport; the password in its URL is a credential too.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transport: How it is sent.
  ///   - isPicture: Whether it is for a picture: pictures of a catalog are the same for everyone, so that another token
  ///     is no reason to fetch them again.
  init(_ request: Request, over transport: any Fetching, isPicture: Bool = false) {
    var credentials = isPicture ? Headers() : request.credentials
    if let userInfo = request.url.userInfo { credentials.append("Authorization", userInfo) }
    self.init(
      fields: transport.fields(of: request),
      credentials: credentials,
      digest: ContentDigest.number(of:)
    )
  }

  /// The traits of a request for a document; nil for a file.
  init?(
    document source: DocumentSource,
    from named: NamedOrigins,
    credentials: Headers,
    over transport: any Fetching
  ) {
    guard let request = Request(document: source, from: named, credentials: credentials) else {
      return nil
    }
    self.init(request, over: transport)
  }
}

/// The traits of requests for pictures: the same for all except those whose origin gets headers or a
/// password.
struct PictureTraits: Sendable {
  private let usual: CacheKeyFields
  private let named: NamedOrigins
  private let transport: any Fetching

  /// The traits of pictures that a transport fetches.
  init(from named: NamedOrigins, over transport: any Fetching) {
    self.named = named
    self.transport = transport
    // Any host will do: none of the fields names it.
    let anywhere = WebURL(scheme: .https, host: "_")
    usual = CacheKeyFields(
      Request(picture: anywhere, from: named),
      over: transport,
      isPicture: true
    )
  }

  /// The digest of all that they send, by which a run tells whether an earlier one sent the same.
  var digest: Int64 {
    ContentDigest.number(of: usual.fields.lines + named.pictureHeaders.lines)
  }

  /// The traits of a request for the picture at a URL.
  func callAsFunction(_ url: WebURL) -> CacheKeyFields {
    let request = Request(picture: url, from: named)
    guard named.hasUserInfo(for: url) || !request.credentials.isEmpty else { return usual }
    return CacheKeyFields(request, over: transport, isPicture: true)
  }
}
