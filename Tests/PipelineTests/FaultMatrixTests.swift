import Base
import Cache
import Pipeline
import Support
import Synchronization
import Testing

/// Faults of a server, in whole syncs: no wrong byte is stored, and no run hangs.
@Suite struct FaultMatrixTests {
  /// Syncs all cases at once, each on its own path, and checks each result.
  private func run(_ cases: [MatrixCase], idle: Duration) throws {
    let server = ScriptedServer { request in
      let number = Int(request.path.split(separator: "/").first ?? "") ?? -1
      return cases.indices.contains(number) ? cases[number].actions(request) : [.close]
    }
    defer { server.close() }
    let urls = cases.indices.map { server.url("/\($0)/picture.jpg") }
    let matrix = try Matrix(urls, TemporaryFolder())

    let report = try matrix.sync { $0.idleTimeout = idle }

    try hold(report, matrix, zip(urls, cases).map { ($0, $1.name, $1.end) })
  }

  private func hold(
    _ report: SyncReport,
    _ matrix: Matrix,
    _ cases: [(url: String, name: String, end: MatrixCase.End)]
  ) throws {
    #expect(report.unfinished.isEmpty, "something hung until the deadline")
    // The reasons are sorted by item, because the URL in a report may be one that the picture's URL redirects to.
    let reasons = Dictionary(report.failures.map { ($0.id ?? "", $0.reason) }) { $1 }
    var held = 0
    for (number, (url, name, end)) in cases.enumerated() {
      let reason = reasons["\(number)"] ?? "none"
      let bytes = matrix.held(url)
      let isRight =
        switch end {
        case .held(let wanted): bytes == wanted
        case .refused(let wanted): bytes == nil && wanted.map(\.rawValue).contains(reason)
        }
      if case .held = end { held += 1 }
      #expect(isRight, "\(name): \(bytes?.count ?? 0) bytes held, reason \(reason)")
    }
    #expect(try verify(matrix.folder) == VerifyReport(checked: held))
  }

  @Test func `the matrix has at least 145 cases, besides a hundred truncations`() {
    let plain = Self.framing + Self.codings + Self.heads + Self.redirects + Self.slow
    let secure = TLSMatrixTests.http1 + TLSMatrixTests.http2 + TLSMatrixTests.passing
    let count: Int = plain.count + secure.count

    #expect(count >= 145)
  }

  @Test func `a faulty answer affects only its own picture`() throws {
    // The limits are long enough that a busy machine is not taken for a slow origin. The deadline of the run ends a
    // transfer that hangs.
    try run(Self.framing + Self.codings + Self.heads + Self.redirects, idle: .seconds(60))
  }

  @Test func `an answer that never ends is given up`() throws {
    try run(Self.slow, idle: .seconds(1))
  }

  @Test
  func `even if no answer ends, a run ends at its deadline and lists the unfinished pictures`()
    throws
  {
    let floods: [ScriptedServer.Action] = [
      .hang, .drip(0), .flood("HTTP/1.1 103 E\r\n\r\n"),
    ]
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n"
    let server = ScriptedServer { request in
      let number = Int(request.path.split(separator: "/").first ?? "") ?? 0
      // If the server has sent the head, the body hangs or arrives slowly. Otherwise the whole answer does.
      return number % 2 == 0
        ? [floods[number / 2 % floods.count]] : [.send(head), floods[number / 2 % floods.count]]
    }
    defer { server.close() }
    let urls = (0..<100).map { server.url("/\($0)/picture.jpg") }
    let matrix = try Matrix(urls, TemporaryFolder())
    let clock = ContinuousClock()

    let began = clock.now
    let report = try matrix.sync {
      $0.deadline = .now() + .seconds(1)
      $0.idleTimeout = .seconds(600)
    }

    #expect(began.duration(to: clock.now) < .seconds(20))
    #expect(report.unfinished.count + report.failures.count == 100)
    #expect(report.unfinished.count >= 48)
    #expect(try verify(matrix.folder) == VerifyReport(checked: 0))
  }

  @Test
  func `a body truncated at any percent is refused, and the next run fetches the missing bytes`()
    throws
  {
    let size = 200_000
    let bodies = (0..<100).map { MatrixCase.picture($0, count: size) }
    let isMended = Mutex(false)
    let ranges = Mutex([Int: String]())
    let server = ScriptedServer { request in
      let percent = Int(request.path.split(separator: "/").first ?? "") ?? 0
      let body = bodies[percent]
      func answer(
        _ status: String,
        _ tag: Int,
        _ bytes: ArraySlice<UInt8>,
        _ length: Int,
        _ more: String = ""
      )
        -> [ScriptedServer.Action]
      {
        [
          .send(
            "HTTP/1.1 \(status)\r\nETag: \"v\(tag)\"\r\n\(more)Content-Length: \(length)\r\n\r\n"
          ), .bytes(Array(bytes)),
        ]
      }
      let sent = size * percent / 100
      guard isMended.withLock({ $0 }) else {
        return answer("200 OK", 1, body[..<sent], size) + [.close]
      }
      guard let range = request.header("Range") else {
        return answer("200 OK", 2, body[...], size)
      }
      ranges.withLock { $0[percent] = range }
      let part = "Content-Range: bytes \(sent)-\(size - 1)/\(size)\r\n"
      switch percent % 5 {
      case 0: return answer("206 Part", 2, body[sent...], size - sent, part)
      case 1: return answer("200 OK", 2, body[...], size)
      case 2: return answer("416 No", 1, [], 0)
      case 3:
        let wrong = "Content-Range: bytes \(sent - 1)-\(size - 2)/\(size)\r\n"
        return answer("206 Part", 1, body[sent...], size - sent, wrong)
      default: return answer("206 Part", 1, body[sent...], size - sent, part)
      }
    }
    defer { server.close() }
    let urls = (0..<100).map { server.url("/\($0)/picture.jpg") }
    let matrix = try Matrix(urls, TemporaryFolder())

    let first = try matrix.sync()
    isMended.withLock { $0 = true }

    #expect(first.failures.map(\.reason) == Array(repeating: "truncated", count: 100))
    #expect(urls.allSatisfy { matrix.held($0) == nil })
    #expect(try verify(matrix.folder) == VerifyReport(checked: 0))

    let second = try matrix.sync()

    try hold(second, matrix, zip(urls, bodies).map { ($0, $0, .held($1)) })
    // A partial body of less than 64 KiB is not kept.
    let asked = ranges.withLock { $0 }
    #expect(asked.keys.sorted() == Array(33...99))
    for (percent, range) in asked { #expect(range == "bytes=\(size * percent / 100)-") }
    #expect(matrix.folder.files(below: "cache/partial").isEmpty)
  }
}
