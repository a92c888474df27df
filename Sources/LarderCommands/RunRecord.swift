import Base
import Glibc
import Pipeline

/// The results and the end of a `sync` or `warm`, kept in the cache as `last-run.json` for any monitor.
final class RunRecord {
  /// The file's name in the cache.
  static let name = "last-run.json"

  private let command: String
  private let cache: String
  private let started: UnixTime
  private var reports: [SyncReport] = []
  private var errors: [String] = []

  /// Begins the record of a run.
  ///
  /// - Parameters:
  ///   - command: the subcommand.
  ///   - cache: the cache's path.
  init(of command: String, cache: String) {
    self.command = command
    self.cache = cache
    started = UnixTime.now()
  }

  /// Adds the report of one catalog.
  func add(_ report: SyncReport) {
    reports.append(report)
  }

  /// Adds the reason why a catalog did not run.
  func add(_ failure: CommandFailure) {
    if let message = failure.message { errors.append(message) }
  }

  /// Carries out a run and writes down how it ended, also when it throws.
  ///
  /// A run that did not begin, because another holds the cache or it is too soon, leaves the record of
  /// the last one that did.
  ///
  /// - Parameters:
  ///   - output: how to warn of a record that cannot be written, which changes no status.
  ///   - failing: given the record of a run that failed.
  ///   - work: the run.
  /// - Returns: The run's status.
  /// - Throws: The error of `work`.
  func keep(
    _ output: OutputOptions,
    failing: ([UInt8]) -> Void = { _ in },
    _ work: () throws -> ExitStatus
  ) throws -> ExitStatus {
    let result = Result { try work() }
    let status: ExitStatus
    switch result {
    case .success(let ended): status = ended
    case .failure(let error):
      guard let failure = CommandFailure(error) else { throw error }
      add(failure)
      status = failure.status
    }
    if status != .tryAgain || !reports.isEmpty {
      let document = LastRunDocument(
        command: command,
        started: started,
        ended: UnixTime.now(),
        status: status,
        errors: errors,
        reports: reports
      )
      let bytes = try document.json()
      do { try write(bytes) } catch {
        Log(output).warning(CommandFailure(error)?.message ?? "\(error)")
      }
      if status.isFailure { failing(bytes) }
    }
    return try result.get()
  }

  /// Puts the record into the cache; a folder that is no cache, or another's, is left as it is.
  private func write(_ bytes: [UInt8]) throws {
    var folder = stat()
    guard stat(cache, &folder) == 0, folder.st_uid == geteuid(),
      TextFile.exists("\(cache)/index.sqlite")
    else { return }
    try TextFile.replace("\(cache)/\(Self.name)", with: String(decoding: bytes, as: UTF8.self))
  }
}

/// How a `sync` or `warm` ended, as JSON for monitors.
struct LastRunDocument {
  private struct Head: Encodable {
    var command: String
    var version: String
    var started: String
    var ended: String
    var status: Int32
    var failed: Bool
    var errors: [String]
    /// The counts of omitted entries, by catalog and list.
    var omitted: [String: [String: Int]]
  }

  private let head: Head
  private let reports: [SyncReport]

  /// Takes the results of a run.
  ///
  /// - Parameters:
  ///   - command: the subcommand.
  ///   - started: when it began.
  ///   - ended: when it was done.
  ///   - status: how the process ends.
  ///   - errors: the reasons why it, or one of its catalogs, did not run.
  ///   - reports: the report of each catalog that ran.
  init(
    command: String,
    started: UnixTime,
    ended: UnixTime,
    status: ExitStatus,
    errors: [String],
    reports: [SyncReport]
  ) {
    head = Head(
      command: command,
      version: LarderCommand.version,
      started: started.rfc3339,
      ended: ended.rfc3339,
      status: status.rawValue,
      failed: status.isFailure,
      errors: errors,
      omitted: reports.reduce(into: [:]) {
        let omitted = $1.briefOmits
        if !omitted.isEmpty { $0[$1.catalog] = omitted }
      }
    )
    self.reports = reports
  }

  /// One line of JSON and its end; a catalog's report is as `--json` prints it, with 100 of a kind in each list.
  func json() throws -> [UInt8] {
    let catalogs = reports.map(\.brief.json).joined(separator: Array(",".utf8))
    let start = try head.jsonLine().dropLast() + Array(#","catalogs":["#.utf8)
    return TerminalJSON.bytes(start + catalogs + Array("]}\n".utf8))
  }
}
