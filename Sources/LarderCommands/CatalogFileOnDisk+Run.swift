import Catalog
import CurlTransport
import Pipeline
import Transport

extension CatalogFileOnDisk {
  /// The hosts that the catalog names; `base` stands in for its own when given.
  func namedHosts(base: String?) throws -> Set<HostPort> {
    try addresses(base) { addresses in try addresses.namedHosts() }
  }

  /// Whether sections or details are files of this machine.
  func readsFiles(base: String?) throws -> Bool {
    try addresses(base) { addresses in try addresses.readsFiles() }
  }

  /// Demands that sections and details come from origins, for files of one machine others do not have.
  func demandOrigins(base: String?) throws {
    guard try readsFiles(base: base) else { return }
    throw CommandFailure(
      "cannot plan \(catalog.name): its sections or details are files of this machine; use "
        + "larder sync",
      .usage
    )
  }

  private func addresses<Value>(
    _ base: String?,
    _ read: (CatalogAddresses) throws -> Value
  ) throws -> Value {
    do {
      return try read(
        CatalogAddresses(
          catalog,
          folder: folder,
          base: base,
          environment: environment,
          CurlURLParser()
        )
      )
    } catch let error as CatalogError {
      throw SyncError.catalog(error)
    } catch let error as TransferFailure {
      throw SyncError.address(error)
    }
  }

  /// A run over the catalog, with this process's environment and clock.
  func syncRun(
    cache: CachePlace,
    _ options: SyncOptions,
    _ transport: CurlTransport,
    _ output: OutputOptions,
    parts: RunParts = RunParts()
  ) -> SyncRun {
    SyncRun(
      catalog,
      folder: folder,
      cache: cache.path,
      options: options,
      transport: transport,
      environment: environment,
      parts: parts,
      keeper: cache.keeper,
      now: { UnixTime.now() },
      notice: { Log(output).warning($0) }
    )
  }

  /// Prints what a run would do, which changes nothing.
  func printPlan(
    cache: String,
    _ options: SyncOptions,
    _ transport: CurlTransport,
    _ output: OutputOptions
  ) throws -> ExitStatus {
    let plan = try SyncPlan(
      catalog,
      folder: folder,
      cache: cache,
      options: options,
      transport: transport,
      environment: environment,
      now: UnixTime.now()
    )
    if output.json { Output.json(try plan.json()) } else { Output.data(PlanText(plan).text) }
    return .done
  }
}
