import SampleStore
import Support
import Testing

/// The faults of a sample store, as its client sees them.
struct FaultTests {
  private static let body = (0..<1000).map { UInt8($0 % 251) }

  private func start(_ effects: FaultEffect...) throws -> SampleStore {
    var rule = FaultRule("/p.jpg")
    rule.effects = effects
    let content = SampleContent(["/p.jpg": Resource(Self.body, type: "image/jpeg")])
    return try SampleStore(content, faults: [rule])
  }

  private func raw(_ store: SampleStore, _ headers: String...) throws -> (
    answer: Answer, ending: RawClient.Ending
  ) {
    let client = try RawClient(store)
    client.request("GET", "/p.jpg", headers)
    let (bytes, ending) = client.rest()
    return (Answer(bytes), ending)
  }

  @Test(arguments: [
    (FaultEffect.Cut.bytes(300), 300), (.bytes(0), 0), (.fraction(0.5), 500),
  ])
  func `a truncated body announces its full length and ends early`(
    cut: FaultEffect.Cut,
    count: Int
  ) throws {
    let (answer, ending) = try raw(start(.truncate(after: cut)))

    #expect(answer["Content-Length"] == "1000")
    #expect(answer.body == Array(Self.body.prefix(count)))
    #expect(ending == .closed)
  }

  @Test func `a reset after some bytes is a reset, not an end`() throws {
    let (answer, ending) = try raw(start(.reset(after: 100)))

    #expect(answer.status == 200)
    #expect(answer.body == Array(Self.body.prefix(100)))
    #expect(ending == .reset)
  }

  @Test func `a reset before the answer sends nothing`() throws {
    let store = try start(.reset(after: nil))

    let (answer, ending) = try raw(store)

    #expect((answer.status, ending) == (0, .reset))
    #expect(store.requests.map(\.status) == [nil])
  }

  @Test func `a connection closed without an answer ends without a reset`() throws {
    let (answer, ending) = try raw(start(.closeWithoutAnswer))

    #expect((answer.status, ending) == (0, .closed))
  }

  @Test func `a length too great ends the connection, one too small leaves bytes over`() throws {
    let (long, ending) = try raw(start(.wrongLength(10)))
    #expect(long["Content-Length"] == "1010")
    #expect(long.body == Self.body)
    #expect(ending == .closed)

    let store = try start(.wrongLength(-10))
    let client = try RawClient(store)
    client.get("/p.jpg")
    client.finish()
    let (bytes, _) = client.rest()
    #expect(Answer(bytes)["Content-Length"] == "990")
    #expect(Answer(bytes).body == Self.body)
  }

  @Test func `an error status has its retry-after and its own body`() throws {
    let answer = try start(.status(503, retryAfter: "7")).ask("/p.jpg")

    #expect(answer.status == 503)
    #expect(answer["Retry-After"] == "7")
    #expect(answer["ETag"] == nil)
    #expect(answer.text == "{\"error\":\"service unavailable\",\"status\":503}\n")
  }

  @Test func `a redirect names another place`() throws {
    let answer = try start(.status(308), .header("Location", "http://127.0.0.1/x")).ask("/p.jpg")

    #expect((answer.status, answer["Location"]) == (308, "http://127.0.0.1/x"))
  }

  @Test func `a fault can replace the type, the body and the headers together`() throws {
    let store = try start(
      .body(Array("<p>no".utf8)),
      .header("Content-Type", "text/html"),
      .header("Cache-Control", "no-store")
    )

    let answer = try store.ask("/p.jpg")

    #expect((answer.status, answer.text) == (200, "<p>no"))
    #expect(answer["Content-Type"] == "text/html")
    #expect(answer["Cache-Control"] == "no-store")
    #expect(answer["Content-Length"] == "5")
  }

  @Test func `a replaced body has its own validator, even at a path without content`() throws {
    let store = try SampleStore(
      SampleContent(),
      faults: [FaultRule("/new.png", .body([1, 2]))]
    )

    let answer = try store.ask("/new.png")

    #expect((answer.status, answer.body) == (200, [1, 2]))
    #expect(answer["Content-Type"] == "image/png")
    #expect(answer["ETag"] == Resource.etag(of: [1, 2]))
  }

  @Test func `without validators there is no 304`() throws {
    let store = try start(.dropValidators)
    let etag = Resource.etag(of: Self.body)

    let answer = try store.ask("/p.jpg", "If-None-Match: \(etag)")

    #expect((answer.status, answer["ETag"], answer["Last-Modified"]) == (200, nil, nil))
  }

  @Test func `a chunked body has no length, and a last chunk only if it is whole`() throws {
    let (whole, _) = try raw(start(.chunked), "Connection: close")
    let (cut, _) = try raw(start(.chunked, .truncate(after: .bytes(16))))

    #expect(whole["Content-Length"] == nil)
    #expect(whole["Transfer-Encoding"] == "chunked")
    #expect(whole.body == Array("3e8\r\n".utf8) + Self.body + Array("\r\n0\r\n\r\n".utf8))
    #expect(cut.body == Array("10\r\n".utf8) + Self.body.prefix(16) + Array("\r\n".utf8))
  }

  @Test func `a dripped body arrives whole`() throws {
    let answer = try start(.drip(bytesPerSecond: 50_000)).ask("/p.jpg")

    #expect(answer["Content-Length"] == "1000")
    #expect(answer.body == Self.body)
  }

  @Test func `other requests are answered while a body drips`() throws {
    let store = try start(.drip(bytesPerSecond: 1))
    store.content["/quick.json"] = Resource(json: "1")
    let slow = try RawClient(store)
    slow.get("/p.jpg")
    #expect(store.waitForRequests(1))

    let quick = try store.ask("/quick.json")
    store.stop()

    let answer = Answer(slow.rest().bytes)
    #expect(quick.text == "1")
    #expect(answer.status == 200)
    #expect(answer.body.count < 1000)
    #expect(Self.body.starts(with: answer.body))
  }

  @Test func `a delayed answer takes at least its delay`() throws {
    let store = try start(.delay(seconds: 0.03), .status(500))
    let begin = ContinuousClock.now

    let answer = try store.ask("/p.jpg")

    #expect(answer.status == 500)
    #expect(ContinuousClock.now - begin >= .milliseconds(30))
  }

  @Test func `other requests are answered while an answer is delayed`() throws {
    let store = try start(.delay(seconds: 3600))
    store.content["/quick.json"] = Resource(json: "1")
    let slow = try RawClient(store)
    slow.get("/p.jpg")
    #expect(store.waitForRequests(1))

    let quick = try store.ask("/quick.json")
    store.stop()

    #expect(quick.text == "1")
    #expect(slow.rest() == ([], .closed))
  }

  @Test func `a hanging request ends when the store stops`() throws {
    let store = try start(.hang)
    let client = try RawClient(store)
    client.get("/p.jpg")
    #expect(store.waitForRequests(1))

    store.stop()

    let (bytes, ending) = client.rest()
    #expect(bytes.isEmpty)
    #expect(ending == .closed)
  }

  @Test func `faults may change while the store runs, and their counts restart`() throws {
    let store = try start(.status(500))
    #expect(try store.ask("/p.jpg").status == 500)

    store.faults = [FaultRule(hits: .range(1...1), .status(429))]
    #expect(try store.ask("/p.jpg").status == 429)
    #expect(try store.ask("/p.jpg").status == 200)

    store.faults = []
    #expect(try store.ask("/p.jpg").status == 200)
  }
}
