import Base
import Cache
import Catalog
import Glibc
import Transport

/// The source of a document, which is a section's page or an item's detail.
enum DocumentSource: Hashable, Sendable {
  /// A fixed URL.
  case web(WebURL)
  /// A POST, or a URL with placeholders that each request fills.
  case query(DocumentQuery)
  /// A file that the catalog file names.
  case file(String)

  /// The text that names the document in the index and in reports.
  var name: String {
    switch self {
    case .web(let url): url.text
    case .query(let query): query.name
    case .file(let path): "file:" + path
    }
  }

  /// The name without secrets.
  var redacted: String {
    switch self {
    case .web(let url): url.redacted
    case .query(let query): query.url.redacted
    case .file(let path): "file:" + path
    }
  }

  /// The host that the document is fetched from; nil for a file.
  var host: HostPort? { base?.hostPort }

  /// The base URL of relative references in the document; nil for a file.
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

  /// The document at another URL, with the same kind of request.
  func moved(to url: WebURL) -> DocumentSource {
    if case .query(let query) = self { .query(query.moved(to: url)) } else { .web(url) }
  }

  /// The source with a rule's request, and these values in the placeholders; the source itself if the rule is a GET.
  func asked(
    by request: RequestRule?,
    filling values: [Placeholder: String]
  ) -> DocumentSource {
    guard case .web(let url) = self, let request, request.method == .post else { return self }
    return .query(DocumentQuery(url, request, filling: values))
  }
}

/// The result of a request for a document, before it is compared with the cached version.
enum DocumentReply: Sendable {
  /// A body, its URL after redirects, its caching fields, and its link to the next page.
  case body(DocumentBody, base: WebURL?, word: StoredHeaders, link: String? = nil)
  /// The cached version is current.
  case unchanged(word: StoredHeaders)
  /// The document is not available.
  case failed(TransferFailure)
}

extension RunContext {
  /// Fetches a document, and compares the reply with the cached version.
  ///
  /// A GET is conditional if the cached version has validators.
  ///
  /// `completion` is called once, on the work queue.
  func fetch(
    _ document: DocumentRequest,
    priority: Request.Priority,
    completion: @escaping @Sendable (DocumentOutcome) -> Void
  ) {
    let held = document.held
    switch document.source {
    case .file(let path):
      work.async { completion(document.outcome(of: read(path), at: now(), for: nil)) }
    case .web, .query:
      guard let traits = needs.traits(of: document.source),
        var request = Request(document: document.source, from: named, credentials: credentials)
      else {
        let failure = TransferFailure(reason: .urlInvalid, url: document.source.redacted)
        return work.async { completion(.failed(failure)) }
      }
      @Sendable func end(_ reply: DocumentReply) {
        let outcome = document.outcome(of: reply, at: now(), for: traits)
        if case .excused(_, let failure) = outcome { failures.count(attempts: failure.attempts) }
        completion(outcome)
      }
      if case .given(let answers) = documents {
        return work.async { end(given(document, by: answers)) }
      }
      request.priority = priority
      request.bodyLimit = options.jsonLimit
      if case .revalidate(let condition) = needs.question(about: held, document.source) {
        request.condition = condition
      }
      let isPost = request.method == .post
      let sink = BodyBuffer(in: layout)
      let asked = now()
      let sent = request
      transport.fetch(request, into: sink) { result in
        work.async {
          let reply = reply(
            result.mapError {
              $0.explained(sent, hasHeaders: !catalog.headers.isEmpty, hiding: secrets)
            },
            sink,
            held,
            asked,
            traits,
            isPost: isPost
          )
          keep(reply, to: document, attempts: (try? result.get())?.attempts ?? 0)
          end(reply)
        }
      }
    }
  }

  private func reply(
    _ result: Result<Response, TransferFailure>,
    _ sink: BodyBuffer,
    _ held: DocumentEntry?,
    _ asked: UnixTime,
    _ traits: CacheKeyFields,
    isPost: Bool
  ) -> DocumentReply {
    switch result {
    case .failure(let failure):
      return .failed(failure)
    case .success(let response):
      failures.count(attempts: response.attempts)
      if response.isNotModified {
        let word = held.flatMap {
          StoredHeaders(
            renewing: $0.response,
            by: response.head,
            asked: asked,
            answered: now(),
            traits: traits
          )
        }
        guard let word else {
          return .failed(
            .notModified(response.head.url.redacted, attempts: response.attempts)
          )
        }
        return .unchanged(word: word)
      }
      // The answer to a POST is not cached, so every run sends the POST again. (RFC 9110, section 9.3.3)
      let word =
        isPost
        ? StoredHeaders.none
        : StoredHeaders(response.head, asked: asked, answered: now(), traits: traits)
      let sent = response.head.isEncoded ? response.wireBytes : nil
      return plain(sink.take(), of: response.head.url.redacted, response.head, sent: sent) {
        body in
        .body(body, base: response.head.url, word: word, link: response.head.headers.nextLink)
      }
    }
  }

