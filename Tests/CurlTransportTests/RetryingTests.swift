import Support
import Testing
import Transport

@testable import CurlTransport

/// The number of requests whose last attempt failed.
@Suite struct RetryingTests {
  /// A server that delays each answer until the test releases it.
  private final class HoldingServer: Sendable {
    private let arrived = Semaphore()
    private let released = Semaphore()
    private let server: ScriptedServer

    /// Refuses the first `failures` requests at once.
    init(failures: Int = 0, answer: [ScriptedServer.Action] = RetryTests.hello) {
      server = ScriptedServer { [arrived, released] request in
        if request.number < failures { return RetryTests.status(503) }
        arrived.signal()
        return [.wait(released)] + answer
      }
    }

    func url(_ path: String = "/") -> String { server.url(path) }

    func waitForRequests(_ count: Int) { for _ in 0..<count { arrived.wait() } }
    func release(_ count: Int) { for _ in 0..<count { released.signal() } }
    func close() { server.close() }
  }

  @Test func `another attempt counts as retrying until the request ends`() throws {
    let server = HoldingServer(failures: 2)
    defer { server.close() }
    let transport = try CurlTransport(RetryTests.options)
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, server.url(), over: transport)
    server.waitForRequests(1)

    #expect(transport.retrying == 1)
    server.release(1)
    #expect(results.wait(for: 1)[0].response?.attempts == 3)
    #expect(transport.retrying == 0)
  }

  @Test func `requests that wait for a retry are counted`() throws {
    let failing = ScriptedServer { _ in RetryTests.status(503, "Retry-After: 50\r\n") }
    let other = HoldingServer()
    defer {
      failing.close()
      other.close()
    }
    // Requests run one at a time, so when the other server is contacted this one has failed.
    let options = testOptions {
      $0.retry.retries = 4
      $0.parallel = .fixed(1)
    }
    let transport = try CurlTransport(options)
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, failing.url(), over: transport)
    try results.begin(1, other.url(), over: transport)
    other.waitForRequests(1)

    #expect(transport.retrying == 1)
    other.release(1)
    _ = results.wait(for: 1)
    #expect(transport.retrying == 1)
    transport.cancelAll()
    #expect(results.wait(for: 1)[0].failure?.reason == .cancelled)
    #expect(transport.retrying == 0)
  }

  @Test func `a request that failed for good is not counted`() throws {
    let server = ScriptedServer { _ in RetryTests.status(503) }
    defer { server.close() }
    let transport = try CurlTransport(RetryTests.options)
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, server.url(), over: transport)

    #expect(results.wait(for: 1)[0].failure?.attempts == 5)
    #expect(transport.retrying == 0)
  }
}
