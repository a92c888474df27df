import Base
import Synchronization
import Transport

/// A transport that forwards all requests, and measures those for pictures.
final class MeasuringTransport: ForwardingTransport {
  let transport: any Fetching
  private let measured = Mutex<[RequestSample]>([])

  /// Creates a transport that forwards to another one.
  init(_ transport: any Fetching) {
    self.transport = transport
  }

  /// The measurements of the requests for pictures that have ended.
  var samples: [RequestSample] { measured.withLock(\.self) }

  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    guard request.priority == .image else {
      return transport.fetch(request, into: sink, completion: completion)
    }
    transport.fetch(request, into: sink) { [self] result in
      let sample = RequestSample(result)
      measured.withLock { $0.append(sample) }
      completion(result)
    }
  }
}

/// The measurements of one request for a picture.
struct RequestSample: Sendable {
  /// The times of the last attempt, all of them 0 if the request failed.
  var timing = TransferTiming()
  /// The number of body bytes that were received.
  var bytes: ByteCount = 0
  /// Whether the last attempt used a connection that was already open.
  var reused = false
  var version = HTTPVersion.http11
  var attempts = 1
  /// The reason of the failure; nil if the request succeeded.
  var failure: FailureReason?
  /// The status of the last answer, such as `404`; nil if there was no answer.
  var status: String?

  init(_ result: Result<Response, TransferFailure>) {
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
