import Transport

/// Puts the environment's values into URLs when requests leave, and takes them out of what comes back.
final class VeilingTransport: Fetching, URLParsing {
  private let transport: any Fetching & URLParsing
  private let variables: URLVariables

  init(_ transport: any Fetching & URLParsing, _ variables: URLVariables) {
    self.transport = transport
    self.variables = variables
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    var revealed = request
    do throws(TransferFailure) {
      revealed.url = try variables.revealed(request.url, transport)
    } catch {
      return completion(.failure(veiled(error)))
    }
    let sent = revealed.url
    transport.fetch(revealed, into: sink) { [self] result in
      completion(
        result.map { $0.head.url == sent ? $0.answered(by: request.url) : veiled($0) }
          .mapError(veiled)
      )
    }
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func connect(ahead expected: [ExpectedRequests]) {
    let revealed = expected.compactMap { expected in
      (try? variables.revealed(expected.request.url, transport)).map { url in
        var request = expected.request
        request.url = url
        return ExpectedRequests(request, count: expected.count)
      }
    }
    transport.connect(ahead: revealed)
  }

  func cancelAll() { transport.cancelAll() }

  private func veiled(_ response: Response) -> Response {
    let url = variables.veiled(response.head.url, transport)
    return url == response.head.url ? response : response.answered(by: url)
  }

  private func veiled(_ failure: TransferFailure) -> TransferFailure {
    var failure = failure
    failure.url = variables.veiled(failure.url)
    failure.detail = variables.veiled(failure.detail)
    return failure
  }
}

extension Response {
  /// The same response from another URL.
  fileprivate func answered(by url: WebURL) -> Response {
    Response(
      head: ResponseHead(
        status: head.status,
        headers: head.headers,
        url: url,
        version: head.version,
        contentLength: head.contentLength,
        isEncoded: head.isEncoded
      ),
      bodyBytes: bodyBytes,
      wireBytes: wireBytes,
      attempts: attempts,
      timing: timing,
      connectionReused: connectionReused
    )
  }
}
