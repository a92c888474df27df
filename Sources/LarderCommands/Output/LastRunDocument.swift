import Pipeline
import Transport

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
  }

  private let head: Head
  private let reports: [SyncReport]

  /// Takes what a run left.
  ///
  /// - Parameters:
  ///   - command: the subcommand.
  ///   - started: when it began.
  ///   - ended: when it was done.
  ///   - status: how the process ends.
  ///   - errors: what kept it, or one of its catalogs, from running.
  ///   - reports: what became of each catalog that ran.
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
      errors: errors
    )
    self.reports = reports
  }

  /// One line of JSON and its end; a catalog's report is what `--json` prints of it.
  func json() throws -> [UInt8] {
    let catalogs = reports.map { $0.json() }.joined(separator: Array(",".utf8))
    let start = try head.jsonLine().dropLast() + Array(#","catalogs":["#.utf8)
    return TerminalJSON.bytes(start + catalogs + Array("]}\n".utf8))
  }
}
