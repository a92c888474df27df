import Base
import Catalog
import Transport

/// The input of a run.
///
/// Every address in the catalog file is parsed and checked, such as the URLs of its sections. A section is a list of
/// items.
struct RunRequest: Sendable {
  /// The catalog file, with the `base` of the run.
  ///
  /// Its digests include this base, so that a list is decoded again when the URLs of its pictures change.
  let catalog: CatalogFile
  let options: SyncOptions
  /// The clock.
  let now: @Sendable () -> UnixTime
  /// Translates the addresses in the catalog file into URLs and paths of files.
  let addresses: CatalogAddresses
  /// The URL or file of each section, in the order of the catalog file.
  let sections: [DocumentSource]
  /// The hosts and origins that the user named.
  let named: NamedOrigins
  /// The headers from the catalog file, with their variables expanded.
  let credentials: Headers
  /// The secrets to redact in messages.
  let secrets: RunSecrets
  private let environment: [String: String]

  /// Parses and checks the addresses.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - folder: The folder of the catalog file. Paths of local sections are relative to it.
  ///   - options: The options.
  ///   - environment: The environment variables that replace `${NAME}` in headers and URLs.
  ///   - parser: The URL parser.
  ///   - now: The clock.
  /// - Throws: ``CatalogError`` or ``TransferFailure`` for mistakes in the catalog file.
  init(
    _ catalog: CatalogFile,
    folder: String,
    options: SyncOptions,
    environment: [String: String],
    parser: any URLParsing,
    now: @escaping @Sendable () -> UnixTime
  ) throws {
    var based = catalog
    based.base = options.base ?? catalog.base
    self.catalog = based
    self.options = options
    self.now = now
    addresses = try CatalogAddresses(
      catalog,
      folder: folder,
      base: options.base,
      environment: environment,
      parser
    )
    sections = try addresses.sections()
    credentials = Self.fields(try catalog.headers.resolved(environment: environment))
    var named = try addresses.named()
    named.pictureHeaders = PictureHeaders(catalog: credentials)
    for host in catalog.pictures.hosts {
      let headers = Self.fields(try host.headers.resolved(environment: environment))
      for place in host.places { named.pictureHeaders.hosts[place] = headers }
    }
    self.named = named
    secrets = RunSecrets(credentials, named, addresses.variables)
    self.environment = environment
  }

  private static func fields(_ headers: [(name: String, value: String)]) -> Headers {
    Headers(headers.map { ($0.name, $0.value) })
  }

  /// The host of the catalog, for example `shop.example` or `localhost:8080`; nil if the catalog consists of files.
  ///
  /// This is the host of `base`. If the catalog file has no `base`, it is the host of the first section with a URL. The
  /// ports 80 and 443 are left out.
  var source: String? {
    let host = addresses.localBase?.hostPort ?? sections.lazy.compactMap(\.host).first
    return host.map { [80, 443].contains($0.port) ? $0.host : $0.description }
  }

  /// A transport that expands variables in URLs, and hides secrets in responses.
  ///
  /// If a server answers with 401, it also runs the catalog file's command for a new token.
  ///
  /// - Parameters:
  ///   - transport: The transport that sends the requests.
  ///   - isOver: Whether the run is being stopped, or its deadline has passed.
  /// - Returns: The transport for the run's requests.
  func transport(
    over transport: any Fetching,
    isOver: @escaping @Sendable () -> Bool
  ) -> any Fetching {
    let variables = addresses.variables
    let hasNone = variables.isEmpty && secrets.isEmpty && catalog.token == nil
    let veiling = hasNone ? transport : SecretTransport(transport, variables, secrets)
    guard let rule = catalog.token else { return veiling }
    return TokenTransport(
      veiling,
      rule,
      environment: environment,
      hiding: secrets,
      isOver: isOver
    )
  }
}
