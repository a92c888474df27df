import Crypto
import NIOCore

/// The resource at one path: the bytes, their type and the caching fields.
package struct Resource: Sendable {
  /// The media type, as `Content-Type` says it.
  package var type: String
  /// The strong validator in its quotes, or nil to send none.
  package var etag: String?
  /// Seconds since 1970, or nil to send no `Last-Modified`.
  package var lastModified: Int?
  /// `Cache-Control`, or nil for the value by the content's rules for the path.
  package var cacheControl: String?
  /// Further header lines.
  package var headers: [HeaderField]

  var body: ByteBuffer

  /// Makes a resource of bytes in memory.
  ///
  /// The bytes are hashed once, here, unless `etag` is given.
  package init(
    _ bytes: [UInt8],
    type: String,
    etag: String? = nil,
    lastModified: Int? = nil,
    cacheControl: String? = nil,
    headers: [HeaderField] = []
  ) {
    self.init(
      body: ByteBuffer(bytes: bytes),
      type: type,
      etag: etag ?? Self.etag(of: bytes),
      lastModified: lastModified,
      cacheControl: cacheControl,
      headers: headers
    )
  }

  /// Makes a JSON resource of text.
  package init(json: String) {
    self.init(Array(json.utf8), type: MediaType.json)
  }

  init(
    body: ByteBuffer,
    type: String,
    etag: String?,
    lastModified: Int? = nil,
    cacheControl: String? = nil,
    headers: [HeaderField] = []
  ) {
    self.body = body
    self.type = type
    self.etag = etag
    self.lastModified = lastModified
    self.cacheControl = cacheControl
    self.headers = headers
  }

  /// A copy of the bytes.
  package var bytes: [UInt8] {
    Array(body.readableBytesView)
  }

  /// The validator that a resource of these bytes gets: 24 hex digits of their SHA-256.
  package static func etag(of bytes: [UInt8]) -> String {
    "\"" + hexadecimal(SHA256.hash(data: bytes).prefix(12)) + "\""
  }

  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}

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

  /// The text after the last dot of the last segment, if it has one.
  static func fileExtension(of path: String) -> String? {
    let name = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
    guard let name, let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let end = name[name.index(after: dot)...]
    return end.isEmpty ? nil : String(decoding: end, as: UTF8.self)
  }
}
