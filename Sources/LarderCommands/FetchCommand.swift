import ArgumentParser
import Base
import Cache
import CurlTransport
import Pipeline
import Transport

/// A command that fetches a whole catalog: `sync` or `warm`.
///
/// Both commands have these groups of options. One group with all of them would not do, because the argument parser
/// would evaluate the groups inside it several times.
protocol FetchCommand: ParsableCommand {
  var scope: ScopeOptions { get }
  var limits: LimitOptions { get }
  var room: RoomOptions { get }
  var connection: ConnectionOptions { get }
  var work: WorkOptions { get }
  var doubt: DoubtOptions { get }
  var change: ChangeOptions { get }
  var output: OutputOptions { get }
}

extension FetchCommand {
  /// The settings of a run that the options determine, except those of the catalog file.
  var settings: SyncOptions {
    var options = doubt.applied(to: scope.sync)
    options.squareSide = work.square
    options.pictures = Workers.forPictures
    options.deadline = limits.deadline.map { UnixTime.now() + Int64($0.seconds) }
    return options
  }

  /// Starts the transport that the options describe.
  ///
  /// - Parameters:
  ///   - named: The hosts that the catalog file names.
  ///   - cache: The cache's path; `--keep-free` applies to the disk that holds it.
  /// - Returns: The transport.
  /// - Throws: A usage error when `--proxy` names an invalid proxy.
  func transport(named: Set<HostPort>, cache: String) throws -> CurlTransport {
    var options = try connection.transport(named: named)
    limits.apply(to: &options)
    options.reserve = room.reserve(of: cache)
    return try CurlTransport(options)
  }

  /// Runs one catalog with a progress line, and prints the result.
  ///
  /// - Parameters:
  ///   - file: The catalog file.
  ///   - settings: The settings of the run.
  ///   - place: The cache.
  ///   - transport: The transport.
  ///   - record: Receives the report.
  ///   - signals: The handler of the signals that end the run early.
  ///   - tell: Prints the report as text; called only without `--json`.
  /// - Returns: The exit status.
  /// - Throws: The error that prevented the run.
  func run(
    _ file: CatalogFileOnDisk,
    _ settings: SyncOptions,
    in place: CachePlace,
    _ transport: CurlTransport,
    _ record: RunRecord,
    _ signals: Signals,
    tell: (SyncReport) -> Void
  ) throws -> ExitStatus {
    let name = "\(Self.configuration.commandName ?? "") \(file.catalog.name)"
    let report = try file.sync(as: name, cache: place, settings, transport, output, signals)
    record.add(report)
    if output.json { Output.json(report.json) } else { tell(report) }
    if let words = room.shortage(of: place.path, isUnfinished: report.unfinishedCount > 0) {
      Log(output).warning(words)
    }
    if output.verbose > 0 {
      for gap in FileSystemGap.found { Output.note(gap.words) }
    }
    let told = try change.tell(report, cache: place.path, output)
    return .mostSevere([ExitStatus(report, signal: signals.signal), told])
  }
}
