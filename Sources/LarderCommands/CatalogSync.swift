import Cache
import CurlTransport
import Foundation
import Glibc
import Pipeline
import Transport

/// A sync with everything that a person sees around it: signals, progress, summary, status.
struct CatalogSync {
  private let file: CatalogFileOnDisk
  private let cache: CachePlace
  private let fetch: FetchOptions
  private let output: OutputOptions
  private let record: RunRecord

  init(
    _ file: CatalogFileOnDisk,
    cache: CachePlace,
    fetch: FetchOptions,
    output: OutputOptions,
    record: RunRecord
  ) {
    self.file = file
    self.cache = cache
    self.fetch = fetch
    self.output = output
    self.record = record
  }

  /// Runs the sync, or prints its plan, and says how to end the process.
  func run() throws -> ExitStatus {
    let options = fetch.sync
    try cache.demandNoSquares(options)
    let named = try file.namedHosts(base: options.base)
    let transport = try CurlTransport(try fetch.transport(named: named, cache: cache.path))
    defer { transport.shutdown() }
    if fetch.dryRun { return try file.printPlan(cache: cache.path, options, transport, output) }

    let run = file.syncRun(cache: cache, options, transport, output)
    let signals = Signals { _ in run.stop() }
    let terminal = Terminal(output)
    let display = terminal.showsProgress ? ProgressDisplay(run.progress, of: transport) : nil
    let result = Result {
      try run.run(holder: "larder sync \(file.catalog.name), process \(getpid())")
    }
    display?.end()
    let report = try result.get()
    record.add(report)
    if output.json {
      Output.json(report.json())
    } else {
      let summary = SyncSummary(report, terminal)
      if !output.quiet { Output.data(summary.text) }
      for warning in summary.warnings(all: output.verbose > 0) {
        Log(output).warning(warning)
      }
    }
    let isUnfinished = !report.unfinished.isEmpty
    if let words = fetch.room.shortage(of: cache.path, isUnfinished: isUnfinished) {
      Log(output).warning(words)
    }
    if output.verbose > 0 {
      for gap in FileSystemGap.found { Output.note(gap.words) }
    }
    return ExitStatus(report, signal: signals.signal)
  }
}
