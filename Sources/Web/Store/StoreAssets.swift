import Cache
import Transport

/// The store's style, script and icon, each under a name that says what is in it.
struct StoreAssets: Sendable {
  /// A file of the store.
  struct Asset: Sendable {
    /// Where it is.
    let path: String
    let type: String
    let text: String

    init(_ suffix: String, _ type: String, _ text: String) {
      let digest = Hexadecimal.text(ContentDigest.sha256(Array(text.utf8)))
      path = "/assets/store-\(digest.prefix(12)).\(suffix)"
      (self.type, self.text) = (type, text)
    }
  }

  static let style = Asset("css", "text/css; charset=utf-8", StoreStyle.css)
  static let script = Asset("js", "text/javascript; charset=utf-8", StoreScript.text)
  static let icon = Asset("svg", "image/svg+xml", StoreStyle.icon)
  /// The file at a path; nil when there is none.
  static func answer(_ path: String) -> StoreAnswer? {
    guard let asset = [style, script, icon].first(where: { $0.path == path }) else { return nil }
    return StoreAnswer(
      status: 200,
      headers: [
        ("content-type", asset.type), ("cache-control", "public, max-age=31536000, immutable"),
      ],
      body: Array(asset.text.utf8)
    )
  }
}
