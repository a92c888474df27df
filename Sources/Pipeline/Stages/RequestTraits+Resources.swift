import Cache
import Transport

extension Request {
  /// A request for a section's page or an item's detail.
  init(document url: WebURL, from named: NamedOrigins, credentials: Headers) {
    self = named.request(for: url, carrying: credentials)
    isEntrusted = named.isEntrusted(url)
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

extension RequestTraits {
  /// What a request sends over a transport; the password in its URL is a credential too.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transport: How it is sent.
  ///   - isPicture: Whether it is for a picture: such as a catalog names show everybody the same, so that another token
  ///     is no reason to fetch one anew.
  init(_ request: Request, over transport: any Fetching, isPicture: Bool = false) {
    var credentials = isPicture ? Headers() : request.credentials
    if let userInfo = request.url.userInfo { credentials.append("Authorization", userInfo) }
    self.init(
      fields: transport.fields(of: request),
      credentials: credentials,
      digest: ContentDigest.number(of:)
    )
  }

  /// What a request for a document sends; nil for a file.
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

/// What requests for pictures send: the same for all but those whose origin gets headers or a password.
struct PictureTraits: Sendable {
  private let usual: RequestTraits
  private let named: NamedOrigins
  private let transport: any Fetching

  /// The traits of pictures that a transport fetches.
  init(from named: NamedOrigins, over transport: any Fetching) {
    self.named = named
    self.transport = transport
    // Any host will do: none of the fields names it.
    let anywhere = WebURL(scheme: .https, host: "_")
    usual = RequestTraits(
      Request(picture: anywhere, from: named),
      over: transport,
      isPicture: true
    )
  }

  /// The digest of all that they send, by which a run tells whether an earlier one sent the same.
  var digest: Int64 {
    ContentDigest.number(of: usual.fields.lines + named.pictureHeaders.lines)
  }

  /// What a request for the picture at a URL sends.
  func callAsFunction(_ url: WebURL) -> RequestTraits {
    let request = Request(picture: url, from: named)
    guard named.hasUserInfo(for: url) || !request.credentials.isEmpty else { return usual }
    return RequestTraits(request, over: transport, isPicture: true)
  }
}
