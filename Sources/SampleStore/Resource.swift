import Base
import Hashing
import NIOCore

/// The content at a path: its bytes, its media type, and the header lines about it.
package struct Resource: Sendable {
  /// The value of `Content-Type`, such as `image/jpeg`.
  package var type: String
  /// The strong entity tag with its quotes, such as `"a1b2"`; nil if the answer has no `ETag`.
  package var etag: String?
  /// The time for `Last-Modified`, in seconds since 1970; nil if the answer has no `ETag`.
  package var lastModified: Int?
  /// The value of `Cache-Control`; if it is nil, a picture is fresh for an hour, and anything else is stale at once.
  package var cacheControl: String?
  var body: ByteBuffer

  /// Creates a resource; if `etag` is nil, the tag is a hash of the bytes.
  package init(
    _ bytes: [UInt8],
    type: String,
    etag: String? = nil,
    lastModified: Int? = nil,
    cacheControl: String? = nil
  ) {
    body = ByteBuffer(bytes: bytes)
    self.type = type
    self.etag = etag ?? Self.etag(of: bytes)
    self.lastModified = lastModified
    self.cacheControl = cacheControl
  }

  /// An entity tag for bytes: the first 24 hexadecimal digits of their SHA-256 hash, in quotes.
  package static func etag(of bytes: [UInt8]) -> String {
    "\"" + Hexadecimal.text(SHA256.digest(of: bytes).prefix(12)) + "\""
  }
}

/// Media types by file extension.
enum MediaType {
  static let json = "application/json"
  static let text = "text/plain; charset=utf-8"
  static let bytes = "application/octet-stream"

  private static let known = [
    "json": json, "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png",
    "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8", "txt": text, "xml": "application/xml",
  ]

  /// The media type of a path, by its extension; the type of JSON if the path has no extension.
  static func of(path: String) -> String {
    guard let end = fileExtension(of: path) else { return json }
    return known[end.lowercased()] ?? bytes
  }

  /// The text after the last dot of a path's last segment; nil if the segment has no dot.
  static func fileExtension(of path: String) -> String? {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
    let end = path[dot...].dropFirst()
    return end.isEmpty ? nil : String(end)
  }
}
