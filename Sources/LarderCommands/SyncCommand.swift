import ArgumentParser
import Cache
import CurlTransport
import Foundation
import Glibc
import Pipeline

/// `larder sync CATALOG`: fetches a catalog with its details and pictures.
struct SyncCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done",
      .failed: "nothing could be fetched, for another reason",
      .partial: "some sections, details or pictures failed; each is listed",
      .withheld: "the guards kept items that the feed no longer lists",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache, or the deadline passed",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Fetch sections, then details and pictures, in parallel; report changes.",
    discussion: """
      Example:  larder sync shop.yaml --cache /var/cache/shop

      Later runs cost little: fresh data is not requested, unchanged data is not fetched again. A \
      killed run keeps every complete picture.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The catalog file (YAML or JSON).", valueName: "catalog"),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var file: String

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.scope) var scope: ScopeOptions
  @OptionGroup(title: Topic.limits) var limits: LimitOptions
  @OptionGroup(title: Topic.limits) var room: RoomOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup var work: WorkOptions
  @OptionGroup(title: Topic.doubt) var doubt: DoubtOptions
  @OptionGroup(title: Topic.monitoring) var metrics: MetricsOptions
  @OptionGroup(title: Topic.monitoring) var change: ChangeOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  private var fetch: FetchOptions {
    FetchOptions(
      scope: scope,
      limits: limits,
      room: room,
      connection: connection,
      work: work,
      doubt: doubt
    )
  }

  func run() throws {
    try change.program?.demandTrust()
    let place = try cache.place(Log(output))
    let record = RunRecord(of: "sync", cache: place.path)
    Output.end(
      fetch.dryRun ? try sync(record, place) : try record.keep(output) { try sync(record, place) }
    )
  }

  private func sync(_ record: RunRecord, _ place: CachePlace) throws -> ExitStatus {
    let status = try CatalogSync(
      try CatalogFileOnDisk(file),
      cache: place,
      fetch: fetch,
      output: output,
      change: change,
      record: record
    ).run()
    if !fetch.dryRun { try metrics.write(cache: place.path) }
    return status
  }
}

/// Runs a sync with signal handling, progress display, summary and exit status.
struct CatalogSync {
  private let file: CatalogFileOnDisk
  private let cache: CachePlace
  private let fetch: FetchOptions
  private let output: OutputOptions
  private let change: ChangeOptions
  private let record: RunRecord

  init(
    _ file: CatalogFileOnDisk,
    cache: CachePlace,
    fetch: FetchOptions,
    output: OutputOptions,
    change: ChangeOptions,
    record: RunRecord
  ) {
    self.file = file
    self.cache = cache
    self.fetch = fetch
    self.output = output
    self.change = change
    self.record = record
  }

  /// Runs the sync, or prints its plan, and returns the exit status.
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
      Output.json(report.json)
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
    try change.tell(report, cache: cache.path, output)
    return ExitStatus(report, signal: signals.signal)
  }
}
