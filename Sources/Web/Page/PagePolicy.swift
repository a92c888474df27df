import Cache
import FoundationEssentials

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
    "sha256-" + Data(ContentDigest.sha256(Array(text.utf8))).base64EncodedString()
  }
}
