import Base
import Synchronization
import Transport

/// Forwards requests and records the results of those for pictures.
///
/// With a rate, requests for pictures are held until they are due. Those for sections and details pass at
/// once and are only counted.
final class MeasuringTransport: Fetching {
  private struct Samples {
    var samples: [RequestSample] = []
    var urls: [String] = []
    var others = 0
  }

  private let transport: any Fetching
  private let pacer: Pacer?
  private let timesSinks: Bool
  private let now: @Sendable () -> MonotonicTime
  private let state = Mutex(Samples())
  private let writing = Atomic<Int64>(0)

  /// Measures `transport`; `rate` is in requests a second.
  init(
    _ transport: any Fetching,
    rate: Double?,
    timesSinks: Bool = false,
    now: @escaping @Sendable () -> MonotonicTime
  ) {
    self.transport = transport
    self.timesSinks = timesSinks
    self.now = now
    pacer = rate.map { Pacer(rate: $0, now: now) }
  }

  /// Every picture's request so far.
  var samples: [RequestSample] { state.withLock { $0.samples } }
  /// How long sinks and completions held the transfer thread, and how long the run went on after the last transfer.
  func writingSeconds(until end: MonotonicTime) -> Double {
    guard timesSinks, let last = state.withLock({ $0.samples.map(\.ended).max() }) else {
      return 0
    }
    return Double(writing.load(ordering: .relaxed) + max(0, end - last)) / 1e9
  }

  /// The pictures' URLs in the order of their requests.
  var urls: [String] { state.withLock { $0.urls } }
  /// Requests for anything else.
  var others: Int { state.withLock { $0.others } }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() {
    pacer?.release()
    transport.cancelAll()
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    guard request.priority == .image else {
      state.withLock { $0.others += 1 }
      return transport.fetch(request, into: sink, completion: completion)
    }
    state.withLock { $0.urls.append(request.url.text) }
    guard let pacer else { return send(request, sink, planned: nil, completion) }
    pacer.add { [self] planned in send(request, sink, planned: planned, completion) }
  }

  private func send(
    _ request: Request,
    _ sink: any BodySink,
    planned: MonotonicTime?,
    _ completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    // Requests that a rate still held back when everything was cancelled are not sent.
    guard pacer?.isReleased != true else {
      return completion(
        .failure(TransferFailure(reason: .cancelled, url: request.url.redacted))
      )
    }
    let taker: any BodySink = timesSinks ? TimedSink(sink, timed) : sink
    transport.fetch(request, into: taker) { [self] result in
      var sample = RequestSample(result, planned: planned, at: now())
      sample.url = request.url
      state.withLock { $0.samples.append(sample) }
      timed { completion(result) }
    }
  }

  /// Adds how long `work` takes to the time that was spent on writing.
  private func timed(_ work: () -> Void) {
    guard timesSinks else { return work() }
    let start = now()
    work()
    writing.add(now() - start, ordering: .relaxed)
  }
}

/// Passes a body on and has the time measured that its taker takes.
private final class TimedSink: BodySink {
  private let sink: any BodySink
  private let timed: @Sendable (() -> Void) -> Void

  init(_ sink: any BodySink, _ timed: @escaping @Sendable (() -> Void) -> Void) {
    (self.sink, self.timed) = (sink, timed)
  }

  var resumePoint: ResumePoint? { sink.resumePoint }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    sink.begin(head, at: offset)
  }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    var decision = BodyDecision.accept
    timed { decision = sink.receive(bytes) }
    return decision
  }

  func restart() { sink.restart() }
}

extension RequestSample {
  init(
    _ result: Result<Response, TransferFailure>,
    planned: MonotonicTime?,
    at now: MonotonicTime
  ) {
    self.init(planned: planned, ended: now)
    switch result {
    case .success(let response):
      timing = response.timing
      bytes = response.bodyBytes
      isNotModified = response.isNotModified
      status = "\(response.isNotModified ? 304 : response.head.status)"
      reused = response.connectionReused
      version = response.head.version
      attempts = response.attempts
    case .failure(let error):
      attempts = error.attempts
      failure = error.reason
      let reason = error.reason.rawValue
      if reason.hasPrefix("http-") { status = String(reason.dropFirst(5)) }
    }
  }
}

/// The measurements of one picture's request.
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
  /// The status of its last answer; nil when there was none.
  var status: String?
  /// The requested URL.
  var url: WebURL?

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
