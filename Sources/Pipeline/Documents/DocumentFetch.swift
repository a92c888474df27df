import Base
import Cache
import Catalog
import Glibc
import Transport

/// The place that a document comes from.
///
/// A document is a page of a section, which is a list of items, or the detail of an item, which has more data than the
/// item has in a section.
enum DocumentSource: Hashable, Sendable {
  /// A fixed URL.
  case web(WebURL)
  /// A POST, or a URL with placeholders such as `{page}`. Before each request, values replace the placeholders.
  case query(DocumentQuery)
  /// A file that the catalog file names.
  case file(String)

  /// The text that names the document in the index, for example its URL.
  var name: String {
    switch self {
    case .web(let url): url.text
    case .query(let query): query.name
    case .file(let path): "file:" + path
    }
  }

  /// The URL or path without secrets, for messages.
  var redacted: String {
    switch self {
    case .web(let url): url.redacted
    case .query(let query): query.url.redacted
    case .file(let path): "file:" + path
    }
  }

  var host: HostPort? { base?.hostPort }

  /// The document's URL, or nil if the document is a file.
  ///
  /// The URL is also the base of relative references in the document.
  var base: WebURL? {
    switch self {
    case .web(let url): url
    case .query(let query): query.url
    case .file: nil
    }
  }

  /// The HTTP method.
  var method: RequestRule.Method {
    if case .query(let query) = self { query.request.method } else { .get }
  }

  /// The source with another URL, and the same method and body.
  func moved(to url: WebURL) -> DocumentSource {
    if case .query(let query) = self { .query(query.moved(to: url)) } else { .web(url) }
  }

  /// If the rule is a POST, returns a POST to this URL with the given values in its placeholders.
  ///
  /// Otherwise returns the source itself.
  func asked(
    by request: RequestRule?,
    filling values: [Placeholder: String]
  ) -> DocumentSource {
    guard case .web(let url) = self, let request, request.method == .post else { return self }
    return .query(DocumentQuery(url, request, filling: values))
  }
}

extension RunContext {
  /// Fetches a document, and compares the answer with the version in the cache.
  ///
  /// A GET is conditional if the cached version has an ETag or a Last-Modified date.
  ///
  /// `completion` is called once, on the work queue.
  func fetch(
    _ document: DocumentRequest,
    priority: Request.Priority,
    completion: @escaping @Sendable (DocumentOutcome) -> Void
  ) {
    if case .file(let path) = document.source {
      return work.async {
        switch read(path) {
        case .success(let body): completion(document.received(body, from: localBase, at: now()))
        case .failure(let failure): completion(document.failed(failure, at: now(), for: nil))
        }
      }
    }
    guard let traits = needs.traits(of: document.source),
      var request = Request(document: document.source, from: named, credentials: credentials)
    else {
      let failure = TransferFailure(reason: .urlInvalid, url: document.source.redacted)
      return work.async { completion(.failed(failure)) }
    }
    request.priority = priority
    request.bodyLimit = SyncOptions.jsonLimit
    if case .revalidate(let condition) = needs.question(about: document.held, document.source) {
      request.condition = condition
    }
    let sink = BodyBuffer(in: layout)
    let (asked, sent) = (now(), request)
    transport.fetch(request, into: sink) { result in
      work.async {
        let outcome: DocumentOutcome
        switch result {
        case .success(let response): outcome = answer(response, sink, document, asked, traits)
        case .failure(let failure):
          let hasHeaders = !catalog.headers.isEmpty
          let failure = failure.explained(sent, hasHeaders: hasHeaders, hiding: secrets)
          outcome = document.failed(failure, at: now(), for: traits)
        }
        if case .excused(_, let failure) = outcome { failures.count(attempts: failure.attempts) }
        completion(outcome)
      }
    }
  }

  private func answer(
    _ response: Response,
    _ sink: BodyBuffer,
    _ document: DocumentRequest,
    _ asked: UnixTime,
    _ traits: CacheKeyFields
  ) -> DocumentOutcome {
    let (head, now) = (response.head, now())
    failures.count(attempts: response.attempts)
    if response.isNotModified {
      let stored = document.held.flatMap {
        StoredResponse(
          renewing: $0.response,
          by: head,
          asked: asked,
          answered: now,
          traits: traits
        )
      }
      let failure = TransferFailure.notModified(head.url.redacted, attempts: response.attempts)
      return document.confirmed(by: stored) ?? document.failed(failure, at: now, for: traits)
    }
    if head.status == 204 {
      var failure = TransferFailure(
        reason: .http(204),
        url: head.url.redacted,
        detail: "no content",
        attempts: response.attempts
      )
      failure.status = 204
      return document.failed(failure, at: now, for: traits)
    }
    // The answer to a POST is not stored with header fields for caching, so that every run sends the POST again. (RFC
    // 9110, section 9.3.3)
    let stored =
      document.source.method == .post
      ? nil : StoredResponse(head, requestTime: asked, responseTime: now, traits: traits)
    let sent = head.isEncoded ? response.wireBytes : nil
    switch plain(sink.take(), of: head.url.redacted, head, sent: sent) {
    case .success(let body):
      return document.received(body, from: head.url, stored, link: head.headers.nextLink, at: now)
    case .failure(let failure): return document.failed(failure, at: now, for: traits)
    }
  }

