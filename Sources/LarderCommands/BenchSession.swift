import Bench
import Catalog
import CurlTransport
import Foundation
import Glibc
import Synchronization
import Transport

/// A measurement with everything that a person sees around it: signals, progress, plots, status.
struct BenchSession {
  private static let listLimit = 64 << 20

  private let sources: [String]
  private let bench: BenchOptions
  private let origin: OriginOptions?
  private let output: OutputOptions

  init(
    _ sources: [String],
    _ bench: BenchOptions,
    _ origin: OriginOptions?,
    _ output: OutputOptions
  ) {
    self.sources = sources
    self.bench = bench
    self.origin = origin
    self.output = output
  }

  /// Measures, prints, and says how to end the process.
  func run() throws -> ExitStatus {
    // What a baseline or a page's place gets wrong is said before minutes are spent.
    try bench.html.map(TextFile.demandRoom)
    let baseline = try bench.baseline.map { path in
      let bytes = try FileReading.bytes(path, what: "baseline", limit: Self.listLimit)
      return try BenchReport(json: bytes, name: path)
    }
    let sample = origin.map { SampleOrigin($0) }
    let process = try sample.map { try OriginProcess($0) }
    // The origin ends with its owner.
    defer { withExtendedLifetime(process) {} }
    let source = try source(sample, process)
    let named = try namedHosts(source)
    let plan = bench.plan(at: .now())
    let run = BenchRun(plan, source, try surroundings(named))
    let signals = Signals { _ in run.stop() }
    let terminal = Terminal(output)
    let state = LatestStep()
    let display =
      terminal.showsProgress ? ProgressDisplay { state.line(seconds: $0, width: $1) } : nil
    let result = Result { try run.run { state.note($0) } }
    display?.end()
    var report = try result.get()
    report.baseline = baseline.map {
      BaselineComparison(report, with: $0, maxRegression: bench.maxRegression.share)
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
    // The embedded origin is on this machine.
    if origin != nil { common.proxy = nil }
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
      try TextFile.replace(path, with: page.html)
    }
    if output.json {
      Output.json(try report.json())
    } else {
      Output.data(BenchTable(report, terminal).text)
    }
  }

  private var setting: BenchSetting {
    var system = utsname()
    uname(&system)
    /// A field of fixed length, up to its end.
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

/// What is measured now, noted by the run and read by the display.
private final class LatestStep: Sendable {
  private let held = Mutex<(step: BenchRun.Step, from: ContinuousClock.Instant)?>(nil)

  func note(_ step: BenchRun.Step) {
    held.withLock { $0 = (step, .now) }
  }

  /// What is measured, how long this step has taken, and all.
  func line(seconds: Double, width: Int) -> String {
    guard let (step, from) = held.withLock({ $0 }) else { return "" }
    let own = (ContinuousClock.now - from) / .seconds(1)
    let times = ["\(Quantities.duration(own))", "\(Quantities.duration(seconds)) in all"]
    return ProgressParts.line(BenchTable.words(of: step) + times, width: width)
  }
}
