import Base
import Catalog
import Transport

/// The request of a run, with every address of the catalog file read and checked.
struct RunRequest: Sendable {
  let catalog: CatalogFile
  let options: SyncOptions
  /// The wall clock.
  let now: @Sendable () -> UnixTime
  /// Turns the texts of the catalog file into sources.
  let addresses: CatalogAddresses
  /// The sources of the sections, in the catalog's order.
  let sections: [DocumentSource]
  /// The environment's part of the URLs.
  let variables: URLSecrets
  /// The hosts and origins that the user named.
  let named: NamedOrigins
  /// The catalog file's headers with the environment put in.
  let credentials: Headers
  /// The secrets.
  let secrets: RunSecrets
  private let environment: [String: String]

  /// Reads the addresses.
  ///
  /// - Parameters:
  ///   - catalog: the catalog.
  ///   - folder: the catalog file's folder, which local sections are relative to.
  ///   - options: the options.
  ///   - environment: where `${NAME}` in the catalog's headers and URLs comes from.
  ///   - parser: how URLs are read.
  ///   - now: the wall clock.
  /// - Throws: ``CatalogError`` or ``TransferFailure`` for mistakes in the catalog file.
  init(
    _ catalog: CatalogFile,
    folder: String,
    options: SyncOptions,
    environment: [String: String],
    parser: any URLParsing,
    now: @escaping @Sendable () -> UnixTime
  ) throws {
    self.catalog = catalog
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
    variables = addresses.variables
    credentials = try catalog.resolved(environment)
    named = try addresses.named().carrying(credentials, catalog, environment)
    secrets = RunSecrets(credentials, named, variables)
    self.environment = environment
  }

  /// The host of the catalog, with its port unless that is usual: that of `base`, else of the first section; nil
  /// for files.
  var source: String? {
    let host = addresses.localBase?.hostPort ?? sections.lazy.compactMap(\.host).first
    return host.map { [80, 443].contains($0.port) ? $0.host : $0.description }
  }

  /// A transport that puts the environment's part into URLs, and has the token command run where it helps.
  ///
  /// - Parameters:
  ///   - transport: How to fetch.
  ///   - isStopped: Whether the run is to end.
  /// - Returns: The transport for the run's requests.
  func transport(
    over transport: any Fetching,
    isStopped: @escaping @Sendable () -> Bool
  ) -> any Fetching {
    let veiling = variables.isEmpty ? transport : SecretTransport(transport, variables)
    guard let rule = catalog.token else { return veiling }
    return TokenTransport(
      veiling,
      rule,
      environment: environment,
      hiding: secrets,
      isStopped: isStopped
    )
  }

  /// Decides which documents the run requests over a transport.
  func needs(over transport: any Fetching) -> RevalidationPolicy {
    RevalidationPolicy(
      named: named,
      credentials: credentials,
      transport: transport,
      onlyDue: options.onlyDue
    )
  }
}
