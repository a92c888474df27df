import Support
import Testing
import Transport

@testable import CurlTransport

/// The bytes of the requests that libcurl sends.
@Suite struct RequestTests {
  @Test func `each URL is sent unchanged, whatever the handle requested before`() throws {
    let answer = ScriptedServer.Action.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
    let (one, other) = (ScriptedServer(answer), ScriptedServer(answer))
    defer {
      one.close()
      other.close()
    }
    // A handle keeps parsed URLs, so this mixes paths, escapes, queries and hosts, and returns to
    // earlier ones.
    let targets = [
      "/a.jpg", "/b.jpg", "/%EB%B0%98/%c3.jpg", "/b.jpg", "/c.jpg?s=%2F&t=1", "/c.jpg", "/", "/d",
      "/c.jpg?", "/e;p=1/f,g", "/e%2e/f",
    ]
    let urls = targets.flatMap { [one.url($0), other.url($0), one.url($0 + "x")] }
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(1) })
    defer { transport.shutdown() }

    for url in urls {
      let results = Results()
      try results.begin(0, url, over: transport)
      _ = try results.wait(for: 1)[0].get()
    }

    #expect(one.received.map(\.path) == targets.flatMap { [$0, $0 + "x"] })
    #expect(other.received.map(\.path) == targets)
    #expect(Set(one.received.map { $0.header("Host") }) == ["127.0.0.1:\(one.port)"])
    #expect(Set(other.received.map { $0.header("Host") }) == ["127.0.0.1:\(other.port)"])
    #expect(one.connections == 1)
    #expect(other.connections == 1)
  }

  @Test func `a request has User-Agent, Accept and Accept-Encoding, each once`()
    throws
  {
    let server = ScriptedServer(.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
    defer { server.close() }

    _ = try fetch(server.url(), testOptions { $0.userAgent = "larder/1" }) { $0.accept = .picture }
      .get()
    _ = try fetch(server.url()) {
      $0.headers = ["user-agent": "shop", "ACCEPT": "image/png", "accept-encoding": "br"]
    }.get()

    func lines(_ request: Int, _ name: String) -> [String] {
      server.received[request].text.split(whereSeparator: \.isNewline).map { $0.lowercased() }
        .filter { $0.hasPrefix(name + ":") }
    }
    #expect(lines(0, "user-agent") == ["user-agent: larder/1"])
    #expect(lines(0, "accept") == ["accept: image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5"])
    #expect(lines(0, "accept-encoding") == ["accept-encoding: identity"])
    #expect(lines(1, "user-agent") == ["user-agent: shop"])
    #expect(lines(1, "accept") == ["accept: image/png"])
    #expect(lines(1, "accept-encoding") == ["accept-encoding: br"])
  }

  @Test func `no request leaves a field for the next, in any order`()
    throws
  {
    let server = ScriptedServer(.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
    defer { server.close() }
    let changes: [(inout Request) -> Void] = [
      { _ in },
      { $0.headers = ["If-None-Match": "\"a\""] },
      { $0.headers = ["If-None-Match": "\"b\""] },
      { $0.credentials = ["Authorization": "Bearer t"] },
      { $0.accept = .picture },
      { $0.accept = .json },
      {
        $0.method = .post; $0.body = [0x7b, 0x7d]
      },
    ]
    let plain = try CurlURLParser.parse(server.url("/x"), relativeTo: nil)
    let withUser = try CurlURLParser.parse(
      server.url("/x").replacingOccurrences(of: "//", with: "//u:p@"),
      relativeTo: nil
    )
    let requests =
      changes.map { change in
        var request = Request(plain)
        change(&request)
        return request
      } + [Request(withUser)]
    func send(_ request: Request, over transport: CurlTransport) throws -> String {
      let results = Results()
      transport.fetch(request, into: CollectingSink(), completion: results.completion(0))
      _ = try results.wait(for: 1)[0].get()
      return try #require(server.received.last).text
    }
    let alone = try requests.map { request in
      let transport = try CurlTransport(testOptions())
      defer { transport.shutdown() }
      return try send(request, over: transport)
    }
    #expect(Set(alone).count == requests.count)
    // One handle sends every request once after every other.
    let transport = try CurlTransport(testOptions { $0.parallel = .fixed(1) })
    defer { transport.shutdown() }

    for (first, one) in requests.enumerated() {
      for (second, other) in requests.enumerated() {
        #expect(try send(one, over: transport) == alone[first])
        #expect(try send(other, over: transport) == alone[second], "\(second) after \(first)")
      }
    }
  }

  @Test func `fields are sent unchanged, empty ones too, except those that frame the message`()
    throws
  {
    let server = ScriptedServer(.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
    defer { server.close() }

    _ = try fetch(server.url()) {
      $0.headers = [
        "X-Empty": "", "X-Name": "반찬: a, b", "content-length": "99",
        "Transfer-Encoding": "chunked",
      ]
      $0.credentials = ["Authorization": "Bearer t", "Content-Length": "7"]
    }.get()

    let request = try #require(server.received.first)
    #expect(request.header("X-Empty") == "")
    #expect(request.header("X-Name") == "반찬: a, b")
    #expect(request.header("Authorization") == "Bearer t")
    #expect(request.header("Content-Length") == nil)
    #expect(request.header("Transfer-Encoding") == nil)
  }

  @Test func `a proxy is sent the user agent when it tunnels`() throws {
    let proxy = ScriptedServer(.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
    defer { proxy.close() }
    let route = ProxyRoute(try Proxy(parsing: proxy.url()))

    let result = try fetch(
      "https://shop.example/",
      testOptions {
        $0.proxy = route
        $0.userAgent = "larder/1"
      }
    )

    #expect(result.failure != nil)
    #expect(proxy.received.first?.text.hasPrefix("CONNECT shop.example:443 ") == true)
    #expect(proxy.received.first?.header("User-Agent") == "larder/1")
  }
}
