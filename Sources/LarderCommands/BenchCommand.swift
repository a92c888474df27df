import ArgumentParser
import Base
import Bench
import Catalog
import CurlTransport
import Foundation
import Synchronization
import Transport

/// `larder bench`: measures parallel downloads.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure parallel downloads: cold, warm and revalidating, over a sweep.",
    discussion: """
      Example:  larder bench shop.yaml --parallel 1,4,16,64
                larder bench https://cdn.example/a.jpg https://cdn.example/b.jpg
                larder bench urls.txt --runs 20 --json > before.json

      The pictures of a catalog are stored, as by a sync, in a temporary folder (in TMPDIR); your cache is \
      not touched. The bytes of URLs are discarded. The cold pass starts with an empty cache, warm with \
      everything fresh, revalidate with everything stale. A request starts when another ends (a closed \
      loop: latencies hide the delay that a slow answer causes for later requests).
      """,
    statuses: [
      .done: "done",
      .failed: "libcurl is missing",
      .partial: "some requests failed",
      .data: "the list cannot be read",
      .unavailable: "nothing could be fetched",
      .io: "the disk is full or not writable",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  @Argument(
    paths: "A catalog file, a file with one URL on each line, or URLs; - reads URLs from stdin.",
    value: "catalog|file|url",
    completion: .file()
  )
  var sources: [String]

  @Option(
    "The passes to report. (default: cold,warm,revalidate)",
    value: "passes",
    read: NameArgument.readSeveral
  )
  var pass = Pass.allCases

  @Option(
    "Simultaneous transfers, such as 1,4,16, or auto: 1, 2, 4 … 128 while the rate rises. (default: auto)",
    value: "n,…|auto",
    read: Self.levels
  )
  var parallel = SweepPlan.auto

  @Option("Run each pass N times. (default: 5)", value: "n", read: WholeNumber.reader(1...1000))
  var runs = 5

  @Option(
    "The number of requests in a pass over URLs.",
    value: "n",
    read: WholeNumber.reader(1...1_000_000)
  )
  var count: Int?

  @OptionGroup(title: Topic.scope) var scope: ScopeOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if sources.count > 1, let other = sources.first(where: { !$0.contains("://") }) {
      throw ValidationError("several sources must all be URLs, and \"\(other)\" is none")
    }
  }

  func run() throws { Output.end(try measure()) }

  /// Measures, prints the result, and returns the exit status.
  private func measure() throws -> ExitStatus {
    let source = try source()
    var plan = BenchPlan()
    plan.passes = Pass.allCases.filter(pass.contains)
    plan.count = count
    plan.sweep = parallel
    plan.runs = runs
    // A pass over a catalog requests each picture once.
    if count != nil, case .catalog = source {
      throw CommandFailure("cannot repeat requests for a catalog: --count goes with URLs")
    }
    let run = BenchRun(plan, source, try surroundings(of: source))
    let signals = Signals { run.stop() }
    let terminal = Terminal(output)
    let latest = Mutex<BenchRun.Step?>(nil)
    let display = ProgressDisplay(output) { seconds, width in
      let words = latest.withLock(\.self).map(BenchTable.words) ?? []
      return ProgressParts.line(words + [Quantities.duration(seconds)], width: width)
    }
    let result = Result { try run.run { step in latest.withLock { $0 = step } } }
    display?.end()
    let report = try result.get()
    let table = BenchTable(report: report, terminal: terminal)
    try output.show(report, text: table.text, always: true)
    return signals.status ?? (report.failures > 0 ? .partial : .done)
  }

  private func source() throws -> BenchSource {
    let path = sources[0]
    if path.contains("://") {
      let list = sources.joined(separator: "\n")
      return try BenchSource(list: Array(list.utf8), name: "the command line")
    }
    let bytes = try FileReading.bytes(
      path,
      what: "catalog or list",
      limit: 64 << 20,
      takesInput: true
    )
    if path == "-" { return try BenchSource(list: bytes, name: "stdin") }
    if BenchSource.isList(bytes) { return try BenchSource(list: bytes, name: path) }
    let catalog = try CatalogFileOnDisk(path)
    return .catalog(catalog.catalog, folder: catalog.folder, options: scope.sync)
  }

  /// Parses the numbers of simultaneous transfers to measure, such as `1,4,16`, or `auto`.
  @Sendable private static func levels(_ argument: String) throws -> SweepPlan {
    if let plan = SweepPlan(argument) { return plan }
    throw ValidationError(
      "it takes auto, or different numbers from 1 to 1024, separated by commas"
    )
  }

  private func surroundings(of source: BenchSource) throws -> BenchSurroundings {
    let environment = ProcessInfo.processInfo.environment
    let named: Set<HostPort>
    do {
      named = try source.namedHosts(CurlURLParser(), environment: environment)
    } catch let error as TransferFailure {
      throw CommandFailure("\(error); check the URL", .configuration)
    }
    let common = try connection.transport(named: named)
    let scratch = FileManager.default.temporaryDirectory.path
    var surroundings = BenchSurroundings(scratch: scratch) { parallel in
      var options = common
      options.parallel = .fixed(parallel)
      return try CurlTransport(options)
    }
    surroundings.variables = environment
    return surroundings
  }
}

/// A measurement as text: a table with a row for each pass and each number of simultaneous downloads, then notes.
///
/// A pass is one of `cold`, `warm` and `revalidate`: with an empty cache, with a fresh one, or with a stale one.
struct BenchTable {
  let report: BenchReport
  let terminal: Terminal

  /// The parts of the progress line for a step; the least important part is the last.
  static func words(of step: BenchRun.Step) -> [String] {
    let rate = step.imagesPerSecond.map { ["\(number($0)) pictures/s"] } ?? []
    return ["\(step.parallel) at once, run \(step.repetition)"] + rate
  }

  /// The table, which has at most 80 columns, and the notes.
  var text: String {
    if report.runs.isEmpty, report.interrupted { return "interrupted: nothing was measured" }
    let lines = aligned([Self.head] + report.runs.map(Self.cells), right: { $1 > 0 })
      .map { $0.joined(separator: "  ") }
    let notes = best + [report.latency] + failures
    let end = report.interrupted ? ["interrupted: these figures were measured before"] : []
    return ([terminal.paint(lines[0], .faint)] + lines.dropFirst() + [""] + notes + end)
      .joined(separator: "\n")
  }

  private static let head = [
    "PASS", "AT ONCE", "PICTURES/S", "±", "MIB/S", "P50", "P99", "MAX MS", "FAILED",
  ]

  private static func cells(_ row: BenchReport.Row) -> [String] {
    let total = row.totalMilliseconds
    return [
      row.pass.rawValue, "\(row.parallel)", number(row.imagesPerSecond),
      row.confidence.halfWidth.map { "\(number($0 * 100))%" } ?? "-",
      number(row.bytesPerSecond / 1_048_576), number(total.p50), number(total.p99),
      number(total.max), "\(row.failures)",
    ]
  }

  private var best: [String] {
    guard let best = report.best else { return [] }
    let rate = "\(Self.number(best.imagesPerSecond)) pictures/s"
    let words = "best: \(best.pass.rawValue) with \(best.parallel) at once, \(rate)"
    return [terminal.paint(words, .bold)]
  }

  private var failures: [String] {
    let reasons = report.failureReasons
    guard !reasons.isEmpty else { return [] }
    let words = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return [terminal.paint("failed: \(words.joined(separator: ", "))", .red)]
  }

  /// A number with three significant digits; `-` for nil.
  static func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "-" }
    let size = abs(value)
    let digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    return String(format: "%.\(digits)f", value)
  }
}
