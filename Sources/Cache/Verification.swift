import Dispatch
import FoundationEssentials
import GRDB
import Synchronization

/// What a check of every file against its row found.
///
/// Paths are relative to the cache, sorted.
public struct VerifyReport: Sendable, Equatable {
  /// How many pictures were looked at.
  public var checked = 0
  /// Files whose bytes are not those that were committed.
  public var damaged: [String] = []
  /// Rows whose file is gone.
  public var missing: [String] = []
  /// Files that no row knows.
  public var stray: [String] = []

  /// Whether nothing is wrong.
  public var isClean: Bool { damaged.isEmpty && missing.isEmpty && stray.isEmpty }

  /// A report that found nothing.
  public init() {}
}

/// Checks every file of a cache against what was committed.
public struct Verification: Sendable {
  /// How closely a file is looked at.
  public enum Depth: Sendable {
    /// Its size and date.
    case fast
    /// Every byte.
    case full
  }

  private let layout: CacheLayout
  private let index: Index

  /// A check of the cache with these folders and this index.
  public init(_ layout: CacheLayout, _ index: Index) {
    self.layout = layout
    self.index = index
  }

  /// Looks at every picture, with as many threads as there are processors.
  ///
  /// - Parameters:
  ///   - depth: how closely.
  ///   - progress: called now and then, on any thread, with how many of how many are done.
  /// - Returns: What is damaged, missing or stray.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read.
  public func run(
    _ depth: Depth,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> VerifyReport {
    var entries: [PictureEntry] = []
    try index.forEachPicture { if $0.isHeld { entries.append($0) } }
    var known: Set<String> = []
    for entry in entries { known.insert(entry.name.path) }

    struct State {
      var report = VerifyReport()
      var failure: CacheError?
    }
    let state = Mutex(State())
    let (rows, total) = (entries, entries.count)
    DispatchQueue.concurrentPerform(iterations: (rows.count + 63) / 64) { block in
      for entry in rows[(block * 64)..<min(block * 64 + 64, rows.count)] {
        let path = entry.name.path
        do throws(CacheError) {
          let verdict = try judge(entry, depth)
          state.withLock { state in
            if verdict == .damaged { state.report.damaged.append(path) }
            if verdict == .missing { state.report.missing.append(path) }
          }
        } catch {
          state.withLock { state in
            state.report.damaged.append(path)
            state.failure = state.failure ?? error
          }
        }
      }
      progress(min(total, block * 64 + 64), total)
    }
    var report = state.withLock { $0.report }
    report.checked = rows.count
    report.stray = try strays(known: known)
    let squares = try SquareVerification(layout: layout, index: index).run(depth, pictures: known)
    report.checked += squares.checked
    report.damaged += squares.damaged
    report.missing += squares.missing
    report.stray += squares.stray
    report.damaged.sort()
    report.missing.sort()
    return report
  }

  /// Mends what ``run(_:progress:)`` found, so that the next sync fetches what is missing.
  ///
  /// Damaged and missing pictures are forgotten, damaged files removed. A stray whose name is that
  /// of a URL in `urls`, and which is a picture, is adopted; the other strays are removed. The
  /// caller holds the cache's lock.
  public func repair(_ report: VerifyReport, urls: [String]) throws(CacheError) {
    try SquareVerification(layout: layout, index: index).repair(report)
    let bad = Set(report.damaged + report.missing)
    var lost: [PictureID] = []
    try index.forEachPicture { if $0.isHeld, bad.contains($0.name.path) { lost.append($0.id) } }
    let ids = lost
    try index.write { db in for id in ids { try Index.forget(id, in: db) } }
    for path in report.damaged { try layout.remove(path) }
    var recovery = try Recovery(layout, index)
    for url in urls { _ = try recovery.adopt(url: url, id: PictureID(url: url)) }
    _ = try recovery.sweep()
    for path in try strays(known: nil) where report.stray.contains(path) {
      try layout.remove(path)
    }
    try index.noteFolderTimes(of: layout)
  }

  private enum Verdict { case good, damaged, missing }

  private func judge(_ entry: PictureEntry, _ depth: Depth) throws(CacheError) -> Verdict {
    switch depth {
    case .fast:
      let folder = try layout.existingFolder(entry.name.folder)
      guard let stamp = folder?.stamp(of: entry.name.file) else { return try absence(entry) }
      return stamp.bytes == entry.bytes ? .good : .damaged
    case .full:
      guard let file = try layout.digest(of: entry.name) else { return try absence(entry) }
      return file.sha256 == entry.sha256 ? .good : .damaged
    }
  }

  /// What to call a picture without a regular file: a link or pipe in its place is to be removed.
  private func absence(_ entry: PictureEntry) throws(CacheError) -> Verdict {
    try layout.existingFolder(entry.name.folder)?.kind(of: entry.name.file) == nil
      ? .missing : .damaged
  }

  /// The files of the cache at `path` that no held row names, sorted.
  public static func strays(cache path: String, index: Index) throws(CacheError) -> [String] {
    try Verification(CacheLayout(reading: path), index).strays(known: nil)
  }

  /// The files below `images/` that no held row names.
  private func strays(known: Set<String>?) throws(CacheError) -> [String] {
    var known = known ?? []
    if known.isEmpty { try index.forEachPicture { if $0.isHeld { known.insert($0.name.path) } } }
    var strays: [String] = []
    for name in try layout.images.names() {
      guard let number = layout.pictureFolder(name),
        let folder = try layout.existingFolder(number)
      else {
        strays.append("images/\(name)")
        continue
      }
      for file in try folder.names() {
        let path = "images/\(name)/\(file)"
        if !known.contains(path) { strays.append(path) }
      }
    }
    return strays.sorted()
  }
}
