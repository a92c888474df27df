import Transport

/// Puts the environment's values into URLs when requests leave, and takes them out of what comes back.
final class VeilingTransport: Fetching {
  private let transport: any Fetching
  private let variables: URLVariables

  init(_ transport: any Fetching, _ variables: URLVariables) {
    self.transport = transport
    self.variables = variables
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    do throws(TransferFailure) {
      return try transport.parse(text, relativeTo: base)
    } catch {
      throw variables.veiled(error)
    }
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let exchange: VeiledExchange
    do throws(TransferFailure) {
      exchange = try VeiledExchange(request, variables, transport)
    } catch {
      return completion(.failure(variables.veiled(error)))
    }
    transport.fetch(exchange.sent, into: VeilingSink(sink, exchange)) { [variables] result in
      completion(
        result.map { $0.with(head: exchange.veiled($0.head)) }.mapError(variables.veiled)
      )
    }
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() { transport.cancelAll() }
}

/// One request as its caller knows it and as it is sent.
private struct VeiledExchange: Sendable {
  /// The request with the values in.
  let sent: Request
  private let asked: WebURL
  private let variables: URLVariables

  init(
    _ request: Request,
    _ variables: URLVariables,
    _ parser: any URLParsing
  ) throws(TransferFailure) {
    var sent = request
    sent.url = try variables.revealed(request.url, parser)
    if let source = request.condition?.source {
      sent.condition?.source = variables.revealed(source)
    }
    self.sent = sent
    asked = request.url
    self.variables = variables
  }

  func veiled(_ head: ResponseHead) -> ResponseHead {
    head.renamed(
      head.url == sent.url ? asked : variables.veiled(head.url),
      fields: variables.veiled
    )
  }

  func revealed(_ point: ResumePoint) -> ResumePoint {
    var point = point
    point.source = point.source.map(variables.revealed)
    return point
  }
}

/// Shows a sink the head of its response without the values: a sink stores a part of it.
private final class VeilingSink: BodySink {
  private let sink: any BodySink
  private let exchange: VeiledExchange

  init(_ sink: any BodySink, _ exchange: VeiledExchange) {
    self.sink = sink
    self.exchange = exchange
  }

  var resumePoint: ResumePoint? { sink.resumePoint.map(exchange.revealed) }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    sink.begin(exchange.veiled(head), at: offset)
  }

  func receive(_ bytes: RawSpan) -> BodyDecision { sink.receive(bytes) }

  func restart() { sink.restart() }
}

extension URLVariables {
  /// A failure with the values out of everything that it says.
  fileprivate func veiled(_ failure: TransferFailure) -> TransferFailure {
    var failure = failure
    failure.url = veiled(failure.url)
    failure.detail = veiled(failure.detail)
    failure.headers = veiled(failure.headers)
    failure.refusal = veiled(failure.refusal)
    return failure
  }
}
