import ArgumentParser
import Base
import Catalog
import CurlTransport
import Foundation
import Pipeline
import SystemPackage
import Transport

/// `larder warm CATALOG…`: fetches missing and stale data, as a job for cron.
///
/// Data is stale if HTTP's caching rules demand a request before it is used again. (RFC 9111)
struct WarmCommand: FetchCommand {
  static let configuration = CommandConfiguration(
    commandName: "warm",
    abstract: "For cron: fetch only stale and missing data; quiet unless something fails.",
    discussion: """
      Example:  larder warm /etc/larder --cache /var/cache/larder --deadline 20m
                larder warm shop.yaml --min-interval 40m --metrics larder.prom
                larder warm shop.yaml --on-failure "mail -s larder admin"

      Fresh data is not requested. Stale data is requested by priority: pictures that were never \
      fetched, then those that just changed, then those checked longest ago. Work left undone because of \
      the deadline, the rate or --max-bytes comes first in the next run. Missing pictures (404) are \
      retried less and less often, in the end once a day. The run that first finds such a failure \
      reports it; later runs list it as known. Several catalogs share one transport, and so the limits \
      per host.

      Orders that are due go to LARDER_WEBHOOK_URL, when that is set; see larder order send --help.

      Prints nothing if all is well; otherwise the outcome of each catalog and its problems on stderr, one \
      on each line, as sync does. A catalog file that is wrong does not stop the others. On a \
      terminal, a line shows the progress.

      The result of the last run is in the cache as last-run.json, and --on-failure passes it to a \
      command of yours. A run counts as failed unless its status is 0, 75, 130 or 143. A run that was \
      refused because another holds the cache, or that came too soon, leaves the file unchanged.
      """,
    statuses: [
      .done: "done, or nothing was due",
      .failed: "nothing could be fetched, for another reason",
      .partial: "some sections, details or pictures failed; each is listed",
      .withheld: "the guards kept items that the feed no longer lists",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "another run holds the cache, the deadline passed, or it is too soon",
      .configuration: "a catalog file is wrong; of several catalogs, the worst status counts",
    ],
    stops: true
  )

  @Argument(
    paths: "The catalog files (YAML or JSON), or folders of .yaml files.",
    value: "catalog",
    completion: .catalogFile
  )
  var files: [String]

  @Option("Skip a catalog whose last run started more recently than this.", value: "time")
  var minInterval: DurationArgument?

  @Option(
    "First wait a random time, up to this, so that many machines do not start at once.",
    value: "time"
  )
  var splay: DurationArgument?

