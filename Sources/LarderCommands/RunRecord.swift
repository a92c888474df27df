import Base
import Glibc
import Pipeline

/// The record of a run of `sync` or `warm`: the reports of its catalogs, its errors and its exit status.
///
/// The record is in the cache as `last-run.json`, so that monitoring can read it.
final class RunRecord {
  private let command, cache: String
  private let started = UnixTime.now()
  private var errors: [String] = []
  /// The number of entries that a shortened list leaves out: by catalog, then by list, such as `items.added`.
  private var omitted: [String: [String: Int]] = [:]
  private var reports: [SyncReport] = []

  /// Begins the record of a run.
  ///
  /// - Parameters:
  ///   - command: The subcommand.
  ///   - cache: The cache's path.
  init(of command: String, cache: String) {
    (self.command, self.cache) = (command, cache)
  }

  /// Adds the report of one catalog.
  func add(_ report: SyncReport) {
    reports.append(report)
    let omits = report.briefOmits
    if !omits.isEmpty { omitted[report.catalog] = omits }
  }

  /// Adds the reason why a catalog did not run.
  func add(_ failure: CommandFailure) {
    if let message = failure.message { errors.append(message) }
  }

  /// Performs a run, and writes its record even when it throws.
  ///
  /// If the run cannot begin yet, nothing is written, and the record of the previous run stays. A run cannot begin
  /// while another run holds the cache's lock, for example, or before `--min-interval` has passed.
  ///
  /// - Parameters:
  ///   - output: The options for the warning when the record cannot be written; such a failure does not change the
  ///     status.
  ///   - failing: Called with the record if the run failed.
  ///   - work: The run.
  /// - Returns: The run's status.
  /// - Throws: The error of `work`.
  func keep(
    _ output: OutputOptions,
    failing: ([UInt8]) -> Void = { _ in },
    _ work: () throws -> ExitStatus
  ) throws -> ExitStatus {
    Output.finishWork()
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
      let bytes = try bytes(status)
      do { try write(bytes) } catch {
        Log(output).warning(CommandFailure(error)?.message ?? "\(error)")
      }
      if status.isFailure { failing(bytes) }
    }
    return try result.get()
  }

  /// The record as one line of JSON with a line feed.
  ///
  /// A catalog's report has the form of `sync --json`, but each list has at most 100 entries of a kind.
  private func bytes(_ status: ExitStatus) throws -> [UInt8] {
    let document = JSONMembers([
      "command": command, "version": LarderCommand.version, "started": started,
      "ended": UnixTime.now(), "status": status.rawValue, "failed": status.isFailure,
      "errors": errors, "omitted": omitted,
    ])
    let catalogs = reports.map(\.brief.json).joined(separator: Array(",".utf8))
    let start = try document.jsonLine().dropLast() + Array(#","catalogs":["#.utf8)
    return TerminalJSON.bytes(start + catalogs + Array("]}\n".utf8))
  }

  /// Writes the record into the cache, unless the folder is not a cache or belongs to another user.
  private func write(_ bytes: [UInt8]) throws {
    var folder = stat()
    guard stat(cache, &folder) == 0, folder.st_uid == geteuid(),
      TextFile.exists("\(cache)/index.sqlite")
    else { return }
    try TextFile.replaceOwn("\(cache)/last-run.json", with: bytes)
  }
}
