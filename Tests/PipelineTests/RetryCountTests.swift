import Base
import Cache
import Catalog
import CurlTransport
import Imaging
import Support
import Testing

@testable import Pipeline

/// The number of requests that a server receives for a failing resource, by `--retries`.
@Suite struct RetryCountTests {
  /// The failing resource, by its path.
  enum Thing: String, CaseIterable, Sendable {
    case section = "/list"
    case detail = "/detail/A1"
    case picture = "/x"
  }

  /// The fault that occurs at each request.
  struct Trouble: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the fault is temporary, so that it is retried.
    let mayPass: Bool
    let answer: Answer
  }

  /// The server's answer.
  enum Answer: Sendable {
    case actions([ScriptedServer.Action])
    case redirect(Target)
  }

  /// The target of a redirect.
  enum Target: Sendable {
    case nobody, untrusted, nowhere, itself, busy
  }

  private static func status(_ status: Int, _ field: String = "") -> Answer {
    .actions([.send("HTTP/1.1 \(status) X\r\n\(field)Content-Length: 0\r\n\r\n")])
  }

  private static let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 3000\r\n\r\n"

  static let troubles = [
    Trouble(testDescription: "503", mayPass: true, answer: status(503, "Retry-After: 60\r\n")),
    Trouble(testDescription: "429", mayPass: true, answer: status(429, "Retry-After: 1\r\n")),
    Trouble(testDescription: "500", mayPass: true, answer: status(500)),
    Trouble(testDescription: "404", mayPass: false, answer: status(404)),
    Trouble(testDescription: "501", mayPass: false, answer: status(501)),
    Trouble(testDescription: "closed", mayPass: true, answer: .actions([.close])),
    Trouble(testDescription: "reset", mayPass: true, answer: .actions([.reset])),
    Trouble(
      testDescription: "reset in the body",
      mayPass: true,
      answer: .actions([.send(head), .bytes(MatrixCase.picture(1, count: 2000)), .reset])
    ),
    Trouble(
      testDescription: "truncated",
      mayPass: true,
      answer: .actions([.send(head), .bytes(MatrixCase.picture(1, count: 2000)), .close])
    ),
    Trouble(testDescription: "to nobody", mayPass: true, answer: .redirect(.nobody)),
    Trouble(testDescription: "to 503", mayPass: true, answer: .redirect(.busy)),
    Trouble(testDescription: "to bad TLS", mayPass: false, answer: .redirect(.untrusted)),
    Trouble(testDescription: "to nowhere", mayPass: false, answer: .redirect(.nowhere)),
    Trouble(testDescription: "in a circle", mayPass: false, answer: .redirect(.itself)),
  ]

  @Test(arguments: troubles, Thing.allCases)
  func `a temporary failure is retried as often as --retries says`(
    _ trouble: Trouble,
    _ thing: Thing
  ) throws {
    let closed = try ClosedPort()
    var target = [Target.nobody: closed.baseURL, .itself: thing.rawValue, .busy: "/busy"]
    var untrusted: ScriptedTLSServer?
    defer { untrusted?.close() }
    if case .redirect(.untrusted) = trouble.answer {
      let authority = try TestAuthority(try TemporaryFolder())
      try authority.make(.server("server", by: nil))
      let server = try ScriptedTLSServer(
        chain: authority.certificate("server"),
        key: authority.key("server")
      ) { _ in [.close] }
      untrusted = server
      target[.untrusted] = "https://localhost:\(server.port)/"
    }
    let places = target

    for retries in [0, 1, 4] {
      let server = ScriptedServer { request in
        switch (request.path, trouble.answer) {
        case ("/busy", _): Self.busy
        case (thing.rawValue, .actions(let actions)): actions
        case (thing.rawValue, .redirect(let to)):
          [
            .send(
              "HTTP/1.1 302 X\r\n" + (places[to].map { "Location: \($0)\r\n" } ?? "")
                + "Content-Length: 0\r\n\r\n"
            )
          ]
        default: Self.good(request.path)
        }
      }
      defer { server.close() }

      let report = try Self.sync(server, retries: retries)

      let asked = server.received.filter { $0.path == thing.rawValue }.count
      #expect(asked == (trouble.mayPass ? retries + 1 : 1), "\(retries) retries")
      // A retry starts at the first URL, so it repeats each hop of the redirect.
      if case .redirect(.busy) = trouble.answer {
        #expect(server.received.filter { $0.path == "/busy" }.count == asked)
      }
      if !(thing == .detail && trouble.testDescription == "404") {
        #expect(report.failures.map(\.attempts) == [asked])
      }
    }
  }

  private static let busy = [
    ScriptedServer.Action.send(
      "HTTP/1.1 503 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    )
  ]

  private static func good(_ path: String) -> [ScriptedServer.Action] {
    let body =
      switch Thing(rawValue: path) {
      case .section: ScriptedShop.list()
      case .detail: ScriptedShop.detail("words")
      default: MatrixCase.picture(1)
      }
    return [
      .bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body),
      // Connections are not kept open, because libcurl would repeat a request on a connection that was closed, without
      // counting that as a retry.
      .close,
    ]
  }

  private static func options(_ retries: Int) -> TransportOptions {
    var options = TransportOptions()
    options.allowPrivateAddresses = true
    options.retry.retries = retries
    options.retry.firstDelay = .milliseconds(1)
    options.retry.longestRetryAfter = .milliseconds(1)
    return options
  }

  private static func sync(_ server: ScriptedServer, retries: Int) throws -> SyncReport {
    let folder = try TemporaryFolder()
    let curl = try CurlTransport(options(retries))
    defer { curl.shutdown() }
    let lines = [
      "name: shop", "currency: KRW", "base: \(server.url())",
      "sections: [{key: all, title: All, url: list}]", "detail: {url: \"detail/{id}\"}",
    ]
    return try SyncRun(
      try CatalogFile(parsing: Array(lines.joined(separator: "\n").utf8), file: "s.yaml"),
      folder: folder.path,
      cache: folder.path("cache"),
      options: SyncOptions(),
      transport: curl,
      disk: SystemDisk(durable: false),
      now: { UnixTime.now() }
    ).run(holder: "a test")
  }

  @Test(arguments: [0, 1])
  func `a request that times out is retried as often as --retries says`(
    _ retries: Int
  ) throws {
    let server = ScriptedServer(.hang)
    defer { server.close() }

    let report = try Matrix([server.url("/x")], try TemporaryFolder()).sync {
      $0.retry.retries = retries
      $0.transferTimeout = .milliseconds(500)
    }

    #expect(report.failures.map(\.reason) == ["timeout-total"])
    #expect(report.failures.map(\.attempts) == [retries + 1])
    #expect(server.received.count == retries + 1)
  }

  @Test func `each interruption of a slowly advancing body counts as a retry`() throws {
    let body = MatrixCase.picture(1, count: 1000)
    let server = ScriptedServer { request in
      let from = request.header("Range").flatMap { Int($0.filter(\.isNumber)) } ?? 0
      let range = from == 0 ? "" : "Content-Range: bytes \(from)-999/1000\r\n"
      let head =
        "HTTP/1.1 \(from == 0 ? 200 : 206) X\r\nETag: \"1\"\r\n\(range)"
        + "Content-Length: \(1000 - from)\r\n\r\n"
      return [.send(head), .bytes(Array(body[from..<min(from + 200, 1000)])), .close]
    }
    defer { server.close() }
    let (few, enough) = (try TemporaryFolder(), try TemporaryFolder())
    let url = server.url("/x")

    let first = try Matrix([url], few).sync { $0.retry.retries = 3 }
    let requests = server.received.count
    let second = try Matrix([url], enough).sync { $0.retry.retries = 4 }

    #expect(first.failures.map(\.reason) == ["truncated"])
    #expect(requests == 4)
    #expect(second.failures.isEmpty)
    #expect(server.received.count - requests == 5)
    #expect(try Matrix([url], enough).held(url) == body)
  }

  @Test func `a single request to an unreachable host gets all its retries`() throws {
    let closed = try ClosedPort()
    let server = ScriptedServer { _ in
      [.send("HTTP/1.1 302 X\r\nLocation: \(closed.baseURL)\r\nContent-Length: 0\r\n\r\n")]
    }
    defer { server.close() }

    for url in [server.url("/x"), closed.baseURL + "/x"] {
      let report = try Matrix([url], try TemporaryFolder()).sync {
        $0.retry.retries = 30
        $0.retry.longestDelay = .milliseconds(1)
        $0.breaker.failures = 5
        $0.breaker.grace = .zero
        $0.breaker.probe = .milliseconds(1)
      }

      #expect(report.failures.map(\.attempts) == [31])
    }
    #expect(server.received.count == 31)
  }

  @Test(
    arguments: [
      ("HTTP/1.1 503 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n", true),
      ("HTTP/1.1 429 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n", true),
      ("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", false),
      ("HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", false),
      ("HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", false),
      ("HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", false),
      ("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nshort", false), ("", false),
    ] as [(String, Bool)]
  )
  func `an upload that certainly did not arrive is retried as often as --retries says`(
    _ answer: String,
    _ isRepeated: Bool
  ) throws {
    for retries in [0, 1, 4] {
      let server = ScriptedServer { _ in [.send(answer), .close] }
      defer { server.close() }

      let result = try Self.upload(to: server.url("/photos"), retries: retries)

      #expect(server.received.count == (isRepeated ? retries + 1 : 1), "\(retries) retries")
      #expect(result.upload?.attempts == server.received.count)
    }
  }

  @Test(arguments: [0, 1, 4, 30])
  func `an upload to an unreachable server is retried as often as --retries says`(_ retries: Int)
    throws
  {
    let closed = try ClosedPort()

    let result = try Self.upload(to: closed.baseURL, retries: retries)

    #expect(result.upload?.attempts == retries + 1)
    #expect(result.error?.description.contains("connect-refused") == true)
  }

  private static func upload(to url: String, retries: Int) throws -> PictureResult {
    var options = options(retries)
    options.breaker.grace = .zero
    options.breaker.probe = .milliseconds(1)
    let transport = try CurlTransport(options)
    defer { transport.shutdown() }
    let picture = try UploadTests.picture()
    return PictureUpload(
      to: try UploadDestination(url, token: nil, parser: CurlURLParser()),
      text: "",
      transport: transport,
      policy: options.retry,
      pause: { _ in }
    ).deliver(picture, PictureResult(input: "a.png", output: "a.png", summary: picture.summary))
  }
}
