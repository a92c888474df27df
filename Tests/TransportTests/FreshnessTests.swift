import Testing

@testable import Transport

/// RFC 9111, section 4.2.
@Suite struct FreshnessTests {
  static let then = UnixTime(1_800_000_000)

  static func stored(
    _ headers: Headers,
    status: Int = 200,
    took: Int64 = 0,
    request: Headers = [:]
  ) -> StoredResponse {
    StoredResponse(
      status: status,
      headers: headers,
      requestTime: then + -took,
      responseTime: then,
      request: request
    )
  }

  static func ago(_ seconds: Int64) -> String { (then + -seconds).httpDate }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let headers: Headers
    var took: Int64 = 0
    var status = 200
    /// Seconds after the response came that it stays fresh; nil never is.
    let fresh: Int64?

    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "max-age (4.2.1)", headers: ["Cache-Control": "max-age=60"], fresh: 60),
    Case(
      name: "max-age outranks Expires (5.3)",
      headers: ["Cache-Control": "max-age=60", "Expires": ago(-999)],
      fresh: 60
    ),
    Case(
      name: "s-maxage is for shared caches (5.2.2.10)",
      headers: ["Cache-Control": "s-maxage=60"],
      fresh: nil
    ),
    Case(name: "Expires (5.3)", headers: ["Expires": ago(-90), "Date": ago(0)], fresh: 90),
    Case(name: "Expires without Date", headers: ["Expires": ago(-90)], fresh: 90),
    Case(name: "Expires 0 is past (5.3)", headers: ["Expires": "0", "Date": ago(0)], fresh: nil),
    Case(name: "Expires in the past", headers: ["Expires": ago(5)], fresh: nil),
    Case(
      name: "Expires by the server's clock, not ours (4.2.1)",
      headers: ["Expires": ago(-3690), "Date": ago(-3600)],
      fresh: 90
    ),
    Case(
      name: "an Age is taken off (4.2.3)",
      headers: ["Cache-Control": "max-age=60", "Age": "20"],
      fresh: 40
    ),
    Case(
      name: "an old Date is taken off (4.2.3)",
      headers: ["Cache-Control": "max-age=60", "Date": ago(20)],
      fresh: 40
    ),
    Case(
      name: "the delay is taken off (4.2.3)",
      headers: ["Cache-Control": "max-age=60"],
      took: 20,
      fresh: 40
    ),
    Case(
      name: "Age and delay add up (4.2.3)",
      headers: ["Cache-Control": "max-age=60", "Age": "20"],
      took: 20,
      fresh: 20
    ),
    Case(
      name: "an Age over the lifetime",
      headers: ["Cache-Control": "max-age=60", "Age": "61"],
      fresh: nil
    ),
    Case(
      name: "an Age that is endless",
      headers: ["Cache-Control": "max-age=60", "Age": "99999999999999999999"],
      took: 9,
      fresh: nil
    ),
    Case(
      name: "an Age that is junk",
      headers: ["Cache-Control": "max-age=60", "Age": "x"],
      fresh: 60
    ),
    Case(
      name: "a tenth of the unchanged time (4.2.2)",
      headers: ["Last-Modified": ago(1000), "Date": ago(0)],
      fresh: 100
    ),
    Case(
      name: "a guess is at most a day",
      headers: ["Last-Modified": ago(900_000_000)],
      fresh: FreshnessPolicy.longestGuess
    ),
    Case(name: "Last-Modified in the future", headers: ["Last-Modified": ago(-1000)], fresh: nil),
    Case(
      name: "no guess for statuses that allow none (RFC 9110, 15.1)",
      headers: ["Last-Modified": ago(1000)],
      status: 201,
      fresh: nil
    ),
    Case(name: "nothing said", headers: [:], fresh: nil),
    Case(
      name: "no-cache (5.2.2.4)",
      headers: ["Cache-Control": "max-age=60, no-cache"],
      fresh: nil
    ),
    Case(
      name: "no-store (5.2.2.5)",
      headers: ["Cache-Control": "max-age=60, no-store"],
      fresh: nil
    ),
    Case(
      name: "a lifetime beyond all years",
      headers: ["Cache-Control": "max-age=99999999999999999999"],
      fresh: FreshnessPolicy.longestLifetime
    ),
    Case(
      name: "immutable has its lifetime too (RFC 8246)",
      headers: ["Cache-Control": "max-age=60, immutable"],
      fresh: 60
    ),
    Case(name: "max-age=0", headers: ["Cache-Control": "max-age=0"], fresh: nil),
  ]

  @Test(arguments: cases)
  func `a response is fresh for as long as the RFC says`(_ test: Case) {
    var headers = test.headers
    headers.append("ETag", "\"1\"")
    let stored = Self.stored(headers, status: test.status, took: test.took)
    let validators = Validators(entityTag: "\"1\"", lastModified: headers["Last-Modified"])

    if let fresh = test.fresh {
      let end = Self.then + fresh
      #expect(stored.expiry == end)
      #expect(stored.freshness(at: Self.then) == .fresh(until: end))
      #expect(stored.freshness(at: end + -1) == .fresh(until: end))
      #expect(stored.freshness(at: end) == .revalidate(validators))
    } else {
      #expect(stored.expiry <= Self.then)
      #expect(stored.freshness(at: Self.then) == .revalidate(validators))
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1_799_990_000, 4_000_000_000, Int64.max])
  func `a clock that jumps never makes an old response fresh`(_ now: Int64) {
    let stored = Self.stored(["Cache-Control": "max-age=3600", "ETag": "\"1\""])

    #expect(
      stored.freshness(at: UnixTime(now))
        == .revalidate(Validators(entityTag: "\"1\"", lastModified: nil))
    )
  }

  @Test(arguments: [Int64.min, -62_167_219_200, 0, 253_402_300_799, Int64.max])
  func `a response stored under any clock is judged without a trap`(_ stored: Int64) {
    for headers in Self.cases.map(\.headers) {
      let response = StoredResponse(
        status: 200,
        headers: headers,
        requestTime: UnixTime(stored),
        responseTime: UnixTime(stored),
        request: [:]
      )
      for now in [Int64.min, 0, 1_800_000_000, Int64.max] {
        _ = response.freshness(at: UnixTime(now))
        _ = response.mayStandIn(at: UnixTime(now))
      }
      #expect(response.freshWindow.lowerBound <= response.freshWindow.upperBound)
    }
  }

  @Test func `a clock set back a little changes nothing`() {
    let stored = Self.stored(["Cache-Control": "max-age=60"])

    #expect(stored.freshness(at: Self.then + -300) == .fresh(until: Self.then + 60))
    #expect(stored.freshness(at: Self.then + -301) == .refetch)
    #expect(stored.freshWindow == Self.then + -300..<Self.then + 60)
  }

  @Test func `a request times that contradict each other do no harm`() {
    let stored = StoredResponse(
      status: 200,
      headers: ["Cache-Control": "max-age=60"],
      requestTime: Self.then,
      responseTime: Self.then + -5000
    )

    #expect(stored.expiry == Self.then + 60)
  }

  @Test func `without validators there is nothing to ask`() {
    let stored = Self.stored([:])

    #expect(stored.freshness(at: Self.then) == .refetch)
    #expect(freshness(of: stored, at: Self.then) == .refetch)
    #expect(freshness(of: nil, at: Self.then) == .refetch)
    #expect(conditionalHeaders(for: nil).isEmpty)
  }

  @Test func `a conditional request names both validators`() {
    let stored = Self.stored(["ETag": "W/\"1\"", "Last-Modified": Self.ago(10)])

    #expect(
      conditionalHeaders(for: stored).fields == [
        HeaderField(name: "If-None-Match", value: "W/\"1\""),
        HeaderField(name: "If-Modified-Since", value: Self.ago(10)),
      ]
    )
  }

  /// RFC 9111, section 4.1.
  @Test func `another request's response is fetched again`() {
    let stored = Self.stored(
      ["Cache-Control": "max-age=60", "Vary": "Accept", "ETag": "\"1\""],
      request: ["Accept": "a", "X": "1"]
    )

    #expect(stored.selectingHeaders == ["Accept": "a"])
    #expect(
      stored.freshness(at: Self.then, request: ["Accept": "a"]) == .fresh(until: stored.expiry)
    )
    #expect(stored.freshness(at: Self.then, request: ["Accept": "b"]) == .refetch)
  }

  /// RFC 9111, section 4.2.4; RFC 5861, section 4.
  @Test(arguments: [
    ("max-age=10", 1000, true), ("max-age=10, must-revalidate", 5, true),
    ("max-age=10, must-revalidate", 10, false), ("no-cache", 0, false),
    ("max-age=10, stale-if-error=20", 29, true), ("max-age=10, stale-if-error=20", 30, false),
    ("max-age=10, stale-if-error=99999999999999999999", 1_000_000_000, true),
  ])
  func `a stale response stands in unless that is forbidden`(
    _ control: String,
    _ later: Int64,
    _ may: Bool
  ) {
    let stored = Self.stored(["Cache-Control": control])

    #expect(stored.mayStandIn(at: Self.then + later) == may)
  }

  /// RFC 5861, section 4, and RFC 9111, section 4.2.4.
  @Test(
    arguments: [
      ("max-age=60", 0, false), ("max-age=60, stale-if-error=30", 0, true),
      ("max-age=60, stale-if-error=30", 89, true), ("max-age=60, stale-if-error=30", 90, false),
      ("max-age=60, stale-if-error=30, must-revalidate", 61, false),
      ("no-cache, stale-if-error=30", 1, false), ("no-store, stale-if-error=30", 1, false),
      ("stale-if-error=30", 29, true), ("stale-if-error", 1, false),
      ("max-age=60, stale-if-error=30", -86_400, false),
    ] as [(String, Int64, Bool)]
  )
  func `an error is excused only by the server's own word, and for as long as that holds`(
    _ control: String,
    _ later: Int64,
    _ isExcused: Bool
  ) {
    let stored = Self.stored(["Cache-Control": control])

    #expect(stored.excusesError(at: Self.then + later) == isExcused)
  }

  /// RFC 9111, sections 3.2 and 4.3.4.
  @Test func `a 304 renews what it repeats and keeps what describes the body`() throws {
    let stored = Self.stored([
      "ETag": "\"1\"", "Cache-Control": "max-age=1", "Content-Type": "image/png",
      "Content-Length": "9", "Age": "5", "X-Old": "o",
    ])

    let renewed = try #require(
      stored.renewed(
        by: [
          "ETag": "\"1\"", "Cache-Control": "max-age=100", "Content-Length": "0",
          "Content-Type": "text/html", "Connection": "X-Hop", "X-Hop": "h",
        ],
        requestTime: Self.then + 50,
        responseTime: Self.then + 50
      )
    )

    #expect(renewed.expiry == Self.then + 150)
    #expect(renewed.headers["Content-Length"] == "9")
    #expect(renewed.headers["Content-Type"] == "image/png")
    #expect(renewed.headers["X-Old"] == "o")
    #expect(renewed.headers["X-Hop"] == nil)
    #expect(renewed.headers["Age"] == nil)
  }

  @Test(
    arguments: [
      (["ETag": "\"1\""], true), (["ETag": "W/\"1\""], true), (["ETag": "\"2\""], false),
      ([:], true),
      (["Last-Modified": ago(10)], true), (["Last-Modified": ago(9)], false),
    ] as [(Headers, Bool)]
  )
  func `a 304 of another version renews nothing`(_ notModified: Headers, _ renews: Bool) {
    let stored = Self.stored(["ETag": "\"1\"", "Last-Modified": Self.ago(10)])

    let renewed = stored.renewed(
      by: notModified,
      requestTime: Self.then,
      responseTime: Self.then
    )

    #expect((renewed != nil) == renews)
  }
}
