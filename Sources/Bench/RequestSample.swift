import Transport

/// What was measured of one picture's request.
struct RequestSample: Sendable {
  /// When it was planned, under a constant arrival rate.
  var planned: MonotonicTime?
  /// When its completion was called.
  var ended: MonotonicTime
  /// The parts of its last attempt; nil when it failed.
  var timing: TransferTiming?
  /// Body bytes that came.
  var bytes: ByteCount = 0
  /// Whether the origin confirmed the held body.
  var isNotModified = false
  /// Whether its last attempt found an open connection.
  var reused = false
  /// The protocol it came over.
  var version = HTTPVersion.http11
  /// Tries it took.
  var attempts = 1
  /// Why it failed.
  var failure: FailureReason?

  /// From the planned start, or without a plan from the attempt's own, to the end.
  var latency: Int64 {
    planned.map { ended - $0 } ?? Int64((timing?.total ?? 0) * 1e9)
  }

  /// The parts one after the other.
  var phases: Phases { timing.map { Phases($0) } ?? Phases() }

  /// From the planned start, or without a plan from the attempt's own, to the first byte.
  var firstByte: Int64 {
    latency - Int64(phases.transfer * 1e9)
  }
}

/// The parts of a transfer one after the other, in seconds.
struct Phases: Sendable, Equatable {
  /// The name became an address.
  var dns = 0.0
  /// The connection opened.
  var connect = 0.0
  /// TLS was agreed on.
  var tls = 0.0
  /// The request went out and the first byte came.
  var wait = 0.0
  /// The rest came.
  var transfer = 0.0

  init() {}

  /// Takes moments apart; one that is 0, or before the one before it, did not happen.
  init(_ timing: TransferTiming) {
    var last = 0.0
    func next(_ moment: Double) -> Double {
      guard moment > last else { return 0 }
      defer { last = moment }
      return moment - last
    }
    dns = next(timing.nameResolved)
    connect = next(timing.connected)
    tls = next(timing.secured)
    wait = next(timing.firstByte)
    transfer = next(timing.total)
  }
}
