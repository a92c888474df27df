import Base
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Transport

/// Measures the pictures of a catalog or of a list of URLs.
///
/// It runs the passes with each number of simultaneous transfers, and repeats them until the rates are known well
/// enough. It works in its own temporary folder, and never changes the user's cache. ``run(progress:)`` blocks its
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

  private let plan: BenchPlan
  private let source: BenchSource
  private let surroundings: BenchSurroundings
  private let current = Mutex<LevelRun?>(nil)
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
    current.withLock { $0 }?.stop()
  }

  private var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Performs the measurement.
  ///
  /// - Parameter progress: Called before each repetition.
  /// - Returns: The report, without a comparison with a baseline.
  /// - Throws: ``LarderError``, or the error of a sync that could not start.
  package func run(progress: (Step) -> Void = { _ in }) throws -> BenchReport {
    let scratch = try ScratchFolder(in: surroundings.scratch)
    defer { withExtendedLifetime(scratch) {} }
    let level = LevelRun(plan, try source.catalog(in: scratch.path), surroundings)
    current.withLock { $0 = level }
    defer { current.withLock { $0 = nil } }
    if hasStopped { level.stop() }
    let urls = plan.sink == .discard ? try pictures(level, scratch) : []

    var measured: [BenchReport.Row] = []
    var rates: [Double] = []
    while let parallel = plan.sweep.next(after: rates), mayStart {
      let builders = try measure(parallel, level, urls, scratch, progress)
      guard let first = builders.first else { break }
      rates.append(Estimate(first.rates)?.median ?? 0)
      // Keep only the rows, because the histograms of the builders would be counted as memory of later runs.
      measured += builders.compactMap(\.row)
      if measured.allSatisfy({ $0.images == 0 }) { break }
    }
    let report = report(measured)
    guard report.interrupted || report.runs.contains(where: { $0.images > 0 }) else {
      throw unavailable(report)
    }
    return report
  }

  private var mayStart: Bool {
    !hasStopped && surroundings.monotonic() < plan.deadline ?? .distantFuture
  }

  /// The URLs of the pictures, for runs that discard the bytes.
  private func pictures(_ level: LevelRun, _ scratch: ScratchFolder) throws -> [WebURL] {
    if case .urls(let list) = source {
      let parser = try surroundings.transport(1)
      return try list.map { try parser.parse($0, relativeTo: nil) }
    }
    return try level.urls(parallel: 16, into: scratch.empty("urls"))
  }

  /// Repeats the passes with one number of transfers.
  ///
  /// - Returns: A builder for each pass to report.
  private func measure(
    _ parallel: Int,
    _ level: LevelRun,
    _ urls: [WebURL],
    _ scratch: ScratchFolder,
    _ progress: (Step) -> Void
  ) throws -> [RowBuilder] {
    var builders = plan.passes.map {
      RowBuilder(parallel: parallel, pass: $0, isOpen: plan.rate != nil)
    }
    var repetition = 0
    while mayStart, !plan.repetition.isEnough(builders.map(\.rates)) {
      repetition += 1
      let soFar = builders.first.flatMap { Estimate($0.rates)?.median }
      progress(Step(parallel: parallel, repetition: repetition, imagesPerSecond: soFar))
      let records =
        plan.sink == .discard
        ? try level.discard(parallel: parallel, urls, repeats: source.isURLs)
        : try level.sync(parallel: parallel, into: scratch.empty("runs"))
      // An interrupted repetition does not count.
      if hasStopped { break }
      for record in records {
        guard let place = plan.passes.firstIndex(of: record.pass) else { continue }
        builders[place].add(record)
      }
      // If nothing was fetched, further repetitions would only spend minutes on repeated attempts.
      if repetition == 1, records.allSatisfy({ $0.images == 0 }) { break }
    }
    return builders.filter { !$0.rates.isEmpty }
  }

  private func report(_ rows: [BenchReport.Row]) -> BenchReport {
    var report = BenchReport()
    report.runs = rows
    report.sink = plan.sink
    report.rate = plan.rate
    report.loop = plan.rate == nil ? "closed" : "open"
    report.latency =
      plan.rate == nil
      ? "closed loop: a request starts when another ends, so a slow answer delays later requests without "
        + "showing in their latency (coordinated omission); at a constant rate, it is measured from the planned start"
      : "open loop: latency is measured from the planned start, so a slow answer also counts in the "
        + "requests that it delays"
    report.interrupted = hasStopped
    let first = report.runs.first?.pass
    let quickest = rows.filter { $0.pass == first }
      .max { $0.imagesPerSecond < $1.imagesPerSecond }
    if let row = quickest, row.images > 0 {
      report.best = BenchReport.Best(
        parallel: row.parallel,
        pass: row.pass,
        imagesPerSecond: row.imagesPerSecond,
        bytesPerSecond: row.bytesPerSecond
      )
    }
    return report
  }

  private func unavailable(_ report: BenchReport) -> LarderError {
    let reasons = report.runs.reduce(into: [String: Int]()) {
      $0.merge($1.failureReasons) { $0 + $1 }
    }
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

/// A temporary folder for one measurement.
///
/// It is removed when the last reference to this object is released.
final class ScratchFolder: Sendable {
  let path: String

  /// Creates an empty folder in `parent`.
  init(in parent: String) throws(LarderError) {
    var template = Array("\(parent)/larder-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      let words = systemMessage(errno)
      throw LarderError(
        .io,
        "cannot make a folder in \(parent): \(words)",
        remedy: .otherScratch
      )
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Creates an empty folder with a name in the temporary folder.
  ///
  /// An older folder with this name is removed first.
  func empty(_ name: String) throws -> String {
    let folder = "\(path)/\(name)"
    if access(folder, F_OK) == 0 { try FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
