import Base
import Support
import Testing
import Transport

@testable import CurlTransport

/// Which failures are retried, and how often.
@Suite struct RetryTests {
  static let hello = [
    ScriptedServer.Action.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
  ]

  static func status(_ status: Int, _ header: String = "") -> [ScriptedServer.Action] {
    [.send("HTTP/1.1 \(status) X\r\n\(header)Content-Length: 0\r\n\r\n")]
  }

  static let options = testOptions {
    $0.retry.retries = 4
    $0.retry.longestRetryAfter = .milliseconds(1)
  }

  @Test(arguments: [
    status(408), status(425), status(429, "Retry-After: 60\r\n"), status(500), status(502),
    status(503, "Retry-After: 1\r\n"), status(504), [.close], [.reset],
    [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .close],
  ])
  func `a temporary failure is retried`(_ trouble: [ScriptedServer.Action]) throws {
    let server = ScriptedServer { $0.number < 2 ? trouble : Self.hello }
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url(), Self.options, into: sink).get()

    #expect(response.attempts == 3)
    #expect(sink.text == "hello")
  }

  @Test(arguments: [400, 401, 403, 404, 410, 501, 505])
  func `a permanent failure is not retried`(_ status: Int) throws {
    let server = ScriptedServer { _ in Self.status(status) }
    defer { server.close() }

    let failure = try fetch(server.url(), Self.options).failure

    #expect(failure?.reason == .http(status))
    #expect(server.received.count == 1)
  }

  @Test func `the last failure is reported, with all attempts`() throws {
    let server = ScriptedServer { _ in Self.status(503, "Retry-After: 7\r\n") }
    defer { server.close() }

    let failure = try fetch(server.url(), Self.options).failure

    #expect(failure?.reason == .http(503))
    #expect(failure?.attempts == 5)
    #expect(failure?.retryAfter == 7)
    #expect(server.received.count == 5)
  }

  @Test func `an origin that always fails gets at most 20 and a tenth more requests`()
    throws
  {
    let server = ScriptedServer { _ in Self.status(500) }
    defer { server.close() }
    let options = testOptions {
      $0.retry.retries = 4
      $0.parallel = .fixed(16)
    }
    let transport = try CurlTransport(options)
    defer { transport.shutdown() }
    let results = Results()

    for number in 0..<300 {
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    let failures = results.wait(for: 300).compactMap(\.failure)

    #expect(failures.count == 300)
    #expect(server.received.count == 300 + 20 + 300 / 10)
  }

  /// RFC 9112, section 9.3.1.
  @Test func `a kept connection that the server has closed is replaced without a retry`() throws {
    let server = ScriptedServer { $0.number == 1 ? [.close] : Self.hello }
    defer { server.close() }
    let transport = try CurlTransport(testOptions())
    defer { transport.shutdown() }
    let results = Results()

    try results.begin(0, server.url("/first"), over: transport)
    _ = results.wait(for: 1)
    try results.begin(1, server.url("/second"), over: transport)
    let second = results.wait(for: 1)[1]

    #expect(second.response?.attempts == 1)
    #expect(server.received.map(\.path) == ["/first", "/second", "/second"])
    #expect(server.received.map(\.connection) == [1, 1, 2])
  }

  @Test func `a POST is sent once, on a connection of its own`() throws {
    let server = ScriptedServer { $0.path == "/get" ? Self.hello : Self.status(503) }
    defer { server.close() }
    let transport = try CurlTransport(Self.options)
    let results = Results()
    var post = Request(try CurlURLParser.parse(server.url("/post")))
    post.method = .post
    post.headers = ["Content-Type": "application/json"]
    post.body = Array("{}".utf8)

    try results.begin(0, server.url("/get"), over: transport)
    _ = results.wait(for: 1)
    transport.fetch(post, into: CollectingSink(), completion: results.completion(1))
    let all = results.wait(for: 1)
    try results.begin(2, server.url("/get"), over: transport)
    let last = results.wait(for: 1)[2]

    #expect(all[1].failure?.reason == .http(503))
    #expect(all[1].failure?.mayHaveBeenSent == true)
    #expect(last.response != nil)
    #expect(server.received.map(\.path) == ["/get", "/post", "/get"])
    #expect(server.received[1].text.hasPrefix("POST /post HTTP/1.1\r\n"))
    #expect(server.received[1].text.hasSuffix("\r\n\r\n{}"))
    #expect(server.received[1].header("Expect") == nil)
    #expect(server.received[1].connection != server.received[0].connection)
    #expect(server.received[2].text.hasPrefix("GET "))
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/2\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
    "",
  ])
  func `a POST is sent once, whatever the answer`(_ answer: String) throws {
    let server = ScriptedServer(.send(answer), .close)
    defer { server.close() }
    let sink = CollectingSink()

    let result = try fetch(server.url("/post"), Self.options, into: sink) {
      $0.method = .post
      $0.body = Array("{}".utf8)
    }

    #expect(server.received.count == 1)
    #expect(result.failure?.mayHaveBeenSent ?? true)
    if answer.contains("utf-8") { #expect(sink.text == "ok") }
  }

  @Test func `a cancelled POST reports whether it may have been sent`() throws {
    let arrived = Semaphore()
    let server = ScriptedServer { _ in
      arrived.signal()
      return [.hang]
    }
    defer { server.close() }
    let transport = try CurlTransport(Self.options)
    let results = Results()
    var sent = Request(try CurlURLParser.parse(server.url("/post")))
    sent.method = .post
    sent.body = Array("{}".utf8)
    // The server never answers the handshake, so no byte of a request is sent.
    let silent = ScriptedServer(.hang)
    defer { silent.close() }
    var unsent = sent
    unsent.url = try CurlURLParser.parse("https://127.0.0.1:\(silent.port)/post")

    transport.fetch(sent, into: CollectingSink(), completion: results.completion(0))
    transport.fetch(unsent, into: CollectingSink(), completion: results.completion(1))
    arrived.wait()
    transport.cancelAll()
    let all = results.wait(for: 2)

    #expect(all[0].failure?.reason == .cancelled)
    #expect(all[0].failure?.mayHaveBeenSent == true)
    #expect(all[1].failure?.mayHaveBeenSent == false)
  }

  @Test(arguments: [429, 503])
  func `a host that demands a wait of more than a minute gets no more requests`(_ status: Int)
    throws
  {
    let server = ScriptedServer { _ in Self.status(status, "Retry-After: 3600\r\n") }
    let other = ScriptedServer { _ in Self.hello }
    defer {
      server.close()
      other.close()
    }
    let transport = try CurlTransport(
      testOptions {
        $0.retry.retries = 4
        $0.parallel = .fixed(1)
      }
    )
    defer { transport.shutdown() }
    let results = Results()
    for number in 0..<20 { try results.begin(number, server.url("/\(number)"), over: transport) }
    try results.begin(20, other.url(), over: transport)

    let all = results.wait(for: 21)

    #expect(server.received.count == 1)
    #expect(all[20].response != nil)
    for failure in all.compactMap(\.failure) {
      #expect(failure.reason == .askedToWait && failure.retryAfter == 3600)
      #expect(failure.detail.contains("asks to wait until 20"))
    }
  }

  @Test func `a POST reports the server's Retry-After unchanged`() throws {
    let server = ScriptedServer { _ in Self.status(503, "Retry-After: 3600\r\n") }
    defer { server.close() }

    let failure = try fetch(server.url(), Self.options) {
      $0.method = .post
      $0.body = [1]
    }.failure

    #expect(failure?.reason == .http(503) && failure?.retryAfter == 3600)
  }

  @Test func `a retry beyond the deadline is not waited for`() throws {
    let server = ScriptedServer { _ in Self.status(503, "Retry-After: 59\r\n") }
    defer { server.close() }
    let options = testOptions {
      $0.retry.retries = 4
      $0.deadline = .now() + .seconds(30)
    }

    let failure = try fetch(server.url(), options).failure

    #expect(failure?.reason == .http(503))
    #expect(failure?.attempts == 1)
  }

  @Test func `all requests that wait for a dead host fail, and other hosts are not slowed`() throws
  {
    let dead = ScriptedServer(.reset)
    let live = ScriptedServer { _ in Self.hello }
    defer {
      dead.close()
      live.close()
    }
    let transport = try CurlTransport(
      testOptions {
        $0.retry.retries = 1
        $0.breaker.grace = .zero
      }
    )
    let results = Results()

    for number in 0..<100 {
      let server = number.isMultiple(of: 2) ? dead : live
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    let all = results.wait(for: 100)

    #expect(all.filter { $0.response != nil }.count == 50)
    #expect(all.filter { $0.failure?.reason == .circuitOpen }.count >= 30)
    #expect(dead.received.count < 20)
  }

  @Test func `all requests that wait for a host that always answers 503 fail`() throws {
    let server = ScriptedServer(
      .send("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")
    )
    defer { server.close() }
    let transport = try CurlTransport(
      testOptions {
        $0.retry.retries = 0
        $0.breaker.failures = 3
        $0.breaker.toldPatience = .zero
        $0.perHost = .fixed(1)
      }
    )
    let results = Results()

    for number in 0..<50 {
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    let failures = results.wait(for: 50).compactMap(\.failure)

    #expect(failures.filter { $0.reason == .http(503) }.count == 3)
    #expect(failures.filter { $0.reason == .circuitOpen }.count == 47)
    #expect(failures.last?.detail.contains("429 or 503") == true)
    #expect(server.received.count == 3)
  }
}
