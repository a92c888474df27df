import Base
import Catalog
import FoundationEssentials
import Synchronization
import Transport

/// The values of `${NAME}` in the URLs of a catalog file.
///
/// The values can be secret.
///
/// Every URL that a run handles, stores or shows has `${NAME}` instead of the value in its path and query. Only
/// ``SecretTransport`` inserts the value, when it sends a request. It also replaces the values with `${NAME}` in the
/// header fields and URLs of responses, before other code sees them. ``RunContext`` does the same with the URLs that a
/// body contains.
///
/// Fetched data cannot make larder send a value, because ``defused(_:)`` escapes `${` in it. Host names are not hidden,
/// because DNS and TLS show them anyway.
struct URLSecrets: Hashable, Sendable {
  /// The values by name; none is empty.
  let values: [String: String]

  /// No variables.
  static let none = URLSecrets(values: [:])

  var isEmpty: Bool { values.isEmpty }

  /// Inserts the values into a URL, so that it can be sent.
  func revealed(_ url: WebURL, _ parser: any URLParsing) throws(TransferFailure) -> WebURL {
    let text = revealed(url.text)
    guard text != url.text else { return url }
    return try parser.parse(text, relativeTo: nil).with(userInfo: url.userInfo)
  }

  /// Inserts the values into the text of a URL.
  func revealed(_ text: String) -> String {
    guard text.contains("${") else { return text }
    let (path, query) = Self.parts(of: text)
    return filled(path, keeping: "/") + (query.map { "?" + filled($0, keeping: "") } ?? "")
  }

  private func filled(_ text: String, keeping kept: String) -> String {
    values.reduce(text) { text, variable in
      let value = PercentEncoding.escaped(variable.value, keeping: kept)
      return text.replacing("${\(variable.key)}", with: value)
    }
  }

  /// Whether the values of all variables in a URL are known.
  ///
  /// Text of fetched data is never taken for a variable; see ``defused(_:)``.
  func areKnown(in url: String) -> Bool {
    guard url.utf8.contains(UInt8(ascii: "$")) else { return true }
    return !revealed(url).contains("${")
  }

  /// The variables in a URL with their values, as lines; empty if there are none.
  func lines(in url: String) -> [UInt8] {
    guard !isEmpty, url.contains("${") else { return [] }
    let found = values.filter { url.contains("${\($0.key)}") }.sorted { $0.key < $1.key }
    return found.flatMap { Array("\($0.key)=\($0.value)\n".utf8) }
  }

  /// Replaces the values in the path and query of a URL with `${NAME}`.
  func veiled(_ url: WebURL) -> WebURL { Self.changed(url) { veiled($0) } }

  /// The URL with another path and query.
  fileprivate static func changed(_ url: WebURL, _ change: (String) -> String) -> WebURL {
    let target = String(Substring(url.text.utf8.dropFirst(url.pathStart)))
    let changed = change(target)
    guard changed != target else { return url }
    let (path, query) = parts(of: changed)
    return WebURL(
      scheme: url.scheme,
      userInfo: url.userInfo,
      host: url.host,
      port: url.port,
      path: path.hasPrefix("/") ? path : "/" + path,
      query: query
    )
  }

  /// Replaces the values in a text with `${NAME}`, even if their characters are escaped, for example by
  /// percent-encoding.
  func veiled(_ text: String) -> String {
    String(decoding: veiled(Array(text.utf8)), as: UTF8.self)
  }

  /// Replaces the values in bytes with `${NAME}`, even if their characters are escaped, for example by
  /// percent-encoding.
  func veiled(_ text: [UInt8]) -> [UInt8] {
    var bytes = text
    // Replace the longest values first, because one value can be a part of another.
    let ordered = values.sorted { ($0.value.utf8.count, $1.key) > ($1.value.utf8.count, $0.key) }
    for (name, value) in ordered where value.utf8.count >= SecretRedactor.shortestSecret {
      bytes = SecretRedactor.replacing(
        Array(value.utf8),
        in: bytes,
        with: Array("${\(name)}".utf8)
      )
    }
    return bytes
  }

