import Cache
import Catalog
import CurlTransport
import Pipeline
import SampleStore
import Transport

extension SampleShop {
  /// The transport's options for this shop: its host counts as named by the user, and nothing is
  /// retried.
  package func transportOptions() -> TransportOptions {
    var options = TransportOptions()
    options.namedHosts = [HostPort(host: "127.0.0.1", port: store.port)]
    options.retry.retries = 0
    options.breaker.failures = .max
    return options
  }

  /// Syncs this shop once through libcurl.
  ///
  /// The cache is the folder `cache` in `folder`, which also contains local files. Without
  /// `catalog` the shop's own is used. `start` is called with the run before it starts, `notice`
  /// with each message for a person.
  package func sync(
    _ folder: TemporaryFolder,
    _ catalog: CatalogFile? = nil,
    options: SyncOptions = SyncOptions(),
    disk: any Disk = SystemDisk(durable: false),
    remote: (any RemotePictures)? = nil,
    transport: TransportOptions? = nil,
    environment: [String: String] = [:],
    start: (SyncRun) -> Void = { _ in },
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> SyncReport {
    let curl = try CurlTransport(transport ?? transportOptions())
    defer { curl.shutdown() }
    let clock = clock
    let run = SyncRun(
      try catalog ?? self.catalog(),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: curl,
      environment: environment,
      disk: disk,
      remote: remote,
      now: { clock.now },
      notice: notice
    )
    start(run)
    return try run.run(holder: "a test")
  }

  /// The plan of the next run of ``sync(_:_:options:disk:remote:transport:environment:start:notice:)``.
  package func plan(_ folder: TemporaryFolder) throws -> SyncPlan {
    let curl = try CurlTransport(transportOptions())
    defer { curl.shutdown() }
    let clock = clock
    return try SyncPlan(
      SyncRun(
        try catalog(),
        folder: folder.path,
        cache: folder.path("cache"),
        transport: curl,
        now: { clock.now }
      )
    )
  }
}

/// Checks every byte of the cache in a folder.
package func verify(_ folder: TemporaryFolder) throws -> VerifyReport {
  try CacheCheck(folder.path("cache"), holder: nil).run(.full)
}

extension VerifyReport {
  /// A report of a check with these findings and no others.
  package init(
    checked: Int,
    damaged: [String] = [],
    missing: [String] = [],
    strays: [String] = []
  ) {
    self.init()
    self.checked = checked
    self.damaged = damaged
    self.missing = missing
    self.strays = strays
  }
}
