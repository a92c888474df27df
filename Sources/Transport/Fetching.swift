import Dispatch
import Synchronization

/// Fetches resources, many at a time, and parses their URLs as it will send them.
package protocol Fetching: URLParsing {
  /// Starts, or queues, a transfer into `sink`.
  ///
  /// `completion` runs on the transfer thread exactly once, in every case, so it must be quick, like a sink. It may
  /// call `fetch`. A status that answers the request, see ``Request/isAnswered(by:)``, and a 304 succeed; any other
  /// final status is a failure `http-NNN`.
  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  )

  /// The header fields that a request sends to its first host, without `Host`, its condition, and fields that frame the
  /// message.
  func fields(of request: Request) -> Headers

  /// Completes everything unfinished with the reason `cancelled`, soon and on the transfer thread.
  func cancelAll()
}

extension Fetching {
  /// Fetches, and waits for the result: for a thread with nothing else to do, never the transfer thread.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sink: Where the body goes.
  ///   - isCancelled: Called once, after the request is submitted, because a `cancelAll()` just before would have
  ///     missed it.
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
  /// How many requests are being retried: those that wait for another attempt, and those that make one.
  package let retrying: Int
  /// The host that most of the requests under way were last sent to, as ``WebURL/shownHost``; nil without any.
  ///
  /// A transfer is under way from its first attempt to its end, so a host in a retry pause is named too.
  package let host: String?

  /// Sums up the transfers under way.
  ///
  /// - Parameters:
  ///   - retrying: How many requests are being retried.
  ///   - underWay: How many requests each host has; among hosts with equally many, the first is named.
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
