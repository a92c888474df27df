/// The text of a piece of HTML, as shops write it into the fields of their data.
enum PageText {
  /// Elements that begin on a line of their own.
  private static let blocks: Set<String> = [
    "p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "section", "article", "header", "footer", "blockquote", "pre", "dl", "dt", "dd",
  ]

  /// A text without its tags, entities undone, blocks on lines of their own.
  ///
  /// - Parameter text: HTML, or plain text.
  /// - Returns: Plain text; what cannot be read stays as it is.
  static func plain(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) else {
      return text
    }
    let gathering = Gathering()
    guard (try? HTMLPage.read(Array(text.utf8)[...], into: gathering, "text")) != nil else {
      return text
    }
    return PlainText.block(String(decoding: gathering.bytes, as: UTF8.self))
  }

  /// A text with its entities undone; what looks like a tag stays.
  ///
  /// - Parameter text: Text with character references (HTML, section 13.5), or without.
  /// - Returns: The text; as it was when it cannot be read.
  static func withoutEntities(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    return plain(text.replacing("<", with: "&lt;"))
  }

  private final class Gathering: HTMLReceiver {
    var bytes: [UInt8] = []
    private var hidden = 0

    override func start(_ name: String, type: String?) {
      if name == "script" || name == "style" { hidden += 1 }
      if PageText.blocks.contains(name) { endLine() }
    }

    override func end(_ name: String) {
      if name == "script" || name == "style" { hidden -= 1 }
      if PageText.blocks.contains(name) { endLine() }
    }

    private func endLine() {
      if let last = bytes.last, last != 0x0A { bytes.append(0x0A) }
    }

    override func text(_ piece: [UInt8]) {
      if hidden == 0 { bytes += piece }
    }
  }
}
