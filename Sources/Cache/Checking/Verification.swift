import GRDB

/// What a check of every file against its row found.
///
/// Paths are relative to the cache, sorted.
package struct VerifyReport: Sendable, Equatable {
  /// How many pictures were looked at.
  package var checked = 0
  /// Files whose bytes are not those that were committed.
  package var damaged: [String] = []
  /// Rows whose file is gone.
  package var missing: [String] = []
  /// Files that no row knows.
  package var orphans: [String] = []
  /// Files that the system would not let us read, which says nothing about their bytes.
  package var unreadable: [String] = []
  /// How the index itself stands.
  package var index = IndexState.whole
  /// Whether all pictures were looked at.
  package var isComplete = true

  /// How an index stands; the words are stable.
  package enum IndexState: String, Sendable {
    /// It is whole.
    case whole
    /// There is none, although there are pictures.
    case missing
    /// SQLite finds it damaged.
    case damaged
  }

  /// Whether nothing is wrong.
  package var isClean: Bool {
    damaged.isEmpty && missing.isEmpty && orphans.isEmpty && unreadable.isEmpty && index == .whole
      && isComplete
  }

  /// A report that found nothing.
  package init() {}
}

/// Checks every file of a cache against what was committed.
///
/// A run may be at work meanwhile. What seems wrong is therefore looked at again with its row read anew,
/// until looking again changes nothing; and while a run holds the cache, a file that got its name after
/// its row was written is that run's to enter, not damage.
package struct Verification: Sendable {
  /// How closely a file is looked at.
  package enum Depth: Sendable {
    /// Its size and date.
    case fast
    /// Every byte.
    case full
  }

  let layout: CacheLayout
  let index: Index
  /// Whether the caller itself holds the cache's lock, so that nobody else is at work.
  let isAlone: Bool
  /// How a picture's file is read in full; another one only to see what a failing disk does.
  var read: PictureReading

  /// A check of the cache with these folders and this index.
  ///
  /// - Parameters:
  ///   - layout: the cache's folders.
  ///   - index: its index.
  ///   - isAlone: whether the caller holds the cache's lock.
  package init(_ layout: CacheLayout, _ index: Index, isAlone: Bool = false) {
    self.layout = layout
    self.index = index
    self.isAlone = isAlone
    read = { name throws(CacheError) in try layout.digest(of: name) }
  }

  /// Looks at every picture, with as many threads as there are processors.
  ///
  /// - Parameters:
  ///   - depth: how closely.
  ///   - progress: called now and then, on any thread, with how many of how many are done.
  /// - Returns: What is damaged, missing or orphaned.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Depth,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> VerifyReport {
    try run(depth, from: VerifyPosition(isFull: depth == .full), isStopped: { false }) {
      progress($0.checked, $1)
    }
  }

  /// Repairs what ``run(_:progress:)`` found, so that the next sync fetches what is missing.
  ///
  /// Damaged and missing pictures are forgotten, damaged files removed. What cannot be read stays as it
  /// is, with its row. An orphan that is a picture and has the name of a URL in `urls` is adopted; the
  /// other orphans are removed. The caller holds the cache's lock.
  ///
  /// While the index is being made anew, orphans that no URL claims stay: their catalogs may still come.
  package func repair(_ report: VerifyReport, urls: [String]) throws(CacheError) {
    try SquareVerification(layout: layout, index: index).repair(report)
    let bad = Set(report.damaged + report.missing)
    var lost: [PictureID] = []
    try index.forEachPicture { if $0.isHeld, bad.contains($0.name.path) { lost.append($0.id) } }
    let ids = lost
    try index.write { db in for id in ids { try Index.forget(id, in: db) } }
    for path in report.damaged { try layout.remove(path) }
    let unclaimed = try Recovery(layout, index, read: read).orphans
    for url in urls { _ = try unclaimed.adopt(PictureID(url: url), url: url) }
    guard try index.lostSince() == nil else { return }
    try unclaimed.sweep()
    for path in try orphans() where report.orphans.contains(path) {
      try layout.remove(path)
    }
    try index.noteFolderTimes(of: layout)
  }

  /// What looking at a picture's file came to.
  enum Verdict: Equatable {
    case good
    /// The bytes are others than the row says; `isNewer` when the file got its name after the row was
    /// written, for a commit gives every file an inode of its own.
    case damaged(isNewer: Bool)
    case missing
    /// The system would not let us look.
    case unreadable
  }

  func judge(_ entry: PictureEntry, _ depth: Depth) -> Verdict {
    do throws(CacheError) {
      switch depth {
      case .fast:
        let folder = try layout.existingFolder(entry.name.folder)
        guard let stamp = try folder?.find(entry.name.file) else { return try absence(entry) }
        return stamp.bytes == entry.bytes ? .good : .damaged(isNewer: isNewer(stamp, entry.stamp))
      case .full:
        guard let file = try read(entry.name) else { return try absence(entry) }
        return file.sha256 == entry.sha256
          ? .good : .damaged(isNewer: isNewer(file.stamp, entry.stamp))
      }
    } catch {
      return .unreadable
    }
  }

  /// Whether a file is not the one that was there when its row was written.
  func isNewer(_ file: FileStamp?, _ row: FileStamp?) -> Bool {
    file.map { $0.inode != row?.inode } ?? false
  }

  /// What to call a picture without a regular file: a link or pipe in its place is to be removed.
  private func absence(_ entry: PictureEntry) throws(CacheError) -> Verdict {
    try layout.existingFolder(entry.name.folder)?.findKind(entry.name.file) == nil
      ? .missing : .damaged(isNewer: false)
  }

  /// The files of the cache at `path` that no held row names, sorted.
  package static func orphans(cache path: String, index: Index) throws(CacheError) -> [String] {
    try Verification(CacheLayout(reading: path), index).orphans()
  }

  /// Every file below `images/`, sorted.
  package static func files(of layout: CacheLayout) throws(CacheError) -> [String] {
    var files: [String] = []
    for number in try layout.existingFolders() {
      let folder = try layout.folder(number, creating: false)
      files += try folder.names().map { "images/\(PictureName.folderName(number))/\($0)" }
    }
    return files.sorted()
  }

  /// The files below `images/` that no held row names.
  ///
  /// Rows are read after the files, so that what is committed meanwhile counts as known.
  func orphans() throws(CacheError) -> [String] {
    var files: [String] = []
    for name in try layout.images.names() {
      guard let number = layout.pictureFolder(name),
        let folder = try layout.existingFolder(number)
      else {
        files.append("images/\(name)")
        continue
      }
      files += try folder.names().map { "images/\(name)/\($0)" }
    }
    let known = try heldPaths()
    return files.filter { !known.contains($0) }.sorted()
  }

  /// Where the pictures that are held lie, by path in the cache.
  func heldPaths() throws(CacheError) -> Set<String> {
    var paths: Set<String> = []
    try index.forEachPicture { if $0.isHeld { paths.insert($0.name.path) } }
    return paths
  }
}
