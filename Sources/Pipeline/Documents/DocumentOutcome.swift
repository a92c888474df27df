import Base
import Cache
import Transport

/// A request for a document, together with the version that is in the cache.
///
/// A document is a page of a section, which is a list of items, or the detail of an item, which has more data than the
/// item has in a section.
struct DocumentRequest: Sendable {
  /// The URL, query or file.
  let source: DocumentSource
  /// The name of the document's decoder.
  ///
  /// The index stores a document once for each decoder of its URL.
  let reader: String
  /// A digest of the rules for decoding the document.
  ///
  /// The catalog file gives these rules, which are called the mapping.
  let mapping: Int64
  /// The cached version; nil if the cache has no version, or if it was decoded with another mapping.
  var held: DocumentEntry?
  /// Whether the cache also has the decoded form of the cached version.
  ///
  /// If so, a response with the same bytes is not decoded again.
  var isDecoded = true
  /// Whether the next page is the one that a `Link` header field names.
  var followsLink = false

  /// A row for the document that has no data yet.
  var row: DocumentEntry { DocumentEntry(url: source.name, reader: reader, mapping: mapping) }
}

/// The outcome of a request for a document.
enum DocumentOutcome: Sendable {
  /// The cached version is current, because the server confirmed it or sent the same bytes again. The row has the new
  /// header fields for caching.
  case stands(DocumentEntry)
  /// The request failed, and the cached version is used, because its `stale-if-error` directive allows that. (RFC 5861,
  /// section 4)
  case excused(DocumentEntry, TransferFailure)
  /// New bytes were received, and must be decoded. `base` is the URL that references in them are relative to. The row
  /// describes the new bytes.
  case new(DocumentBody, base: WebURL?, DocumentEntry)
  /// The document could not be fetched.
  case failed(TransferFailure)
}

// The outcomes of the three kinds of answers. Sections and details share these decisions.
extension DocumentRequest {
  /// The outcome of a failed request.
  ///
  /// `traits` are the request's header fields and credentials that the response can depend on; nil if the document is a
  /// file.
  func failed(
    _ failure: TransferFailure,
    at now: UnixTime,
    for traits: CacheKeyFields?
  ) -> DocumentOutcome {
    guard let held, failure.isExcused(by: held.response, at: now, for: traits) else {
      return .failed(failure)
    }
    return .excused(held, failure)
  }

  /// The outcome of a 304 with the given header fields for caching; nil if there is no version that it can be about.
  func confirmed(by stored: StoredResponse?) -> DocumentOutcome? {
    guard let stored, var document = held else { return nil }
    document.response = stored.word
    document.expiry = stored.expiry
    return .stands(document)
  }

  /// The outcome of a response with a body, which is compared with the cached version.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - base: Its URL after redirects.
  ///   - stored: The header fields for caching; nil if there are none, for example for a local file. Each use of the
  ///     body then needs a request.
  ///   - link: The URL of the next page from the `Link` header field.
  ///   - now: The current time.
  /// - Returns: The outcome.
  func received(
    _ body: DocumentBody,
    from base: WebURL?,
    _ stored: StoredResponse? = nil,
    link: String? = nil,
    at now: UnixTime
  ) -> DocumentOutcome {
    var document = row
    if followsLink { document.next = link }
    document.response = stored?.word
    document.expiry = stored?.expiry ?? 0
    document.digest = body.digest
    document.fetched = now
    guard let held, isDecoded, held.digest == document.digest, held.came(from: base) else {
      return .new(body, base: base ?? source.base, document)
    }
    document.next = held.next
    // These are the bytes that the cache received then. Without header fields for caching, this time is also that of the
    // last request, by which details that wait are sorted.
    if stored != nil { document.fetched = held.fetched ?? now }
    return .stands(document)
  }
}

extension TransferFailure {
  /// The failure of a request that the server answered with 304, although the cache has no earlier version.
  static func notModified(_ url: String, attempts: Int = 0) -> TransferFailure {
    TransferFailure(
      reason: .badResponse,
      url: url,
      detail: "the server answered 304, but the cache has no earlier version",
      attempts: attempts,
      status: 304
    )
  }

  /// Whether the document does not exist, because the server answered 404 or 410, or there is no such file.
  var saysThereIsNone: Bool { status == 404 || status == 410 || reason == .noSuchFile }

  /// Whether this is an answer that shops send to a request for a page after the last one.
  var endsListing: Bool {
    guard let status, reason == .http(status) else { return false }
    return [204, 400, 404, 410, 416].contains(status)
  }
}

extension Index {
  /// The row of a document; nil if it was never fetched, or was decoded by other rules than those in the catalog file.
  func held(
    _ source: DocumentSource,
    reader: String,
    mapping: Int64
  ) throws(LarderError) -> DocumentEntry? {
    let held = try document(source.name, reader: reader)
    return held?.mapping == mapping ? held : nil
  }
}
