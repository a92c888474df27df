import Base
import CurlTransport
import Synchronization
import Transport

/// Answers the requests that larder would otherwise send to the shop over the network.
///
/// Implement it for tests, or to send the requests with another HTTP client.
///
///     struct Canned: ShopTransport {
///       let bodies: [String: [UInt8]]
///       func respond(to request: ShopRequest) async throws -> ShopResponse {
///         bodies[request.url].map { ShopResponse(body: $0) } ?? ShopResponse(status: 404)
///       }
///     }
public protocol ShopTransport: Sendable {
  /// Answers one request.
  ///
  /// Many tasks can call this method at once.
  ///
  /// If a run ends early, it cancels the task that called this method. larder does not retry a request, so an
  /// implementation that wants retries makes them itself.
  ///
  /// - Parameter request: The request.
  /// - Returns: The final response. larder does not follow redirects, so an implementation that wants redirects follows
  ///   them itself.
  /// - Throws: Any error. The request then counts as failed, with the reason `transport`.
  func respond(to request: ShopRequest) async throws -> ShopResponse
}

/// A request of a ``Shop`` or an ``OrderBook``.
public struct ShopRequest: Sendable, Hashable {
  /// The HTTP method.
  public enum Method: String, Sendable {
    /// Gets the resource.
    case get = "GET"
    /// Sends ``ShopRequest/body``. The body is an order, or a query if the catalog file asks for POST.
    case post = "POST"
  }

  /// The HTTP method.
  public let method: Method
  /// The absolute URL.
  public let url: String
  /// The header fields in their order, including conditions such as `If-None-Match`.
  public let headers: [ShopHeader]
  /// The body of a POST; nil if there is no body.
  ///
  /// The header field `Content-Type` names the type of the body.
  public let body: [UInt8]?

  /// The value of the first field with this name, regardless of case; nil if there is no such field.
  public subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// The answer to a ``ShopRequest``.
public struct ShopResponse: Sendable, Hashable {
  /// The HTTP status: 200 with a body, 304 if the version in the cache is current, or any other status for a failure.
  public var status: Int
  /// The header fields.
  ///
  /// The shop reads fields such as `ETag` and `Cache-Control`, as it does for the answer of a server.
  public var headers: [ShopHeader]
  /// The body, without any content coding such as gzip.
  public var body: [UInt8]

  /// Makes a response.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - headers: The header fields.
  ///   - body: The body, without any content coding.
  public init(status: Int = 200, headers: [ShopHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// A header field.
public struct ShopHeader: Sendable, Hashable {
  /// The field's name.
  public var name: String
  /// The field's value.
  public var value: String

  /// Makes a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension Optional<any ShopTransport> {
  /// Calls `body` with this transport, or with libcurl if it is nil, and ends all transfers afterwards.
  ///
  /// - Parameters:
  ///   - options: The options of libcurl.
  ///   - body: The work.
  /// - Returns: The result of the work.
  /// - Throws: The errors of `options` and `body`, and ``TransferFailure`` if libcurl cannot be used.
  func use<Value>(
    _ options: () throws -> TransportOptions,
    _ body: (any Fetching) throws -> Value
  ) throws -> Value {
    if let self {
      let adapter = TransportAdapter(self)
      defer { adapter.cancelAll() }
      return try body(adapter)
    }
    let curl = try CurlTransport(options())
    defer { curl.shutdown() }
    return try body(curl)
  }
}

/// Adapts a ``ShopTransport`` to the pipeline, so that the pipeline uses it instead of libcurl.
final class TransportAdapter: Fetching {
  private let transport: any ShopTransport
  private let parser = CurlURLParser()
  private let tasks = Mutex(Tasks())

  private struct Tasks {
    var running: [Int: Task<Void, Never>] = [:]
    var started = 0
  }

  init(_ transport: any ShopTransport) {
    self.transport = transport
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try parser.parse(text, relativeTo: base)
  }

  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    tasks.withLock { tasks in
      tasks.started += 1
      let number = tasks.started
      tasks.running[number] = Task { [self] in
        let result = await answer(request, into: sink)
        self.tasks.withLock { $0.running[number] = nil }
        completion(result)
      }
    }
  }

  func cancelAll() {
    let running = tasks.withLock { Array($0.running.values) }
    for task in running { task.cancel() }
  }

  private func answer(
    _ request: Request,
    into sink: any BodySink
  ) async -> Result<Response, TransferFailure> {
    func failure(_ reason: FailureReason, _ detail: String = "", status: Int? = nil)
      -> Result<Response, TransferFailure>
    {
      .failure(
        TransferFailure(
          reason: reason,
          url: request.url.redacted,
          detail: detail,
          attempts: 1,
          status: status,
          // If a POST gets no answer, it is still possible that it arrived.
          mayHaveBeenSent: request.method == .post
        )
      )
    }
    var fields = self.fields(of: request)
    if let condition = request.condition { fields.append(condition.validators.conditionalHeaders) }
    let asked = ShopRequest(
      method: request.method == .post ? .post : .get,
      url: request.url.text,
      headers: fields.fields.map { ShopHeader($0.name, $0.value) },
      body: request.body
    )
    let answer: ShopResponse
    do {
      answer = try await transport.respond(to: asked)
    } catch {
      return Task.isCancelled
        ? failure(.cancelled) : failure(FailureReason(rawValue: "transport"), "\(error)")
    }
    if Task.isCancelled { return failure(.cancelled) }
    let length = ByteCount(answer.body.count)
    let head = ResponseHead(
      status: answer.status,
      headers: Headers(answer.headers.map { ($0.name, $0.value) }),
      url: request.url,
      contentLength: answer.status == 304 ? nil : length
    )
    if answer.status == 304, let condition = request.condition {
      guard condition.isMet(by: Validators(head.headers.endToEnd)) else {
        return failure(.badResponse, "the 304 is for another version", status: 304)
      }
      return .success(Response(head: head, bodyBytes: 0, wireBytes: 0))
    }
    guard request.isAnswered(by: answer.status) else {
      return failure(.http(answer.status), status: answer.status).mapError { failure in
        var failure = failure
        failure.headers = head.headers
        failure.retryAfter = head.headers["Retry-After"].flatMap {
          RetryAfter.seconds($0, now: UnixTime.now())
        }
        failure.refusal = Array(answer.body.prefix(8192))
        return failure
      }
    }
    guard length <= request.bodyLimit else { return failure(.tooLarge) }
    sink.restart()
    if case .refuse(let reason) = sink.begin(head, at: 0) { return failure(reason) }
    if !answer.body.isEmpty, case .refuse(let reason) = sink.receive(answer.body.span.bytes) {
      return failure(reason)
    }
    return .success(Response(head: head, bodyBytes: length, wireBytes: length))
  }
}
