import Base
import Glibc
import Pipeline

/// The record of a `sync` or `warm`: its reports, errors and exit status.
///
/// It is kept in the cache as `last-run.json` for monitoring.
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
  ///   - command: The subcommand.
  ///   - cache: The cache's path.
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

  /// Performs a run, and writes its record even when it throws.
  ///
  /// If a run cannot begin yet, the record of the previous run is kept. That happens while another run holds the
  /// cache's lock, or before `--min-interval` has passed.
  ///
  /// - Parameters:
  ///   - output: The output options, for a warning when the record cannot be written; such a failure does not change
  ///     the status.
  ///   - failing: Called with the record of a failed run.
  ///   - work: The run.
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

  /// Writes the record into the cache, unless the folder is not a cache or belongs to another user.
  private func write(_ bytes: [UInt8]) throws {
    var folder = stat()
    guard stat(cache, &folder) == 0, folder.st_uid == geteuid(),
      TextFile.exists("\(cache)/index.sqlite")
    else { return }
    try TextFile.replace("\(cache)/\(Self.name)", with: String(decoding: bytes, as: UTF8.self))
  }
}

/// The record of a `sync` or `warm` as JSON.
struct LastRunDocument {
  private struct Head: Encodable {
    var command: String
    var version: String
    var started: String
    var ended: String
    var status: Int32
    var failed: Bool
    var errors: [String]
    /// The counts of omitted entries, by catalog and by list.
    var omitted: [String: [String: Int]]
  }

  private let head: Head
  private let reports: [SyncReport]

  /// Creates the document.
  ///
  /// - Parameters:
  ///   - command: The subcommand.
  ///   - started: The start of the run.
  ///   - ended: The end of the run.
  ///   - status: The exit status.
  ///   - errors: The reasons why the run, or one of its catalogs, was not carried out.
  ///   - reports: The report of each catalog that was synced.
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

  /// One line of JSON with a line feed.
  ///
  /// A catalog's report has the form of `--json`, but each list has at most 100 entries of a kind.
  func json() throws -> [UInt8] {
    let catalogs = reports.map(\.brief.json).joined(separator: Array(",".utf8))
    let start = try head.jsonLine().dropLast() + Array(#","catalogs":["#.utf8)
    return TerminalJSON.bytes(start + catalogs + Array("]}\n".utf8))
  }
}
