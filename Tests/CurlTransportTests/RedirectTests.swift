import Support
import Testing
import Transport

@testable import CurlTransport

/// Redirects, hop by hop. (RFC 9110, section 15.4)
@Suite struct RedirectTests {
  static func redirect(_ location: String, _ status: Int = 302) -> ScriptedServer.Action {
    .send("HTTP/1.1 \(status) Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
  }

  static let hello = ScriptedServer.Action.send(
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
  )

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is followed`(_ status: Int) throws {
    let server = ScriptedServer {
      $0.path == "/a" ? [Self.redirect("b c?d=é", status)] : [Self.hello]
    }
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url("/a"), into: sink).get()

    #expect(sink.text == "hello")
    #expect(response.head.url.text == server.url("/b%20c?d=%C3%A9"))
    #expect(response.attempts == 1)
    #expect(server.received.map(\.path) == ["/a", "/b%20c?d=%C3%A9"])
  }

  @Test func `ten hops are followed and eleven are not`() throws {
    let server = ScriptedServer { request in
      let hop = Int(request.path.dropFirst()) ?? 0
      return hop == 0 ? [Self.hello] : [Self.redirect("/\(hop - 1)")]
    }
    defer { server.close() }

    #expect(try fetch(server.url("/10")).response?.head.status == 200)
    #expect(try fetch(server.url("/11")).failure?.reason == .tooManyRedirects)
  }

  @Test func `a loop of two redirects is detected`() throws {
    let server = ScriptedServer { [Self.redirect($0.path == "/a" ? "/b" : "/a")] }
    defer { server.close() }

    let failure = try fetch(server.url("/a")).failure

    #expect(failure?.reason == .redirectLoop)
    #expect(server.received.count == 2)
  }

  @Test func `credentials are sent only to the first origin`() throws {
    let other = ScriptedServer(Self.hello)
    let first = ScriptedServer { request in
      request.path == "/a" ? [Self.redirect("/b")] : [Self.redirect(other.url("/c"))]
    }
    defer {
      first.close()
      other.close()
    }

    _ = try fetch(first.url("/a")) {
      $0.headers = ["X-Any": "1", "Authorization": "Bearer x"]
      $0.credentials = ["token": "secret"]
    }.get()

    #expect(first.received.map { $0.header("token") } == ["secret", "secret"])
    #expect(other.received.map { $0.header("token") } == [nil])
    #expect(other.received.map { $0.header("Authorization") } == [nil])
    #expect(other.received.map { $0.header("X-Any") } == ["1"])
  }

  @Test func `a POST is not redirected`() throws {
    let server = ScriptedServer(Self.redirect("/b", 307))
    defer { server.close() }

    let failure = try fetch(server.url("/a")) {
      $0.method = .post
      $0.body = Array("x".utf8)
    }.failure

    #expect(failure?.reason == .http(307))
    #expect(server.received.count == 1)
  }

  @Test(arguments: [
    (301, "POST"), (302, "POST"), (303, "GET"), (307, "POST"), (308, "POST"),
  ])
  func `a POST that is a query is redirected with its body, or as GET after a 303`(
    _ status: Int,
    _ method: String
  ) throws {
    let server = ScriptedServer {
      $0.path == "/a" ? [Self.redirect("/b", status)] : [Self.hello]
    }
    defer { server.close() }

    let result = try fetch(server.url("/a")) {
      $0.method = .post
      $0.isQuery = true
      $0.headers = ["Content-Type": "application/json"]
      $0.body = Array("{}".utf8)
    }

    #expect(result.response?.head.status == 200)
    let last = try #require(server.received.last)
    #expect(last.text.hasPrefix("\(method) /b "))
    #expect(last.text.hasSuffix("\r\n\r\n" + (method == "POST" ? "{}" : "")))
    #expect(last.header("Content-Type") == (method == "POST" ? "application/json" : nil))
  }

  @Test func `a redirect does not allow a private address`() throws {
    let hidden = ScriptedServer(Self.hello)
    let named = ScriptedServer(Self.redirect(hidden.url("/secret")))
    defer {
      named.close()
      hidden.close()
    }

    let failure = try fetch(named.url(), testOptions { $0.allowPrivateAddresses = false }) {
      $0.trust = .named
    }.failure

    #expect(failure?.reason == .addressRefused)
    #expect(hidden.connections == 0)
  }

  @Test func `a redirect may lead to a host that the user named`() throws {
    let second = ScriptedServer(Self.hello)
    let first = ScriptedServer(Self.redirect(second.url("/x")))
    defer {
      first.close()
      second.close()
    }
    let options = testOptions {
      $0.allowPrivateAddresses = false
      $0.namedHosts = [HostPort(host: "127.0.0.1", port: second.port)]
    }

    let result = try fetch(first.url(), options) { $0.trust = .named }

    #expect(result.response?.head.status == 200)
  }
}