  /// Replaces the values in header fields with `${NAME}`.
  ///
  /// Any other text that looks like a variable is escaped.
  ///
  /// Dates are not changed, because a secret such as `2026` would match the year and make the date unreadable.
  func veiled(_ headers: Headers) -> Headers {
    var veiled: [UInt8] = []
    headers.lines.withUnsafeBufferPointer { bytes in
      for line in HeaderLines(bytes) {
        let text = String(decoding: bytes[line.whole], as: UTF8.self)
        let isDate =
          Self.dates.contains { line.isNamed($0) }
          && UnixTime(httpDate: String(decoding: bytes[line.value], as: UTF8.self)) != nil
        if isDate {
          veiled += bytes[line.whole]
        } else {
          let isPlain = !text.contains("${")
          veiled += self.veiled(
            isPlain ? Array(bytes[line.whole]) : Array(Self.defused(text).utf8)
          )
        }
        if veiled.last != 10 { veiled.append(10) }
      }
    }
    return Headers(lines: veiled)
  }

  private static let dates = ["Date", "Expires", "Last-Modified"]

  /// Converts a cursor, which is the value that selects the next page, to the form that the index stores.
  ///
  /// The values are replaced with `${NAME}`, and any other `${` becomes `${$}{`.
  func kept(cursor: String) -> String {
    isEmpty ? cursor : veiled(cursor.replacing("${", with: "${$}{"))
  }

  /// Reverses ``kept(cursor:)``.
  func cursor(kept: String) -> String {
    values.reduce(kept) { $0.replacing("${\($1.key)}", with: $1.value) }
      .replacing("${$}{", with: "${")
  }

  /// The condition to send; nil if nothing of it is left.
  ///
  /// An ETag in which a value was replaced is left out, because the server would not know it. The value is not inserted,
  /// because a server could have sent `${NAME}` itself, in a run without variables.
  func sent(_ condition: Condition) -> Condition? {
    guard !isEmpty else { return condition }
    let validators = condition.validators
    let isReplaced = validators.entityTag?.contains("${") ?? false
    let tag = isReplaced ? nil : validators.entityTag
    guard tag != nil || validators.lastModified != nil else { return nil }
    return Condition(
      Validators(entityTag: tag, lastModified: validators.lastModified),
      source: condition.source.map(revealed),
      knowsDateOnly: condition.knowsDateOnly || isReplaced
    )
  }

  /// Escapes each `${` in text from fetched data, so that nothing in it looks like a variable.
  static func defused(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    return text.replacing("${", with: "$%7B")
  }

  private static func parts(of text: String) -> (path: String, query: String?) {
    guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
    return (String(text[..<mark]), String(text[text.index(after: mark)...]))
  }
}

/// A transport that inserts the values of variables into the URLs of requests, and replaces the values with `${NAME}`
/// in responses.
///
/// The run's other secrets, such as a token in a header field, become `***` in URLs and messages, because a redirect can
/// repeat them.
final class SecretTransport: ForwardingTransport {
  let transport: any Fetching
  private let variables: URLSecrets
  private let secrets: RunSecrets

  init(_ transport: any Fetching, _ variables: URLSecrets, _ secrets: RunSecrets) {
    (self.transport, self.variables, self.secrets) = (transport, variables, secrets)
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    do throws(TransferFailure) {
      return try transport.parse(text, relativeTo: base)
    } catch {
      throw veiled(error)
    }
  }

  func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    let exchange: VeiledExchange
    do throws(TransferFailure) {
      exchange = try VeiledExchange(request, sink, variables, secrets, transport)
    } catch {
      return completion(.failure(veiled(error)))
    }
    transport.fetch(exchange.sent, into: exchange) { result in
      completion(
        result.map { $0.with(head: exchange.veiled($0.head)) }.mapError(self.veiled)
      )
    }
  }

  private func veiled(_ failure: TransferFailure) -> TransferFailure {
    var failure = failure
    failure.url = secrets.applied(to: variables.veiled(failure.url))
    failure.detail = secrets.applied(to: variables.veiled(failure.detail))
    failure.headers = variables.veiled(failure.headers)
    failure.refusal = variables.veiled(failure.refusal)
    return failure
  }
}

