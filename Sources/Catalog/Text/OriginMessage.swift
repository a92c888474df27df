/// An origin server's error message about a request, read from the body of its response.
///
/// The message is one line without control characters, short enough to be quoted. It may repeat secrets of the request,
/// so apply a ``SecretRedactor`` before you show it.
package struct OriginMessage: Hashable, Sendable, CustomStringConvertible {
  /// The message, to be quoted in an error.
  package let description: String

  private static let longest = 200
  private static let most = 3
  /// The largest body that may be an error message.
  ///
  /// A larger body is the requested resource itself, even if it is broken.
  static let longestBody = 4 << 20

  /// Reads the body of a response; nil when it has no message.
  ///
  /// - Parameters:
  ///   - body: The body, or its beginning.
  ///   - isRefusal: Whether the status says that the request failed. If so, the whole body is about the failure.
  package init?(in body: some Collection<UInt8>, isRefusal: Bool) {
    let body = Array(body.prefix(Self.longestBody + 1))
    if let page = Self.page(body) {
      description = page
      return
    }
    guard body.count <= Self.longestBody,
      let root = try? JSONDocument(parsing: body, of: "an answer").root,
      let words = Self.words(of: root, isRefusal: isRefusal)
    else { return nil }
    description = words
  }

  /// Reads a body that was received instead of a picture; nil when it has no message.
  ///
  /// - Parameter body: The body, or its beginning.
  package init?(inPlaceOfPicture body: [UInt8]) {
    if let page = Self.page(body, notJSON: "") {
      self.init(description: page)
    } else {
      self.init(in: body, isRefusal: true)
    }
  }

  private init(description: String) {
    self.description = description
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

  /// The messages in a value: a text, an object that contains a message, or several of either.
  private static func texts(of value: JSONNode, depth: Int) -> [String] {
    guard depth < 4 else { return [] }
    switch value.kind {
    case .string:
      let text = PlainText.line(value.text ?? "")
      return text.isEmpty ? [] : [text]
    case .array:
      return unique(value.elements.prefix(100).flatMap { texts(of: $0, depth: depth + 1) })
    case .object:
      for name in ["message", "detail", "description", "title", "error", "reason", "code"] {
        guard let found = value[name] else { continue }
        let texts = texts(of: found, depth: depth + 1)
        if !texts.isEmpty { return texts }
      }
      // For example `{"field": ["is too long"]}`.
      return unique(
        value.members.prefix(100).flatMap { name, member in
          texts(of: member, depth: depth + 1).map { "\(PlainText.line(name)): \($0)" }
        }
      )
    default: return []
    }
  }

  private static func unique(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }

  private static func shortened(_ text: String) -> String {
    text.count > longest ? text.prefix(longest) + "…" : text
  }

  // MARK: - Pages

  /// Describes an HTML page by its title, or an XML document: "an HTML page, not JSON: Sign in".
  ///
  /// Nil when the body is neither.
  private static func page(_ body: [UInt8], notJSON: String = ", not JSON") -> String? {
    let text = JSONText(body).bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard text.first == UInt8(ascii: "<") else { return nil }
    // The title is near the beginning of a page.
    let beginning = String(decoding: text.prefix(16 << 10), as: UTF8.self)
    let lower = beginning.lowercased()
    let isFeed = ["<rss", "<feed", "<rdf:rdf"].contains { lower.contains($0) }
    let marks = ["<!doctype html", "<html"] + (isFeed ? [] : ["<head", "<body", "<title"])
    guard marks.contains(where: { lower.contains($0) }) else {
      return lower.hasPrefix("<?xml") || isFeed ? "an XML document\(notJSON)" : nil
    }
    let name = title(of: beginning).map { ": \(shortened($0))" } ?? ""
    return "an HTML page\(notJSON)" + name
  }

  private static func title(of page: String) -> String? {
    // Search the page itself, because its lower-case form may have another length.
    guard let start = page.firstRange(of: #/<title[^>]*>/#.ignoresCase()) else { return nil }
    let rest = page[start.upperBound...]
    let end = rest.firstRange(of: #/<\/title/#.ignoresCase())?.lowerBound ?? rest.endIndex
    let title = PlainText.line(unescaped(String(rest[..<end].prefix(1000))))
    return title.isEmpty ? nil : title
  }

  private static func unescaped(_ text: String) -> String {
    let entities = [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"),
      ("&nbsp;", " "), ("&amp;", "&"),
    ]
    return entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }
}

extension CatalogError {
  /// Adds the origin's message to the error about a body that could not be used.
  ///
  /// - Parameter body: The body, or its beginning.
  /// - Returns: The error with the origin's message; the error itself if there is no message.
  package func quoting(_ body: [UInt8]) -> CatalogError {
    let codes: Set<Code> = [
      .malformedJSON, .absentItems, .unexpectedShape, .reportedFailure, .transform,
    ]
    guard codes.contains(code),
      let words = OriginMessage(in: body, isRefusal: code == .reportedFailure)
    else { return self }
    var error = self
    if code == .malformedJSON {
      (error.line, error.column) = (nil, nil)
      error.reason = words.description
    } else {
      error.reason += "; \(words)"
      // The mapping may be correct and only the request wrong, so the error's remedy does not apply.
      if code != .reportedFailure { error.remedy = nil }
    }
    return error
  }
}
