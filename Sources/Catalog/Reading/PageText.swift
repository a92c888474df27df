/// Converts HTML in a field of a shop's data, such as a description, to plain text.
enum PageText {
  /// The names of elements that begin on a new line.
  private static let blocks: Set<String> = [
    "p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "section", "article", "header", "footer", "blockquote", "pre", "dl", "dt", "dd",
  ]

  /// The text without tags and entities.
  ///
  /// For example, `<p>Cup &amp; saucer</p><p>blue</p>` becomes two lines.
  ///
  /// - Parameter text: HTML or plain text.
  /// - Returns: The plain text, or the original text if it cannot be parsed.
  static func plain(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) else {
      return text
    }
    var bytes: [UInt8] = []
    let isRead: Void? = try? MarkupReader.read(Array(text.utf8)[...], as: .html, "text") {
      event,
      _ in
      switch event {
      case .text(let piece, let isShown): if isShown { bytes += piece }
      case .start(let name, _), .end(let name):
        guard let last = bytes.last else { return }
        if blocks.contains(name), last != 0x0A { bytes.append(0x0A) }
        // The cells of a row.
        if name == "td" || name == "th", last > 0x20 { bytes.append(0x20) }
      }
    }
    guard isRead != nil else { return text }
    return PlainText.block(String(decoding: bytes, as: UTF8.self))
  }

  /// The text with its entities decoded.
  ///
  /// Everything that looks like a tag remains.
  ///
  /// - Parameter text: A text that can have entities, such as `Cup &amp; saucer`. (HTML, section 13.5)
  /// - Returns: The decoded text, or the original text if it cannot be parsed.
  static func withoutEntities(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    return plain(text.replacing("<", with: "&lt;"))
  }
}
