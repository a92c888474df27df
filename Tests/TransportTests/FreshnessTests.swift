import Base
import Testing

@testable import Transport

/// Freshness and validation of stored responses. (RFC 9111, section 4.2)
@Suite struct FreshnessTests {
  static let then = UnixTime(1_800_000_000)

  static func stored(
    _ headers: Headers,
    status: Int = 200,
    took: Int64 = 0,
    redirects: [Redirect] = [],
    traits: CacheKeyFields? = nil
  ) -> StoredResponse {
    StoredResponse(
      head(headers, status: status, redirects: redirects),
      requestTime: then + -took,
      responseTime: then,
      traits: traits
    )
  }

  static func head(
    _ headers: Headers,
    status: Int = 200,
    path: String = "/v1",
    redirects: [Redirect] = []
  ) -> ResponseHead {
    ResponseHead(
      status: status,
      headers: headers,
      url: WebURL(scheme: .https, host: "a.example", path: path),
      redirects: redirects
    )
  }

  /// The header fields of a request, with a simple digest.
  static func traits(_ fields: Headers, _ credentials: Headers = [:]) -> CacheKeyFields {
    CacheKeyFields(fields: fields, credentials: credentials) { bytes in
      Int64(bytes.reduce(7 as UInt64) { $0 &* 31 &+ UInt64($1) } & 0xFFFF_FFFF)
    }
  }

  static func ago(_ seconds: Int64) -> String { (then + -seconds).httpDate }

