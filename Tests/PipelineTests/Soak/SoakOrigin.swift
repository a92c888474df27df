import CurlTransport
import Support
import Synchronization

/// Serves a shop on loopback for one run, and records the requests for each URL.
final class SoakOrigin: Sendable {
  /// One request and its answer.
  struct Exchange: Sendable {
    let request: SoakRequest
    let answer: SoakAnswer
  }

  private final class Log: Sendable {
    private let state = Mutex<(exchanges: [String: [Exchange]], count: Int)>(([:], 0))

    var exchanges: [String: [Exchange]] { state.withLock { $0.exchanges } }

    func add(_ exchange: Exchange) -> Int {
      state.withLock { state in
        state.exchanges[exchange.request.url, default: []].append(exchange)
        state.count += 1
        return state.count
      }
    }
  }

  private let log: Log
  private let server: ScriptedServer

  /// Starts the server; `interruption` is called once, after this many requests.
  init(
    _ shop: SoakShop,
    interruption: (after: Int, call: @Sendable () -> Void)? = nil
  ) {
    let log = Log()
    self.log = log
    server = ScriptedServer { received in
      let request = SoakRequest(received)
      let answer = shop.answer(request)
      if log.add(Exchange(request: request, answer: answer)) == interruption?.after {
        interruption?.call()
      }
      return answer.actions
    }
  }

  /// The requests and answers for each URL, in order.
  var exchanges: [String: [Exchange]] { log.exchanges }

  /// Options of a transport that resolves all hosts of the shop to this server.
  var transportOptions: TransportOptions {
    var options = TransportOptions()
    options.connectTo = SoakShop.hosts.map { "\($0):80:127.0.0.1:\(server.port)" }
    options.retry.retries = 0
    options.retry.longestRetryAfter = .zero
    options.breaker.failures = .max
    return options
  }

  /// Stops the server.
  func close() { server.close() }
}
