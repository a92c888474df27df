import Base
import Testing

@testable import Transport

/// The failures that are retried, how often, and after which delay.
@Suite struct RetryPolicyTests {
  static func failure(
    _ reason: FailureReason,
    status: Int? = nil,
    retryAfter: Int64? = nil
  ) -> TransferFailure {
    var failure = TransferFailure(reason: reason, url: "", status: status)
    failure.retryAfter = retryAfter
    return failure
  }

  /// RFC 9110, sections 9.2.2 and 15.
  @Test(arguments: [
    (408, true), (425, true), (429, true), (500, true), (502, true), (503, true), (504, true),
    (507, true), (599, true), (400, false), (401, false), (404, false), (410, false), (501, false),
    (505, false), (302, false), (600, false),
  ])
  func `a status that may be temporary is retried`(_ status: Int, _ retried: Bool) {
    #expect(RetryPolicy.mayPass(Self.failure(.http(status), status: status)) == retried)
  }

  @Test(
    arguments: [
      (.connectRefused, true), (.timeoutConnect, true), (.timeoutIdle, true), (.reset, true),
      (.truncated, true), (.dnsFailed, true), (.addressRefused, false), (.tlsHost, false),
      (.tlsExpired, false), (.tooLarge, false), (.notAPicture, false), (.cancelled, false),
      (.deadline, false), (.redirectLoop, false), (.urlInvalid, false), (.disk, false),
      (.lengthMismatch, false),
    ] as [(FailureReason, Bool)]
  )
  func `a failure that may be temporary is retried`(_ reason: FailureReason, _ retried: Bool) {
    #expect(RetryPolicy.mayPass(Self.failure(reason)) == retried)
  }

  @Test func `a truncated 200 is retried by its reason, not by its status`() {
    #expect(RetryPolicy.mayPass(Self.failure(.truncated, status: 200)))
    #expect(!RetryPolicy.mayPass(Self.failure(.notAPicture, status: 503)))
  }

  @Test(arguments: [
    (1, 0.0, 0), (1, 0.5, 250), (1, 0.999, 499), (2, 0.999, 999), (3, 0.5, 1000), (4, 0.5, 2000),
  ])
  func `delays double and are jittered over their whole length`(
    _ attempts: Int,
    _ random: Double,
    _ milliseconds: Int64
  ) throws {
    let delay = RetryPolicy().delay(
      after: Self.failure(.reset),
      attempts: attempts,
      isRepeatable: true,
      random: random
    )

    #expect(delay.map { $0.wholeNanoseconds / 1_000_000 } == milliseconds)
  }

  @Test func `no delay grows without bound`() {
    var policy = RetryPolicy()
    policy.retries = .max

    let delay = policy.delay(
      after: Self.failure(.reset),
      attempts: 1_000_000,
      isRepeatable: true,
      random: 1
    )

    #expect(delay == .seconds(30))
  }

  @Test(arguments: [(0, 0), (7, 7), (60, 60), (61, nil), (Int64.max, nil)] as [(Int64, Int64?)])
  func `a Retry-After is respected up to a minute`(_ asked: Int64, _ waited: Int64?) {
    let delay = RetryPolicy().delay(
      after: Self.failure(.http(503), status: 503, retryAfter: asked),
      attempts: 1,
      isRepeatable: true,
      random: 0
    )

    #expect(delay == waited.map { .seconds($0) })
  }

  @Test func `after its retries a request is given up`() {
    let policy = RetryPolicy()
    func decide(_ attempts: Int) -> Duration? {
      policy.delay(
        after: Self.failure(.reset),
        attempts: attempts,
        isRepeatable: true,
        random: 0
      )
    }

    #expect(decide(4) == .zero)
    #expect(decide(5) == nil)
  }

  @Test func `a request that may not be repeated never is`() {
    let delay = RetryPolicy().delay(
      after: Self.failure(.connectRefused),
      attempts: 1,
      isRepeatable: false,
      random: 0
    )

    #expect(delay == nil)
  }

  @Test(arguments: [(0, 20), (9, 20), (10, 21), (1000, 120)])
  func `a run's retries are limited to a tenth of its requests and twenty`(
    _ requests: Int,
    _ retries: Int
  ) {
    var budget = RetryBudget()
    for _ in 0..<requests { budget.countRequest() }

    var taken = 0
    while budget.take() { taken += 1 }

    #expect(taken == retries)
  }

  @Test(arguments: [(4, 20), (20, 20), (21, 21), (100, 100), (.max, .max)])
  func `one request gets all the retries that it was given`(_ retries: Int, _ least: Int) {
    var policy = RetryPolicy()
    policy.retries = retries
    var budget = RetryBudget(policy)

    var taken = 0
    while taken < 200, budget.take() { taken += 1 }

    #expect(taken == min(least, 200))
  }

  /// RFC 9110, section 15.4.
  @Test func `redirects are judged hop by hop`() {
    func url(_ scheme: WebURL.Scheme, _ path: String) -> WebURL {
      WebURL(scheme: scheme, host: "h", path: path)
    }
    let many = (0...10).map { url(.http, "/\($0)") }

    #expect(RedirectPolicy.refusal(of: url(.https, "/b"), after: [url(.http, "/a")]) == nil)
    #expect(
      RedirectPolicy.refusal(of: url(.http, "/b"), after: [url(.https, "/a")])
        == .redirectDowngrade
    )
    #expect(
      RedirectPolicy.refusal(of: url(.http, "/a"), after: [url(.http, "/a")]) == .redirectLoop
    )
    #expect(RedirectPolicy.refusal(of: url(.http, "/x"), after: Array(many.prefix(10))) == nil)
    #expect(RedirectPolicy.refusal(of: url(.http, "/x"), after: many) == .tooManyRedirects)
    #expect(
      [300, 301, 302, 303, 304, 305, 306, 307, 308].filter(RedirectPolicy.isRedirect) == [
        301, 302, 303, 307, 308,
      ]
    )
  }

  /// RFC 9110, section 15.3.7.
  @Test(
    arguments: [
      (206, ["Content-Range": "bytes 5-9/10", "ETag": "\"1\""], true),
      (206, ["Content-Range": "bytes 5-9/*", "ETag": "\"1\""], true),
      (200, ["Content-Range": "bytes 5-9/10", "ETag": "\"1\""], false),
      (206, ["Content-Range": "bytes 4-9/10", "ETag": "\"1\""], false),
      (206, ["Content-Range": "bytes 5-8/10", "ETag": "\"1\""], false),
      (206, ["Content-Range": "bytes 5-10/11", "ETag": "\"1\""], false),
      (206, ["Content-Range": "bytes 5-8/*", "ETag": "\"1\""], false),
      (206, ["Content-Range": "bytes 5-9/10", "ETag": "\"2\""], false),
      (206, ["Content-Range": "bytes 5-9/10", "ETag": "W/\"1\""], false),
      (206, ["Content-Range": "bytes 5-9/10"], false), (206, ["ETag": "\"1\""], false),
    ] as [(Int, Headers, Bool)]
  )
  func `a partial answer continues the stored bytes only if it proves to be of the same version`(
    _ status: Int,
    _ headers: Headers,
    _ continues: Bool
  ) {
    let head = ResponseHead(
      status: status,
      headers: headers,
      url: WebURL(scheme: .http, host: "h"),
      contentLength: nil
    )

    let point = ResumePoint(offset: 5, validator: "\"1\"", whole: 10)
    #expect((point.remainder(by: head) != nil) == continues)
  }
}