  @Test(arguments: cases)
  func `a response is fresh for as long as the RFC says`(_ test: Case) {
    var headers = test.headers
    headers.append("ETag", "\"1\"")
    let stored = Self.stored(headers, status: test.status, took: test.took)
    let condition = Condition(
      Validators(entityTag: "\"1\"", lastModified: headers["Last-Modified"])
    )

    if let fresh = test.fresh {
      let end = Self.then + fresh
      #expect(stored.expiry == end)
      #expect(stored.freshness(at: Self.then) == .fresh(until: end))
      #expect(stored.freshness(at: end + -1) == .fresh(until: end))
      #expect(stored.freshness(at: end) == .revalidate(condition))
    } else {
      #expect(stored.expiry <= Self.then)
      #expect(stored.freshness(at: Self.then) == .revalidate(condition))
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1_799_990_000, 4_000_000_000, Int64.max])
  func `a clock that jumps never makes an old response fresh`(_ now: Int64) {
    let stored = Self.stored(["Cache-Control": "max-age=3600", "ETag": "\"1\""])

    #expect(
      stored.freshness(at: UnixTime(now))
        == .revalidate(Condition(Validators(entityTag: "\"1\"", lastModified: nil)))
    )
  }

  @Test(arguments: [Int64.min, -62_167_219_200, 0, 253_402_300_799, Int64.max])
  func `a response stored under any clock is judged without a trap`(_ stored: Int64) {
    for headers in Self.cases.map(\.headers) {
      let response = StoredResponse(
        status: 200,
        headers: headers,
        requestTime: UnixTime(stored),
        responseTime: UnixTime(stored)
      )
      for now in [Int64.min, 0, 1_800_000_000, Int64.max] {
        _ = response.freshness(at: UnixTime(now))
        _ = response.excusesError(at: UnixTime(now))
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

  @Test(arguments: ["max-age=0", "no-cache", "max-age=60, no-store"])
  func `a response that arrived stale is stale under a clock set back a little too`(
    _ control: String
  ) {
    let stored = Self.stored(["Cache-Control": control])

    #expect(stored.freshWindow.isEmpty)
    for delta: Int64 in [-301, -300, -199, -1, 0] {
      #expect(stored.freshness(at: Self.then + delta) == .refetch)
    }
  }

  @Test func `contradicting request times do no harm`() {
    let stored = StoredResponse(
      status: 200,
      headers: ["Cache-Control": "max-age=60"],
      requestTime: Self.then,
      responseTime: Self.then + -5000
    )

    #expect(stored.expiry == Self.then + 60)
  }

  @Test func `without validators there is no conditional request`() {
    let stored = Self.stored([:])

    #expect(stored.freshness(at: Self.then) == .refetch)
    #expect(stored.condition == nil)
  }

  @Test func `a conditional request names both validators`() {
    let stored = Self.stored(["ETag": "W/\"1\"", "Last-Modified": Self.ago(10)])

    #expect(
      stored.validators.conditionalHeaders == [
        "If-None-Match": "W/\"1\"", "If-Modified-Since": Self.ago(10),
      ]
    )
  }

  /// RFC 9111, section 4.1.
  @Test func `a response to a different request is fetched again`() {
    let stored = Self.stored(
      ["Cache-Control": "max-age=60", "Vary": "Accept", "ETag": "\"1\""],
      traits: Self.traits(["Accept": "a", "X": "1"])
    )
    func judged(_ fields: Headers) -> Freshness {
      stored.freshness(at: Self.then, for: Self.traits(fields))
    }

    #expect(judged(["Accept": "a", "X": "2"]) == .fresh(until: stored.expiry))
    #expect(judged(["Accept": "b"]) == .refetch)
    #expect(judged([:]) == .refetch)
  }

  /// RFC 9111, sections 3.5 and 5.2.2.7.
  @Test(
    arguments: [
      ("private, max-age=60", ["token": "1"], ["token": "1"], true),
      ("private, max-age=60", ["token": "1"], ["token": "2"], false),
      ("max-age=60", ["token": "1"], ["token": "2"], false),
      ("max-age=60", ["token": "1"], [:], false), ("max-age=60", [:], ["token": "1"], false),
      ("max-age=60, public", ["token": "1"], ["token": "2"], true), ("max-age=60", [:], [:], true),
    ] as [(String, Headers, Headers, Bool)]
  )
  func `a response is for the credentials that it was requested with, unless it is public`(
    _ control: String,
    _ old: Headers,
    _ new: Headers,
    _ isTheirs: Bool
  ) {
    let stored = Self.stored(
      ["Cache-Control": control, "ETag": "\"1\""],
      traits: Self.traits(old, old)
    )

    let judged = stored.freshness(at: Self.then, for: Self.traits(new, new))

    #expect(judged == (isTheirs ? .fresh(until: stored.expiry) : .refetch))
  }

  /// RFC 9110, section 15.4, and RFC 9111, section 4.2.
  @Test(
    arguments: [
      ([(302, [:])], nil), ([(307, [:])], nil), ([(301, [:])], nil),
      ([(302, ["Cache-Control": "max-age=30"])], 30), ([(302, ["Expires": ago(-20)])], 20),
      ([(302, ["Last-Modified": ago(200)])], nil), ([(301, ["Last-Modified": ago(200)])], 20),
      ([(308, ["Last-Modified": ago(200)])], 20),
      ([(301, ["Cache-Control": "max-age=999"])], 60),
      ([(301, ["Cache-Control": "max-age=50"]), (302, ["Cache-Control": "max-age=40"])], 40),
      ([(301, ["Cache-Control": "max-age=50"]), (302, [:])], nil),
      ([(302, ["Cache-Control": "max-age=30", "Vary": "*"])], nil),
      ([(302, ["Cache-Control": "max-age=30, no-store"])], nil),
      ([(302, ["Cache-Control": "max-age=30", "Age": "10"])], 20),
    ] as [([(Int, Headers)], Int64?)]
  )
  func `a response is fresh only as long as every redirect to it`(
    _ redirects: [(Int, Headers)],
    _ fresh: Int64?
  ) {
    let stored = Self.stored(
      ["Cache-Control": "max-age=60", "ETag": "\"1\""],
      redirects: redirects.map { Redirect(status: $0, headers: $1) }
    )

    let condition = Condition(stored.validators, source: "https://a.example/v1")
    let expected = fresh.map { Freshness.fresh(until: Self.then + $0) } ?? .revalidate(condition)
    #expect(stored.freshness(at: Self.then) == expected)
  }

  @Test func `a redirect's Vary applies to the response`() {
    let redirect = Redirect(
      status: 302,
      headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    )
    let stored = Self.stored(
      ["Cache-Control": "max-age=60"],
      redirects: [redirect],
      traits: Self.traits(["Accept-Language": "ko"])
    )

    #expect(stored.answers(Self.traits(["Accept-Language": "ko"])))
    #expect(!stored.answers(Self.traits(["Accept-Language": "en"])))
  }

  /// RFC 5861, section 4, and RFC 9111, section 4.2.4.
  @Test(
    arguments: [
      ("max-age=60", 0, false), ("max-age=60, stale-if-error=30", 0, true),
      ("max-age=60, stale-if-error=30", 89, true), ("max-age=60, stale-if-error=30", 90, false),
      ("max-age=60, stale-if-error=30, must-revalidate", 5, true),
      ("max-age=60, stale-if-error=30, must-revalidate", 61, false),
      ("max-age=10, stale-if-error=99999999999999999999", 1_000_000_000, true),
      ("no-cache, stale-if-error=30", 1, false), ("no-store, stale-if-error=30", 1, false),
      ("stale-if-error=30", 29, true), ("stale-if-error", 1, false),
      ("max-age=60, stale-if-error=30", -86_400, false),
    ] as [(String, Int64, Bool)]
  )
  func `an error is excused only by stale-if-error, and for its time`(
    _ control: String,
    _ later: Int64,
    _ isExcused: Bool
  ) {
    let stored = Self.stored(["Cache-Control": control])

    #expect(stored.excusesError(at: Self.then + later) == isExcused)
  }

  /// RFC 9111, sections 3.2 and 4.3.4.
  @Test func `a 304 renews the fields it repeats and keeps the others`() throws {
    let stored = Self.stored([
      "ETag": "\"1\"", "Cache-Control": "max-age=1", "Vary": "Accept", "Age": "5", "X-Old": "o",
    ])

    let renewed = try #require(
      stored.renewed(
        by: Self.head([
          "ETag": "\"1\"", "Cache-Control": "max-age=100", "Content-Type": "text/html",
          "Connection": "Expires", "Expires": "0",
        ]),
        requestTime: Self.then + 50,
        responseTime: Self.then + 50
      )
    )

    #expect(renewed.expiry == Self.then + 150)
    #expect(
      renewed.headers == ["Vary": "Accept", "ETag": "\"1\"", "Cache-Control": "max-age=100"]
    )
  }

  @Test(
    arguments: [
      (["ETag": "\"1\""], true), (["ETag": "W/\"1\""], true), (["ETag": "\"2\""], false),
      ([:], true),
      (["Last-Modified": ago(10)], true), (["Last-Modified": ago(9)], false),
    ] as [(Headers, Bool)]
  )
  func `a 304 for another version renews nothing`(_ notModified: Headers, _ renews: Bool) {
    let stored = Self.stored(["ETag": "\"1\"", "Last-Modified": Self.ago(10)])

    let renewed = stored.renewed(
      by: Self.head(notModified),
      requestTime: Self.then,
      responseTime: Self.then
    )

    #expect((renewed != nil) == renews)
  }

  @Test func `a redirect's Vary is stored once, however often it is renewed`() throws {
    let redirect = Redirect(status: 302, headers: ["Vary": "Accept-Encoding, Cookie"])
    let url = WebURL(scheme: .https, host: "h.example")
    func head(_ status: Int) -> ResponseHead {
      ResponseHead(
        status: status,
        headers: ["ETag": "\"1\"", "Vary": "accept"],
        url: url,
        redirects: [redirect, redirect]
      )
    }
    var stored = StoredResponse(head(200), requestTime: Self.then, responseTime: Self.then)
    let first = stored.headers

    for _ in 0..<3 {
      stored = try #require(
        stored.renewed(by: head(304), requestTime: Self.then, responseTime: Self.then)
      )
    }

    #expect(first.all("Vary") == ["accept, accept-encoding, cookie"])
    #expect(stored.headers.all("Vary") == first.all("Vary"))
  }

  @Test func `a 304 without a date is dated by its arrival`() throws {
    let stored = Self.stored(["ETag": "\"1\"", "Cache-Control": "max-age=60", "Date": Self.ago(0)])

    let renewed = try #require(
      stored.renewed(
        by: Self.head([:]),
        requestTime: Self.then + 5000,
        responseTime: Self.then + 5000
      )
    )

    #expect(renewed.expiry == Self.then + 5060)
  }

  @Test func `a 304 after other redirects is fresh only as long as those`() throws {
    let stored = Self.stored(["ETag": "\"1\"", "Cache-Control": "max-age=60"])
    let head = Self.head(
      [:],
      status: 304,
      path: "/v2",
      redirects: [Redirect(status: 302, headers: ["Cache-Control": "max-age=9"])]
    )

    let renewed = stored.renewed(by: head, requestTime: Self.then, responseTime: Self.then)

    #expect(renewed?.expiry == Self.then + 9)
    #expect(renewed?.condition?.source == "https://a.example/v2")
  }
}