  @OptionGroup(title: Topic.cache) var cache: PlacedCacheOptions
  @OptionGroup(title: Topic.scope) var scope: ScopeOptions
  @OptionGroup(title: Topic.limits) var limits: LimitOptions
  @OptionGroup(title: Topic.limits) var room: RoomOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup var work: WorkOptions
  @OptionGroup(title: Topic.doubt) var doubt: DoubtOptions
  @OptionGroup(title: Topic.monitoring) var metrics: MetricsOptions
  @OptionGroup(title: Topic.monitoring) var failure: FailureOptions
  @OptionGroup(title: Topic.monitoring) var change: ChangeOptions
  @OptionGroup(title: Topic.notices) var notices: NotifyOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    try failure.onFailure?.demandTrust()
    try change.onChange?.demandTrust()
    // Without a log, there is no warning about plain http. Cron would mail that warning after every run.
    let place = try cache.place(nil)
    let record = RunRecord(of: "warm", cache: place.path)
    if work.dryRun { Output.end(try warm(record, place)) }
    var told = ExitStatus.done
    let status = try record.keep(
      output,
      failing: { told = failure.onFailure?.tell($0, output) ?? .done }
    ) {
      try warm(record, place)
    }
    Output.end(told.isFailure ? status : .mostSevere([status, told]))
  }

  /// Runs the catalogs that `--min-interval` allows, one after the other, and returns the exit status.
  private func warm(_ record: RunRecord, _ place: CachePlace) throws -> ExitStatus {
    let paths = try files.flatMap(Self.catalogFiles)
    // The webhook's file is read first, so that a mistake in it is reported before anything is fetched.
    let notices = try notices.sending(proxy: connection.route.proxy)
    var statuses: [ExitStatus] = []
    var named: [(path: String, file: CatalogFileOnDisk)] = []
    var hosts: Set<HostPort> = []
    var faults: [(path: String, error: any Error)] = []
    for path in paths {
      do {
        let file = try CatalogFileOnDisk(path)
        hosts.formUnion(try file.namedHosts(base: scope.base))
        named.append((path, file))
      } catch {
        faults.append((path, error))
      }
    }
    // A catalog's format file can be in the same folder.
    let formats = Set(named.compactMap(\.file.format))
    for (path, error) in faults
    where files.contains(path) || !formats.contains(FilePath(path).lexicallyNormalized()) {
      // An invalid catalog file does not stop the run of the other catalogs.
      statuses.append(try say(error, record))
    }
    // If two catalogs had the same name, the run of each would treat the items of the other as removed.
    let namesakes = Dictionary(grouping: named) { $0.file.catalog.name }.filter { $1.count > 1 }
    for (name, others) in namesakes.sorted(by: { $0.key < $1.key }) {
      let paths = others.map(\.path).joined(separator: " and ")
      let words = "cannot warm \(paths): both have the name \(name); give them different names"
      statuses.append(try say(CommandFailure(words, .configuration), record))
    }
    let catalogs = named.map(\.file).filter { namesakes[$0.catalog.name] == nil }
    let signals = Signals()
    let now = UnixTime.now()
    let starts = try catalogs.map {
      try WarmPlan.lastStart(of: $0.catalog.name, cache: place.path)
    }
    let plan = WarmPlan(starts, minInterval: minInterval?.seconds, now: now)
    for position in plan.recent {
      let words = tooSoon(catalogs[position].catalog.name, starts[position] ?? now, now: now)
      if output.json, plan.due.isEmpty { Output.json(CommandFailure(words, .tryAgain).json) }
      if output.verbose > 0 || Terminal(output).showsProgress { Output.note(words) }
    }
    guard !plan.due.isEmpty else { return ExitStatus.mostSevere(statuses + [.tryAgain]) }
    if let splay = splay?.seconds, splay > 0, !work.dryRun {
      signals.stop.wait(seconds: Double.random(in: 0..<splay))
    }
    if let status = signals.status {
      throw CommandFailure("interrupted: no catalog was run; run the command again", status)
    }

    let transport = try transport(named: hosts, cache: place.path)
    defer { transport.shutdown() }
    for position in plan.due {
      if let status = signals.status {
        let name = catalogs[position].catalog.name
        let words = "interrupted: catalog \(name) was not run; run again"
        statuses.append(try say(CommandFailure(words, status), record))
        continue
      }
      do {
        statuses.append(try warm(catalogs[position], place, transport, record, signals))
      } catch {
        // Other errors, such as a held lock or a full disk, affect the cache that all catalogs share.
        guard [.configuration, .data].contains(CommandFailure(error)?.status) else { throw error }
        statuses.append(try say(error, record))
      }
    }
    if work.dryRun { return ExitStatus.mostSevere(statuses) }
    if signals.signal == nil,
      let orders = try WebhookOptions.sendDueOrders(through: connection.route.proxy)
    {
      orders.warn(output)
      statuses.append(orders.status)
    }
    if signals.signal == nil, let notices {
      // Before its first run has ended, a catalog has no changes.
      let synced = catalogs.map(\.catalog.name).filter {
        (try? CatalogReader(cache: place.path, catalog: $0).lastRun()) != nil
      }
      let sent = try notices.run(synced, cache: place.path)
      sent.warn(output)
      statuses.append(sent.status)
    }
    try metrics.write(cache: place.path)
    return ExitStatus.mostSevere(statuses)
  }

  /// Runs one catalog, or prints its plan with `--dry-run`.
  private func warm(
    _ file: CatalogFileOnDisk,
    _ place: CachePlace,
    _ transport: CurlTransport,
    _ record: RunRecord,
    _ signals: Signals
  ) throws -> ExitStatus {
    var settings = settings
    settings.onlyDue = true
    try place.demandNoSquares(settings)
    if work.dryRun { return try file.printPlan(cache: place, settings, transport, output) }
    return try run(file, settings, in: place, transport, record, signals) { report in
      let summary = SyncSummary(report: report, terminal: Terminal(output))
      for line in summary.mail(cache: place.name, all: output.verbose > 0) {
        Log(output).warning(line)
      }
      if output.verbose > 0 { Output.note(summary.text) }
    }
  }

  /// The message about a catalog that is skipped because of `--min-interval`.
  private func tooSoon(_ name: String, _ started: UnixTime, now: UnixTime) -> String {
    let until = started + Int64((minInterval?.seconds ?? 0).rounded(.up))
    return "\(PlainText.line(name)): last run \(Quantities.duration(Double(now - started))) ago; "
      + "not again before \(until.rfc3339) (--min-interval)"
  }

  /// Reports why a catalog is not run, and returns the status for that.
  ///
  /// - Throws: `error`, if it is not an error of larder.
  private func say(_ error: any Error, _ record: RunRecord) throws -> ExitStatus {
    guard let failure = CommandFailure(error) else { throw error }
    record.add(failure)
    if output.json { Output.json(failure.json) }
    if let message = failure.message { Log(output).error(message) }
    return failure.status
  }

  /// The path itself if it names a file; if it names a folder, the catalog files in it, sorted by name.
  ///
  /// - Throws: ``CommandFailure`` when a folder has no catalog file.
  private static func catalogFiles(_ path: String) throws -> [String] {
    guard FileReading.isFolder(path) else { return [path] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let catalogs = names.filter {
      !$0.hasPrefix(".") && ($0.hasSuffix(".yaml") || $0.hasSuffix(".yml"))
    }.sorted()
    guard !catalogs.isEmpty else {
      throw CommandFailure(
        "cannot find any catalog in \(path): there is no .yaml file; put one there"
      )
    }
    return catalogs.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
  }
}

