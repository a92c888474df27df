import Catalog
import Dispatch
import Synchronization
import Transport

/// A transport that gets a new token when a server answers with 401.
///
/// It runs the command that `token` in the catalog file names, and repeats the request with the output of the command
/// as the value of the header.
///
/// This applies only to origins that get the catalog file's headers. The command runs at most once in a run. Its output
/// replaces the header's value in every later request. A new token does not make the data in the cache outdated,
/// because the value is not a part of the cache key.
final class TokenTransport: ForwardingTransport {
  let transport: any Fetching
  private let rule: TokenRule
  private let secrets: RunSecrets
  private let command: ProgramRun
  private let isOver: @Sendable () -> Bool
  private let state = Mutex(State())
  /// The queue that runs the command.
  ///
  /// The transport's thread does not run it, because that would delay other transfers.
  private let line = DispatchQueue(label: "larder.token")

  private struct State {
    /// The header value that the command has printed, or the reason why it failed; nil until it has ended.
    var result: Result<String, ProgramFault>?
    /// The requests that wait for the command; none if it has not been started, or has ended.
    var waiting: [Refused] = []
  }

  /// A request that the server refused with 401.
  private struct Refused: Sendable {
    let request: Request
    let sink: any BodySink
    let failure: TransferFailure
    let completion: Callback
  }

  /// Wraps a transport.
  ///
  /// - Parameters:
  ///   - transport: The transport that sends the requests.
  ///   - rule: The header and the command.
  ///   - environment: The environment of the command.
  ///   - secrets: The run's secrets. The new token is added to them.
  ///   - isOver: Whether the run is being stopped, or its deadline has passed. The command is killed then.
  init(
    _ transport: any Fetching,
    _ rule: TokenRule,
    environment: [String: String],
    hiding secrets: RunSecrets,
    isOver: @escaping @Sendable () -> Bool
  ) {
    self.isOver = isOver
    self.transport = transport
    self.rule = rule
    self.secrets = secrets
    command = ProgramRun(words: rule.command, environment: environment, isStopped: isOver)
  }

  /// Fetches as ``Fetching`` requires, and repeats the request with a new token after a 401.
  ///
  /// If the command fails, the requests that wait for its output complete on the queue that ran it.
  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    guard request.mayGetCredentials else {
      return transport.fetch(request, into: sink, completion: completion)
    }
    send(request, into: sink, with: state.withLock { try? $0.result?.get() }, after: 0, completion)
  }

  private func send(
    _ request: Request,
    into sink: any BodySink,
    with value: String?,
    after attempts: Int,
    _ completion: @escaping Callback
  ) {
    var sent = request
    if let value { sent.credentials[rule.header] = value }
    transport.fetch(sent, into: sink) { [self] result in
      let result = result.adding(attempts)
      guard case .failure(let failure) = result, failure.status == 401,
        failure.reason == .http(401), isFrom(request.url.origin, failure)
      else { return completion(result) }
      judge(
        Refused(request: request, sink: sink, failure: failure, completion: completion),
        sentWith: value
      )
    }
  }

  /// Whether the refusal comes from the origin of the request, and not from another origin that it was redirected to.
  private func isFrom(_ origin: String, _ failure: TransferFailure) -> Bool {
    (try? transport.parse(failure.url, relativeTo: nil))?.origin == origin
  }

  private func judge(_ refused: Refused, sentWith value: String?) {
    let result = state.withLock { state in
      if state.result == nil {
        if state.waiting.isEmpty { line.async { self.ask() } }
        state.waiting.append(refused)
      }
      return state.result
    }
    switch result {
    case nil: break
    // A late refusal of the old value.
    case .success(let token) where token != value: again(refused, with: token)
    case .success:
      stand(refused, "the origin also refuses the token that \(rule.program) printed")
    case .failure(let fault): stand(refused, words(fault))
    }
  }

  /// Runs the command, and repeats the requests that wait for its output.
  ///
  /// If the command fails, each of these requests fails with its 401.
  private func ask() {
    let result = command.run().value(hiding: secrets.present)
    if case .success(let value) = result { secrets.hide(value) }
    let waiting = state.withLock { state in
      state.result = result
      defer { state.waiting = [] }
      return state.waiting
    }
    for refused in waiting {
      switch result {
      case .success(let value): again(refused, with: value)
      case .failure where isOver():
        var failure = refused.failure
        (failure.reason, failure.status) = (.cancelled, nil)
        refused.completion(.failure(failure))
      case .failure(let fault): stand(refused, words(fault))
      }
    }
  }

  private func again(_ refused: Refused, with value: String) {
    refused.sink.restart()
    send(
      refused.request,
      into: refused.sink,
      with: value,
      after: refused.failure.attempts,
      refused.completion
    )
  }

  private func stand(_ refused: Refused, _ words: String) {
    var failure = refused.failure
    failure.detail = failure.detail.isEmpty ? words : "\(failure.detail); \(words)"
    refused.completion(.failure(failure))
  }

  private func words(_ fault: ProgramFault) -> String {
    "the token command \(rule.program) \(fault.words)"
  }
}

extension Result<Response, TransferFailure> {
  /// Adds the number of earlier attempts to the result's own number.
  fileprivate func adding(_ attempts: Int) -> Self {
    guard attempts > 0 else { return self }
    return map { $0.counting(attempts: $0.attempts + attempts) }.mapError {
      var failure = $0
      failure.attempts += attempts
      return failure
    }
  }
}
