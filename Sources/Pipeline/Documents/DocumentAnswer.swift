import Base
import Cache
import Transport

/// Where the documents of a run come from.
package enum DocumentOrigin: Sendable {
  /// Their origins.
  case origins
  /// Their origins. Every answer is appended to a file: a ``DocumentAnswer`` as a line of JSON, and where it has a body
  /// that and a line feed. One thread calls.
  case kept(@Sendable ([UInt8]) -> Void)
  /// Another run, which had them for this one.
  case given(any GivenDocuments)
}

/// The answers that a run had for another.
package protocol GivenDocuments: Sendable {
  /// The answer to the request for a document.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - most: The most bytes of its body.
  ///   - take: Given the body, piece by piece.
  /// - Returns: The answer; nil when there is none.
  /// - Throws: ``TransferFailure`` when the body is longer; errors of the file system.
  func answer(
    to document: DocumentID,
    most: ByteCount,
    take: (ArraySlice<UInt8>) -> Void
  ) throws -> DocumentAnswer?
}

/// How a request for a document ended: its row of the index as far as the origin decides it, or why it failed.
package struct DocumentAnswer: Codable, Sendable {
  /// A failure, without secrets.
  struct Failure: Codable {
    var reason: String
    var url: String
    var detail: String
    var attempts: Int
    var status: Int?
    var retryAfter: Int64?
    var isHostOfDataOnly: Bool
    /// The fields of a refusal, which say how long it holds.
    var headers: String
  }

  /// The document's name and its reader, as the index has them.
  var url: String
  var reader: String
  /// How many requests brought it.
  var attempts: Int
  /// The length of the body, unpacked.
  package var bytes: Int?
  /// The URL that it came from.
  var base: String?
  var response: String?
  var expiry: Int64?
  /// The link to the next page.
  var link: String?
  var failure: Failure?

  /// The document.
  package var document: DocumentID { DocumentID(url: url, reader: reader) }

  /// The answer of a reply; nil where the held version is current, which no plan has.
  init?(_ reply: DocumentReply, to request: DocumentRequest, attempts: Int) {
    (url, reader, self.attempts) = (request.source.name, request.reader, attempts)
    switch reply {
    case .unchanged: return nil
    case .body(let body, let base, let word, let link):
      bytes = body.count
      self.base = base?.text
      (response, expiry) = (word.text, word.expiry.seconds)
      self.link = link
    case .failed(let failed):
      var headers = failed.headers
      headers.remove("Set-Cookie")
      failure = Failure(
        reason: failed.reason.rawValue,
        url: failed.url,
        detail: failed.detail,
        attempts: failed.attempts,
        status: failed.status,
        retryAfter: failed.retryAfter,
        isHostOfDataOnly: failed.isHostOfDataOnly,
        headers: headers.text
      )
    }
  }

  /// The reply of the answer.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - parser: How URLs are read.
  /// - Returns: The reply.
  /// - Throws: ``TransferFailure`` when the URL that it came from is none.
  func reply(_ body: DocumentBody, _ parser: any URLParsing) throws(TransferFailure)
    -> DocumentReply
  {
    if let failure { return .failed(TransferFailure(failure)) }
    let base: WebURL?
    if let text = self.base { base = try parser.parse(text, relativeTo: nil) } else { base = nil }
    let word = StoredHeaders(text: response, expiry: UnixTime(expiry ?? 0))
    return .body(body, base: base, word: word, link: link)
  }
}

extension TransferFailure {
  fileprivate init(_ failure: DocumentAnswer.Failure) {
    self.init(
      reason: FailureReason(rawValue: failure.reason),
      url: failure.url,
      detail: failure.detail,
      attempts: failure.attempts,
      status: failure.status,
      retryAfter: failure.retryAfter
    )
    isHostOfDataOnly = failure.isHostOfDataOnly
    var text = failure.headers
    headers = text.withUTF8 { Headers(text: $0) }
  }
}

extension RunContext {
  /// Keeps the answer of a reply, where answers are kept.
  func keep(_ reply: DocumentReply, to request: DocumentRequest, attempts: Int) {
    guard case .kept(let append) = documents,
      let answer = DocumentAnswer(reply, to: request, attempts: attempts),
      // Only numbers that are no numbers cannot be encoded, and there are none.
      let line = try? answer.jsonLine()
    else { return }
    append(line + [10])
    guard case .body(let body, _, _, _) = reply else { return }
    do throws(LarderError) {
      try body.forEachPiece { append(Array($0)) }
    } catch {
      failures.note(error)
    }
    append([10])
  }

  /// The reply that another run had for this one.
  func given(_ request: DocumentRequest, by answers: any GivenDocuments) -> DocumentReply {
    let url = request.source.redacted
    do {
      var spool = BodySpool(in: layout)
      let answer = try answers.answer(to: request.row.id, most: options.jsonLimit) { piece in
        piece.withUnsafeBytes { spool.append($0) }
      }
      guard let answer else {
        return .failed(
          TransferFailure(
            reason: .notPlanned,
            url: url,
            detail: "the plan has no answer to this"
          )
        )
      }
      failures.count(attempts: answer.attempts)
      return try answer.reply(spool.take(), transport)
    } catch let failure as TransferFailure {
      return .failed(failure)
    } catch {
      return .failed(TransferFailure(reason: .disk, url: url, detail: "\(error)"))
    }
  }
}
