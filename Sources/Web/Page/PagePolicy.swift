import Cache

/// What a page may do: run its own script, use its own style, show pictures of its own folder.
enum PagePolicy {
  /// A content security policy that knows script and style by their digests. (W3C, CSP level 3)
  ///
  /// `file:` is what `'self'` is for a page that is opened from a disk.
  static func text(script: String, style: String) -> String {
    """
    default-src 'none'; img-src 'self' file: data:; script-src '\(digest(script))'; \
    style-src '\(digest(style))'; base-uri 'none'; form-action 'none'
    """
  }

  private static func digest(_ text: String) -> String {
    "sha256-" + Base64.text(ContentDigest.sha256(Array(text.utf8)))
  }
}

/// Bytes as text. (RFC 4648, section 4)
enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
  )

  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = 0
      for offset in 0..<3 {
        group = group << 8 | (offset < count ? Int(bytes[start + offset]) : 0)
      }
      for place in 0..<4 {
        text.append(
          place <= count ? digits[group >> (18 - 6 * place) & 63] : UInt8(ascii: "=")
        )
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
