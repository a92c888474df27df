import Base
import Bench
import Cache
import Catalog
import CurlTransport
import Orders
import Pipeline
import Transport

/// How the process ends; the one place where outcomes become statuses.
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

  /// The status as a word, for errors that have no code of their own.
  var word: String { self == .tryAgain ? "try-again" : "\(self)" }

  /// The status for an error of a class.
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

  /// The status of a finished sync; of several, the most severe.
  ///
  /// - Parameters:
  ///   - report: the sync's report.
  ///   - signal: the signal that ended it, if one did.
  init(_ report: SyncReport, signal: Int32? = nil) {
    if signal == 15 {
      self = .terminated
    } else if signal != nil || report.outcome == .interrupted {
      self = .interrupted
    } else if report.failureCounts.values.contains(where: {
      $0[FailureReason.disk.rawValue] != nil
    }) {
      self = .io
    } else if report.outcome == .failed {
      self = Self.nothingDone(report)
    } else if Self.isUnreachable(report) {
      self = .unavailable
    } else if !report.unfinished.isEmpty || report.squares.map({ $0.unfinished > 0 }) == true {
      self = .tryAgain
    } else {
      switch report.outcome {
      case .complete: self = .done
      case .withheld: self = .withheld
      case .partial, .failed, .interrupted: self = .partial
      }
    }
  }

  /// Whether somebody should look: not when all was done, when the next run does the rest, or when a
  /// person ended it.
  var isFailure: Bool {
    switch self {
    case .done, .tryAgain, .interrupted, .terminated: false
    case .failed, .partial, .withheld, .usage, .data, .unavailable, .io, .configuration: true
    }
  }

  /// Of several statuses the one to end with; done when there are none.
  static func gravest(_ statuses: [ExitStatus]) -> ExitStatus {
    gravity.first { statuses.contains($0) } ?? .done
  }

  /// The statuses, the most severe first.
  private static let gravity: [ExitStatus] = [
    .terminated, .interrupted, .configuration, .usage, .io, .data, .unavailable, .failed,
    .tryAgain, .partial, .withheld,
  ]

  /// The status of a measurement.
  ///
  /// - Parameters:
  ///   - report: the report.
  ///   - signal: the signal that ended it, if one did.
  init(_ report: BenchReport, signal: Int32?) {
    if let signal {
      self = signal == 15 ? .terminated : .interrupted
    } else {
      self = report.failures > 0 || report.baseline?.hasRegressed == true ? .partial : .done
    }
  }

  /// The status of a run of `order send`; of several, the most severe.
  ///
  /// - Parameters:
  ///   - report: its report.
  ///   - signal: the signal that ended it, if one did.
  init(_ report: SendReport, signal: Int32? = nil) {
    if let signal {
      self = signal == 15 ? .terminated : .interrupted
    } else if report.stopped != nil || report.unreachable != nil {
      self = .unavailable
    } else if !report.troubles.isEmpty || !report.held.isEmpty {
      self = .partial
    } else {
      self = report.due == nil ? .done : .tryAgain
    }
  }

  /// The status when no section could be fetched: the feeds' own fault, an unreachable origin, or another
  /// cause.
  private static func nothingDone(_ report: SyncReport) -> ExitStatus {
    let reasons = sectionReasons(report)
    if reasons.contains(where: unreadable.contains) { return .data }
    if !report.unfinished.isEmpty, reasons.isEmpty { return .tryAgain }
    return reasons.contains(where: unreachable.contains) ? .unavailable : .failed
  }

  /// The reasons for which sections failed.
  private static func sectionReasons(_ report: SyncReport) -> [FailureReason] {
    report.failureCounts[.section, default: [:]].keys.map { FailureReason(rawValue: $0) }
  }

  /// Whether everything shown is from an earlier run, because no section and no detail could be reached.
  private static func isUnreachable(_ report: SyncReport) -> Bool {
    let held = report.sections.allSatisfy {
      $0.source == .failed || $0.source == .stale && $0.unread.isEmpty
    }
    // Those that the shop has not are remembered, and are none that could be had.
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

/// An error with its sentence and its status, ready to end the process.
struct CommandFailure: Error {
  /// The message on stderr, or nil when it was printed already.
  let message: String?
  let status: ExitStatus
  /// A stable word for scripts, from the library where it has one.
  let code: String

  /// Makes a failure.
  ///
  /// - Parameters:
  ///   - message: "cannot VERB THING: REASON; TRY THIS"; nil when all has been said.
  ///   - status: How the process ends.
  ///   - code: A stable word; the status's own when the library has none.
  init(_ message: String?, _ status: ExitStatus, code: String? = nil) {
    self.message = message
    self.status = status
    self.code = code ?? status.word
  }

  /// `{"error": {"status", "code", "message", "remedy"}}`; `remedy` is null where the sentence names none.
  ///
  /// `message` ends before the remedy.
  var json: [UInt8] {
    let sentence = message ?? "it did not end as it should"
    let cut = sentence.ranges(of: "; ").last
    let body = Body(
      status: status.rawValue,
      code: code,
      message: cut.map { String(sentence[..<$0.lowerBound]) } ?? sentence,
      remedy: cut.map { String(sentence[$0.upperBound...]) }
    )
    return (try? ["error": body].jsonLine()) ?? []
  }

  private struct Body: Encodable {
    let status: Int32
    let code: String
    let message: String
    @OrNull var remedy: String?
  }

  /// Our own errors; nil for those of the argument parser.
  init?(_ error: any Error) {
    // The first error counts, even if cleaning up failed too.
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
    // A failure without a URL happened to the transport before it fetched anything: memory, threads,
    // descriptors.
    case let error as TransferFailure where error.url.isEmpty:
      self.init(error.description, .io, code: error.reason.rawValue)
    default: return nil
    }
  }
}