/// The option `--on-failure`: a program that runs after a failed run.
struct FailureOptions: ParsableArguments {
  @Option(
    "Run this after a failed run, with last-run.json on its stdin: a program and its arguments, "
      + "separated by spaces, without a shell. It has 30 seconds. A program that other "
      + "users can change is refused.",
    value: "command",
    completion: .file(),
    read: ToldProgram.reader(of: "--on-failure")
  )
  var onFailure: ToldProgram?
}

/// The option `--on-change`: a program that runs after a run with changes.
struct ChangeOptions: ParsableArguments {
  @Option(
    "Run this after a run with changes, with the output of larder diff --json on its stdin: a "
      + "program and its arguments, as for warm --on-failure.",
    value: "command",
    completion: .file(),
    read: ToldProgram.reader(of: "--on-change")
  )
  var onChange: ToldProgram?

  /// If a program is given and the run changed something, runs the program with the changes on its stdin.
  ///
  /// A change is an added, removed or changed item, a detail with other values, or a picture with new bytes.
  ///
  /// - Parameters:
  ///   - report: The run's report.
  ///   - cache: The path of the run's cache.
  ///   - output: The output options, for warnings.
  /// - Returns: `done` if the program ended well or there was nothing to tell. The program is not told of these changes
  ///   again, so that a failure must be seen: it is `partial`.
  /// - Throws: ``LarderError`` when the cache cannot be read.
  func tell(
    _ report: SyncReport,
    cache: String,
    _ output: OutputOptions
  ) throws -> ExitStatus {
    let items = report.items
    let isSame =
      items.added.isEmpty && items.removed.isEmpty && items.changed.isEmpty
      && report.details.changed == 0 && report.pictures.changed == 0
    guard let onChange, let run = report.run, !isSame else { return .done }
    let reader = try CatalogReader(cache: cache, catalog: report.catalog)
    let difference = try reader.diff(from: nil, to: run)
    return onChange.tell(try difference.jsonLine() + [UInt8(ascii: "\n")], output)
  }
}
