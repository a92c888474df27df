import Cache
import Pipeline
import Support
import Testing
import Transport

/// Faults within TLS and HTTP/2, through the whole pipeline.
@Suite struct TLSMatrixTests {
  private static let body = MatrixCase.picture(0)
  /// A picture without its end marker.
  private static let endless = Array(MatrixCase.picture(0).prefix(2000))

  /// The answers of one server, and the result expected for its picture.
  struct Case: Sendable {
    let name: String
    let end: MatrixCase.End
    var isHTTP2 = true
    let actions: @Sendable (ScriptedTLSServer.Received) -> [ScriptedTLSServer.Action]

    /// A case whose answers consist of these HTTP/2 frames.
    static func frames(
      _ name: String,
      _ end: MatrixCase.End,
      _ frames: @escaping @Sendable (Int32) -> [[UInt8]]
    ) -> Case {
      Case(name: name, end: end) { request in frames(request.stream).map { .bytes($0) } }
    }

    /// A case whose first answer is wrong and the next right.
    static func mended(
      _ name: String,
      _ actions: @escaping @Sendable (Int32) -> [ScriptedTLSServer.Action]
    ) -> Case {
      Case(name: name, end: .held(body)) { request in
        request.number == 0
          ? actions(request.stream) : whole(request.stream).map { .bytes($0) }
      }
    }

    /// A case over HTTP/1.1.
    static func text(
      _ name: String,
      _ end: MatrixCase.End,
      _ actions: ScriptedTLSServer.Action...
    ) -> Case {
      Case(name: name, end: end, isHTTP2: false) { _ in actions }
    }
  }

  private static func whole(_ stream: Int32) -> [[UInt8]] {
    [
      Frame.headers(stream, "200", [("content-length", "3000")]),
      Frame.data(stream, body),
    ]
  }

  private static let broken: [FailureReason] = [.reset, .truncated, .badResponse]

