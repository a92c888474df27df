import Base
import Dispatch
import Synchronization
import Transport

/// Fetches a list of pictures and discards the bytes.
///
/// If a pass has to be longer than the list, the list is repeated. The validators of each picture, such as its ETag,
/// are kept from the cold pass for the revalidating pass.
final class DiscardRun: Sendable {
  private struct Progress {
    var conditions: [Int: Condition] = [:]
    var started = 0
    var images = 0
    var failures: [String: Int] = [:]
  }

  private let urls: [WebURL]
  private let count: Int
  private let isTimed: Bool
  private let state = Mutex(Progress())

  /// Prepares the passes.
  ///
  /// - Parameters:
  ///   - urls: The list.
  ///   - count: The least number of requests in a pass.
  ///   - isTimed: Whether a pass takes at least ``BenchPlan/leastSeconds``, with as many further requests as that needs.
  init(_ urls: [WebURL], count: Int, isTimed: Bool) {
    (self.urls, self.count, self.isTimed) = (urls, count, isTimed)
  }

  /// Runs a pass, with as many simultaneous transfers as the transport allows, and waits until all have ended.
  func run(
    _ pass: Pass,
    over transport: any Fetching
  ) -> (images: Int, failures: [String: Int]) {
    let end = isTimed ? MonotonicTime.now() + .seconds(BenchPlan.leastSeconds) : nil
    let known = state.withLock { state in
      (state.images, state.failures, state.started) = (0, [:], count)
      return state.conditions
    }
    guard !urls.isEmpty else { return (0, [:]) }
    let group = DispatchGroup()

    /// Fetches the URL with this position in the list.
    ///
    /// After a success and before the end of the pass, it continues with another URL of the list.
    @Sendable func fetch(_ number: Int) {
      var request = Request(urls[number])
      request.accept = .picture
      request.trust = .named
      if pass == .revalidate { request.condition = known[number] }
      transport.fetch(request, into: MemorySink(most: 0)) { [self] result in
        let next = state.withLock { state -> Int? in
          switch result {
          case .success(let response):
            state.images += 1
            if pass == .cold { state.conditions[number] = Condition(response.head) }
            guard let end, MonotonicTime.now() < end else { return nil }
            state.started += 1
            return (state.started - 1) % urls.count
          case .failure(let failure):
            state.failures[failure.reason.rawValue, default: 0] += 1
            return nil
          }
        }
        if let next {
          group.enter()
          fetch(next)
        }
        group.leave()
      }
    }

    // Enter the group for all requests before the first is sent, because a request that ends can start another one.
    for _ in 0..<count { group.enter() }
    for number in 0..<count { fetch(number % urls.count) }
    group.wait()
    return state.withLock { ($0.images, $0.failures) }
  }
}
