import Synchronization
import Transport

/// A transport that takes nothing more once the run is to end.
///
/// `cancelAll` alone ends only what was submitted before it, while a run still has pictures in its
/// lines and sections in its decoders that would be submitted after it.
final class StoppableTransport: Fetching {
  private let transport: any Fetching
  private let isStopped = Atomic(false)

  init(_ transport: any Fetching) {
    self.transport = transport
  }

  /// Whether ``stop()`` was called.
  var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  /// Cancels everything, and all that comes later.
  func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    transport.cancelAll()
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    guard !hasStopped else {
      return completion(
        .failure(TransferFailure(reason: .cancelled, url: request.url.redacted))
      )
    }
    transport.fetch(request, into: sink, completion: completion)
    // Submitted after the cancellation, yet judged before it: cancel again.
    if hasStopped { transport.cancelAll() }
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() { transport.cancelAll() }
}
