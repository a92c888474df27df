import CurlTransport
import Testing
import Transport

@testable import Orders

/// The outcome of an attempt for each response of the webhook.
@Suite struct AttemptOutcomeTests {
  @Test(arguments: [
    ("ok", "delivered"), ("ok\n", "delivered"), (" ok ", "delivered"),
    ("", "unknown reply-not-ok"),
    ("OK", "unknown reply-not-ok"), ("okay", "unknown reply-not-ok"),
    ("<html>Sign in</html>", "unknown reply-not-ok"), ("ok\u{301}", "unknown reply-not-ok"),
    ("no_service", "stopped http-200 no_service"),
    ("invalid_payload", "refused http-200 invalid_payload"),
  ])
  func `Slack has taken a message only with the answer ok`(_ body: String, _ words: String) throws
  {
    let outcome = AttemptOutcome.judge(try success(), reply: Array(body.utf8), payload: .slack)

    #expect(outcome.words == words)
  }

  @Test(arguments: ["", "ok", "<html>", "no_service"])
  func `for a program any 2xx is enough`(_ body: String) throws {
    let outcome = AttemptOutcome.judge(try success(), reply: Array(body.utf8), payload: .json)

    #expect(outcome == .delivered)
  }

  @Test(arguments: [
    (400, "", "refused http-400"), (413, "", "refused http-413"), (422, "", "refused http-422"),
    (401, "", "stopped http-401"), (403, "", "stopped http-403"), (404, "", "stopped http-404"),
    (410, "", "stopped http-410"), (301, "", "failed http-301"), (307, "", "failed http-307"),
    (408, "", "failed http-408"), (409, "", "failed http-409"), (429, "", "failed http-429"),
    (500, "", "failed http-500"), (501, "", "failed http-501"), (503, "", "failed http-503"),
    (500, "invalid_payload", "refused http-500 invalid_payload"),
    (404, "no_service", "stopped http-404 no_service"),
    (400, "invalid_blocks", "refused http-400 invalid_blocks"),
    (404, "channel_not_found\n", "stopped http-404 channel_not_found"),
    (400, "Your_Token is x", "refused http-400"),
    (403, "invalid_token", "stopped http-403 invalid_token"),
    (410, "channel_is_archived", "stopped http-410 channel_is_archived"),
    (403, "action_prohibited", "stopped http-403 action_prohibited"),
    (500, "no_such_word", "failed http-500"), (500, "ok", "failed http-500"),
    (502, "", "unknown http-502"), (504, "", "unknown http-504"), (302, "", "unknown http-302"),
    (502, "no_service", "stopped http-502 no_service"), (503, "busy", "failed http-503"),
  ])
  func `a word of Slack in the body decides the outcome, and otherwise the status does`(
    _ status: Int,
    _ body: String,
    _ words: String
  ) {
    var failure = TransferFailure(reason: .http(status), url: "", status: status)
    failure.mayHaveBeenSent = true
    failure.refusal = Array(body.utf8)

    let outcome = AttemptOutcome.judge(.failure(failure), reply: [], payload: .slack)

    #expect(outcome.words == words)
  }

  /// The table itself lists which statuses may be retried at once, and why.
  @Test func `every status has one meaning`() {
    let expected: [(String, [ClosedRange<Int>])] = [
      ("refused", [400...400, 413...413, 422...422]),
      ("stopped", [401...401, 403...404, 410...410]),
      (
        "failed",
        [
          301...301, 307...308, 402...402, 405...409, 411...412, 414...421, 423...459, 461...498,
          500...501, 503...503, 505...508, 510...511, 521...521, 523...523, 525...526,
        ]
      ),
      (
        "unknown",
        [
          100...199, 300...300, 302...306, 309...399, 460...460, 499...499, 502...502, 504...504,
          509...509, 512...520, 522...522, 524...524, 527...999,
        ]
      ),
    ]
    var seen: Set<Int> = []

    for (meaning, ranges) in expected {
      for status in ranges.joined() {
        let failure = TransferFailure(reason: .http(status), url: "", status: status)
        let outcome = AttemptOutcome.judge(.failure(failure), reply: [], payload: .json)
        #expect(outcome.words == "\(meaning) http-\(status)")
        seen.insert(status)
      }
    }

    #expect(seen == Set(100...199).union(300...999))
  }

  @Test(arguments: [
    (
      "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
      "unknown http-503"
    ),
    ("no healthy upstream", "failed http-503"), ("", "failed http-503"),
  ])
  func `a gateway's 503 that may have passed the order on is ambiguous`(
    _ body: String,
    _ words: String
  ) {
    var failure = TransferFailure(reason: .http(503), url: "", status: 503, mayHaveBeenSent: true)
    failure.refusal = Array(body.utf8)

    let outcome = AttemptOutcome.judge(.failure(failure), reply: [], payload: .json)

    #expect(outcome.words == words)
  }

  @Test(arguments: [
    (FailureReason.reset, true, "unknown reset"), (.timeoutTotal, true, "unknown timeout-total"),
    (.badResponse, true, "unknown bad-response"), (.cancelled, true, "unknown cancelled"),
    (.cancelled, false, "unsent"), (.dnsFailed, false, "failed dns-failed"),
    (.connectRefused, false, "failed connect-refused"), (.tlsHost, false, "failed tls-host"),
    (.timeoutConnect, false, "failed timeout-connect"),
  ])
  func `without an answer the outcome depends on what was sent`(
    _ reason: FailureReason,
    _ wasSent: Bool,
    _ words: String
  ) {
    let failure = TransferFailure(reason: reason, url: "", mayHaveBeenSent: wasSent)

    for payload in PayloadKind.allCases {
      let outcome = AttemptOutcome.judge(.failure(failure), reply: [], payload: payload)
      #expect(outcome.words == words)
    }
  }

  @Test(arguments: [
    ("", PayloadKind.slack, "unknown truncated"), ("o", .slack, "unknown truncated"),
    ("ok", .slack, "delivered"), ("<h", .slack, "unknown reply-not-ok"),
    ("no_service", .slack, "stopped http-200 no_service"), ("", .json, "delivered"),
    ("<h", .json, "delivered"),
  ])
  func `a 2xx that breaks off is judged by the bytes received`(
    _ body: String,
    _ payload: PayloadKind,
    _ words: String
  ) {
    let failure = TransferFailure(
      reason: .truncated,
      url: "",
      status: 200,
      mayHaveBeenSent: true
    )

    let outcome = AttemptOutcome.judge(
      .failure(failure),
      reply: Array(body.utf8),
      payload: payload
    )

    #expect(outcome.words == words)
  }

  private func success() throws -> Result<Response, TransferFailure> {
    let url = try CurlURLParser().parse("https://hooks.example/", relativeTo: nil)
    let head = ResponseHead(status: 200, headers: [:], url: url)
    return .success(Response(head: head, bodyBytes: 0, wireBytes: 0))
  }
}
