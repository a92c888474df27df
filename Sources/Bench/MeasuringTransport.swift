import Synchronization
import Transport

/// A transport that forwards all requests, and measures those for pictures.
final class MeasuringTransport: ForwardingTransport {
  let transport: any Fetching
  private let measured = Mutex<[Result<Response, TransferFailure>]>([])

  /// Creates a transport that forwards to another one.
  init(_ transport: any Fetching) {
    self.transport = transport
  }

  /// The results of the requests for pictures that have ended.
  var results: [Result<Response, TransferFailure>] { measured.withLock(\.self) }

  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    guard request.priority == .image else {
      return transport.fetch(request, into: sink, completion: completion)
    }
    transport.fetch(request, into: sink) { [self] result in
      measured.withLock { $0.append(result) }
      completion(result)
    }
  }
}
