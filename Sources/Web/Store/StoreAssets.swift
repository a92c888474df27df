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
  /// Where the service worker is: always there, as browsers ask for it again by its name.
  static let worker = "/assets/store-worker.js"
  /// Where the page is that the worker shows in place of one that it has not.
  static let away = "/away"

  /// The worker, which keeps what the pages need by their names.
  static let workerText = StoreWorker.text(
    keeping: [style.path, script.path, icon.path, away]
  )

  /// The file at a path; nil when there is none.
  static func answer(_ path: String) -> StoreAnswer? {
    if path == worker {
      return StoreAnswer(
        status: 200,
        headers: [
          ("content-type", "text/javascript; charset=utf-8"), ("cache-control", "no-cache"),
          // The store is all of its origin.
          ("service-worker-allowed", "/"), (StorePage.mark.name, StorePage.mark.value),
        ],
        body: Array(workerText.utf8)
      )
    }
    guard let asset = [style, script, icon].first(where: { $0.path == path }) else { return nil }
    return StoreAnswer(
      status: 200,
      headers: [
        ("content-type", asset.type), ("cache-control", "public, max-age=31536000, immutable"),
        (StorePage.mark.name, StorePage.mark.value),
      ],
      body: Array(asset.text.utf8)
    )
  }
}
