import Base
import Cache
import Transport

/// The place that a run's documents come from: the network, or answers that another run recorded.
///
/// A document is a page of a section, or a detail. A detail describes one item, beyond its entry in a section.
///
/// A sync that many machines share begins with a run that plans it and records the answers to its requests. The run
/// that merges the results at the end reads these answers instead of sending requests.
package enum DocumentOrigin: Sendable {
  /// Requests to the shop's servers.
  case origins
  /// Requests to the shop's servers. The closure also records each answer: it is called with a ``DocumentAnswer`` as a
  /// line of JSON, and then, if the answer has a body, with the body and a line feed. One thread calls it.
  case kept(@Sendable ([UInt8]) -> Void)
  /// No requests, but the answers that another run recorded.
  case given(any GivenDocuments)
}

/// The answers that one run received and recorded, for another run that would send the same requests.
package protocol GivenDocuments: Sendable {
  /// The answer to the request for a document.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - most: The maximum size of the body.
  ///   - take: Called with each piece of the body.
  /// - Returns: The answer; nil if none was recorded.
  /// - Throws: ``TransferFailure`` if the body is larger than `most`, and errors of the file system.
  func answer(
    to document: DocumentID,
    most: ByteCount,
    take: (ArraySlice<UInt8>) -> Void
  ) throws -> DocumentAnswer?
}

/// The recorded outcome of a request for a document.
///
/// The outcome is a failure, or the part of the document's row in the index that comes from the server, such as its
/// header fields for caching.
package struct DocumentAnswer: Codable, Sendable {
  /// The failure of a request, without secrets.
  struct Failure: Codable {
    var reason: String
    var url: String
    var detail: String
    var attempts: Int
    var status: Int?
    var retryAfter: Int64?
    var isHostOfDataOnly: Bool
    /// The header fields of the failed response.
    ///
    /// They can say how long larder is allowed to cache the failure.
    var headers: String
  }

  /// The document's name in the index.
  ///
  /// If the request is a GET, it is the document's URL.
  ///
  /// `reader` is the name of its decoder.
  var url: String
  var reader: String
  /// The number of requests, retries included.
  var attempts: Int
  /// The length in bytes of the body, after decompression.
  package var bytes: Int?
  /// The URL that the body was fetched from, after redirects.
  var base: String?
  var response: String?
  var expiry: Int64?
  /// The URL of the next page, from the `Link` header field.
  var link: String?
  var failure: Failure?

  /// The document.
  package var document: DocumentID { DocumentID(url: url, reader: reader) }

  /// Makes the record of a reply; nil if the status of the reply is 304.
  ///
  /// The run that plans a shared sync never receives a 304, because its requests have no conditions.
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

  /// Turns the record back into the reply.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - parser: The URL parser.
  /// - Returns: The reply.
  /// - Throws: ``TransferFailure`` when the recorded base URL is malformed.
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
  /// Records a reply, if this run records answers.
  func keep(_ reply: DocumentReply, to request: DocumentRequest, attempts: Int) {
    guard case .kept(let append) = documents,
      let answer = DocumentAnswer(reply, to: request, attempts: attempts),
      // Encoding cannot fail, because only NaN and infinity cannot be encoded and the record has no floating-point
      // fields.
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

  /// The reply that another run recorded for this request.
  func given(_ request: DocumentRequest, by answers: any GivenDocuments) -> DocumentReply {
    let url = request.source.redacted
    do {
      var spool = BodySpool(in: layout)
      let answer = try answers.answer(to: request.row.id, most: SyncOptions.jsonLimit) { piece in
        piece.withUnsafeBytes { spool.append($0) }
      }
      guard let answer else {
        return .failed(
          TransferFailure(
            reason: .notPlanned,
            url: url,
            detail: "the plan has no recorded response for this document"
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
