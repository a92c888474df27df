import Base
import Cache
import Testing
import Transport

@testable import Pipeline

/// A table of replies to requests for documents, each with its expected outcome.
struct DocumentOutcomeTests {
  private static let now = UnixTime(1_800_000_000)
  private static let body: [UInt8] = [123, 125]
  private static let page = WebURL(scheme: .https, host: "a.example", path: "/page")
  private static let elsewhere = WebURL(scheme: .https, host: "b.example", path: "/page")
  private static let traits = CacheKeyFields(
    fields: [:],
    credentials: [:],
    digest: ContentDigest.number(of:)
  )

  /// The stored header fields of a response that was received a minute ago.
  private static func word(_ control: String, tag: String = "\"1\"") -> StoredResponse {
    var headers = Headers()
    headers.append("Cache-Control", control)
    headers.append("ETag", tag)
    let head = ResponseHead(status: 200, headers: headers, url: page)
    let then = now + -60
    return StoredResponse(head, requestTime: then, responseTime: then, traits: traits)
  }

  private static let excusing = word("max-age=1, stale-if-error=3600")
  private static let strict = word("max-age=1")
  private static let new = word("max-age=600", tag: "\"2\"")

  private static func request(held word: StoredResponse?, of body: [UInt8] = body)
    -> DocumentRequest
  {
    var request = DocumentRequest(source: .web(page), reader: "shop\tsections", mapping: 7)
    guard let word else { return request }
    var held = request.row
    held.response = word.word
    held.expiry = word.expiry
    held.digest = ContentDigest.number(of: body)
    held.fetched = now + -60
    held.next = "https://a.example/page?2"
    request.held = held
    return request
  }

  /// An answer to a request.
  enum Reply: Sendable {
    case body(DocumentBody, base: WebURL?, word: StoredResponse?)
    case unchanged(word: StoredResponse)
    case failed(TransferFailure)
  }

  private static func failed(_ reason: FailureReason, status: Int? = nil) -> Reply {
    .failed(TransferFailure(reason: reason, url: "u", attempts: 3, status: status))
  }

  /// An outcome as text for the table.
  private static func words(_ outcome: DocumentOutcome?, _ held: DocumentEntry?) -> String {
    func row(_ document: DocumentEntry) -> String {
      let word =
        document.response == new.word
        ? "new word"
        : document == held ? "as it was" : document.response == nil ? "no word" : "other"
      let fetched = document.fetched == now ? ", fetched now" : ""
      return word + fetched + (document.next == nil ? "" : ", next page")
    }
    switch outcome {
    case .stands(let document): return "stands: " + row(document)
    case .excused(let document, let failure): return "excused \(failure.reason): " + row(document)
    case .new(let bytes, let base, let document):
      return "new: \(bytes.count) bytes, \(base?.text ?? "no base"), " + row(document)
    case .failed(let failure): return "failed: \(failure.reason)"
    case nil: return "none"
    }
  }

  /// A row of the table.
  struct Case: Sendable {
    var request: DocumentRequest
    var reply: Reply
    var outcome: String
  }

  static let cases: [Case] = {
    let held = request(held: strict)
    var undecoded = held
    undecoded.isDecoded = false
    let same = Reply.body(DocumentBody(body), base: page, word: new)
    let other = Reply.body(DocumentBody([91, 93, 10]), base: elsewhere, word: new)
    let aPage = "https://a.example/page"
    return [
      // The cached version is used after a failure only if the failure is temporary and stale-if-error allows it.
      Case(request: request(held: nil), reply: failed(.reset), outcome: "failed: reset"),
      Case(request: held, reply: failed(.reset), outcome: "failed: reset"),
      Case(
        request: request(held: excusing),
        reply: failed(.reset),
        outcome: "excused reset: as it was, next page"
      ),
      Case(
        request: request(held: excusing),
        reply: failed(.http(503), status: 503),
        outcome: "excused http-503: as it was, next page"
      ),
      Case(
        request: request(held: excusing),
        reply: failed(.http(404), status: 404),
        outcome: "failed: http-404"
      ),
      // 304 replies.
      Case(
        request: held,
        reply: .unchanged(word: new),
        outcome: "stands: new word, next page"
      ),
      Case(
        request: undecoded,
        reply: .unchanged(word: new),
        outcome: "stands: new word, next page"
      ),
      Case(
        request: request(held: nil),
        reply: .unchanged(word: new),
        outcome: "none"
      ),
      // Equal bytes count as unchanged only if they came from the same URL and their decoded form is cached.
      Case(request: held, reply: same, outcome: "stands: new word, next page"),
      // The answer to a POST has no stored header fields, so this time alone says when it came.
      Case(
        request: held,
        reply: .body(DocumentBody(body), base: page, word: nil),
        outcome: "stands: no word, fetched now, next page"
      ),
      Case(
        request: undecoded,
        reply: same,
        outcome: "new: 2 bytes, \(aPage), new word, fetched now"
      ),
      Case(
        request: held,
        reply: .body(DocumentBody(body), base: elsewhere, word: new),
        outcome: "new: 2 bytes, https://b.example/page, new word, fetched now"
      ),
      Case(
        request: request(held: strict, of: [91, 93]),
        reply: same,
        outcome: "new: 2 bytes, \(aPage), new word, fetched now"
      ),
      // New bytes, with the base URL for their references.
      Case(
        request: request(held: nil),
        reply: same,
        outcome: "new: 2 bytes, \(aPage), new word, fetched now"
      ),
      Case(
        request: held,
        reply: other,
        outcome: "new: 3 bytes, https://b.example/page, new word, fetched now"
      ),
      Case(
        request: held,
        reply: .body(DocumentBody([91, 93, 10]), base: nil, word: new),
        outcome: "new: 3 bytes, \(aPage), new word, fetched now"
      ),
    ]
  }()

  @Test(arguments: cases)
  func `each reply has one outcome`(_ row: Case) {
    let request = row.request

    let outcome =
      switch row.reply {
      case .body(let body, let base, let word):
        request.received(body, from: base, word, at: Self.now)
      case .unchanged(let word): request.confirmed(by: word)
      case .failed(let failure): request.failed(failure, at: Self.now, for: Self.traits)
      }

    #expect(Self.words(outcome, request.held) == row.outcome)
  }
}
