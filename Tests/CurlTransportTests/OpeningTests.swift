import Support
import Testing
import Transport

@testable import CurlTransport

/// Connections that are opened before there is a request for them.
@Suite struct OpeningTests {
  /// Answers requests of another host: once one is answered, the transport has read what it was told before.
  private let other = ScriptedServer { _ in RetryTests.hello }

  /// Has connections opened for so many requests, and waits until they are on their way.
  private func open(_ url: String, count: Int, over transport: CurlTransport) throws {
    let request = Request(try CurlURLParser.parse(url))
    transport.connect(ahead: [ExpectedRequests(request, count: count)])
    let results = Results()
    var bell = Request(try CurlURLParser.parse(other.url()))
    bell.trust = .named
    transport.fetch(bell, into: CollectingSink(), completion: results.completion(0))
    _ = results.wait(for: 1)
  }

  @Test func `the requests that follow find their connections open, and nothing else is sent`()
    throws
  {
    let arrived = Semaphore()
    let released = Semaphore()
    let server = ScriptedServer { _ in
      arrived.signal()
      return [.wait(released)] + RetryTests.hello
    }
    defer {
      server.close()
      other.close()
    }
    let transport = try CurlTransport(
      testOptions {
        $0.parallel = .fixed(8)
        $0.perHost = .fixed(3)
      }
    )
    defer { transport.shutdown() }
    let results = Results()

    try open(server.url(), count: 50, over: transport)
    for number in 0..<3 { try results.begin(number, server.url("/\(number)"), over: transport) }
    // All at once, so that each has a connection of its own.
    for _ in 0..<3 { arrived.wait() }
    for _ in 0..<3 { released.signal() }

    #expect(results.wait(for: 3).map { $0.response?.connectionReused } == [true, true, true])
    #expect(server.connections == 3)
    #expect(Set(server.received.map(\.path)) == ["/0", "/1", "/2"])
  }

  @Test func `no more are opened than there are requests to come`() throws {
    let server = ScriptedServer { _ in RetryTests.hello }
    defer {
      server.close()
      other.close()
    }
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(8) })
    defer { transport.shutdown() }
    let results = Results()

    try open(server.url(), count: 1, over: transport)
    try open(server.url(), count: 1, over: transport)
    try results.begin(0, server.url(), over: transport)
    _ = results.wait(for: 1)
    // The host has answered: what it has at rest would be left over.
    try open(server.url(), count: 8, over: transport)
    try results.begin(1, server.url(), over: transport)
    _ = results.wait(for: 1)
    transport.shutdown()

    #expect(server.connections == 1)
    #expect(server.received.count == 2)
  }

  @Test(arguments: ["http/1.1", "h2"])
  func `over TLS one connection is opened with its handshake done`(_ name: String) throws {
    let folder = try TemporaryFolder()
    let authority = try TestAuthority(folder)
    try authority.make(.authority("root"))
    try authority.make(.server("server", by: "root"))
    let server = try ScriptedTLSServer(
      chain: try authority.chain("server"),
      key: authority.key("server"),
      speaking: name
    ) {
      name == "h2"
        ? [
          .bytes(Frame.headers($0.stream, "200")),
          .bytes(Frame.data($0.stream, Array("hello".utf8))),
        ]
        : [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8))]
    }
    defer {
      server.close()
      other.close()
    }
    let url = "https://localhost:\(server.port)/x"
    let transport = try CurlTransport(
      testOptions {
        $0.caFile = authority.certificate("root")
      }
    )
    defer { transport.shutdown() }
    let results = Results()

    try open(url, count: 9, over: transport)
    try results.begin(0, url, over: transport)
    let response = results.wait(for: 1)[0].response

    #expect(response?.head.status == 200)
    #expect(response?.head.version == (name == "h2" ? .http2 : .http11))
    #expect(response?.connectionReused == true)
    #expect(server.connections == 1)
    #expect(server.requests == 1)
  }

  @Test func `a host that only data names is not connected to at a private address`() throws {
    let server = ScriptedServer { _ in RetryTests.hello }
    defer {
      server.close()
      other.close()
    }
    let transport = try CurlTransport(
      testOptions {
        $0.allowPrivateAddresses = false
      }
    )
    defer { transport.shutdown() }
    let results = Results()

    try open(server.url(), count: 1, over: transport)
    try results.begin(0, server.url(), over: transport)

    #expect(results.wait(for: 1)[0].failure?.reason == .addressRefused)
    #expect(server.connections == 0)
  }

  @Test func `through a proxy nothing is opened`() throws {
    let origin = ScriptedServer { _ in RetryTests.hello }
    let proxy = ScriptedProxy { _ in .pass(origin.port) }
    defer {
      origin.close()
      proxy.close()
      other.close()
    }
    let route = ProxyRoute(
      try Proxy(parsing: proxy.url()),
      variables: ["no_proxy": "127.0.0.1"]
    )
    let transport = try CurlTransport(
      testOptions {
        $0.proxy = route
      }
    )
    defer { transport.shutdown() }
    let results = Results()
    let url = "http://shop.example:8080/x"

    try open(url, count: 1, over: transport)
    try results.begin(0, url, over: transport)

    #expect(results.wait(for: 1)[0].response?.connectionReused == false)
    #expect(proxy.asked.count == 1)
  }

  @Test func `a host that refuses fails its requests as it would without`() throws {
    defer { other.close() }
    let port = try ClosedPort()
    let transport = try CurlTransport(testOptions())
    defer { transport.shutdown() }
    let results = Results()
    let url = "http://127.0.0.1:\(port.number)/"

    try open(url, count: 1, over: transport)
    try results.begin(0, url, over: transport)

    let failure = results.wait(for: 1)[0].failure
    #expect(failure?.reason == .connectRefused)
    #expect(failure?.attempts == 1)
  }

  @Test func `what is being opened holds up neither the end of a run nor the next one`() throws {
    let server = ScriptedServer { _ in [.hang] }
    defer {
      server.close()
      other.close()
    }
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(2) })

    let request = Request(try CurlURLParser.parse(server.url()))
    transport.connect(ahead: [ExpectedRequests(request, count: 2)])
    transport.cancelAll()
    transport.shutdown()

    #expect(server.received.isEmpty)
  }
}