  /// Reads a local document in full.
  private func read(_ path: String) -> DocumentReply {
    func failure(_ detail: String, _ reason: FailureReason = .fileUnreadable) -> DocumentReply {
      .failed(TransferFailure(reason: reason, url: "file:" + path, detail: detail))
    }
    // Open with O_NONBLOCK, because opening a FIFO would block the run.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      return errno == ENOENT
        ? failure("", .noSuchFile) : failure(systemMessage(errno))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return failure("it is not a regular file")
    }
    guard ByteCount(status.st_size) <= options.jsonLimit else {
      return failure("it is larger than \(options.jsonLimit) bytes", .tooLarge)
    }
    var spool = BodySpool(in: layout)
    var room = [UInt8](repeating: 0, count: BodySpool.piece)
    while true {
      let count: Int
      do throws(SystemError) {
        count = try Files.read(descriptor, into: &room)
      } catch {
        return failure(systemMessage(error.code))
      }
      if count == 0 { break }
      room.withUnsafeBytes { spool.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      // The file may grow while it is read.
      guard ByteCount(spool.count) <= options.jsonLimit else {
        return failure("it is larger than \(options.jsonLimit) bytes", .tooLarge)
      }
    }
    return plain(spool.take(), of: "file:" + path, nil) { body in
      .body(body, base: localBase, word: StoredHeaders.none)
    }
  }

  /// The reply with the body as the decoder needs it: decompressed, and JSON Lines converted to an array.
  private func plain(
    _ body: DocumentBody,
    of url: String,
    _ head: ResponseHead?,
    sent: ByteCount? = nil,
    _ reply: (DocumentBody) -> DocumentReply
  ) -> DocumentReply {
    do throws(PackedBody.Fault) {
      let plain = try PackedBody.plain(
        body,
        name: head?.url.text ?? url,
        type: head?.headers["Content-Type"],
        sent: sent,
        limit: options.jsonLimit,
        in: layout
      )
      return reply(plain)
    } catch {
      return .failed(error.failure(of: url))
    }
  }
}

extension FailureReason {
  /// A local file that the catalog file names cannot be read.
  package static let fileUnreadable = FailureReason(rawValue: "file-unreadable")
  /// The catalog file names a local file that does not exist.
  package static let noSuchFile = FailureReason(rawValue: "no-such-file")
  /// A body that is not JSON, or not of the shape that the mapping expects.
  package static let undecodable = FailureReason(rawValue: "undecodable")
}

/// A request that needs more than a fixed URL: a POST, or a URL with placeholders such as `{page}`.
struct DocumentQuery: Hashable, Sendable {
  /// The URL with its placeholders in a form that a URL parser accepts.
  private let template: WebURL
  /// The method and the body of the request.
  let request: RequestRule
  /// The values of the placeholders.
  private(set) var values: [Placeholder: String]
  /// The URL with its placeholders filled, but its secret variables not expanded.
  private(set) var url: WebURL
  private var variables = URLSecrets.none

  /// A query at a URL without placeholders; `values` are for the placeholders in the body.
  init(_ url: WebURL, _ request: RequestRule, filling values: [Placeholder: String]) {
    template = url
    self.request = request
    self.values = values
    self.url = url
  }

  /// A query at a URL with placeholders.
  ///
  /// - Parameters:
  ///   - template: The URL, with placeholders as ``Placeholder/closed(_:_:)`` returns them.
  ///   - request: The method and the body of the request.
  ///   - values: The values of the placeholders.
  ///   - variables: Variables whose values the URL and the name must not contain.
  ///   - parser: The URL parser.
  /// - Throws: ``TransferFailure`` when the filled text is not a URL.
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
  ///   - kept: The page's value as the index stores it; see ``NextPage``.
  ///   - place: The placeholder that gets the value.
  ///   - parser: The URL parser.
  /// - Returns: The query.
  /// - Throws: ``TransferFailure`` when the filled text is not a URL.
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

  /// The body; nil for a GET.
  var body: [UInt8]? {
    request.method == .post ? request.body(filling: values) : nil
  }

  /// The document's name in the index, unique among the documents with the same reader (decoder).
  ///
  /// The name has the values of the placeholders, but not the body. A change of the body's template changes the
  /// mapping's digest.
  var name: String {
    guard request.method == .post else { return url.text }
    let pairs = values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      "\($0.key.rawValue)=\(PercentEncoding.escaped(variables.kept(cursor: $0.value)))"
    }
    return (["POST", url.text] + pairs).joined(separator: " ")
  }
}

/// The next page as the index stores it: a URL, or a space and the value of the page placeholder.
enum NextPage {
  /// The text for a value; the leading space distinguishes it from a URL.
  static func text(for value: String) -> String { " " + value }

  /// The value in a stored text; nil for a URL.
  static func value(in text: String) -> String? {
    text.hasPrefix(" ") ? String(text.dropFirst()) : nil
  }
}