  static var http1: [Case] {
    let length = Array("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n".utf8)
    let open = Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8)
    return [
      .text("a right answer", .held(body), .bytes(length + body)),
      .text("no farewell after the promised length", .held(body), .bytes(length + body), .cut),
      .text("a body that ends with a farewell", .held(body), .bytes(open + body), .close),
      .text(
        "a body without a length that ends without a farewell",
        .refused([.truncated]),
        .bytes(open + body.prefix(999)),
        .cut
      ),
      .text(
        "no farewell within the body",
        .refused(broken),
        .bytes(length + body.prefix(999)),
        .cut
      ),
      .text(
        "a farewell within the body",
        .refused(broken),
        .bytes(length + body.prefix(999)),
        .close
      ),
      .text(
        "a reset within the body",
        .refused(broken),
        .bytes(length + body.prefix(999)),
        .reset
      ),
      .text("a farewell in place of an answer", .refused(broken), .close),
      .text("an end in place of an answer", .refused(broken), .cut),
    ]
  }

  /// Faults that occur once, so that the retry succeeds.
  static var passing: [Case] {
    [
      .mended("a refused stream is asked for again") { [.bytes(Frame.resetStream($0, 7))] },
      .mended("a farewell before the answer") { _ in
        [.bytes(Frame.goAway(last: 0, 0)), .close]
      },
      .mended("a farewell with an error before the answer") { _ in
        [.bytes(Frame.goAway(last: 0, 2)), .close]
      },
      .mended("a farewell within the body") { stream in
        [
          .bytes(Frame.headers(stream, "200", [("content-length", "3000")])),
          .bytes(Frame.data(stream, Array(body.prefix(999)), end: false)),
          .bytes(Frame.goAway(last: stream, 11)), .close,
        ]
      },
      .mended("an end within the body") { stream in
        [
          .bytes(Frame.headers(stream, "200", [("content-length", "3000")])),
          .bytes(Frame.data(stream, Array(body.prefix(999)), end: false)), .cut,
        ]
      },
    ]
  }

  static var http2: [Case] {
    let errors = (UInt32(0)...13).filter { $0 != 7 }.map { code in
      Case.frames("a stream reset with error \(code)", .refused(broken)) {
        [Frame.headers($0, "200", [("content-length", "3000")]), Frame.resetStream($0, code)]
      }
    }
    // libcurl takes a reset with code 0 for the end of the stream, which is a valid reading.
    let midway = (UInt32(1)...13).map { code in
      Case.frames("a body without a length that ends with error \(code)", .refused(broken)) {
        [
          Frame.headers($0, "200"), Frame.data($0, Array(body.prefix(999)), end: false),
          Frame.resetStream($0, code),
        ]
      }
    }
    let ends: [(ScriptedTLSServer.Action, UInt32)] = [
      (.close, 0), (.cut, 0), (.reset, 0), (.close, 2),
    ]
    let lost = ends.map { action, code in
      Case(name: "a connection that ends, \(action) \(code)", end: .refused(broken)) { request in
        [
          .bytes(Frame.headers(request.stream, "200")),
          .bytes(Frame.data(request.stream, Array(body.prefix(999)), end: false)),
          .bytes(Frame.goAway(last: request.stream, code)), action,
        ]
      }
    }
    return errors + midway + lost + [
      .frames("a right answer", .held(body), whole),
      .frames("a right answer in pieces", .held(body)) { stream in
        [Frame.headers(stream, "200")]
          + body.indices.map { Frame.data(stream, [body[$0]], end: $0 == body.count - 1) }
      },
      .frames("an end of the stream proves the end of a picture", .held(endless)) { stream in
        [Frame.headers(stream, "200"), Frame.data(stream, endless)]
      },
      .frames("an empty last frame, or trailers, prove it too", .held(endless)) { stream in
        [
          Frame.headers(stream, "200"), Frame.data(stream, endless, end: false),
          Frame.raw(1, 5, stream, [0, 1, 0x78, 1, 0x79]),
        ]
      },
      // libcurl ends a connection after a protocol violation in the same way, without another
      // error.
      .frames("a farewell after the end of the stream", .refused([.truncated])) { stream in
        [
          // Both are sent in one TLS record, so that they are read at once. Otherwise the GOAWAY could be read after
          // the answer is complete.
          Frame.headers(stream, "200") + Frame.data(stream, endless)
            + Frame.goAway(last: stream, 0)
        ]
      },
      .frames("a stream refused each time", .refused(broken)) { [Frame.resetStream($0, 7)] },
      .frames("a farewell that lets this answer through", .held(body)) { stream in
        [Frame.goAway(last: stream, 0)] + whole(stream)
      },
      .frames("a body shorter than promised", .refused(broken + [.lengthMismatch])) {
        [
          Frame.headers($0, "200", [("content-length", "3000")]),
          Frame.data($0, Array(body.prefix(2999))),
        ]
      },
      .frames("a body longer than promised", .refused(broken + [.lengthMismatch])) {
        [
          Frame.headers($0, "200", [("content-length", "3000")]),
          Frame.data($0, body + [1]),
        ]
      },
      .frames("no body", .refused(broken + [.notAPicture])) {
        [Frame.headers($0, "200", [("content-length", "3000")], end: true)]
      },
      .frames("a body before its head", .refused(broken)) { [Frame.data($0, body)] },
      .frames("fields that no table has", .refused(broken)) {
        [Frame.raw(1, 5, $0, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF])]
      },
      .frames("a field name in capitals", .refused(broken)) {
        [Frame.headers($0, "200", [("Content-Length", "3000")]), Frame.data($0, body)]
      },
      .frames("data of no stream", .refused(broken)) { _ in [Frame.data(0, body)] },
      .frames("a frame beyond the agreed size", .refused(broken + [.notAPicture])) {
        [Frame.headers($0, "200"), Frame.data($0, [UInt8](repeating: 0xFF, count: 1 << 20))]
      },
      .frames("a window that opens by nothing", .refused(broken)) { stream in
        [
          Frame.headers(stream, "200"), Frame.data(stream, Array(body.prefix(999)), end: false),
          Frame.raw(8, 0, stream, [0, 0, 0, 0]),
        ]
      },
      .frames("settings of odd length", .refused(broken)) { _ in [Frame.raw(4, 0, 0, [1])] },
      .frames("a push that nobody wants", .refused(broken)) {
        [Frame.raw(5, 4, $0, [0, 0, 0, 2, 0x82])]
      },
      .frames("frames of an unknown kind", .held(body)) { stream in
        [Frame.raw(0xEE, 0xFF, stream, [1, 2, 3])] + whole(stream)
      },
      .frames("304 with nothing held", .refused([.badResponse])) {
        [Frame.headers($0, "304", end: true)]
      },
      .frames("a part that nobody asked for", .refused([.badResponse])) {
        [
          Frame.headers($0, "206", [("content-range", "bytes 1-3000/3001")]),
          Frame.data($0, body),
        ]
      },
      Case(name: "interim answers without end", end: .refused([.tooLongHeader] + broken)) {
        [.flood(Frame.headers($0.stream, "103", [("link", "x")]))]
      },
      Case(name: "continuations without end", end: .refused([.tooLongHeader] + broken)) {
        [
          .bytes(Frame.raw(1, 0, $0.stream, [0x88])),
          .flood(Frame.raw(9, 0, $0.stream, [0, 1, 0x78] + [1, 0x79])),
        ]
      },
      Case(name: "pings without end", end: .refused([.timeoutIdle, .timeoutTotal] + broken)) { _ in
        [.flood(Frame.raw(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]))]
      },
      Case(name: "settings without end", end: .refused([.timeoutIdle, .timeoutTotal] + broken)) {
        _ in
        [.flood(Frame.settings())]
      },
      Case(name: "silence", end: .refused([.timeoutIdle])) { _ in [] },
    ]
  }

  @Test func `no fault within TLS or HTTP/2 stores a wrong byte or blocks the run`() throws {
    try run(Self.http1 + Self.http2, retries: 0)
  }

  @Test func `a close_notify or a refused stream costs one retry`() throws {
    try run(Self.passing, retries: 1)
  }

  private func run(_ cases: [Case], retries: Int) throws {
    let folder = try TemporaryFolder()
    let authority = try TestAuthority(folder)
    try authority.make(.authority("root"))
    try authority.make(.server("server", by: "root"))
    let chain = try authority.chain("server")
    let servers = try cases.map {
      try ScriptedTLSServer(
        chain: chain,
        key: authority.key("server"),
        speaking: $0.isHTTP2 ? "h2" : "http/1.1",
        $0.actions
      )
    }
    defer { for server in servers { server.close() } }
    let urls = servers.map { "https://localhost:\($0.port)/picture.jpg" }
    let matrix = try Matrix(urls, folder)

    let report = try matrix.sync { options in
      options.caFile = authority.certificate("root")
      // Long enough that a busy machine is not taken for a stall: all clients connect to one
      // server thread, which the floods keep busy. The stalled cases wait in parallel.
      options.connectTimeout = .seconds(60)
      options.idleTimeout = .seconds(30)
      options.transferTimeout = .seconds(80)
      options.retry.retries = retries
      options.parallel = .fixed(64)
    }

    #expect(report.unfinished.isEmpty, "something hung until the deadline")
    let reasons = Dictionary(report.failures.map { ($0.url, $0.reason) }) { $1 }
    for (url, test) in zip(urls, cases) {
      let (held, reason) = (matrix.held(url), reasons[url] ?? "none")
      let isRight =
        switch test.end {
        case .held(let bytes): held == bytes
        case .refused(let wanted): held == nil && wanted.map(\.rawValue).contains(reason)
        }
      #expect(isRight, "\(test.name): \(held?.count ?? 0) bytes held, reason \(reason)")
    }
    #expect(try verify(folder).isClean)
  }
}
