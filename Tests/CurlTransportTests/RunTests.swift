import Base
import Support
import Synchronization
import Testing
import Transport

@testable import CurlTransport

/// Many concurrent transfers, and how they end.
@Suite struct RunTests {
  static let hello = [
    ScriptedServer.Action.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
  ]

  @Test func `a thousand files come over few connections`() throws {
    let server = ScriptedServer { _ in Self.hello }
    defer { server.close() }
    let transport = try CurlTransport(testOptions())
    let results = Results()

    for number in 0..<1000 {
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    let all = results.wait(for: 1000)

    #expect(all.allSatisfy { $0.response?.bodyBytes == 5 })
    #expect(all.contains { $0.response?.connectionReused == true })
    #expect((1...16).contains(server.connections))
  }

  @Test func `no more requests run at once than allowed`() throws {
    let present = Mutex((now: 0, most: 0))
    let gate = Semaphore()
    let server = ScriptedServer { _ in
      present.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        if $0.now == 3 { for _ in 0..<30 { gate.signal() } }
      }
      gate.wait()
      present.withLock { $0.now -= 1 }
      return Self.hello
    }
    defer { server.close() }
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(3) })
    let results = Results()

    for number in 0..<30 {
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    let all = results.wait(for: 30)

    #expect(present.withLock(\.most) == 3)
    #expect(all.allSatisfy { $0.response != nil })
  }

  @Test func `cancelling completes active and waiting transfers`() throws {
    let arrived = Semaphore()
    let server = ScriptedServer { _ in
      arrived.signal()
      return [.hang]
    }
    defer { server.close() }
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(2) })
    let results = Results()
    for number in 0..<10 {
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    arrived.wait()

    transport.cancelAll()
    let all = results.wait(for: 10)

    #expect(all.allSatisfy { $0.failure?.reason == .cancelled })
  }

  @Test func `new transfers run after a cancellation`() throws {
    let server = ScriptedServer { $0.path == "/hang" ? [.hang] : Self.hello }
    defer { server.close() }
    let transport = try CurlTransport(testOptions())
    let results = Results()
    try results.begin(0, server.url("/hang"), over: transport)
    transport.cancelAll()
    _ = results.wait(for: 1)

    try results.begin(1, server.url("/a"), over: transport)
    let last = results.wait(for: 1)[1]

    #expect(last.response != nil)
  }

  @Test func `a shutdown completes everything, and later requests at once`() throws {
    let server = ScriptedServer(.hang)
    defer { server.close() }
    let transport = try CurlTransport(testOptions())
    let results = Results()
    let request = Request(try CurlURLParser.parse(server.url()))
    transport.fetch(request, into: CollectingSink(), completion: results.completion(0))

    transport.shutdown()
    transport.fetch(request, into: CollectingSink(), completion: results.completion(1))
    let all = results.wait(for: 2)

    #expect(all.allSatisfy { $0.failure?.reason == .cancelled })
  }

  @Test func `releasing the last reference in a completion ends the thread`() throws {
    let server = ScriptedServer { _ in Self.hello }
    defer { server.close() }
    let kept = Mutex<CurlTransport?>(nil)
    let done = Semaphore()
    let request = Request(try CurlURLParser.parse(server.url()))
    let transport = try CurlTransport(testOptions())
    kept.withLock { $0 = transport }

    transport.fetch(request, into: CollectingSink()) { _ in
      kept.withLock { $0 = nil }
      done.signal()
    }
    done.wait()

    #expect(kept.withLock { $0 == nil })
  }

  @Test func `the deadline of the run ends unfinished transfers`() throws {
    let server = ScriptedServer(.hang)
    defer { server.close() }
    let options = testOptions {
      $0.deadline = .now() + .milliseconds(100)
      $0.parallel = .fixed(1)
    }
    let transport = try CurlTransport(options)
    let results = Results()

    for number in 0..<3 {
      try results.begin(number, server.url(), over: transport)
    }
    let all = results.wait(for: 3)

    #expect(all.allSatisfy { $0.failure?.reason == .deadline })
  }

  @Test func `a completion may start another transfer`() throws {
    let server = ScriptedServer { _ in Self.hello }
    defer { server.close() }
    let transport = try CurlTransport(testOptions())
    let results = Results()
    let url = try CurlURLParser.parse(server.url())

    transport.fetch(Request(url), into: CollectingSink()) { first in
      results.completion(0)(first)
      transport.fetch(Request(url), into: CollectingSink(), completion: results.completion(1))
    }
    let all = results.wait(for: 2)

    #expect(all.allSatisfy { $0.response != nil })
  }

  @Test func `sections are fetched before pictures`() throws {
    let open = Semaphore()
    let arrived = Semaphore()
    let server = ScriptedServer { request in
      if request.path == "/first" {
        arrived.signal()
        open.wait()
      }
      return Self.hello
    }
    defer { server.close() }
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(1) })
    let results = Results()
    func submit(_ path: String, _ priority: Request.Priority, _ number: Int) throws {
      var request = Request(try CurlURLParser.parse(server.url(path)))
      request.priority = priority
      transport.fetch(request, into: CollectingSink(), completion: results.completion(number))
    }

    try submit("/first", .image, 0)
    arrived.wait()
    try submit("/image", .image, 1)
    try submit("/detail", .detail, 2)
    try submit("/section", .section, 3)
    open.signal()
    _ = results.wait(for: 4)

    #expect(server.received.map(\.path) == ["/first", "/section", "/detail", "/image"])
  }

  @Test func `a 304 succeeds without a body`() throws {
    let server = ScriptedServer(.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"))
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url(), into: sink) {
      $0.condition = Condition(Validators(entityTag: "\"v1\"", lastModified: nil))
    }.get()

    #expect(response.isNotModified)
    #expect(sink.events.isEmpty)
    #expect(server.received[0].header("If-None-Match") == "\"v1\"")
  }

  @Test func `interim responses are skipped`() throws {
    let server = ScriptedServer(
      .send(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: 1\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      )
    )
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url(), into: sink).get()

    #expect(sink.text == "ok")
    #expect(response.head.headers.fields.count == 1)
  }

  @Test func `user information becomes credentials and is never shown`() throws {
    let server = ScriptedServer(.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))
    defer { server.close() }

    let failure = try fetch("http://ann:p%40ss@127.0.0.1:\(server.port)/").failure

    #expect(server.received[0].header("Authorization") == "Basic YW5uOnBAc3M=")
    #expect(failure?.url == server.url())
  }
}
