import SampleStore
import Testing

/// Conditional and range requests to a sample store.
struct ConditionTests {
  private let store: SampleStore

  init() throws {
    let content = SampleContent([
      "/p.jpg": Resource(
        Array("0123456789".utf8),
        type: "image/jpeg",
        etag: "\"v1\"",
        lastModified: 784_111_777
      )
    ])
    store = try SampleStore(content)
  }

  @Test(arguments: [
    ("If-None-Match: \"v1\"", 304),
    ("If-None-Match: W/\"v1\"", 304),
    ("If-None-Match: \"a,b\", W/\"x\" ,\"v1\"", 304),
    ("If-None-Match: *", 304),
    ("If-None-Match: \"v2\"", 200),
    ("If-None-Match: v1", 200),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 304),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 200),
    ("If-Modified-Since: yesterday", 200),
    ("If-Match: \"v1\"", 200),
    ("If-Match: W/\"v1\"", 412),
    ("If-Match: \"v2\"", 412),
    ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 200),
    ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 412),
    // An entity tag takes precedence over a date.
    ("If-None-Match: \"v2\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 200),
    ("If-None-Match: \"v1\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 304),
    ("If-None-Match: \"v1\"\r\nRange: bytes=0-1", 304),
  ])
  func `the conditions decide the status`(header: String, status: Int) throws {
    #expect(try store.ask("/p.jpg", header).status == status)
    #expect(try store.ask("/p.jpg", header, method: "HEAD").status == status)
  }

  @Test func `a 304 has the validators, the freshness and the date, but no length`() throws {
    let client = try RawClient(store)
    client.get("/p.jpg", "If-None-Match: \"v1\"", "Connection: close")

    let (bytes, _) = client.rest()

    let answer = Answer(bytes)
    #expect(answer.status == 304)
    #expect(answer["ETag"] == "\"v1\"")
    #expect(answer["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(answer["Cache-Control"] == "max-age=3600")
    #expect(answer["Date"] != nil)
    #expect(answer["Content-Length"] == nil)
    #expect(answer.body.isEmpty)
  }

  @Test(
    arguments: [
      ("bytes=0-3", 206, "0123", "bytes 0-3/10"),
      ("bytes=4-", 206, "456789", "bytes 4-9/10"),
      ("bytes=-3", 206, "789", "bytes 7-9/10"),
      ("bytes=-99", 206, "0123456789", "bytes 0-9/10"),
      ("bytes=8-99999999999999999999", 206, "89", "bytes 8-9/10"),
      ("bytes=10-", 416, nil, "bytes */10"),
      ("bytes=-0", 416, nil, "bytes */10"),
      ("bytes=3-1", 200, "0123456789", nil),
      ("bytes=0-1,4-5", 200, "0123456789", nil),
      ("pages=1-2", 200, "0123456789", nil),
      ("bytes=a-b", 200, "0123456789", nil),
      ("bytes=-", 200, "0123456789", nil),
    ] as [(String, Int, String?, String?)]
  )
  func `a single range is served, an unsatisfiable one refused, any other ignored`(
    range: String,
    status: Int,
    body: String?,
    place: String?
  ) throws {
    let answer = try store.ask("/p.jpg", "Range: \(range)")

    #expect(answer.status == status)
    #expect(answer["Content-Range"] == place)
    if let body { #expect(answer.text == body) }
  }

  @Test(arguments: [
    ("\"v1\"", 206), ("\"v2\"", 200), ("W/\"v1\"", 200),
    ("Sun, 06 Nov 1994 08:49:37 GMT", 206), ("Sun, 06 Nov 1994 08:49:38 GMT", 200),
  ])
  func `a range applies only to the representation that if-range names`(
    validator: String,
    status: Int
  ) throws {
    let answer = try store.ask("/p.jpg", "Range: bytes=0-3", "If-Range: \(validator)")

    #expect(answer.status == status)
    #expect(answer.body.count == (status == 206 ? 4 : 10))
  }

  @Test func `head ignores ranges`() throws {
    let answer = try store.ask("/p.jpg", "Range: bytes=0-3", method: "HEAD")

    #expect((answer.status, answer["Content-Length"]) == (200, "10"))
  }
}
