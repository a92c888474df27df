import Support
import Testing
import Transport

@testable import CurlTransport

/// Resuming an interrupted body. (RFC 9110, sections 13.1.5 and 14)
@Suite struct ResumeTests {
  static let cut = [
    ScriptedServer.Action.send(
      "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\nhello"
    ), .close,
  ]

  static func part(_ range: String, _ tag: String, _ body: String) -> [ScriptedServer.Action] {
    [
      .send(
        "HTTP/1.1 206 Part\r\nETag: \(tag)\r\nContent-Range: bytes \(range)\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
      )
    ]
  }

  static let whole = [
    ScriptedServer.Action.send(
      "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 10\r\n\r\nHELLOWORLD"
    )
  ]

  func run(
    _ script: [[ScriptedServer.Action]],
    _ sink: CollectingSink,
    retries: Int = 2
  ) throws -> (Result<Response, TransferFailure>, [ScriptedServer.Received]) {
    let server = ScriptedServer { script[min($0.number, script.count - 1)] }
    defer { server.close() }
    let result = try fetch(server.url(), testOptions { $0.retry.retries = retries }, into: sink)
    return (result, server.received)
  }

  @Test func `an interrupted body resumes at its offset`() throws {
    let sink = CollectingSink(resuming: true)

    let (result, received) = try run([Self.cut, Self.part("5-9/10", "\"v1\"", "world")], sink)

    #expect(sink.text == "helloworld")
    #expect(sink.events == ["begin 200 at 0", "begin 206 at 5"])
    #expect(result.response?.attempts == 2)
    #expect(received[1].header("Range") == "bytes=5-")
    #expect(received[1].header("If-Range") == "\"v1\"")
  }

  @Test func `a sink that cannot resume restarts`() throws {
    let sink = CollectingSink()

    let (result, received) = try run([Self.cut, Self.whole], sink)

    #expect(sink.text == "HELLOWORLD")
    #expect(sink.events == ["begin 200 at 0", "restart", "begin 200 at 0"])
    #expect(result.response?.attempts == 2)
    #expect(received[1].header("Range") == nil)
  }

  @Test func `a full answer to a range request replaces the partial body`() throws {
    let sink = CollectingSink(resuming: true)

    let (result, _) = try run([Self.cut, Self.whole], sink)

    #expect(sink.text == "HELLOWORLD")
    #expect(sink.events == ["begin 200 at 0", "restart", "begin 200 at 0"])
    #expect(result.response?.head.status == 200)
  }

  @Test(arguments: [
    part("5-9/10", "\"v2\"", "WORLD"), part("4-9/10", "\"v1\"", "oworld"),
    part("5-9/10", "W/\"v1\"", "WORLD"), part("5-8/10", "\"v1\"", "worl"),
    part("x", "\"v1\"", "world"), part("5-9/10", "\"v1\"", "worl"),
    [.send("HTTP/1.1 206 Part\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nworld")],
    [.send("HTTP/1.1 416 No\r\nContent-Range: bytes */3\r\nContent-Length: 0\r\n\r\n")],
  ])
  func `a partial answer that does not fit leads to a full request`(
    _ part: [ScriptedServer.Action]
  ) throws {
    let sink = CollectingSink(resuming: true)

    let (result, received) = try run([Self.cut, part, Self.whole], sink)

    #expect(sink.text == "HELLOWORLD")
    #expect(sink.events == ["begin 200 at 0", "restart", "begin 200 at 0"])
    #expect(result.response != nil)
    try #require(received.count == 3)
    #expect(received[2].header("Range") == nil)
  }

  @Test(arguments: ["3\r\nwor\r\n0\r\n\r\n", "8\r\nworldish\r\n0\r\n\r\n"])
  func `a partial answer without a length and shorter than its range leads to a full request`(
    _ chunks: String
  ) throws {
    let sink = CollectingSink(resuming: true)
    let part = ScriptedServer.Action.send(
      "HTTP/1.1 206 Part\r\nETag: \"v1\"\r\nContent-Range: bytes 5-9/10\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n\(chunks)"
    )

    let (result, received) = try run([Self.cut, [part], Self.whole], sink)

    #expect(sink.text == "HELLOWORLD")
    #expect(result.response != nil)
    #expect(received.map { $0.header("Range") } == [nil, "bytes=5-", nil])
  }

  @Test func `a partial answer from another resource after a redirect leads to a full request`()
    throws
  {
    let other = ScriptedServer { request in
      request.header("Range") == nil ? Self.whole : Self.part("5-9/10", "\"v1\"", "WORLD")
    }
    defer { other.close() }
    let sink = CollectingSink(
      holding: "hello",
      from: ResumePoint(offset: 5, validator: "\"v1\"", source: "http://mirror.example/a.jpg")
    )

    _ = try fetch(other.url(), into: sink)

    #expect(sink.text == "HELLOWORLD")
    #expect(sink.events == ["restart", "begin 200 at 0"])
  }

  @Test func `a partial body of an earlier run is resumed`() throws {
    let sink = CollectingSink(
      holding: "hello",
      from: ResumePoint(offset: 5, validator: "\"v1\"")
    )

    let (result, received) = try run([Self.part("5-9/10", "\"v1\"", "world")], sink)

    #expect(sink.text == "helloworld")
    #expect(result.response?.bodyBytes == 5)
    #expect(received[0].header("If-Range") == "\"v1\"")
  }

  @Test func `a partial body that would exceed the limit is refused`() throws {
    let sink = CollectingSink(
      holding: "hello",
      from: ResumePoint(offset: 5, validator: "\"v1\"")
    )
    let server = ScriptedServer { _ in Self.part("5-9/10", "\"v1\"", "world") }
    defer { server.close() }

    let failure = try fetch(server.url(), into: sink) { $0.bodyLimit = 9 }.failure

    #expect(failure?.reason == .tooLarge)
  }

  @Test func `a compressed body is never resumed`() throws {
    let sink = CollectingSink(
      holding: "hello",
      from: ResumePoint(offset: 5, validator: "\"v1\"")
    )
    let server = ScriptedServer { _ in Self.whole }
    defer { server.close() }

    _ = try fetch(server.url(), into: sink) { $0.accept = .json }

    #expect(server.received[0].header("Range") == nil)
  }
}
