import Cache
import Catalog

/// A check of a cache, and its repair with what the catalogs in it know.
public struct CacheCheck: Sendable {
  private let layout: CacheLayout
  private let index: Index
  private let lock: CacheLock?

  /// Opens the cache at `path`; for a repair, `holder` takes its lock.
  public init(_ path: String, holder: String?) throws(CacheError) {
    let layout = try CacheLayout(reading: path)
    lock = try holder.map { name throws(CacheError) in try CacheLock(layout, holder: name) }
    self.layout = layout
    index = lock == nil ? try Index(reading: path) : try Index(layout)
  }

  /// Looks at every picture.
  public func run(
    _ depth: Verification.Depth,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> VerifyReport {
    try Verification(layout, index).run(depth, progress: progress)
  }

  /// Mends what was found; strays whose name is that of a picture in a catalog are adopted.
  public func repair(_ report: VerifyReport) throws(CacheError) {
    var urls: Set<String> = []
    for catalog in try index.catalogs() {
      guard let run = try index.lastRun(catalog: catalog.id) else { continue }
      for section in try index.sections(run: run.id) {
        guard let listing = section.listing else { continue }
        for item in try index.storeItems(listing: listing) {
          urls.formUnion(item.images.map(\.url))
        }
      }
      for detail in try index.details(catalog: catalog.id).values {
        urls.formUnion(detail.decoded?.images.map(\.url) ?? [])
      }
    }
    try Verification(layout, index).repair(report, urls: urls.sorted())
  }
}
