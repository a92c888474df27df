import Support
import Synchronization
import Testing
import Transport

@testable import CurlTransport

/// Conditional requests and the possible meanings of a 304. (RFC 9110, section 13; RFC 9111,
/// section 4.3)
@Suite struct ConditionTests {
  private static func answer(_ status: Int, _ fields: String..., body: String = "")
    -> ScriptedServer
    .Action
  {
    let lines = ["HTTP/1.1 \(status) Status"] + fields
    let length = status == 304 ? [] : ["Content-Length: \(body.utf8.count)"]
    return .send((lines + length).joined(separator: "\r\n") + "\r\n\r\n" + body)
  }

  private static let tag = Condition(Validators(entityTag: "\"1\"", lastModified: nil))

  /// A server that answers conditional requests for `"1"` with 304 and redirects `/x` to `target`.
  private static func origin(_ target: String) -> ScriptedServer {
    ScriptedServer { request in
      if request.path == "/x" { return [answer(302, "Location: \(target)")] }
      return request.header("If-None-Match") == "\"1\""
        ? [answer(304, "ETag: \"1\"")] : [answer(200, "ETag: \"1\"", body: request.path)]
    }
  }

  @Test func `validators are sent only to the resource that they belong to`() throws {
    let server = Self.origin("/v1")
    defer { server.close() }
    let condition = Condition(Self.tag.validators, source: server.url("/v1"))

    let response = try fetch(server.url("/x")) { $0.condition = condition }.get()

    #expect(response.isNotModified)
    #expect(response.head.redirects.map(\.status) == [302])
    #expect(server.received.map(\.path) == ["/x", "/v1"])
    #expect(server.received.map { $0.header("If-None-Match") } == [nil, "\"1\""])
  }

  @Test(arguments: ["/v1", nil])
  func `a redirect to another resource is answered in full`(_ source: String?) throws {
    let server = Self.origin("/v2")
    defer { server.close() }
    let sink = CollectingSink()
    let condition = Condition(Self.tag.validators, source: source.map { server.url($0) })

    let response = try fetch(server.url("/x"), into: sink) { $0.condition = condition }.get()

    #expect(response.head.status == 200)
    #expect(sink.text == "/v2")
    #expect(server.received.last?.header("If-None-Match") == nil)
  }

  @Test(arguments: ["ETag: \"2\"", "ETag: W/\"2\"", "ETag: \"1\\\""])
  func `a 304 for another version is followed by a full request`(_ field: String) throws {
    let server = ScriptedServer { request in
      request.header("If-None-Match") == nil
        ? [Self.answer(200, "ETag: \"2\"", body: "new")] : [Self.answer(304, field)]
    }
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url("/x"), into: sink) { $0.condition = Self.tag }.get()

    #expect(response.head.status == 200)
    #expect(sink.text == "new")
    #expect(server.received.map { $0.header("If-None-Match") } == ["\"1\"", nil])
  }

  @Test func `if only a file's date is known, a 304 with any tag confirms it`() throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let server = ScriptedServer(Self.answer(304, "Last-Modified: \(date)", "ETag: \"9\""))
    defer { server.close() }
    let validators = Validators(entityTag: nil, lastModified: date)

    let response = try fetch(server.url("/x")) {
      $0.condition = Condition(validators, knowsDateOnly: true)
    }.get()

    #expect(response.isNotModified && server.received.count == 1)
  }

  @Test func `after a 412 the request is sent without its condition`() throws {
    let server = ScriptedServer { request in
      request.header("If-None-Match") == nil
        ? [Self.answer(200, body: "new")] : [Self.answer(412)]
    }
    defer { server.close() }

    let response = try fetch(server.url("/x")) { $0.condition = Self.tag }.get()

    #expect(response.head.status == 200 && server.received.count == 2)
  }

  @Test func `a 304 with another date is followed by a full request`() throws {
    let server = ScriptedServer { request in
      request.header("If-Modified-Since") == nil
        ? [Self.answer(200, body: "new")]
        : [Self.answer(304, "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT")]
    }
    defer { server.close() }
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    let response = try fetch(server.url("/x")) {
      $0.condition = Condition(Validators(entityTag: nil, lastModified: date))
    }.get()

    #expect(response.head.status == 200)
    #expect(server.received.map { $0.header("If-Modified-Since") } == [date, nil])
  }

  @Test func `a 304 to an unconditional request is an error`() throws {
    let server = ScriptedServer(Self.answer(304, "ETag: \"1\""))
    defer { server.close() }

    let failure = try fetch(server.url("/x")).failure

    #expect(failure?.reason == .badResponse)
  }

  @Test func `a tag is sent back byte for byte`() throws {
    let tag = "\"abcü\""
    let server = ScriptedServer(Self.answer(200, body: "x"))
    defer { server.close() }

    _ = try fetch(server.url("/x")) {
      $0.condition = Condition(Validators(entityTag: tag, lastModified: nil))
    }

    let line = Array("If-None-Match: \(tag)\r\n".utf8)
    #expect(server.received.first?.bytes.firstRange(of: line) != nil)
  }

  @Test(arguments: [201, 202, 207, 208, 226])
  func `a status that does not carry the resource gives no body`(_ status: Int) throws {
    let server = ScriptedServer(Self.answer(status, body: "other"))
    defer { server.close() }
    let sink = CollectingSink()

    let failure = try fetch(server.url("/x"), into: sink).failure

    #expect(failure?.reason == .http(status))
    #expect(sink.text.isEmpty)
  }

  @Test(arguments: [200, 203, 299])
  func `any other 2xx is accepted as the resource`(_ status: Int) throws {
    let server = ScriptedServer(Self.answer(status, body: "it"))
    defer { server.close() }
    let sink = CollectingSink()

    #expect(try fetch(server.url("/x"), into: sink).response?.head.status == status)
    #expect(sink.text == "it")
  }

  @Test func `the fields of a request are known before it is sent`() throws {
    let server = ScriptedServer(Self.answer(200, body: "x"))
    defer { server.close() }
    let transport = try CurlTransport(testOptions { $0.userAgent = "larder/9" })
    defer { transport.shutdown() }
    var request = Request(
      WebURL(scheme: .http, userInfo: "me:x", host: "127.0.0.1", port: server.port)
    )
    request.credentials = ["token": "t"]
    request.accept = .picture
    let results = Results()

    let fields = transport.fields(of: request)
    transport.fetch(request, into: CollectingSink(), completion: results.completion(0))
    _ = results.wait(for: 1)

    let received = try #require(server.received.first)
    #expect(fields.fields.map(\.name).contains("Authorization"))
    for field in fields.fields { #expect(received.header(field.name) == field.value) }
  }
}
