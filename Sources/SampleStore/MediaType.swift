/// Media types by the end of a path.
enum MediaType {
  static let json = "application/json"
  static let text = "text/plain; charset=utf-8"
  static let bytes = "application/octet-stream"

  private static let known = [
    "json": json, "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png",
    "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8", "txt": text, "css": "text/css",
    "js": "text/javascript", "md": "text/markdown; charset=utf-8",
    "yaml": "application/yaml", "yml": "application/yaml", "xml": "application/xml",
    "webmanifest": "application/manifest+json", "ico": "image/x-icon",
  ]

  /// The type of a path by its extension; a path without one is JSON.
  static func of(path: String) -> String {
    guard let end = fileExtension(of: path) else { return json }
    return known[end.lowercased()] ?? bytes
  }

  /// What follows the last dot of the last segment, if it has one.
  static func fileExtension(of path: String) -> String? {
    let name = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
    guard let name, let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let end = name[name.index(after: dot)...]
    return end.isEmpty ? nil : String(decoding: end, as: UTF8.self)
  }
}