/// A request in two forms: with `${NAME}`, as its caller knows it, and with the values, as it is sent.
///
/// As a sink, it passes the response on to the caller's sink. The values in the header fields are replaced, because that
/// sink stores some of these fields.
private final class VeiledExchange: BodySink {
  /// The request with the values inserted.
  let sent: Request
  private let asked: WebURL
  private let sink: any BodySink
  private let variables: URLSecrets
  private let secrets: RunSecrets

  init(
    _ request: Request,
    _ sink: any BodySink,
    _ variables: URLSecrets,
    _ secrets: RunSecrets,
    _ parser: any URLParsing
  ) throws(TransferFailure) {
    var sent = request
    sent.url = try variables.revealed(request.url, parser)
    sent.condition = request.condition.flatMap(variables.sent)
    (self.sent, asked) = (sent, request.url)
    (self.sink, self.variables, self.secrets) = (sink, variables, secrets)
  }

  func veiled(_ head: ResponseHead) -> ResponseHead {
    let url =
      head.url == sent.url
      ? asked
      : URLSecrets.changed(variables.veiled(head.url)) { secrets.applied(to: $0) }
    return head.renamed(url) { variables.isEmpty ? $0 : variables.veiled($0) }
  }

  var resumePoint: ResumePoint? {
    guard var point = sink.resumePoint else { return nil }
    point.source = point.source.map(variables.revealed)
    return point
  }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    sink.begin(veiled(head), at: offset)
  }

  func receive(_ bytes: RawSpan) -> BodyDecision { sink.receive(bytes) }

  func restart() { sink.restart() }
}

/// The secrets in a run's requests.
///
/// They are redacted in messages, because a server can repeat one in a response.
final class RunSecrets: Sendable {
  private let redactor: Mutex<SecretRedactor>

  /// Collects the credentials, the passwords in URLs, and the values of the variables in URLs.
  init(_ credentials: Headers, _ named: NamedOrigins, _ variables: URLSecrets) {
    var redactor = SecretRedactor()
    for field in credentials.fields { redactor.hide(field.value) }
    for value in named.pictureHeaders.values { redactor.hide(value) }
    for value in variables.values.values { redactor.hide(value) }
    for userInfo in named.givenUserInfo {
      let parts = userInfo.split(separator: ":", maxSplits: 1)
      if let secret = parts.last { redactor.hide(PercentEncoding.text(String(secret)) ?? "") }
    }
    self.redactor = Mutex(redactor)
  }

  /// Adds a secret.
  func hide(_ secret: String) {
    redactor.withLock { $0.hide(secret) }
  }

  /// Whether there is no secret so far.
  var isEmpty: Bool { present == SecretRedactor() }

  /// A redactor for the secrets that were added so far.
  var present: SecretRedactor { redactor.withLock(\.self) }

  /// The text with the secrets redacted.
  func applied(to text: String) -> String { present.applied(to: text) }
}

extension TransferFailure {
  /// Adds the server's explanation and a likely remedy to the failure's detail.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - hasHeaders: Whether the catalog file gives headers.
  ///   - secrets: The secrets to redact in the explanation.
  /// - Returns: The failure.
  func explained(
    _ request: Request,
    hasHeaders: Bool,
    hiding secrets: RunSecrets
  ) -> TransferFailure {
    guard let status, reason == .http(status) else { return self }
    var parts = detail.isEmpty ? [] : [detail]
    if status == 401, request.credentials.isEmpty, request.url.userInfo == nil {
      parts.append(
        hasHeaders
          ? "\"headers\" are sent only to the hosts of base and the section URLs, and this is another host"
          : "the catalog file has no \"headers\" to send"
      )
    }
    if let words = OriginMessage(in: refusal, isRefusal: true) {
      parts.append(secrets.applied(to: words.description))
    }
    var failure = self
    failure.detail = parts.joined(separator: "; ")
    return failure
  }
}
