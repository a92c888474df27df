/// An error message that a server put into the body of a response, for example `{"error": "no such shop"}`.
///
/// The description is one short line without control characters, such as "the origin says: no such shop". It can
/// contain secrets of the request, so apply a ``SecretRedactor`` before you show it.
package struct OriginMessage: Hashable, Sendable, CustomStringConvertible {
  /// The words to quote in an error.
  package let description: String
  /// Whether the body is a document without a title, so that the description is only its kind.
  private(set) var isKindOnly = false

  /// The maximum length of one message in characters.
  private static let longest = 200
  /// The maximum number of messages that are quoted, if the body has several.
  private static let most = 3
  /// The maximum size in bytes of a body that is searched for messages.
  ///
  /// A larger body must be the requested document itself, even if it cannot be read.
  static let longestBody = 4 << 20

  /// The message in the body of a response, or nil if there is none.
  ///
  /// - Parameters:
  ///   - body: The body, or its beginning.
  ///   - isRefusal: Whether the response says that the request failed. If so, members such as `detail`
  ///     and `title` are searched too.
  ///   - expectsJSON: Whether the server was asked for JSON, so that the description of a page says that it is not JSON.
  package init?(in body: some Collection<UInt8>, isRefusal: Bool, expectsJSON: Bool = true) {
    let body = Array(body.prefix(Self.longestBody + 1))
    if let page = Self.page(body) {
      description = page.kind + (expectsJSON ? ", not JSON" : "") + page.title
      isKindOnly = page.title.isEmpty
      return
    }
    guard body.count <= Self.longestBody,
      let root = try? JSONDocument(parsing: body, of: "an answer").root,
      let words = Self.words(of: root, isRefusal: isRefusal)
    else { return nil }
    description = words
  }

  // MARK: - JSON

  private static func words(of root: JSONNode, isRefusal: Bool) -> String? {
    guard root.kind == .object else { return nil }
    var names = ["errors", "error_description", "error", "message"]
    if isRefusal { names += ["detail", "title", "msg", "reason", "fault"] }
    for name in names {
      guard let value = root[name] else { continue }
      let texts = texts(of: value, depth: 0)
      guard !texts.isEmpty else { continue }
      let shown = texts.prefix(most).map(shortened)
      let rest = texts.count > most ? ", and \(texts.count - most) more" : ""
      return "the origin says: " + shown.joined(separator: "; ") + rest
    }
    return nil
  }

  /// The messages in a value.
  ///
  /// The value can be a text, an object that contains messages, or a list of both.
  private static func texts(of value: JSONNode, depth: Int) -> [String] {
    guard depth < 4 else { return [] }
    switch value.kind {
    case .string:
      let text = PlainText.line(value.text ?? "")
      return text.isEmpty ? [] : [text]
    case .array:
      return value.elements.prefix(100).flatMap { texts(of: $0, depth: depth + 1) }
        .unique(by: \.self)
    case .object:
      for name in ["message", "detail", "description", "title", "error", "reason", "code"] {
        guard let found = value[name] else { continue }
        let texts = texts(of: found, depth: depth + 1)
        if !texts.isEmpty { return texts }
      }
      // The names can be those of fields, as in `{"title": ["is too long"]}`.
      return value.members.prefix(100).flatMap { name, member in
        texts(of: member, depth: depth + 1).map { "\(PlainText.line(name)): \($0)" }
      }.unique(by: \.self)
    default: return []
    }
  }

  private static func shortened(_ text: String) -> String {
    text.count > longest ? text.prefix(longest) + "…" : text
  }

  // MARK: - Pages

  /// The kind and the title of a body that is an HTML page or an XML document, such as "an HTML page" and ": Sign in".
  ///
  /// The result is nil for other bodies.
  private static func page(_ body: [UInt8]) -> (kind: String, title: String)? {
    let text = JSONText(body).bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard text.first == UInt8(ascii: "<") else { return nil }
    // The title is near the beginning of a page.
    let beginning = String(decoding: text.prefix(16 << 10), as: UTF8.self)
    let lower = beginning.lowercased()
    let isFeed = ["<rss", "<feed", "<rdf:rdf"].contains { lower.contains($0) }
    let isXML = isFeed || lower.hasPrefix("<?xml")
    let isPage =
      lower.contains("<!doctype html") || lower.contains("<html")
      || !isXML
        && (lower.contains(/<(?:head|body|title)[\s>\/]/) || BodyFormat.isPartOfPage(lower))
    guard isPage else { return isXML ? ("an XML document", "") : nil }
    return ("an HTML page", title(of: beginning).map { ": \(shortened($0))" } ?? "")
  }

  private static func title(of page: String) -> String? {
    let element = #/<title[^>]*>(.*?)(?:<\/title|\z)/#.ignoresCase().dotMatchesNewlines()
    guard let text = page.firstMatch(of: element)?.1 else { return nil }
    let title = PlainText.line(PageText.withoutEntities(String(text.prefix(1000))))
    return title.isEmpty ? nil : title
  }
}

extension CatalogError {
  /// Adds the server's message to the error that a body cannot be used.
  ///
  /// - Parameter body: The body, or its beginning.
  /// - Returns: The error with the message, or the error itself if the body has no message.
  package func quoting(_ body: [UInt8]) -> CatalogError {
    let codes: Set<Code> = [
      .malformedJSON, .absentItems, .otherItems, .unexpectedShape, .reportedFailure, .transform,
    ]
    // A document of another kind than expected was read all the same: only its title, such as "Log in", says more.
    let isRead = code == .unexpectedShape
    guard codes.contains(code),
      let words = OriginMessage(
        in: body,
        isRefusal: code == .reportedFailure,
        expectsJSON: !isRead
      ), !isRead || !words.isKindOnly
    else { return self }
    var error = self
    if code == .malformedJSON {
      (error.line, error.column) = (nil, nil)
      error.reason = words.description
    } else {
      error.reason += "; \(words)"
      // The server's message suggests that the request is at fault. The remedy is about the catalog file's paths.
      if code != .reportedFailure { error.remedy = nil }
    }
    return error
  }
}
