import Dispatch
import Synchronization

/// A transport: it sends HTTP requests, many at the same time, and parses URLs in the form in which it sends them.
package protocol Fetching: URLParsing {
  /// Starts or queues a transfer.
  ///
  /// The body of the response goes to `sink`.
  ///
  /// `completion` is called exactly once, on the transfer thread. So it must be as quick as the methods of a sink. It
  /// can call `fetch`.
  ///
  /// The transfer succeeds if the final status is 304, or is a status that ``Request/isAnswered(by:)`` accepts. With
  /// any other final status the transfer fails, for example with the reason `http-404`.
  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback)

  /// The header fields that a request sends to its first host.
  ///
  /// The result lacks `Host`, conditional fields such as `If-None-Match`, and fields about the message's length such as
  /// `Content-Length`.
  func fields(of request: Request) -> Headers

  /// Makes every unfinished request fail with the reason `cancelled`.
  ///
  /// The function returns at once. The completions are called soon afterwards on the transfer thread.
  func cancelAll()
}

extension Fetching {
  /// Receives the result of a request.
  package typealias Callback = @Sendable (Result<Response, TransferFailure>) -> Void

  /// Fetches, and waits for the result.
  ///
  /// This must not be called on the transfer thread.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sink: The sink for the body.
  ///   - isCancelled: Called once, after the request was submitted. If it returns true, all requests are cancelled.
  ///     It is needed because an earlier call of `cancelAll()` does not affect this request.
  /// - Returns: The result that `fetch` passes to its completion.
  package func result(
    of request: Request,
    into sink: any BodySink,
    isCancelled: () -> Bool = { false }
  ) -> Result<Response, TransferFailure> {
    let unanswered = TransferFailure(
      reason: .cancelled,
      url: request.url.redacted,
      mayHaveBeenSent: true
    )
    let result = Mutex<Result<Response, TransferFailure>>(.failure(unanswered))
    let done = DispatchSemaphore(value: 0)
    fetch(request, into: sink) { outcome in
      result.withLock { $0 = outcome }
      done.signal()
    }
    if isCancelled() { cancelAll() }
    done.wait()
    return result.withLock { $0 }
  }

  /// The request's own fields and credentials, and an `Accept` field unless the request has one.
  package func fields(of request: Request) -> Headers {
    var fields = request.headers
    fields.append(request.credentials)
    if !fields.contains("Accept") { fields.append("Accept", request.accept.value) }
    return fields
  }
}

/// A transport that changes some requests or results of another transport, and passes everything else on to it.
package protocol ForwardingTransport: Fetching {
  /// The other transport.
  var transport: any Fetching { get }
}

extension ForwardingTransport {
  /// Parses a URL as the other transport does.
  package func parse(
    _ text: String,
    relativeTo base: WebURL?
  ) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  /// The header fields that the other transport sends.
  package func fields(of request: Request) -> Headers { transport.fields(of: request) }

  /// Cancels the requests of the other transport.
  package func cancelAll() { transport.cancelAll() }
}

/// A summary of a transport's unfinished requests at one moment, for the progress display.
///
/// A request is under way from the start of its first attempt until it succeeds or finally fails. So it is also under
/// way during the pause before another attempt.
package struct TransferActivity: Sendable, Hashable {
  /// The number of requests under way whose last attempt failed.
  package let retrying: Int
  /// The host with the most requests under way, in the form of ``WebURL/shownHost``.
  ///
  /// Nil if no request is under way.
  package let host: String?

  /// Makes a summary.
  ///
  /// - Parameters:
  ///   - retrying: The number of requests whose last attempt failed.
  ///   - underWay: The number of requests under way for each host. If several hosts have the highest number, the first
  ///     of them is shown.
  package init(retrying: Int = 0, underWay: [(host: String, requests: Int)] = []) {
    self.retrying = retrying
    let busiest = underWay.max { $0.requests < $1.requests }
    host = busiest.flatMap { $0.requests > 0 ? $0.host : nil }
  }
}
