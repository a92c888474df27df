import Base
import Catalog
import CurlTransport
import Glibc
import Orders
import Pipeline
import Transport

/// The exit statuses of `larder`.
///
/// All conversions from results and errors to statuses are in this file.
enum ExitStatus: Int32, Sendable {
  case done = 0
  case failed = 1
  case partial = 3
  case withheld = 4
  case usage = 64
  case data = 65
  case unavailable = 69
  case io = 74
  case tryAgain = 75
  case configuration = 78
  case interrupted = 130
  case terminated = 143

  /// The status as a word, such as `try-again`.
  ///
  /// Errors without a code of their own use the word as their code.
  var word: String { self == .tryAgain ? "try-again" : "\(self)" }

  /// The status for a kind of error.
  init(_ kind: LarderError.Kind) {
    self =
      switch kind {
      case .failed: .failed
      case .usage: .usage
      case .data: .data
      case .unavailable: .unavailable
      case .io: .io
      case .tryAgain: .tryAgain
      case .configuration: .configuration
      }
  }

  /// The status of a run that a signal ended; nil if no signal came.
  init?(signal: Int32?) {
    guard let signal else { return nil }
    self = signal == SIGTERM ? .terminated : .interrupted
  }

  /// The status of a finished sync.
  ///
  /// If several statuses apply, the most severe counts.
  ///
  /// - Parameters:
  ///   - report: The sync's report.
  ///   - signal: The signal that ended the sync, if any.
  init(_ report: SyncReport, signal: Int32? = nil) {
    if let ended = ExitStatus(signal: signal) {
      self = ended
    } else if report.outcome == .interrupted {
      self = .interrupted
    } else if report.failureCounts.values.contains(where: {
      $0[FailureReason.disk.rawValue] != nil
    }) {
      self = .io
    } else if report.outcome == .failed {
      self = Self.nothingDone(report)
    } else if Self.isUnreachable(report) {
      self = .unavailable
    } else if report.unfinishedCount > 0 || report.squares.map({ $0.unfinished > 0 }) == true {
      self = .tryAgain
    } else {
      switch report.outcome {
      case .complete: self = .done
      case .withheld: self = .withheld
      case .partial, .failed, .interrupted: self = .partial
      }
    }
  }

  /// Whether somebody has to look at the run.
  ///
  /// The value is false if everything was done, if the next run will do the rest, or if a signal ended the run.
  var isFailure: Bool { ![.done, .tryAgain, .interrupted, .terminated].contains(self) }

  /// The most severe of several statuses; `done` if there are none.
  static func mostSevere(_ statuses: [ExitStatus]) -> ExitStatus {
    bySeverity.first { statuses.contains($0) } ?? .done
  }

  /// The statuses, the most severe first.
  private static let bySeverity: [ExitStatus] = [
    .terminated, .interrupted, .configuration, .usage, .io, .data, .unavailable, .failed,
    .tryAgain, .partial, .withheld,
  ]

  /// The status of a run of `order send`.
  ///
  /// If several statuses apply, the most severe counts.
  ///
  /// - Parameters:
  ///   - report: The run's report.
  ///   - signal: The signal that ended the run, if any.
  init(_ report: SendReport, signal: Int32? = nil) {
    if let ended = ExitStatus(signal: signal) {
      self = ended
    } else if report.stopped != nil || report.unreachable != nil {
      self = .unavailable
    } else if !report.troubles.isEmpty || !report.held.isEmpty {
      self = .partial
    } else {
      self = report.due == nil ? .done : .tryAgain
    }
  }

  /// The status when no section could be fetched.
  ///
  /// It depends on the reasons why the sections failed.
  private static func nothingDone(_ report: SyncReport) -> ExitStatus {
    let reasons = sectionReasons(report)
    if reasons.contains(where: unreadable.contains) { return .data }
    if report.unfinishedCount > 0, reasons.isEmpty { return .tryAgain }
    return reasons.contains(where: unreachable.contains) ? .unavailable : .failed
  }

  /// The reasons why sections failed.
  private static func sectionReasons(_ report: SyncReport) -> [FailureReason] {
    report.failureCounts[.section, default: [:]].keys.map { FailureReason(rawValue: $0) }
  }

  /// Whether the run reached no section and no detail, so that the cache has only data of earlier runs.
  private static func isUnreachable(_ report: SyncReport) -> Bool {
    let held = report.sections.allSatisfy {
      $0.source == .failed || $0.source == .stale && $0.unread.isEmpty
    }
    // A missing detail (404) does not count as reached, because the 404 can come from an earlier run.
    guard held, report.details.fetched + report.details.unchanged == 0 else { return false }
    return sectionReasons(report).contains(where: unreachable.contains)
  }

  private static let unreadable: Set<FailureReason> = [.undecodable, .fileUnreadable, .noSuchFile]

  private static let unreachable: Set<FailureReason> = [
    .dnsFailed, .connectRefused, .connectFailed, .timeoutConnect, .timeoutIdle, .timeoutTotal,
    .circuitOpen, .askedToWait, .reset, .tlsExpired, .tlsHost, .tlsUntrusted, .tlsFailed,
    .http(429), .http(500), .http(502), .http(503), .http(504), .truncated, .badResponse,
    .addressRefused, .proxyFailed, .proxyAuth, .proxyRefused,
  ]
}

/// An error that ends the process, with its message and exit status.
struct CommandFailure: Error {
  /// The message for stderr; nil if it was already printed.
  let message: String?
  let status: ExitStatus
  /// A stable code for scripts: the code of the library's error, such as `disk-full`, or else the status as a word.
  let code: String

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - message: The message in the form "cannot VERB THING: REASON; TRY THIS"; nil if it was already printed.
  ///   - status: The exit status; by default that of a wrong command line.
  ///   - code: A stable code; with nil, the code is the status as a word.
  init(_ message: String?, _ status: ExitStatus = .usage, code: String? = nil) {
    self.message = message.map { ProgramArguments.shown($0) }
    self.status = status
    self.code = code ?? status.word
  }

  /// The failure as a JSON document: `{"error": {"status", "code", "message", "remedy"}}`.
  ///
  /// The remedy is the text after the last "; " of the message, and `message` is the text before it. Without a "; ",
  /// `remedy` is null.
  var json: [UInt8] {
    let sentence = message ?? "the command failed"
    let cut = sentence.ranges(of: "; ").last
    let problem = cut.map { String(sentence[..<$0.lowerBound]) } ?? sentence
    let remedy = cut.map { String(sentence[$0.upperBound...]) }
    let body = JSONMembers([
      "status": status.rawValue, "code": code, "message": problem, "remedy": remedy,
    ])
    return (try? ["error": body].jsonLine()) ?? []
  }

  /// Converts an error of larder; nil if it is any other error, such as an error of the argument parser.
  init?(_ error: any Error) {
    // If libcurl is missing, that is the cause of any other error.
    if let absence = CurlTransport.absence {
      self.init("cannot fetch: \(absence)", .failed)
      return
    }
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as LarderError:
      self.init(error.commandText, ExitStatus(error.code.kind), code: error.code.rawValue)
    case let error as CatalogError:
      self.init(
        error.description,
        error.isConfiguration ? .configuration : .data,
        code: error.code.rawValue
      )
    case let error as TransferFailure where error.reason == .libraryRefused && error.url.isEmpty:
      self.init("cannot fetch: \(error.detail)", .failed)
    // A failure without a URL happened while the transport started, because memory, threads or descriptors ran out.
    case let error as TransferFailure where error.url.isEmpty:
      self.init(error.description, .io, code: error.reason.rawValue)
    default: return nil
    }
  }
}
