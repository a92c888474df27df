import Support
import Testing
import Transport

@testable import CurlTransport

/// The activity reported for the requests in progress.
@Suite struct ActivityTests {
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

    var host: String { "127.0.0.1:\(server.port)" }
    func url(_ path: String = "/") -> String { server.url(path) }

    func waitForRequests(_ count: Int) { for _ in 0..<count { arrived.wait() } }
    func release(_ count: Int) { for _ in 0..<count { released.signal() } }
    func close() { server.close() }
  }

  @Test func `a request's host is reported until it ends, without secrets of its URL`() throws {
    let server = HoldingServer()
    defer { server.close() }
    let transport = try CurlTransport(testOptions())
    defer { transport.shutdown() }
    let results = Results()
    let url = server.url("/path?token=secret").replacing("http://", with: "http://user:pass@")

    #expect(transport.activity == TransferActivity())
    try results.begin(0, url, over: transport)
    server.waitForRequests(1)

    #expect(transport.activity.host == server.host)
    #expect(transport.activity.retrying == 0)
    server.release(1)
    #expect(results.wait(for: 1)[0].response != nil)
    #expect(transport.activity == TransferActivity())
  }

  @Test func `the host with the most active requests is reported`() throws {
    let servers = (HoldingServer(), HoldingServer())
    defer {
      servers.0.close()
      servers.1.close()
    }
    let transport = try CurlTransport(testOptions())
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, servers.0.url(), over: transport)
    servers.0.waitForRequests(1)
    for number in 1...2 { try results.begin(number, servers.1.url("/\(number)"), over: transport) }
    servers.1.waitForRequests(2)

    #expect(transport.activity.host == servers.1.host)
    servers.1.release(2)
    _ = results.wait(for: 2)
    #expect(transport.activity.host == servers.0.host)
    servers.0.release(1)
    _ = results.wait(for: 1)
    #expect(transport.activity.host == nil)
  }

  @Test func `after a redirect its target is the host reported`() throws {
    let target = HoldingServer()
    let origin = ScriptedServer { [url = target.url()] _ in
      RetryTests.status(302, "Location: \(url)\r\n")
    }
    defer {
      target.close()
      origin.close()
    }
    let transport = try CurlTransport(testOptions())
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, origin.url(), over: transport)
    target.waitForRequests(1)

    #expect(transport.activity.host == target.host)
    target.release(1)
    #expect(results.wait(for: 1)[0].response != nil)
  }

  @Test func `another attempt counts as retrying until the request ends`() throws {
    let server = HoldingServer(failures: 2)
    defer { server.close() }
    let transport = try CurlTransport(RetryTests.options)
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, server.url(), over: transport)
    server.waitForRequests(1)

    #expect(transport.activity.retrying == 1)
    #expect(transport.activity.host == server.host)
    server.release(1)
    #expect(results.wait(for: 1)[0].response?.attempts == 3)
    #expect(transport.activity == TransferActivity())
  }

  @Test func `requests that wait for a retry are reported with the failed host`() throws {
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

    #expect(transport.activity.retrying == 1)
    other.release(1)
    _ = results.wait(for: 1)
    #expect(transport.activity.retrying == 1)
    #expect(transport.activity.host == "127.0.0.1:\(failing.port)")
    transport.cancelAll()
    #expect(results.wait(for: 1)[0].failure?.reason == .cancelled)
    #expect(transport.activity == TransferActivity())
  }

  @Test func `a cancelled request is not reported`() throws {
    let server = ScriptedServer { _ in RetryTests.status(503) }
    defer { server.close() }
    let transport = try CurlTransport(RetryTests.options)
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, server.url(), over: transport)

    #expect(results.wait(for: 1)[0].failure?.attempts == 5)
    #expect(transport.activity == TransferActivity())
  }
}
