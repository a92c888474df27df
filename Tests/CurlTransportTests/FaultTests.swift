import Support
import Testing
import Transport

@testable import CurlTransport

/// Faulty responses of a server.
@Suite struct FaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let actions: [ScriptedServer.Action]
    let reason: FailureReason

    init(_ name: String, _ reason: FailureReason, _ actions: ScriptedServer.Action...) {
      self.name = name
      self.actions = actions
      self.reason = reason
    }

    var testDescription: String { name }
  }

  static let ok = "HTTP/1.1 200 OK\r\n"

  static let faults = [
    Fault(
      "a body shorter than promised",
      .truncated,
      .send(ok + "Content-Length: 9\r\n\r\nshort"),
      .close
    ),
    Fault("no body at all", .truncated, .send(ok + "Content-Length: 9\r\n\r\n"), .close),
    Fault(
      "different lengths in two fields",
      .lengthMismatch,
      .send(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello")
    ),
    Fault(
      "different lengths in one field",
      .lengthMismatch,
      .send(ok + "Content-Length: 5, 6\r\n\r\nhello")
    ),
    Fault(
      "a length that is no number",
      .lengthMismatch,
      .send(ok + "Content-Length: 5x\r\n\r\nhello")
    ),
    Fault("a negative length", .badResponse, .send(ok + "Content-Length: -5\r\n\r\nhello")),
    Fault(
      "a body longer than promised",
      .lengthMismatch,
      .send(ok + "Content-Length: 5\r\n\r\nhello, and more")
    ),
    Fault(
      "a longer body on a connection that closes",
      .lengthMismatch,
      .send(ok + "Connection: close\r\nContent-Length: 5\r\n\r\nhello, and more"),
      .close
    ),
    Fault(
      "a longer body over HTTP/1.0",
      .lengthMismatch,
      .send("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more"),
      .close
    ),
    Fault(
      "broken chunks",
      .badResponse,
      .send(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n")
    ),
    Fault(
      "chunks without an end",
      .truncated,
      .send(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
      .close
    ),
    Fault("a reset before the head", .reset, .reset),
    Fault("a reset within the body", .reset, .send(ok + "Content-Length: 9\r\n\r\nhel"), .reset),
    Fault("an end before the head", .reset, .close),
    Fault("no HTTP", .badResponse, .send("220 smtp.example ready\r\n"), .close),
    Fault("a status that is no number", .badResponse, .send("HTTP/1.1 abc OK\r\n\r\n"), .close),
    Fault(
      "interim responses without end",
      .tooLongHeader,
      .flood("HTTP/1.1 103 Early Hints\r\n\r\n")
    ),
    Fault("headers without end", .tooLongHeader, .send(ok), .flood("X-Filler: yes\r\n")),
    Fault("one header line without end", .tooLongHeader, .send(ok + "X: "), .flood("xxxxxxxx")),
    Fault(
      "trailers without end",
      .tooLongHeader,
      .send(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"),
      .flood("X-T: yes\r\n")
    ),
    Fault(
      "a coding that is none",
      .badEncoding,
      .send(ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello")
    ),
    Fault(
      "a part that nobody asked for",
      .badResponse,
      .send("HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-4/5\r\nContent-Length: 3\r\n\r\nllo")
    ),
    Fault("a 304 that nobody asked for", .badResponse, .send("HTTP/1.1 304 Not Modified\r\n\r\n")),
    Fault("not found", .http(404), .send("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")),
    Fault(
      "a refusal cut short",
      .http(404),
      .send("HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nno"),
      .close
    ),
    Fault("a refusal without end", .http(500), .send("HTTP/1.1 500 No\r\n\r\n"), .flood("blah")),
    Fault(
      "a status beyond the known",
      .http(799),
      .send("HTTP/1.1 799 What\r\nContent-Length: 0\r\n\r\n")
    ),
    Fault(
      "a redirect that leads nowhere",
      .redirectInvalid,
      .send("HTTP/1.1 302 F\r\nContent-Length: 0\r\n\r\n")
    ),
    Fault(
      "a redirect to no URL",
      .redirectInvalid,
      .send("HTTP/1.1 302 F\r\nLocation: http://h:99999/\r\nContent-Length: 0\r\n\r\n")
    ),
    Fault(
      "a redirect to a file",
      .schemeRefused,
      .send("HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
    ),
    Fault(
      "a redirect to itself",
      .redirectLoop,
      .send("HTTP/1.1 302 F\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
    ),
  ]

  @Test func `a partial body is not a picture, even if the catalog's own fields request it`()
    throws
  {
    let part = "HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-4/5\r\nContent-Length: 3\r\n\r\nllo"
    let server = ScriptedServer { _ in [.send(part)] }
    defer { server.close() }

    let result = try fetch(server.url()) { $0.headers.append("Range", "bytes=2-4") }

    #expect(result.failure?.reason == .badResponse)
  }

  @Test(arguments: faults)
  func `a fault is reported with its reason`(_ fault: Fault) throws {
    let server = ScriptedServer { _ in fault.actions }
    defer { server.close() }

    let failure = try #require(try fetch(server.url()).failure)

    #expect(failure.reason == fault.reason, "\(failure)")
    #expect(failure.attempts == 1)
    #expect(failure.url == server.url())
  }

  @Test(arguments: faults)
  func `after any answer to a POST, the request may have been carried out`(_ fault: Fault) throws {
    let server = ScriptedServer { _ in fault.actions }
    defer { server.close() }

    let result = try fetch(server.url()) {
      $0.method = .post
      $0.body = [0x7B, 0x7D]
    }

    // Some of these answers accept a message, although they are no answers to a GET.
    #expect(result.failure?.mayHaveBeenSent != false)
  }

  @Test(arguments: ["HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n"])
  func `a body longer than announced fails even when it arrives after its head`(_ status: String)
    throws
  {
    let begun = Semaphore()
    let server = ScriptedServer(
      .send(status + "Content-Length: 5\r\n\r\n"),
      .wait(begun),
      .send("hello, and more"),
      .close
    )
    defer { server.close() }

    let failure = try fetch(server.url(), into: SignallingSink(begun)).failure

    #expect(failure?.reason == .lengthMismatch)
  }

  @Test func `a silent server is given up`() throws {
    let server = ScriptedServer(.hang)
    defer { server.close() }

    let failure = try fetch(server.url(), testOptions { $0.idleTimeout = .seconds(1) }).failure

    #expect(failure?.reason == .timeoutIdle)
  }

  @Test func `a server that sends too slowly is given up`() throws {
    let server = ScriptedServer(.send(Self.ok + "Content-Length: 100000\r\n\r\n"), .drip(120))
    defer { server.close() }

    let failure = try fetch(server.url(), testOptions { $0.idleTimeout = .seconds(1) }).failure

    #expect(failure?.reason == .timeoutIdle)
  }

  @Test func `a transfer may not take longer than the limit`() throws {
    let server = ScriptedServer(.send(Self.ok + "Content-Length: 100000\r\n\r\n"), .drip(120))
    defer { server.close() }

    let failure = try fetch(
      server.url(),
      testOptions { $0.transferTimeout = .milliseconds(200) }
    ).failure

    #expect(failure?.reason == .timeoutTotal)
  }

  @Test func `a closed port refuses the connection`() throws {
    let server = ScriptedServer(.close)
    let url = server.url()
    server.close()

    let failure = try fetch(url).failure

    #expect(failure?.reason == .connectRefused || failure?.reason == .reset)
  }

  @Test func `a nonexistent name does not resolve`() throws {
    let failure = try fetch("http://\(String(repeating: "a", count: 64)).example/").failure

    #expect(failure?.reason == .dnsFailed)
  }

  @Test func `a TLS close_notify after a body is not counted as body`() throws {
    let folder = try TemporaryFolder()
    let authority = try TestAuthority(folder)
    try authority.make(.authority("root"))
    try authority.make(.server("server", by: "root"))
    let farewell = Semaphore()
    let server = try ScriptedTLSServer(
      chain: try authority.chain("server"),
      key: authority.key("server")
    ) { _ in
      let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\n"
      return [.bytes(Array((head + "hello").utf8)), .close, .signal(farewell)]
    }
    defer { server.close() }

    let result = try fetch(
      "https://localhost:\(server.port)/",
      testOptions { $0.caFile = authority.certificate("root") },
      into: SignallingSink(Semaphore(), waitingFor: farewell)
    )

    #expect(result.response?.head.status == 200, "\(result)")
  }

  @Test func `plain text where TLS is expected fails`() throws {
    let server = ScriptedServer(.send("hello\r\n"), .close)
    defer { server.close() }
    let port = server.port

    let failure = try fetch(
      "https://127.0.0.1:\(port)/",
      testOptions { $0.connectTimeout = .seconds(1) }
    ).failure

    #expect(failure?.reason == .tlsFailed || failure?.reason == .timeoutConnect)
  }
}
