import Dispatch
import Synchronization

/// Fetches resources, many at a time, and parses their URLs as it will send them.
package protocol Fetching: URLParsing {
  /// Starts or queues a transfer, whose body goes to `sink`.
  ///
  /// `completion` always runs exactly once, on the transfer thread, so it must be as quick as a sink. It may call
  /// `fetch`. The transfer succeeds with a 304, or with a status that answers the request (see
  /// ``Request/isAnswered(by:)``). Any other final status is a failure `http-NNN`.
  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  )

  /// The header fields that a request sends to its first host. `Host`, the fields of the request's condition, and
  /// fields that frame the message are left out.
  func fields(of request: Request) -> Headers

  /// Completes every unfinished request with the reason `cancelled`, soon and on the transfer thread.
  func cancelAll()
}

extension Fetching {
  /// Fetches, and waits for the result; must not be called on the transfer thread.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sink: The sink for the body.
  ///   - isCancelled: Called once, after the request is submitted; if true, all requests are cancelled. A
  ///     `cancelAll()` just before the submission would have missed this request.
  /// - Returns: The result with which `fetch` completes.
  package func result(
    of request: Request,
    into sink: any BodySink,
    isCancelled: () -> Bool = { false }
  ) -> Result<Response, TransferFailure> {
    let result = Mutex<Result<Response, TransferFailure>?>(nil)
    let done = DispatchSemaphore(value: 0)
    fetch(request, into: sink) { outcome in
      result.withLock { $0 = outcome }
      done.signal()
    }
    if isCancelled() { cancelAll() }
    done.wait()
    return result.withLock { $0 }
      ?? .failure(
        TransferFailure(reason: .cancelled, url: request.url.redacted, mayHaveBeenSent: true)
      )
  }

  /// The request's own fields, and its `Accept` fields.
  package func fields(of request: Request) -> Headers {
    var fields = request.headers
    fields.append(request.credentials)
    if !fields.contains("Accept") { fields.append("Accept", request.accept.value) }
    return fields
  }
}

/// A snapshot of a transport's work at one moment, for display.
package struct TransferActivity: Sendable, Hashable {
  /// The number of requests that are being retried: they wait for another attempt, or are making it.
  package let retrying: Int
  /// The host that most of the requests under way were last sent to, as ``WebURL/shownHost``; nil when no request is
  /// under way.
  ///
  /// A request is under way from its first attempt to its end, so a host in a retry pause is shown too.
  package let host: String?

  /// Sums up the transfers under way.
  ///
  /// - Parameters:
  ///   - retrying: The number of requests that are being retried.
  ///   - underWay: The number of requests of each host; among hosts with equally many, the first is shown.
  package init(
    retrying: Int = 0,
    underWay: some Sequence<(host: String, requests: Int)> = EmptyCollection()
  ) {
    var most: (host: String?, requests: Int) = (nil, 0)
    for entry in underWay where entry.requests > most.requests {
      most = (entry.host, entry.requests)
    }
    self.retrying = retrying
    host = most.host
  }
}
