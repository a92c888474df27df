import Base
import Catalog
import FoundationEssentials
import Glibc
import Pipeline
import Synchronization
import Transport

/// Measures the pictures of a catalog or of a list of URLs.
///
/// It runs the passes several times with each number of simultaneous transfers. Each pass that fills a cache is a sync of its own with new connections, as if the user had started it by a
/// command. It works in its own temporary folder, and never changes the user's cache. ``run(progress:)`` blocks its
/// thread; ``stop()`` can be called on any thread.
package final class BenchRun: Sendable {
  /// A repetition that is about to start.
  package struct Step: Sendable, Equatable {
    /// The number of simultaneous transfers.
    package var parallel: Int
    package var repetition: Int
    /// The median rate of the first pass so far, in pictures per second; nil before the first result.
    package var imagesPerSecond: Double?
  }

  /// Runs each pass once with a number of simultaneous transfers.
  private typealias Repetition = (_ parallel: Int) throws -> [RunRecord]

  /// The number of seconds after which everything in the cache is stale, because no response is fresh for more than a
  /// year.
  private static let untilStale: Int64 = 400 * 86_400

  private let plan: BenchPlan
  private let source: BenchSource
  private let surroundings: BenchSurroundings
  /// Stops the present pass; nil between two passes.
  private let stopPass = Mutex<(@Sendable () -> Void)?>(nil)
  private let isStopped = Atomic(false)

  /// Prepares a measurement.
  package init(_ plan: BenchPlan, _ source: BenchSource, _ surroundings: BenchSurroundings) {
    self.plan = plan
    self.source = source
    self.surroundings = surroundings
  }

  /// Ends the measurement early; the report then has the results so far.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    stopPass.withLock { $0 }?()
  }

  private var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Performs the measurement.
  ///
  /// - Parameter progress: Called before each repetition.
  /// - Returns: The report.
  /// - Throws: ``LarderError``, or the error of a sync that could not start.
  package func run(progress: (Step) -> Void = { _ in }) throws -> BenchReport {
    let scratch = try Self.makeFolder(in: surroundings.scratch)
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let repetition = try repetition(cache: "\(scratch)/cache")

    var measured: [BenchReport.Row] = []
    var rates: [Double] = []
    while let parallel = plan.sweep.next(after: rates), !hasStopped {
      let builders = try measure(parallel, repetition, progress)
      guard let first = builders.first else { break }
      rates.append(Estimate(first.rates)?.median ?? 0)
      measured += builders.compactMap(\.row)
      if measured.allSatisfy({ $0.images == 0 }) { break }
    }
    let report = BenchReport(measured, interrupted: hasStopped)
    guard report.interrupted || report.runs.contains(where: { $0.images > 0 }) else {
      throw unavailable(report)
    }
    return report
  }

  /// Makes an empty folder in the folder at `parent`.
  private static func makeFolder(in parent: String) throws(LarderError) -> String {
    var template = Array("\(parent)/larder-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      let problem = "cannot make a folder in \(parent): \(systemMessage(errno))"
      throw LarderError(.io, problem, remedy: .otherScratch)
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func repetition(cache: String) throws -> Repetition {
    switch source {
    case .urls(let list):
      let parser = try surroundings.transport(1)
      let urls = try list.map { try parser.parse($0, relativeTo: nil) }
      return { [self] in try discard(urls, parallel: $0) }
    case .catalog(let file, let folder, let options):
      return { [self] parallel in
        if access(cache, F_OK) == 0 { try FileManager.default.removeItem(atPath: cache) }
        return try plan.order.compactMap { pass in
          hasStopped ? nil : try sync(file, folder, options, pass, parallel: parallel, cache)
        }
      }
    }
  }

  /// Repeats the passes with one number of transfers.
  ///
  /// - Returns: A builder for each pass to report.
  private func measure(
    _ parallel: Int,
    _ repetition: Repetition,
    _ progress: (Step) -> Void
  ) throws -> [RowBuilder] {
    var builders = plan.passes.map { RowBuilder(parallel: parallel, pass: $0) }
    for number in 1...plan.runs where !hasStopped {
      let soFar = builders.first.flatMap { Estimate($0.rates)?.median }
      progress(Step(parallel: parallel, repetition: number, imagesPerSecond: soFar))
      let records = try repetition(parallel)
      // An interrupted repetition does not count.
      if hasStopped { break }
      for record in records {
        guard let place = plan.passes.firstIndex(of: record.pass) else { continue }
        builders[place].add(record)
      }
      // If nothing was fetched, further repetitions would only spend minutes on repeated attempts.
      if number == 1, records.allSatisfy({ $0.images == 0 }) { break }
    }
    return builders.filter { !$0.rates.isEmpty }
  }

  /// Runs the passes as fetches of URLs over the same connections, and discards the bytes.
  private func discard(_ urls: [WebURL], parallel: Int) throws -> [RunRecord] {
    let count = plan.count ?? max(urls.count, parallel)
    let run = DiscardRun(urls, count: count, isTimed: plan.count == nil)
    // A pass that was stopped between two of its requests would otherwise wait for the second.
    let base = StoppableTransport(try surroundings.transport(parallel))
    return plan.order.compactMap { pass in
      guard !hasStopped else { return nil }
      let transport = MeasuringTransport(base)
      return measure(pass, transport, stop: base.stop) {
        run.run(pass, over: transport)
      }
    }
  }

  /// Runs a pass as a sync into a cache.
  private func sync(
    _ catalog: CatalogFile,
    _ folder: String,
    _ options: SyncOptions,
    _ pass: Pass,
    parallel: Int,
    _ cache: String
  ) throws -> RunRecord {
    let transport = MeasuringTransport(try surroundings.transport(parallel))
    let wall = surroundings.wall
    let age = pass == .revalidate ? Self.untilStale : 0
    let run = SyncRun(
      catalog,
      folder: folder,
      cache: cache,
      options: options,
      transport: transport,
      environment: surroundings.variables,
      now: { wall() + age }
    )
    return try measure(pass, transport, stop: run.stop) {
      let report = try run.run(holder: "larder bench, process \(getpid())")
      let unfinished = report.unfinishedCounts[.picture, default: 0]
      var failed = ["cancelled": report.unfinishedCount].filter { $0.value > 0 }
      for failure in report.failures { failed[failure.reason, default: 0] += 1 }
      return (report.pictures.total - report.pictures.failed - unfinished, failed)
    }
  }

  /// Measures the work of a pass.
  ///
  /// `stop` stops the pass. It is called at once if the measurement was stopped already.
  private func measure(
    _ pass: Pass,
    _ transport: MeasuringTransport,
    stop: @escaping @Sendable () -> Void,
    _ work: () throws -> (images: Int, failures: [String: Int])
  ) rethrows -> RunRecord {
    stopPass.withLock { $0 = stop }
    defer { stopPass.withLock { $0 = nil } }
    if hasStopped { stop() }
    let began = MonotonicTime.now()
    return RunRecord(pass, try work(), transport, since: began)
  }

  private func unavailable(_ report: BenchReport) -> LarderError {
    let reasons = report.failureReasons
    guard let reason = reasons.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else {
      return LarderError(
        .data,
        "cannot bench: there is no picture to fetch; check that the catalog lists items with images"
      )
    }
    return LarderError(
      .unavailable,
      "cannot bench: nothing could be fetched, most often because of \(reason); "
        + "try larder sync, which explains each failure"
    )
  }
}

extension BenchReport {
  /// Creates the report of a measurement from its rows.
  init(_ rows: [Row], interrupted: Bool) {
    (runs, self.interrupted) = (rows, interrupted)
    let quickest = rows.filter { $0.pass == rows.first?.pass }
      .max { $0.imagesPerSecond < $1.imagesPerSecond }
    if let row = quickest, row.images > 0 {
      best = Best(
        parallel: row.parallel,
        pass: row.pass,
        imagesPerSecond: row.imagesPerSecond,
        bytesPerSecond: row.bytesPerSecond
      )
    }
  }
}
