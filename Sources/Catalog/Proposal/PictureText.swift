/// What a text that may name a picture looks like.
enum PictureText {
  private static let endings = [
    ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg", ".bmp", ".tif", ".tiff",
  ]

  /// Whether its path ends as pictures do.
  static func hasEnding(_ text: String) -> Bool {
    let path = path(text)
    return endings.contains(where: path.hasSuffix)
  }

  /// Whether it is no address but the picture itself. (RFC 2397)
  static func isData(_ text: String) -> Bool { text.prefix(5).lowercased() == "data:" }

  /// What parts several addresses in one text; nil where each text is one.
  static func separator(of evidence: FieldEvidence) -> String? {
    guard evidence.isText, evidence.samples.contains(where: { !$0.isEmpty }) else { return nil }
    return [",", "|", ";", " ", "\n"].first { mark in
      var several = 0
      for text in evidence.samples {
        let parts = text.split(separator: mark).map(\.trimmed)
        // Services that scale pictures write commas into their addresses.
        guard parts.allSatisfy(isLink), Set(parts.map(isAbsolute)).count <= 1 else { return false }
        if parts.count > 1 { several += 1 }
      }
      return several * 2 > evidence.samples.count
    }
  }

  /// Whether its path ends as pages do.
  static func isPage(_ text: String) -> Bool {
    let path = path(text)
    return [".html", ".htm", ".php", ".asp", ".aspx", ".jsp"].contains(where: path.hasSuffix)
  }

  /// Whether it is a URL, or a path that ends as pictures do.
  static func isLink(_ text: String) -> Bool {
    let lower = text.lowercased()
    if lower.contains(where: \.isWhitespace) { return false }
    return ["http://", "https://", "//", "/"].contains(where: lower.hasPrefix) || hasEnding(text)
  }

  /// Whether it says by itself which host it is on.
  static func isAbsolute(_ text: String) -> Bool {
    ["http://", "https://", "//"].contains { text.lowercased().hasPrefix($0) }
  }

  private static func path(_ text: String) -> String {
    text.prefix { $0 != "?" && $0 != "#" }.lowercased()
  }
}
