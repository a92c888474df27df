import ArgumentParser
import Base
import Bench
import Catalog
import CurlTransport
import Foundation
import Glibc
import Synchronization
import Transport

/// `larder bench`: measures parallel downloads.
struct BenchCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "done",
      .failed: "the embedded origin cannot be started, or libcurl is missing",
      .partial: "some requests failed, or a figure is worse than the baseline allows",
      .data: "the list or the baseline cannot be read",
      .unavailable: "nothing could be fetched",
      .io: "the disk is full or not writable",
      .configuration: "the catalog file is wrong",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure parallel downloads: cold, warm and revalidating, over a sweep.",
    discussion: """
      Example:  larder bench shop.yaml --parallel 1,4,16,64 --html bench.html
                larder bench https://cdn.example/a.jpg https://cdn.example/b.jpg
                larder bench urls.txt --rate 200/s --json > before.json
                larder bench urls.txt --rate 200/s --baseline before.json
                larder bench --origin sample --delay 20ms --sizes 8K..40K

      Uses its own temporary folder; your cache is not touched. The cold pass starts with an empty \
      cache, warm with everything fresh, revalidate with everything stale. Passes are repeated until the \
      rate is known to within --precision, or --runs times. Without --rate, a request starts when \
      another ends (a closed loop: latencies hide the delay that a slow answer causes for later \
      requests). With --rate, each latency is measured from the planned start.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp(
      "A catalog file, a file with one URL on each line, or URLs; - reads URLs from stdin.",
      valueName: "catalog|file|url"
    ),
    completion: .file(),
    transform: PathArgument.read
  )
  var sources: [String] = []

  @OptionGroup var bench: BenchOptions
  @OptionGroup(title: Topic.origin) var origin: OriginOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if sources.isEmpty != origin.isAsked {
      throw ValidationError("name a catalog, URLs or a file of URLs, or give --origin sample")
    }
    if !origin.isAsked, origin.delay != nil || origin.bandwidth != nil {
      throw ValidationError("--delay and --bandwidth need --origin sample")
    }
    if sources.count > 1, let other = sources.first(where: { !$0.contains("://") }) {
      throw ValidationError("several sources must all be URLs, and \"\(other)\" is none")
    }
  }

  private static let listLimit = 64 << 20

  func run() throws { Output.end(try measure()) }

  /// Measures, prints the result, and returns the exit status.
  private func measure() throws -> ExitStatus {
    // A mistake in the baseline or in the page's path is reported now, before minutes of measuring.
    try bench.html.map(TextFile.demandRoom)
    let baseline = try bench.baseline.map { path in
      let bytes = try FileReading.bytes(path, what: "baseline", limit: Self.listLimit)
      return try BenchReport(json: bytes, name: path)
    }
    let sample = origin.isAsked ? SampleOrigin(origin) : nil
    let process = try sample.map { try OriginProcess($0) }
    // The origin's process must stay alive until the end, because its `deinit` stops it.
    defer { withExtendedLifetime(process) {} }
    let source = try source(sample, process)
    // With the embedded origin, --count is its number of pictures.
    let count = origin.isAsked ? nil : origin.count
    let named = try namedHosts(source)
    let plan = bench.plan(at: .now(), forURLs: source.isURLs, count: count)
    if count != nil, !source.isURLs || plan.sink == .cache {
      throw CommandFailure(
        "cannot repeat requests for a catalog, or with --no-discard: --count goes with URLs or --origin sample",
        .usage
      )
    }
    let run = BenchRun(plan, source, try surroundings(named))
    let signals = Signals { run.stop() }
    let terminal = Terminal(output)
    if terminal.showsProgress { Output.note(plan.announcement(repeatsList: source.isURLs)) }
    let state = LatestStep()
    let display = ProgressDisplay(output) { state.line(seconds: $0, width: $1) }
    let result = Result { try run.run { state.note($0) } }
    display?.end()
    var report = try result.get()
    report.baseline = baseline.map {
      BaselineComparison(report, with: $0, maxRegression: bench.maxRegression)
    }
    try show(report, terminal)
    return ExitStatus(report, signal: signals.signal)
  }

  private func source(_ sample: SampleOrigin?, _ process: OriginProcess?) throws -> BenchSource {
    if let sample, let process {
      return .catalog(
        try sample.catalog(base: process.baseURL),
        folder: "",
        options: bench.scope.sync
      )
    }
    let path = sources.first ?? "-"
    if path.contains("://") {
      let list = sources.joined(separator: "\n")
      return try BenchSource(list: Array(list.utf8), name: "the command line")
    }
    if path == "-" {
      let bytes = try FileReading.standardInput(limit: Self.listLimit)
      return try BenchSource(list: bytes, name: "stdin")
    }
    let bytes = try FileReading.bytes(path, what: "catalog or list", limit: Self.listLimit)
    if BenchSource.isList(bytes) { return try BenchSource(list: bytes, name: path) }
    let catalog = try CatalogFileOnDisk(path)
    return .catalog(catalog.catalog, folder: catalog.folder, options: bench.scope.sync)
  }

  private func namedHosts(_ source: BenchSource) throws -> Set<HostPort> {
    do {
      return try source.namedHosts(
        CurlURLParser(),
        environment: ProcessInfo.processInfo.environment
      )
    } catch let error as CatalogError {
      throw error
    } catch {
      throw CommandFailure("\(error); check the URL", sources.isEmpty ? .failed : .configuration)
    }
  }

  private func surroundings(_ named: Set<HostPort>) throws -> BenchSurroundings {
    var common = try bench.connection.transport(named: named)
    // The embedded origin is on this machine, so no proxy is used.
    if origin.isAsked { common.proxy = nil }
    return BenchSurroundings(
      transport: { [common] parallel in
        var options = common
        options.parallel = .fixed(parallel)
        return try CurlTransport(options)
      },
      monotonic: { .now() },
      wall: { .now() },
      variables: ProcessInfo.processInfo.environment,
      scratch: bench.scratch ?? FileManager.default.temporaryDirectory.path
    )
  }

  private func show(_ report: BenchReport, _ terminal: Terminal) throws {
    if let path = bench.html {
      let page = BenchPage(report, title: title, setting: setting)
      try TextFile.replace(path, with: try page.html)
    }
    if output.json {
      Output.json(try report.jsonLine())
    } else {
      Output.data(BenchTable(report, terminal).text)
    }
  }

  private var setting: BenchSetting {
    var system = utsname()
    uname(&system)
    /// Reads the text of a fixed-length C array, which ends at the first NUL.
    func text<Field>(_ field: Field) -> String {
      withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let kernel = "\(text(system.sysname)) \(text(system.release)) \(text(system.machine))"
    return BenchSetting(
      date: UnixTime(Int64(time(nil))).text("%Y-%m-%d %H:%M UTC"),
      host: "\(text(system.nodename)), \(Quantities.count(processors, "processor")), \(kernel)",
      version: "larder \(LarderCommand.version)",
      command: ShownCommand(ProgramArguments.all).description
    )
  }

  private var title: String {
    guard let path = sources.first else { return "The embedded sample store" }
    if path == "-" { return "URLs from stdin" }
    return path.contains("://") ? "URLs" : URL(filePath: path).lastPathComponent
  }
}

/// `larder bench-origin`: the origin server that `bench --origin sample` measures, in a separate process.
///
/// The help does not list the command.
///
/// The server prints its URL, and ends when its stdin is closed. So it never outlives the process that started it.
struct BenchOriginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-origin",
    abstract: "Serve pictures for measurements, until stdin is closed.",
    discussion: """
      Example:  larder bench-origin --delay 20ms < /dev/tty

      Exit statuses: 0 done, 1 no port is free, 64 usage.
      """,
    shouldDisplay: false
  )

  @OptionGroup(title: Topic.origin) var origin: OriginOptions

  func run() throws {
    try SampleOrigin(origin).serve()
  }
}

/// The current step of the measurement.
///
/// The run records the step, and the progress display reads it.
private final class LatestStep: Sendable {
  private let held = Mutex<(step: BenchRun.Step, from: ContinuousClock.Instant)?>(nil)

  func note(_ step: BenchRun.Step) {
    held.withLock { $0 = (step, .now) }
  }

  /// The progress line: the current step, the duration of that step so far, and the duration of all steps.
  func line(seconds: Double, width: Int) -> String {
    guard let (step, from) = held.withLock({ $0 }) else { return "" }
    let own = (ContinuousClock.now - from) / .seconds(1)
    let times = ["\(Quantities.duration(own))", "\(Quantities.duration(seconds)) in all"]
    return ProgressParts.line(BenchTable.words(of: step) + times, width: width)
  }
}

/// A measurement as text: a table with a row for each pass and each number of simultaneous downloads, then notes.
///
/// A pass is one of `cold`, `warm` and `revalidate`: with an empty cache, with a fresh one, or with a stale one.
struct BenchTable {
  private let report: BenchReport
  private let terminal: Terminal

  init(_ report: BenchReport, _ terminal: Terminal) {
    self.report = report
    self.terminal = terminal
  }

  /// The parts of the progress line for a step; the least important part is the last.
  static func words(of step: BenchRun.Step) -> [String] {
    let rate = step.imagesPerSecond.map { ["\(number($0)) pictures/s"] } ?? []
    return ["\(step.parallel) at once, run \(step.repetition)"] + rate
  }

  /// The table of results, the table of resources, and the notes, in lines of at most 80 columns.
  var text: String {
    if report.runs.isEmpty, report.interrupted { return "interrupted: nothing was measured" }
    let result = table(Self.results, report.runs.map(results))
    let cost = table(Self.costs, report.runs.map(costs))
    return ([result, "", cost] + notes.flatMap { Self.folded($0) }).joined(separator: "\n")
  }

  private static let results = [
    "PASS", "AT ONCE", "PICTURES/S", "±", "MIB/S", "P50", "P99", "MAX MS", "FAILED",
  ]
  private static let costs = [
    "PASS", "AT ONCE", "PICTURES", "FIRST BYTE", "P90", "P99.9", "REUSED", "CPU S", "PEAK MIB",
  ]

  /// A limit for the relative half-width of a confidence interval.
  ///
  /// From this value on, the table prints `noisy` instead of a percentage.
  private static let noise = 1.0
  private static let noisy = "noisy"
  /// A limit for a share of a run.
  ///
  /// From this value on, a note says that the local disk limited the rate.
  ///
  /// The share is the part of the run during which transfers waited for larder's own files instead of the server.
  private static let writingMatters = 0.25

  private func table(_ head: [String], _ cells: [[String]]) -> String {
    aligned([head] + cells, right: { $1 > 0 }).enumerated().map { number, row in
      let line = row.joined(separator: "  ")
      return number == 0 ? terminal.paint(line, .faint) : line
    }.joined(separator: "\n")
  }

  private func results(_ row: BenchReport.Row) -> [String] {
    let total = row.totalMilliseconds
    return [
      row.pass.rawValue, "\(row.parallel)", Self.number(row.imagesPerSecond),
      row.confidence.halfWidth.map {
        $0 < Self.noise ? "\(Self.number($0 * 100))%" : Self.noisy
      } ?? "-",
      Self.number(row.bytesPerSecond / 1_048_576), milliseconds(total.p50),
      milliseconds(total.p99), milliseconds(total.max), "\(row.failures)",
    ]
  }

  private func costs(_ row: BenchReport.Row) -> [String] {
    let total = row.totalMilliseconds
    let found = row.connections.reused + row.connections.opened
    return [
      row.pass.rawValue, "\(row.parallel)", "\(row.images)",
      milliseconds(row.ttfbMilliseconds.p50), milliseconds(total.p90), milliseconds(total.p999),
      found == 0 ? "-" : "\(Self.number(100 * Double(row.connections.reused) / Double(found)))%",
      Self.number(row.cpuSeconds), Self.number(Double(row.peakBytes.count) / 1_048_576),
    ]
  }

  private var noiseNote: [String] {
    guard report.runs.contains(where: { ($0.confidence.halfWidth ?? 0) >= Self.noise }) else {
      return []
    }
    return [
      "noisy: the runs differ too much for a precise rate; measure more pictures, or give a higher --runs"
    ]
  }

  /// Wraps a line at 80 columns, between words.
  static func folded(_ line: String) -> [String] {
    var lines = [""]
    for word in line.split(separator: " ", omittingEmptySubsequences: false) {
      let last = lines[lines.count - 1]
      if !last.isEmpty, columns(last) + 1 + columns(String(word)) > 80 {
        lines.append("  " + word)
      } else {
        lines[lines.count - 1] = last.isEmpty ? String(word) : "\(last) \(word)"
      }
    }
    return lines
  }

  private func milliseconds(_ value: Double?) -> String {
    value.map { Self.number($0) } ?? "-"
  }

  private var notes: [String] {
    var notes = [""]
    if let best = report.best {
      notes.append(
        terminal.paint(
          "best: \(best.pass.rawValue) with \(best.parallel) at once, "
            + "\(Self.number(best.imagesPerSecond)) pictures/s",
          .bold
        )
      )
    }
    notes.append(report.latency)
    notes += noiseNote + parts + failures + baseline
    if report.interrupted {
      notes.append(
        report.runs.isEmpty
          ? "interrupted: nothing was measured"
          : "interrupted: these figures were measured before"
      )
    }
    return notes
  }

  /// A note with the time of each phase of a request, such as DNS and TLS, at the best number of simultaneous
  /// downloads.
  private var parts: [String] {
    guard let best = report.best,
      let row = report.runs.first(where: { $0.pass == best.pass && $0.parallel == best.parallel })
    else { return [] }
    let named = [
      ("DNS", row.dnsMilliseconds), ("connect", row.connectMilliseconds),
      ("TLS", row.tlsMilliseconds), ("wait", row.waitMilliseconds),
      ("transfer", row.transferMilliseconds),
    ]
    let words = named.filter { $0.1.count > 0 }.map { name, part in
      "\(name) \(milliseconds(part.p50)) (\(milliseconds(part.p99)))"
    }
    let protocols = row.protocols.sorted { $0.key < $1.key }.map(\.key)
    // The times of the phases include the time that a transfer waited for larder itself.
    let writing = row.writingShare ?? 0
    let place = writing < Self.writingMatters ? "at the server" : "at the server and here"
    let limit =
      writing < Self.writingMatters
      ? []
      : [
        "limited by this machine: transfers waited \(Self.number(writing * 100))% of the time for larder's own "
          + "files, hashes and index; --discard measures only the server, --scratch DIR uses another disk"
      ]
    return [
      "phases of a request \(place), median (and 99 %) in ms: \(words.joined(separator: ", ")); "
        + "\(protocols.joined(separator: ", ")), retries: \(row.retries)"
    ] + limit
  }

  private var failures: [String] {
    let reasons = report.runs.reduce(into: [String: Int]()) {
      $0.merge($1.failureReasons) { $0 + $1 }
    }
    guard !reasons.isEmpty else { return [] }
    let words = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return [terminal.paint("failed: \(words.joined(separator: ", "))", .red)]
  }

  private var baseline: [String] {
    guard let baseline = report.baseline else { return [] }
    let limit = Self.number(baseline.maxRegression * 100)
    var lines = baseline.findings.filter(\.regressed).map { finding in
      terminal.paint(
        "regressed: \(finding.metric) of \(finding.pass.rawValue) with \(finding.parallel) at once, "
          + "\(Self.number(finding.before)) to \(Self.number(finding.now)), "
          + "\(Self.number(finding.worse * 100))% worse",
        .red
      )
    }
    if lines.isEmpty {
      lines.append(
        "none of \(baseline.findings.count) figures is more than \(limit)% worse than the baseline"
      )
    }
    if !baseline.missing.isEmpty {
      lines.append("not measured this time: \(baseline.missing.joined(separator: ", "))")
    }
    return lines + ["statistical test: \(baseline.test)"]
  }

  /// A number with three significant digits.
  static func number(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    let size = abs(value)
    let digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    let factor = [1.0, 10, 100, 1000][digits]
    let whole = Int((size * factor).rounded())
    let fraction = digits == 0 ? "" : "." + zeros(whole % Int(factor), digits)
    return "\(value < 0 ? "-" : "")\(whole / Int(factor))\(fraction)"
  }

  private static func zeros(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
