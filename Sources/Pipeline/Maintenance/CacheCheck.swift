import Base
import Cache
import Catalog

/// Checks a cache, and repairs it with the help of its catalogs.
///
/// `larder verify` and the library's `verify` and `repair` use it.
package struct CacheCheck: Sendable {
  private let layout: CacheLayout
  private let index: Index?
  private let lock: CacheLock?
  private let state: VerifyReport.IndexState

  /// Opens a cache, and its index if the index can be read.
  ///
  /// - Parameters:
  ///   - path: The cache's path.
  ///   - holder: The text to write into the cache's lock. Pass nil to check the cache without a repair. If there is a
  ///     text, a lost or damaged index is rebuilt.
  ///   - depth: How thoroughly to check the index.
  ///   - now: The current time.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  /// - Throws: ``LarderError`` if there is no cache, or a run holds its lock.
  package init(
    _ path: String,
    holder: String?,
    depth: Verification.Depth = .full,
    now: UnixTime = 0,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    // A remote store can have pictures although this machine has no data yet.
    layout =
      remote != nil && holder != nil
      ? try CacheLayout(creating: path, remote: remote)
      : try CacheLayout(reading: path, remote: remote, mayLackIndex: true)
    lock = try holder.map { [layout] name throws(LarderError) in
      try CacheLock(layout, holder: name)
    }
    var state = VerifyReport.IndexState.whole
    var index: Index?
    do throws(LarderError) {
      index = try Index(reading: path)
      if try index?.isWhole(depth) == false { state = .damaged }
    } catch {
      switch error.code {
      case .empty where layout.holdsNothing: throw error
      case .empty: state = .missing
      case .damaged: state = .damaged
      default: throw error
      }
    }
    if state != .whole { index = nil }
    self.state = state
    if lock != nil {
      self.index =
        state == .whole ? try Index(layout) : try Index.rebuilt(in: layout, at: now).index
    } else {
      self.index = index
    }
  }

  /// Checks every picture.
  ///
  /// - Parameters:
  ///   - depth: How thoroughly to check the pictures.
  ///   - isStopped: Called repeatedly, on any thread. If it returns true, the check ends early.
  ///   - progress: Called with the number of checked pictures, and their total.
  /// - Returns: The findings. They are incomplete if the check ended early.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Verification.Depth,
    isStopped: @Sendable () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> VerifyReport {
    guard let index else {
      var report = VerifyReport()
      report.index = state
      report.strays = state == .missing ? try layout.pictureFiles() : []
      return report
    }
    var report = try verification(index).run(depth, isStopped: isStopped, progress: progress)
    report.index = state
    return report
  }

  private func verification(_ index: Index) -> Verification {
    Verification(layout, index, isLocked: lock != nil)
  }

  /// Repairs the damage that a check found.
  ///
  /// If no row of the index names a file, but the file has the name of a picture in a catalog, the file gets a row.
  /// Other files without a row are removed.
  package func repair(_ report: VerifyReport) throws(LarderError) {
    guard let index else { return }
    try verification(index)
      .repair(report, claimed: try index.claimed(at: Set(report.strays)))
  }
}

extension CacheCheck {
  /// Checks the index of a cache; if it is damaged, renames it and makes a new one, so that an unattended run can
  /// continue.
  ///
  /// No picture is lost, because the new index is made from the files. Only data about earlier runs is lost. An index
  /// from a newer larder, or one that cannot be read at the moment, does not count as damaged and is left alone.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  ///   - holder: The text to write into the cache's lock.
  ///   - now: The current time, for the new name of the damaged index.
  /// - Returns: A message about the renewal; nil if the index is whole.
  /// - Throws: ``LarderError`` if the index cannot be read or made.
  static func renewIndex(
    of cache: String,
    _ remote: (any RemotePictures)?,
    holder: String,
    at now: UnixTime
  ) throws(LarderError) -> String? {
    let layout = try CacheLayout(creating: cache, remote: remote)
    let lock = try CacheLock(layout, holder: holder)
    defer { withExtendedLifetime(lock) {} }
    do throws(LarderError) {
      if try Index(layout).isWhole(.full) { return nil }
    } catch {
      guard error.code == .damaged else { throw error }
    }
    let aside = try Index.rebuilt(in: layout, at: now).aside
    return
      "the index of \(remote?.name ?? cache) was damaged; it was \(aside.map { "renamed to \($0)" } ?? "removed") and rebuilt "
      + "from its readable parts and the pictures; no picture is lost, but earlier runs are forgotten"
  }
}

extension Index {
  /// Whether the database is whole.
  ///
  /// A full check also reads every item, because each later run would end when it reaches an unreadable item.
  ///
  /// - Throws: ``LarderError`` with the code `damaged` if a value is damaged. SQLite does not detect such damage.
  fileprivate func isWhole(_ depth: Verification.Depth) throws(LarderError) -> Bool {
    guard try isWhole(fast: depth == .fast) else { return false }
    if depth == .full {
      try checkCatalogs()
      try demandWholeListings()
      for listing in try shownListings() {
        try forEachBatch(of: listing) { items throws(LarderError) in _ = try items.storeItems() }
      }
    }
    return true
  }
}
