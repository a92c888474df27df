import Support
import Testing
import Transport

@testable import CurlTransport

/// The requests sent to a proxy, and the meaning of its answers.
@Suite struct ProxyTests {
  private static let hello = ScriptedServer.Action.send(
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
  )
  private static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
  static let publicAddress = IPAddress([93, 184, 216, 34])
  static let privateAddress = IPAddress([10, 0, 0, 7])

  /// Options with a proxy and a few predefined host names.
  private static func options(
    _ proxy: String,
    _ variables: [String: String] = [:],
    _ change: (inout TransportOptions) -> Void = { _ in }
  ) throws -> TransportOptions {
    let route = ProxyRoute(try Proxy(parsing: proxy), variables: variables)
    return testOptions {
      $0.proxy = route
      $0.allowPrivateAddresses = false
      $0.resolver = { name in
        switch name {
        case "cdn.example": [publicAddress].compactMap(\.self)
        case "mixed.example": [privateAddress, publicAddress].compactMap(\.self)
        case "hidden.example": [privateAddress].compactMap(\.self)
        default: []
        }
      }
      change(&$0)
    }
  }

  @Test(arguments: ["http", "socks5h", "socks5"])
  func `the proxy is given the name of a host that the user named`(scheme: String) throws {
    let origin = ScriptedServer(Self.hello)
    let proxy = ScriptedProxy { _ in .pass(origin.port) }
    defer {
      origin.close()
      proxy.close()
    }
    // For socks5 libcurl itself resolves the name, and `localhost` needs no name server.
    let host = scheme == "socks5" ? "localhost" : "shop.example"

    let result = try fetch("http://\(host):8080/x?y=1", try Self.options(proxy.url(scheme))) {
      $0.trust = .named
      $0.credentials = ["token": "s3cret"]
    }

    #expect(result.response?.head.status == 200)
    #expect(origin.received.map(\.path) == ["/x?y=1"])
    #expect(origin.received.first?.header("Host") == "\(host):8080")
    let asked = scheme == "http" ? "GET http://shop.example:8080/x?y=1" : "SOCKS \(host):8080"
    if scheme != "socks5" { #expect(proxy.asked.map(\.description) == [asked]) }
  }

  @Test(
    arguments: ["http", "socks5h", "socks5"],
    [
      "http://127.0.0.1", "http://10.1.2.3", "https://127.0.0.1", "http://0x7f.1",
      "http://2130706433", "https://0177.0.0.1", "http://[::1]", "https://[::ffff:127.0.0.1]",
      "http://[64:ff9b::7f00:1]", "http://0.0.0.0", "http://[::]", "https://169.254.169.254",
      "http://100.64.0.1", "http://127。0。0。1", "http://user@127.0.0.1", "http://127.1",
      "http://hidden.example", "https://hidden.example", "http://HIDDEN.example",
    ]
  )
  func `a private address that appears only in the data is refused before the proxy is contacted`(
    scheme: String,
    url: String
  ) throws {
    let proxy = ScriptedProxy { _ in .say(Self.reply) }
    defer { proxy.close() }

    let failure = try fetch("\(url)/x", try Self.options(proxy.url(scheme))).failure

    #expect(failure?.reason == .addressRefused)
    #expect(proxy.asked.isEmpty)
  }

  @Test
  func `an unresolvable name is not left to the proxy, unless private addresses are allowed`()
    throws
  {
    let proxy = ScriptedProxy { _ in .say(Self.reply) }
    defer { proxy.close() }

    let refused = try fetch("http://nowhere.example/x", try Self.options(proxy.url()))
    let allowed = try fetch(
      "http://nowhere.example/x",
      try Self.options(proxy.url()) { $0.allowPrivateAddresses = true }
    )

    #expect(refused.failure?.reason == .dnsFailed)
    #expect(refused.failure?.isHostOfDataOnly == true)
    #expect(allowed.response != nil)
    #expect(proxy.asked.map(\.description) == ["GET http://nowhere.example/x"])
  }

  @Test
  func `a tunnel to a host that appears only in the data is requested by its checked address`()
    throws
  {
    let origin = ScriptedServer(Self.hello)
    let proxy = ScriptedProxy { $0.method == "SOCKS" ? .pass(origin.port) : .refuse(0) }
    defer {
      origin.close()
      proxy.close()
    }
    let http = try Self.options(proxy.url())
    let socks = try Self.options(proxy.url("socks5h"))

    _ = try fetch("https://cdn.example/x", http)
    _ = try fetch("https://mixed.example:8443/x", http)
    let result = try fetch("http://mixed.example/x", socks)

    #expect(
      proxy.asked.map(\.description) == [
        "CONNECT 93.184.216.34:443", "CONNECT 93.184.216.34:8443", "SOCKS 93.184.216.34:80",
      ]
    )
    #expect(result.response != nil)
    #expect(origin.received.first?.header("Host") == "mixed.example")
  }

