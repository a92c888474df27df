import Catalog
import Glibc
import Pipeline
import Synchronization
import Transport

/// The passes at one number of transfers at once, one after the other on one cache.
///
/// Each pass with a cache is a sync of its own with connections of its own, as a command would be.
/// ``stop()`` may be called from any thread.
final class LevelRun: Sendable {
  /// How many seconds later nothing is fresh any more: no lifetime is longer than a year.
  private static let untilStale: Int64 = 400 * 86_400

  private let plan: BenchPlan
  private let surroundings: BenchSurroundings
  private let catalog: (file: CatalogFile, folder: String, options: SyncOptions)
  private let current = Mutex<(@Sendable () -> Void)?>(nil)
  private let isStopped = Atomic(false)

  init(
    _ plan: BenchPlan,
    _ catalog: (CatalogFile, folder: String, SyncOptions),
    _ surroundings: BenchSurroundings
  ) {
    self.plan = plan
    self.surroundings = surroundings
    self.catalog = (catalog.0, catalog.folder, catalog.2)
  }

  var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Ends the present pass early, and starts no other.
  func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    current.withLock { $0 }?()
  }

  /// Syncs into the cache in an empty folder, pass after pass.
  func sync(parallel: Int, into folder: String) throws -> [RunRecord] {
    try plan.order.compactMap { pass in
      hasStopped ? nil : try sync(pass, parallel: parallel, cache: "\(folder)/cache").record
    }
  }

  /// Syncs once without measuring, and tells which pictures were asked for.
  func urls(parallel: Int, into folder: String) throws -> [WebURL] {
    let (_, transport) = try sync(.cold, parallel: parallel, cache: "\(folder)/cache")
    return try transport.urls.map { try transport.parse($0, relativeTo: nil) }
  }

  /// Fetches `urls` and throws the bytes away, pass after pass over the same connections.
  func discard(parallel: Int, _ urls: [WebURL]) throws -> [RunRecord] {
    let run = DiscardRun(urls)
    let base = try surroundings.transport(parallel)
    return plan.order.compactMap { pass in
      guard !hasStopped else { return nil }
      let transport = MeasuringTransport(base, rate: plan.rate, now: surroundings.monotonic)
      attend { transport.cancelAll() }
      defer { attend(nil) }
      return measure(pass, parallel, transport) { run.run(pass, over: transport) }
    }
  }

  private func sync(
    _ pass: Pass,
    parallel: Int,
    cache: String
  ) throws -> (record: RunRecord, MeasuringTransport) {
    let transport = MeasuringTransport(
      try surroundings.transport(parallel),
      rate: plan.rate,
      now: surroundings.monotonic
    )
    let wall = surroundings.wall
    let age = pass == .revalidate ? Self.untilStale : 0
    let now: @Sendable () -> UnixTime = { wall() + age }
    let run = SyncRun(
      catalog.file,
      folder: catalog.folder,
      cache: cache,
      options: catalog.options,
      transport: transport,
      environment: surroundings.variables,
      now: now
    )
    attend { run.stop() }
    defer { attend(nil) }
    let record = try measure(pass, parallel, transport) {
      let report = try run.run(holder: "larder bench, process \(getpid())")
      let failed = report.failures.map(\.reason) + report.unfinished.map { _ in "cancelled" }
      return (
        report.images.unique - report.images.failed - unfinishedImages(report),
        failed.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      )
    }
    return (record, transport)
  }

  private func unfinishedImages(_ report: SyncReport) -> Int {
    report.unfinished.filter { $0.stage == .image }.count
  }

  private func measure(
    _ pass: Pass,
    _ parallel: Int,
    _ transport: MeasuringTransport,
    _ work: () throws -> (images: Int, failures: [String: Int])
  ) rethrows -> RunRecord {
    let meter = ProcessMeter()
    let began = surroundings.monotonic()
    let (images, failures) = try work()
    let nanoseconds = surroundings.monotonic() - began
    return RunRecord(
      pass: pass,
      parallel: parallel,
      seconds: Double(nanoseconds) / 1e9,
      began: began,
      images: max(0, images),
      failures: failures,
      others: transport.others,
      samples: transport.samples,
      cpuSeconds: meter.cpuSeconds,
      peakBytes: meter.peakBytes
    )
  }

  /// Names what a stop has to end, and stops it at once when that has been asked for meanwhile.
  private func attend(_ stop: (@Sendable () -> Void)?) {
    current.withLock { $0 = stop }
    if hasStopped { stop?() }
  }
}
