import Base
import Cache
import Catalog
import FoundationEssentials
import Synchronization

/// A check of a cache, and its repair with the data of its catalogs.
package struct CacheCheck: Sendable {
  private let path: String
  private let layout: CacheLayout
  private let index: Index?
  private let lock: CacheLock?
  private let state: VerifyReport.IndexState
  private let now: UnixTime

  /// Opens the cache at `path`, with its index when that can be read.
  ///
  /// - Parameters:
  ///   - path: the cache.
  ///   - holder: for a repair, the text for the cache's lock; a lost or damaged index is then rebuilt.
  ///   - depth: how closely the index is looked at.
  ///   - now: the moment.
  ///   - remote: the store that keeps the pictures instead of the cache's folder, if any.
  /// - Throws: ``LarderError`` when there is no cache, or a run holds it.
  package init(
    _ path: String,
    holder: String?,
    depth: Verification.Depth = .full,
    now: UnixTime = 0,
    remote: (any RemotePictures)? = nil
  ) throws(LarderError) {
    self.path = path
    self.now = now
    // Pictures in a store can exist without any data on this machine.
    layout =
      remote != nil && holder != nil
      ? try CacheLayout(creating: path, remote: remote)
      : try CacheLayout(checking: path, remote: remote)
    lock = try holder.map { [layout] name throws(LarderError) in
      try CacheLock(layout, holder: name)
    }
    var state = VerifyReport.IndexState.whole
    var index: Index?
    do throws(LarderError) {
      index = try Index(reading: path)
      if try index?.isWhole(fast: depth == .fast) == false { state = .damaged }
      // SQLite knows of no damage within a value.
      if depth == .full, state == .whole {
        try index?.checkCatalogs()
        _ = try index?.claimedURLs()
      }
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

  /// Looks at every picture, going on where a check was interrupted.
  ///
  /// - Parameters:
  ///   - depth: how closely.
  ///   - fromStart: whether to begin again.
  ///   - isStopped: asked now and then, on any thread, whether to end early.
  ///   - progress: called with how many of how many are done.
  /// - Returns: The findings; not complete when it was stopped.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Verification.Depth,
    fromStart: Bool = true,
    isStopped: @Sendable () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> VerifyReport {
    guard let index else {
      var report = VerifyReport()
      report.index = state
      report.strays = state == .missing ? try Verification.files(of: layout) : []
      return report
    }
    let notes = VerifyNotes(layout)
    let beginning = VerifyPosition(isFull: depth == .full)
    let start = fromStart ? beginning : notes.read(isFull: depth == .full) ?? beginning
    var saved = ContinuousClock.now
    var report = try verification(index).run(depth, from: start, isStopped: isStopped) {
      position,
      total in
      progress(position.checked, total)
      if isStopped() || ContinuousClock.now - saved > .seconds(5) {
        notes.write(position)
        saved = .now
      }
    }
    report.index = state
    if report.isComplete { notes.remove() }
    return report
  }

  private func verification(_ index: Index) -> Verification {
    Verification(layout, index, isAlone: lock != nil)
  }

  /// Repairs the findings; strays with the name of a picture in a catalog are adopted.
  package func repair(_ report: VerifyReport) throws(LarderError) {
    guard let index else { return }
    try verification(index).repair(report, urls: try index.claimedURLs().sorted())
  }
}

/// Where an interrupted check can resume: a small file in the cache.
struct VerifyNotes {
  private let layout: CacheLayout

  init(_ layout: CacheLayout) {
    self.layout = layout
  }

  /// The position of the last check of this depth, if it was interrupted.
  func read(isFull: Bool) -> VerifyPosition? {
    guard let text = layout.note(), let data = text.data(using: .utf8),
      let position = try? JSONDecoder().decode(VerifyPosition.self, from: data)
    else { return nil }
    return position.isFull == isFull ? position : nil
  }

  /// Notes a position; quiet when the cache cannot be written, which only costs the position.
  func write(_ position: VerifyPosition) {
    guard let line = try? position.jsonLine() else { return }
    layout.setNote(String(decoding: line, as: UTF8.self))
  }

  func remove() { layout.setNote(nil) }
}

/// Rebuilds a damaged index, so that an unattended run can continue.
///
/// Files are the truth and the index is a hint: no picture is lost with it, only data about earlier
/// runs. One that a newer larder wrote, or that cannot be read now, is not damaged and stays.
struct IndexRenewal {
  private let cache: String
  private let remote: (any RemotePictures)?

  /// For the cache at a path.
  init(_ cache: String, _ remote: (any RemotePictures)?) {
    self.cache = cache
    self.remote = remote
  }

  /// Looks whether the index is damaged, and if so puts it aside and makes another.
  ///
  /// - Parameters:
  ///   - holder: the text for the cache's lock.
  ///   - now: the moment, for the name of the damaged index.
  /// - Returns: A sentence that says so; nil when the index is whole.
  /// - Throws: ``LarderError`` when it cannot be read or made.
  func run(holder: String, at now: UnixTime) throws(LarderError) -> String? {
    let layout = try CacheLayout(creating: cache, remote: remote)
    let lock = try CacheLock(layout, holder: holder)
    defer { withExtendedLifetime(lock) {} }
    guard try isDamaged(layout) else { return nil }
    let aside = try Index.rebuilt(in: layout, at: now).aside
    return
      "the index of \(remote?.name ?? cache) was damaged: it is now \(aside ?? "gone"), and a new one was made "
      + "of what could be read of it and of the pictures, which stay; earlier runs are forgotten"
  }

  private func isDamaged(_ layout: CacheLayout) throws(LarderError) -> Bool {
    do throws(LarderError) {
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