  @Test func `a plain request names its host, so all its addresses must be public`()
    throws
  {
    let proxy = ScriptedProxy { _ in .say(Self.reply) }
    defer { proxy.close() }

    let open = try fetch("http://cdn.example/x", try Self.options(proxy.url()))
    let mixed = try fetch("http://mixed.example/x", try Self.options(proxy.url()))

    #expect(open.response != nil)
    #expect(mixed.failure?.reason == .addressRefused)
    #expect(proxy.asked.map(\.description) == ["GET http://cdn.example/x"])
  }

  @Test func `a redirect to a private address is refused behind a proxy too`() throws {
    let proxy = ScriptedProxy { _ in
      .say("HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/x\r\nContent-Length: 0\r\n\r\n")
    }
    defer { proxy.close() }

    let failure = try fetch("http://shop.example/x", try Self.options(proxy.url())) {
      $0.trust = .named
    }.failure

    #expect(failure?.reason == .addressRefused)
    #expect(proxy.asked.count == 1)
  }

  @Test func `a host in no_proxy is contacted directly, and its address is checked at the socket`()
    throws
  {
    let origin = ScriptedServer(Self.hello)
    let proxy = ScriptedProxy { _ in .say(Self.reply) }
    defer {
      origin.close()
      proxy.close()
    }
    let options = try Self.options(proxy.url(), ["no_proxy": "127.0.0.0/8"])

    let named = try fetch(origin.url(), options) { $0.trust = .named }
    let discovered = try fetch(origin.url(), options)

    #expect(named.response != nil)
    #expect(discovered.failure?.reason == .addressRefused)
    #expect(origin.received.count == 1)
    #expect(proxy.asked.isEmpty)
  }

  @Test func `the target of a connect-to is requested from the proxy`() throws {
    let origin = ScriptedServer(Self.hello)
    let proxy = ScriptedProxy { _ in .pass(origin.port) }
    defer {
      origin.close()
      proxy.close()
    }
    let options = try Self.options(proxy.url()) {
      $0.connectTo = ["shop.example:80:10.0.0.9:8080"]
    }

    let result = try fetch("http://shop.example/x", options)

    #expect(result.response != nil)
    #expect(proxy.asked.map(\.description) == ["CONNECT 10.0.0.9:8080"])
    #expect(origin.received.first?.header("Host") == "shop.example")
  }

  @Test(arguments: ["http", "socks5h"])
  func `user and password are sent only to the proxy, and are in no message`(scheme: String) throws
  {
    let origin = ScriptedServer(Self.hello)
    let proxy = ScriptedProxy(password: "us er:pa%ss") { _ in .pass(origin.port) }
    let closed = try ClosedPort()
    defer {
      origin.close()
      proxy.close()
    }

    let result = try fetch(
      "http://shop.example/x",
      try Self.options(proxy.url(scheme, "us%20er:pa%25ss"))
    ) { $0.trust = .named }
    let failure = try fetch(
      "http://shop.example/x",
      try Self.options("\(scheme)://us%20er:pa%25ss@127.0.0.1:\(closed.number)")
    ) { $0.trust = .named }.failure

    #expect(result.response != nil)
    #expect(origin.received.first?.header("Proxy-Authorization") == nil || scheme == "http")
    if scheme == "http" {
      #expect(proxy.asked[0].text.contains("Proxy-Authorization: Basic dXMgZXI6cGElc3M="))
    }
    #expect(failure?.reason == .proxyFailed)
    #expect(failure?.detail.contains("\(scheme)://127.0.0.1:\(closed.number)") == true)
    #expect(failure?.description.contains("ss") == failure?.description.contains("pass"))
    #expect(failure?.description.contains("us%20er") == false)
    #expect(failure?.description.contains("pa%") == false)
  }

