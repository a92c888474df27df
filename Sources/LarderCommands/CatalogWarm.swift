import Cache
import CurlTransport
import Dispatch
import Foundation
import Glibc
import Larder
import Pipeline
import Transport

/// An unattended run over several catalogs: one transport, one paragraph each when something is wrong.
struct CatalogWarm {
  private let paths: [String]
  private let cache: CachePlace
  private let minInterval: Double?
  private let splay: Double?
  private let fetch: FetchOptions
  private let output: OutputOptions
  private let metrics: MetricsOptions
  private let record: RunRecord

  init(
    _ paths: [String],
    cache: CachePlace,
    minInterval: Double?,
    splay: Double?,
    fetch: FetchOptions,
    output: OutputOptions,
    metrics: MetricsOptions,
    record: RunRecord
  ) {
    self.paths = paths
    self.cache = cache
    self.minInterval = minInterval
    self.splay = splay
    self.fetch = fetch
    self.output = output
    self.metrics = metrics
    self.record = record
  }

  /// Runs the catalogs that are due, one after the other, and says how to end the process.
  func run() throws -> ExitStatus {
    var statuses: [ExitStatus] = []
    var named: [(path: String, file: CatalogFileOnDisk)] = []
    var hosts: Set<HostPort> = []
    for path in paths {
      do {
        let file = try CatalogFileOnDisk(path)
        hosts.formUnion(try file.namedHosts(base: fetch.scope.base))
        named.append((path, file))
      } catch {
        // The other catalogs are none the worse for it.
        guard let failure = CommandFailure(error) else { throw error }
        statuses.append(say(failure))
      }
    }
    // In one cache each would take the other's items for gone.
    let namesakes = Dictionary(grouping: named) { $0.file.catalog.name }.filter { $1.count > 1 }
    for (name, others) in namesakes.sorted(by: { $0.key < $1.key }) {
      let paths = others.map(\.path).joined(separator: " and ")
      statuses.append(
        say(
          CommandFailure(
            "cannot warm \(paths): both have the name \(name); give each a name of its own",
            .configuration
          )
        )
      )
    }
    let files = named.map(\.file).filter { namesakes[$0.catalog.name] == nil }
    let stop = StopFlag()
    let signals = Signals { _ in stop.raise() }
    let plan = WarmPlan(
      try files.map { try WarmPlan.Standing(of: $0.catalog.name, cache: cache.path) },
      minInterval: minInterval,
      now: UnixTime.now()
    )
    guard !plan.due.isEmpty else { return ExitStatus.gravest(statuses + [.tryAgain]) }
    if let splay, splay > 0, !fetch.dryRun { stop.wait(seconds: Double.random(in: 0..<splay)) }
    if let signal = signals.signal { return signal == 15 ? .terminated : .interrupted }

    let transport = try CurlTransport(try fetch.transport(named: hosts, cache: cache.path))
    defer { transport.shutdown() }
    for position in plan.due where signals.signal == nil {
      do {
        statuses.append(try run(files[position], transport, stop, signals))
      } catch {
        guard let failure = CommandFailure(error) else { throw error }
        // The catalogs share the cache: who holds or spoils it does so for all.
        guard failure.status == .configuration || failure.status == .data else { throw failure }
        statuses.append(say(failure))
      }
    }
    if !fetch.dryRun, signals.signal == nil,
      let orders = try DueOrders.send(through: fetch.connection.proxy)
    {
      for warning in orders.warnings { Log(output).warning(warning) }
      statuses.append(orders.status)
    }
    if !fetch.dryRun { try metrics.write(cache: cache.path) }
    return ExitStatus.gravest(statuses)
  }

  private func run(
    _ file: CatalogFileOnDisk,
    _ transport: CurlTransport,
    _ stop: StopFlag,
    _ signals: Signals
  ) throws -> ExitStatus {
    var options = fetch.sync
    options.onlyDue = true
    try cache.demandNoSquares(options)
    if fetch.dryRun {
      return try file.printPlan(cache: cache.path, options, transport, output)
    }
    let run = file.syncRun(cache: cache, options, transport, output)
    stop.whenRaised { run.stop() }
    let terminal = Terminal(output)
    let display =
      terminal.showsProgress ? ProgressDisplay(run.progress, of: transport) : nil
    let result = Result {
      try run.run(holder: "larder warm \(file.catalog.name), process \(getpid())")
    }
    display?.end()
    let report = try result.get()
    record.add(report)
    if output.json {
      Output.json(report.json())
    } else {
      let paragraph = WarmParagraph(report, cache: cache.name)
      if let text = paragraph.text { Log(output).warning(text) }
      for line in paragraph.skipped(all: output.verbose > 0) { Log(output).warning(line) }
      if output.verbose > 0 { Output.note(SyncSummary(report, terminal).text) }
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

  /// Says what keeps one catalog from running, and gives its status.
  private func say(_ failure: CommandFailure) -> ExitStatus {
    record.add(failure)
    if output.json { Output.json(failure.json) }
    if let message = failure.message { Log(output).error(message) }
    return failure.status
  }
}
