import Base
import Catalog
import Transport

/// A response that was fetched for inspection: one page of a list of items, or the document about one item.
package struct ProbedPage: Sendable {
  /// The body, decompressed.
  package let body: [UInt8]
  /// The URL that relative picture URLs in the page refer to; nil if there is none.
  package fileprivate(set) var base: WebURL?
  /// The URL of the next page, from the `Link` header field; nil if the field names none.
  package let nextLink: String?
}

/// Fetches the first pages of sections, the details of single items, and the first bytes of pictures, without a cache.
///
/// A section is a list of items. A detail is the document about one item, with more data than the item has in a
/// section. `catalog init` and `catalog check` use this type.
///
/// URLs, header fields, variables and hosts with private addresses are treated as in a sync. The methods block.
package final class CatalogProbe: Sendable {
  private let request: RunRequest?
  private let named: NamedOrigins
  private let credentials: Headers
  private let secrets: RunSecrets
  private let transport: any Fetching

  /// The size of the largest response to accept.
  package static let limit = ByteCount.mebibytes(64)

  /// Prepares to fetch sections and details of a catalog.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - folder: The folder of the catalog file.
  ///   - environment: The environment variables that replace `${NAME}` in headers and URLs.
  ///   - now: The clock.
  ///   - transport: The transport that sends the requests.
  /// - Throws: ``LarderError`` when an address cannot be used. ``CatalogError`` for other mistakes in the catalog file.
  package init(
    _ catalog: CatalogFile,
    folder: String,
    environment: [String: String],
    now: @escaping @Sendable () -> UnixTime,
    transport: any Fetching
  ) throws {
    let request: RunRequest
    do {
      request = try RunRequest(
        catalog,
        folder: folder,
        options: SyncOptions(),
        environment: environment,
        parser: transport,
        now: now
      )
    } catch let error as TransferFailure {
      throw LarderError(error)
    }
    self.request = request
    (named, credentials, secrets) = (request.named, request.credentials, request.secrets)
    self.transport = request.transport(over: transport) { false }
  }

  /// Prepares to fetch from a URL that the user names, without a catalog file.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - headers: The headers to send to the URL's origin.
  ///   - transport: The transport that sends the requests.
  package init(
    naming url: WebURL,
    headers: [(name: String, value: String)] = [],
    transport: any Fetching
  ) {
    var given = Headers()
    for (name, value) in headers { given[name] = value }
    var named = NamedOrigins()
    named.allowCredentials(url)
    named.pictureHeaders = PictureHeaders(catalog: given)
    (self.named, credentials) = (named, given)
    secrets = RunSecrets(given, named, .none)
    self.transport = transport
    request = nil
  }

  /// The URL or path of the section at a position in the catalog file, without secrets.
  package func name(ofSource position: Int) -> String {
    request?.sections[position].redacted ?? ""
  }

  /// Fetches the first page of the section at a position in the catalog file.
  ///
  /// - Parameters:
  ///   - position: The section's position, from 0.
  ///   - read: Reads a local file.
  /// - Returns: The page.
  /// - Throws: ``LarderError`` when it cannot be fetched; errors of `read`.
  package func page(
    ofSource position: Int,
    reading read: (String) throws -> [UInt8]
  ) throws -> ProbedPage {
    guard let request else {
      throw Self.absence(TransferFailure(reason: .urlInvalid, url: ""))
    }
    var page = try page(of: request.sections[position], reading: read)
    page.base = request.catalog.mapping(ofSource: position)
      .pictureBase(catalog: request.addresses.localBase, document: page.base)
    return page
  }

  /// Fetches the detail of an item.
  ///
  /// If one document has the details of all items, fetches that document.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - read: Reads a local file.
  /// - Returns: The document; nil if the catalog file has no `detail`.
  /// - Throws: ``LarderError`` when it cannot be fetched; errors of `read`.
  package func detail(
    of item: StoreItem,
    reading read: (String) throws -> [UInt8]
  ) throws -> ProbedPage? {
    guard let request, let rule = request.catalog.detail else { return nil }
    let source: DocumentSource
    do throws(TransferFailure) {
      source = try request.addresses.detail(of: item.id, item.placeValues, by: rule)
    } catch {
      throw Self.absence(error)
    }
    var page = try page(of: source, reading: read)
    // A detail is JSON, never an HTML page.
    page.base = request.addresses.localBase ?? page.base
    return page
  }

  private func page(
    of source: DocumentSource,
    reading read: (String) throws -> [UInt8]
  ) throws -> ProbedPage {
    switch source {
    case .file(let path):
      return ProbedPage(
        body: try Self.plain(read(path), of: "file:" + path),
        base: request?.addresses.localBase,
        nextLink: nil
      )
    case .web, .query: return try page(requesting: source)
    }
  }

  /// Decompresses a body, and converts JSON Lines to an array, so that a decoder can read it.
  private static func plain(
    _ body: [UInt8],
    of url: String,
    _ response: Response? = nil
  ) throws(LarderError) -> [UInt8] {
    do throws(TransferFailure) {
      return try PackedBody.plain(
        DocumentBody(body),
        of: url,
        name: response?.head.url.text,
        type: response?.head.headers["Content-Type"],
        sent: response.flatMap { $0.head.isEncoded ? $0.wireBytes : nil },
        limit: limit
      ).inMemory
    } catch {
      throw absence(error)
    }
  }

  /// Fetches the page at a URL.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - body: The JSON body of a POST. Pass nil to send a GET.
  /// - Returns: The page.
  /// - Throws: ``LarderError`` when it cannot be fetched.
  package func page(at url: WebURL, posting body: String? = nil) throws(LarderError) -> ProbedPage
  {
    guard let body else { return try page(requesting: .web(url)) }
    let query = DocumentQuery(url, RequestRule(method: .post, body: body), filling: [:])
    return try page(requesting: .query(query))
  }

  private func page(requesting source: DocumentSource) throws(LarderError) -> ProbedPage {
    guard var request = Request(document: source, from: named, credentials: credentials) else {
      throw Self.absence(TransferFailure(reason: .urlInvalid, url: source.redacted))
    }
    request.priority = .section
    request.bodyLimit = Self.limit
    let sink = MemorySink()
    switch transport.result(of: request, into: sink) {
    case .failure(let failure):
      let hasHeaders = !credentials.isEmpty
      throw Self.absence(failure.explained(request, hasHeaders: hasHeaders, hiding: secrets))
    case .success(let response):
      return ProbedPage(
        body: try Self.plain(sink.bytes, of: response.head.url.redacted, response),
        base: response.head.url,
        nextLink: response.head.headers.nextLink
      )
    }
  }

  private static func absence(_ failure: TransferFailure) -> LarderError {
    LarderError(.unavailable, failure.description, status: failure.status)
  }

  /// The error, with the secrets of the request redacted.
  package func veiled(_ error: CatalogError) -> CatalogError {
    var error = error
    error.reason = secrets.applied(to: error.reason)
    return error
  }

  /// Fetches the first bytes of a picture on a page.
  ///
  /// - Parameters:
  ///   - text: The picture's URL as the page has it. It can be relative.
  ///   - base: The URL of the page. If the catalog file has no `base`, a relative URL is resolved against it.
  /// - Returns: At least 512 bytes; fewer if the body is shorter or the transfer failed.
  /// - Throws: ``LarderError`` when it cannot be fetched.
  package func beginning(
    ofPicture text: String,
    relativeTo base: WebURL?
  ) throws(LarderError) -> [UInt8] {
    let url: WebURL
    do throws(TransferFailure) {
      url = try transport.parse(text, relativeTo: base)
    } catch {
      throw Self.absence(error)
    }
    let sink = MemorySink(most: 512, refusesRest: true)
    let result = transport.result(of: named.pictureRequest(for: url), into: sink)
    let bytes = sink.bytes
    if case .failure(let failure) = result, bytes.isEmpty { throw Self.absence(failure) }
    return bytes
  }
}
