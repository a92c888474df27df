import GRDB

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
  /// How the index itself stands.
  public var index = IndexState.whole
  /// Whether all pictures were looked at.
  public var isComplete = true

  /// How an index stands; the words are stable.
  public enum IndexState: String, Sendable {
    /// It is whole.
    case whole
    /// There is none, although there are pictures.
    case missing
    /// SQLite finds it damaged.
    case damaged
  }

  /// Whether nothing is wrong.
  public var isClean: Bool {
    damaged.isEmpty && missing.isEmpty && stray.isEmpty && index == .whole && isComplete
  }

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

  let layout: CacheLayout
  let index: Index

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
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> VerifyReport {
    try run(depth, from: VerifyPosition(isFull: depth == .full), isStopped: { false }) {
      progress($0.checked, $1)
    }
  }

  /// Mends what ``run(_:progress:)`` found, so that the next sync fetches what is missing.
  ///
  /// Damaged and missing pictures are forgotten, damaged files removed. A stray whose name is that
  /// of a URL in `urls`, and which is a picture, is adopted; the other strays are removed. The
  /// caller holds the cache's lock.
  ///
  /// While the index is being made anew, strays that no URL claims stay: their catalogs may still come.
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
    guard try index.lostSince() == nil else { return }
    _ = try recovery.sweep()
    for path in try strays(known: nil) where report.stray.contains(path) {
      try layout.remove(path)
    }
    try index.noteFolderTimes(of: layout)
  }

  enum Verdict { case good, damaged, missing }

  func judge(_ entry: PictureEntry, _ depth: Depth) throws(CacheError) -> Verdict {
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

  /// Every file below `images/`, sorted.
  public static func files(of layout: CacheLayout) throws(CacheError) -> [String] {
    var files: [String] = []
    for number in try layout.existingFolders() {
      let folder = try layout.folder(number, creating: false)
      files += try folder.names().map { "images/\(PictureName.folderName(number))/\($0)" }
    }
    return files.sorted()
  }

  /// The files below `images/` that no held row names.
  func strays(known: Set<String>?) throws(CacheError) -> [String] {
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
