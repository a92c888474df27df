import Cache
import Synchronization
import Transport

/// Fetches a list of pictures and throws their bytes away.
///
/// Keeps the transport, and so its connections, from run to run, and what the origin said of each
/// picture, to ask with.
final class DiscardRun: Sendable {
  private struct State {
    var conditions: [Int: Condition] = [:]
    var images = 0
    var failures: [String: Int] = [:]
  }

  private let urls: [WebURL]
  private let state = Mutex(State())

  init(_ urls: [WebURL]) {
    self.urls = urls
  }

  /// Fetches all, as many at once as the transport likes, and waits for the last.
  func run(
    _ pass: Pass,
    over transport: any Fetching
  ) -> (images: Int, failures: [String: Int]) {
    let known = state.withLock { state in
      state.images = 0
      state.failures = [:]
      return state.conditions
    }
    let group = WorkGroup()
    for (number, url) in urls.enumerated() {
      var request = Request(url)
      request.accept = .picture
      request.trust = .named
      if pass == .revalidate {
        request.condition = known[number]
      }
      group.enter()
      transport.fetch(request, into: DiscardSink()) { [self] result in
        note(result, number, keeps: pass == .cold)
        group.leave()
      }
    }
    group.join()
    return state.withLock { ($0.images, $0.failures) }
  }

  private func note(
    _ result: Result<Response, TransferFailure>,
    _ number: Int,
    keeps: Bool
  ) {
    state.withLock { state in
      switch result {
      case .success(let response):
        state.images += 1
        if keeps { state.conditions[number] = Condition(response.head) }
      case .failure(let failure):
        state.failures[failure.reason.rawValue, default: 0] += 1
      }
    }
  }
}

/// Takes bytes and keeps none.
final class DiscardSink: BodySink {
  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }
  func receive(_ bytes: RawSpan) -> BodyDecision { .accept }
  func restart() {}
}
