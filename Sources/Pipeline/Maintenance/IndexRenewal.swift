import Cache
import Transport

/// Makes a damaged index anew, so that an unattended run can continue.
///
/// Files are the truth and the index is a hint: no picture is lost with it, only what was known of
/// earlier runs. One that a newer larder wrote, or that cannot be read now, is not damaged and stays.
struct IndexRenewal {
  private let cache: String
  private let keeper: (any PictureKeeping)?

  /// For the cache at a path.
  init(_ cache: String, _ keeper: (any PictureKeeping)?) {
    self.cache = cache
    self.keeper = keeper
  }

  /// Looks whether the index is damaged, and if so puts it aside and makes another.
  ///
  /// - Parameters:
  ///   - holder: what to write into the cache's lock.
  ///   - now: the moment, for the name of what is put aside.
  /// - Returns: A sentence that says so; nil when the index is whole.
  /// - Throws: ``CacheError`` when it cannot be read or made.
  func run(holder: String, at now: UnixTime) throws(CacheError) -> String? {
    let layout = try CacheLayout(creating: cache, keeper: keeper)
    let lock = try CacheLock(layout, holder: holder)
    defer { withExtendedLifetime(lock) {} }
    guard try isDamaged(layout) else { return nil }
    let aside = try Index.rebuilt(in: layout, at: now).aside
    return
      "the index of \(keeper?.name ?? cache) was damaged: it is now \(aside ?? "gone"), and a new one was made "
      + "of what could be read of it and of the pictures, which stay; earlier runs are forgotten"
  }

  private func isDamaged(_ layout: CacheLayout) throws(CacheError) -> Bool {
    do throws(CacheError) {
      let index = try Index(layout)
      guard try index.isWhole(fast: false) else { return true }
      // SQLite knows of no damage within a value: an item that cannot be read would end every run.
      try index.checkCatalogs()
      _ = try index.claimedURLs()
      return false
    } catch {
      guard error.code == .damaged else { throw error }
      return true
    }
  }
}