  /// A proxy's answer to a request, and the expected failure reason.
  struct Trouble: Sendable, CustomTestStringConvertible {
    let scheme: String
    let url: String
    let answer: ScriptedProxy.Answer
    let reason: FailureReason

    init(_ scheme: String, _ url: String, _ answer: ScriptedProxy.Answer, _ reason: FailureReason)
    {
      self.scheme = scheme
      self.url = url
      self.answer = answer
      self.reason = reason
    }

    var testDescription: String { "\(scheme) \(url) \(answer)" }
  }

  private static func status(_ line: String) -> ScriptedProxy.Answer {
    .say("HTTP/1.1 \(line)\r\nContent-Length: 0\r\n\r\n")
  }

  static let troubles: [Trouble] = [
    Trouble("http", "http://shop.example/", status("407 Who are you"), .proxyAuth),
    Trouble("http", "https://shop.example/", status("407 Who are you"), .proxyAuth),
    Trouble("http", "https://shop.example/", status("403 No"), .proxyRefused),
    Trouble("http", "https://shop.example/", status("405 No"), .proxyRefused),
    Trouble("http", "https://shop.example/", status("301 Elsewhere"), .proxyRefused),
    Trouble("http", "https://shop.example/", status("502 Bad"), .connectFailed),
    Trouble("http", "https://shop.example/", status("504 Late"), .connectFailed),
    Trouble("http", "https://shop.example/", .say("SSH-2.0-OpenSSH\r\n\r\n"), .proxyFailed),
    Trouble("http", "https://shop.example/", .say(""), .proxyFailed),
    Trouble("socks5h", "https://shop.example/", .refuse(1), .connectFailed),
    Trouble("socks5h", "https://shop.example/", .refuse(2), .proxyRefused),
    Trouble("socks5h", "http://shop.example/", .refuse(3), .connectFailed),
    Trouble("socks5h", "http://shop.example/", .refuse(4), .connectFailed),
    Trouble("socks5h", "http://shop.example/", .refuse(5), .connectRefused),
    Trouble("socks5h", "http://shop.example/", .refuse(9), .proxyFailed),
    Trouble("socks5h", "http://shop.example/", .say("HTTP/1.1 400 Bad\r\n\r\n"), .proxyFailed),
    Trouble("socks5h", "http://shop.example/", .say(""), .proxyFailed),
  ]

  @Test(arguments: troubles)
  func `a refusal by the proxy has a failure reason of its own`(trouble: Trouble) throws {
    let proxy = ScriptedProxy { _ in trouble.answer }
    defer { proxy.close() }

    let get = try fetch(trouble.url, try Self.options(proxy.url(trouble.scheme))) {
      $0.trust = .named
    }.failure
    let post = try fetch(trouble.url, try Self.options(proxy.url(trouble.scheme))) {
      $0.trust = .named
      $0.method = .post
      $0.body = [1]
    }.failure

    #expect(get?.reason == trouble.reason, "\(String(describing: get))")
    #expect(post?.reason == trouble.reason)
    // A proxy that answers a CONNECT itself has forwarded nothing, but it may have forwarded a
    // plain request.
    #expect(post?.mayHaveBeenSent == (trouble.scheme == "http" && trouble.url.hasPrefix("http:")))
  }

  @Test func `a wrong password for SOCKS is reported`() throws {
    let proxy = ScriptedProxy(password: "a:b") { _ in .say("") }
    defer { proxy.close() }
    for userInfo in ["a:c", nil] {
      let failure = try fetch(
        "http://shop.example/",
        try Self.options(proxy.url("socks5h", userInfo))
      ) { $0.trust = .named }.failure

      #expect(failure?.reason == .proxyAuth, "\(String(describing: failure))")
    }
  }

  @Test func `an unreachable proxy is reported and retried`() throws {
    let closed = try ClosedPort()
    for (scheme, retries) in [("http", 1), ("https", 1), ("socks5h", 1)] {
      let failure = try fetch(
        "http://shop.example/",
        try Self.options("\(scheme)://127.0.0.1:\(closed.number)") { $0.retry.retries = retries }
      ) { $0.trust = .named }.failure

      #expect(failure?.reason == .proxyFailed, "\(String(describing: failure))")
      #expect(failure?.attempts == 2)
    }
  }

