import Base
import Synchronization
import Transport

/// A transport that forwards all requests, and measures those for pictures.
///
/// At a constant rate, each request for a picture is delayed until its planned start. Requests for sections and details
/// are forwarded at once and only counted.
final class MeasuringTransport: ForwardingTransport {
  private struct Samples {
    var samples: [RequestSample] = []
    var others = 0
  }

  let transport: any Fetching
  private let pacer: Pacer?
  private let state = Mutex(Samples())

  /// Creates a transport that forwards to another one.
  ///
  /// - Parameters:
  ///   - transport: The other transport.
  ///   - rate: The number of requests for pictures per second. Pass nil to delay none.
  init(_ transport: any Fetching, rate: Double?) {
    self.transport = transport
    pacer = rate.map { Pacer(rate: $0) }
  }

  /// The measurements of the requests for pictures that have ended.
  var samples: [RequestSample] { state.withLock { $0.samples } }
  /// The number of requests for sections and details.
  var others: Int { state.withLock { $0.others } }

  func cancelAll() {
    pacer?.release()
    transport.cancelAll()
  }

  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    guard request.priority == .image else {
      state.withLock { $0.others += 1 }
      return transport.fetch(request, into: sink, completion: completion)
    }
    guard let pacer else { return send(request, sink, planned: nil, completion) }
    pacer.add { [self] planned in send(request, sink, planned: planned, completion) }
  }

  private func send(
    _ request: Request,
    _ sink: any BodySink,
    planned: MonotonicTime?,
    _ completion: @escaping Callback
  ) {
    // After a cancellation, do not send the requests that are still delayed.
    guard pacer?.isReleased != true else {
      return completion(
        .failure(TransferFailure(reason: .cancelled, url: request.url.redacted))
      )
    }
    transport.fetch(request, into: sink) { [self] result in
      var sample = RequestSample(result, planned: planned, at: .now())
      sample.url = request.url
      state.withLock { $0.samples.append(sample) }
      completion(result)
    }
  }
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
      status = "\(response.isNotModified ? 304 : response.head.status)"
      reused = response.connectionReused
      version = response.head.version
      attempts = response.attempts
    case .failure(let error):
      attempts = error.attempts
      failure = error.reason
      status = error.reason.status.map(String.init)
    }
  }
}

/// The measurements of one request for a picture.
struct RequestSample: Sendable {
  /// The planned start; nil if requests do not start at a constant rate.
  var planned: MonotonicTime?
  /// The time at which the request ended.
  var ended: MonotonicTime
  /// The times of the last attempt, all of them 0 if the request failed.
  var timing = TransferTiming()
  /// The number of body bytes that were received.
  var bytes: ByteCount = 0
  /// Whether the origin answered with status 304.
  var isNotModified: Bool { status == "304" }
  /// Whether the last attempt used a connection that was already open.
  var reused = false
  var version = HTTPVersion.http11
  var attempts = 1
  /// The reason of the failure; nil if the request succeeded.
  var failure: FailureReason?
  /// The status of the last answer, such as `404`; nil if there was no answer.
  var status: String?
  var url: WebURL?

  /// The time to the last byte, in nanoseconds.
  ///
  /// It is measured from the planned start if there is one, otherwise from the start of the attempt.
  var latency: Int64 {
    planned.map { ended - $0 } ?? Int64(timing.total * 1e9)
  }

  /// The durations of the phases, all of them 0 if the request failed.
  var phases: Phases { Phases(timing) }

  /// The time to the first byte, in nanoseconds.
  ///
  /// It is measured from the planned start if there is one, otherwise from the start of the attempt.
  var firstByte: Int64 {
    latency - Int64(phases.transfer * 1e9)
  }
}

/// The durations of a transfer's phases, which follow one another, in seconds.
struct Phases: Sendable, Equatable {
  /// The time to resolve the host name.
  var dns = 0.0
  /// The time to connect.
  var connect = 0.0
  /// The duration of the TLS handshake.
  var tls = 0.0
  /// The time from the sent request to the first byte of the answer.
  var wait = 0.0
  /// The time from the first byte of the answer to the last.
  var transfer = 0.0

  /// Calculates the durations from the times at which the phases ended.
  ///
  /// If a time is 0, or earlier than the time before it, the phase did not take place.
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