  /// Reads a local file.
  private func read(_ path: String) -> Result<DocumentBody, TransferFailure> {
    func failure(
      _ detail: String,
      _ reason: FailureReason = .fileUnreadable
    ) -> Result<DocumentBody, TransferFailure> {
      .failure(TransferFailure(reason: reason, url: "file:" + path, detail: detail))
    }
    // O_NONBLOCK keeps `open` from blocking if the path is a FIFO.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      return errno == ENOENT
        ? failure("", .noSuchFile) : failure(systemMessage(errno))
    }
    let (file, limit) = (OpenFile(path, descriptor: descriptor), SyncOptions.jsonLimit)
    var spool = BodySpool(in: layout)
    do throws(LarderError) {
      guard let stamp = try file.regularStamp() else {
        return failure("it is not a regular file")
      }
      // Count the bytes too, because the file can grow while it is read.
      let count =
        try stamp.bytes > limit
        ? stamp.bytes
        : file.forEachPiece(upTo: limit + 1) { $0.withUnsafeBytes { spool.append($0) } }
      guard count <= limit else {
        return failure("it is larger than \(limit) bytes", .tooLarge)
      }
    } catch {
      return failure(systemMessage(error.errno ?? EIO))
    }
    return plain(spool.take(), of: "file:" + path, nil)
  }

  /// Decompresses a body, and converts JSON Lines to an array.
  private func plain(
    _ body: DocumentBody,
    of url: String,
    _ head: ResponseHead?,
    sent: ByteCount? = nil
  ) -> Result<DocumentBody, TransferFailure> {
    Result { () throws(TransferFailure) in
      try PackedBody.plain(
        body,
        of: url,
        name: head?.url.text,
        type: head?.headers["Content-Type"],
        sent: sent,
        limit: SyncOptions.jsonLimit,
        in: layout
      )
    }
  }
}

/// A request that needs more than a fixed URL: a POST, or a GET of a URL with placeholders such as `{page}`.
struct DocumentQuery: Hashable, Sendable {
  /// The URL with its placeholders, in a form that a URL parser accepts.
  private let template: WebURL
  /// The method and the body of the request.
  let request: RequestRule
  /// The values of the placeholders.
  private(set) var values: [Placeholder: String]
  /// The URL with its placeholders filled.
  ///
  /// Variables such as `${TOKEN}` are not expanded, because their values can be secret.
  private(set) var url: WebURL
  private var variables = URLSecrets.none

  /// Makes a query at a URL without placeholders; `values` are for the placeholders in the body.
  init(_ url: WebURL, _ request: RequestRule, filling values: [Placeholder: String]) {
    template = url
    self.request = request
    self.values = values
    self.url = url
  }

  /// Makes a query at a URL with placeholders.
  ///
  /// - Parameters:
  ///   - template: The URL, with placeholders as ``Placeholder/closed(_:_:)`` returns them.
  ///   - request: The method and the body of the request.
  ///   - values: The values of the placeholders.
  ///   - variables: The variables whose values are replaced with `${NAME}` in the URL and the name.
  ///   - parser: The URL parser.
  /// - Throws: ``TransferFailure`` if the filled text is not a URL.
  init(
    template: WebURL,
    _ request: RequestRule,
    filling values: [Placeholder: String],
    hiding variables: URLSecrets,
    _ parser: any URLParsing
  ) throws(TransferFailure) {
    self.init(template, request, filling: values)
    self.variables = variables
    let text = Placeholder.fill(
      url: Placeholder.reopened(template.text, values.keys),
      with: values
    )
    if text != template.text {
      url = variables.veiled(try parser.parse(text, relativeTo: template))
    }
  }

  /// The same query for another page.
  ///
  /// - Parameters:
  ///   - kept: The value that selects the page, in the form that the index stores; see ``NextPage``.
  ///   - place: The placeholder that gets the value.
  ///   - parser: The URL parser.
  /// - Returns: The query.
  /// - Throws: ``TransferFailure`` if the filled text is not a URL.
  func page(
    kept: String,
    at place: Placeholder,
    _ parser: any URLParsing
  ) throws(TransferFailure) -> DocumentQuery {
    var values = values
    values[place] = variables.cursor(kept: kept)
    return try DocumentQuery(
      template: template,
      request,
      filling: values,
      hiding: variables,
      parser
    )
  }

  /// The same query at another URL.
  func moved(to url: WebURL) -> DocumentQuery {
    var query = self
    query.url = url
    return query
  }

  /// The body of the request; nil if the request is a GET.
  var body: [UInt8]? {
    request.method == .post ? request.body(filling: values) : nil
  }

  /// The document's name in the index.
  ///
  /// No two documents of one section, or of the details, have the same name.
  ///
  /// The name of a POST contains the values of its placeholders, for example `POST https://shop.example/graphql
  /// page=2`. It need not contain the body, because a change of the body in the catalog file makes all documents
  /// outdated.
  var name: String {
    guard request.method == .post else { return url.text }
    let pairs = values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      "\($0.key.rawValue)=\(PercentEncoding.escaped(variables.kept(cursor: $0.value)))"
    }
    return (["POST", url.text] + pairs).joined(separator: " ")
  }
}

/// The text that names the next page in the index.
///
/// It is a URL, or a space and the value for the placeholder of the page, for example ` 2`.
enum NextPage {
  /// The text for a value.
  ///
  /// Its leading space distinguishes it from a URL.
  static func text(for value: String) -> String { " " + value }

  /// The value in such a text; nil if the text is a URL.
  static func value(in text: String) -> String? {
    text.hasPrefix(" ") ? String(text.dropFirst()) : nil
  }
}