  @Test
  func `a name is looked up once for all waiting requests, and the lookup ends with the run`()
    throws
  {
    let asked = Semaphore()
    let release = Semaphore()
    let proxy = ScriptedProxy { _ in .say(Self.reply) }
    defer { proxy.close() }
    let options = try Self.options(proxy.url()) {
      $0.resolver = { _ in
        asked.signal()
        release.wait()
        return [Self.publicAddress].compactMap(\.self)
      }
    }
    let transport = try CurlTransport(options)
    let results = Results()
    for number in 0..<3 {
      try results.begin(number, "http://cdn.example/\(number)", over: transport)
    }
    asked.wait()
    transport.cancelAll()
    let cancelled = results.wait(for: 3)
    try results.begin(3, "http://cdn.example/3", over: transport)
    release.signal()
    let last = results.wait(for: 1)
    transport.shutdown()

    #expect(cancelled.allSatisfy { $0.failure?.reason == .cancelled })
    #expect(last.last?.response != nil)
    #expect(proxy.asked.map(\.target) == ["http://cdn.example/3"])
  }

  @Test func `a proxy that speaks TLS forwards plain requests and tunnels`() throws {
    let folder = try TemporaryFolder()
    let authority = try TestAuthority(folder)
    try authority.make(.authority("root"))
    try authority.make(.server("server", by: "root"))
    let chain = try authority.chain("server")
    let plain = ScriptedServer(Self.hello)
    let secure = try ScriptedTLSServer(chain: chain, key: authority.key("server")) { _ in
      [.bytes(Array(Self.reply.utf8))]
    }
    let proxy = ScriptedProxy { .pass($0.method == "CONNECT" ? secure.port : plain.port) }
    let front = try TLSFront(chain: chain, key: authority.key("server"), to: proxy.port)
    defer {
      for close in [plain.close, secure.close, proxy.close, front.close] { close() }
    }
    let url = "https://clerk:s3cret@localhost:\(front.port)"
    let trusting = try Self.options(url) { $0.caFile = authority.certificate("root") }

    let open = try fetch("http://shop.example/x", trusting) { $0.trust = .named }
    let sealed = try fetch("https://localhost:\(secure.port)/y", trusting) { $0.trust = .named }
    let stranger = try fetch("http://shop.example/x", try Self.options(url)) { $0.trust = .named }

    #expect(open.response?.head.status == 200, "\(open)")
    #expect(sealed.response?.head.status == 200, "\(sealed)")
    #expect(
      proxy.asked.map(\.description)
        == ["GET http://shop.example/x", "CONNECT localhost:\(secure.port)"]
    )
    #expect(proxy.asked.allSatisfy { $0.text.contains("Proxy-Authorization: Basic ") })
    #expect(plain.received.allSatisfy { $0.path == "/x" } && secure.requests == 1)
    #expect(stranger.failure?.reason == .proxyFailed, "\(stranger)")
    #expect(stranger.failure?.mayHaveBeenSent == false)
  }

  @Test func `a request for a tunnel names the program, before and after a signed request`() throws
  {
    let proxy = ScriptedProxy { _ in .say("HTTP/1.1 403 Forbidden\r\n\r\n") }
    let transport = try CurlTransport(try Self.options(proxy.url()) { $0.perHost = .fixed(1) })
    defer {
      transport.shutdown()
      proxy.close()
    }
    let signing = RequestSigning(.get, region: "eu-central-1", user: "clerk", secret: "s3cret")
    let results = Results()

    for (number, signing) in [nil, signing, nil].enumerated() {
      var request = Request(try CurlURLParser.parse("https://shop.example/\(number)"))
      (request.trust, request.signing) = (.named, signing)
      transport.fetch(request, into: CollectingSink(), completion: results.completion(number))
      _ = results.wait(for: 1)
    }

    #expect(proxy.asked.map(\.method) == ["CONNECT", "CONNECT", "CONNECT"])
    #expect(proxy.asked.allSatisfy { $0.text.contains("\r\nUser-Agent: larder\r\n") })
  }
}
