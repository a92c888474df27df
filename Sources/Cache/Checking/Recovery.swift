import FoundationEssentials
import GRDB
import Glibc
import Transport

/// How one row and its file stand to each other.
enum Standing: Equatable {
  /// The file is as the row says.
  case agreed
  /// There is a row and no file.
  case gone
  /// The file is not the one that the row was written for: newer than its row, or copied.
  case doubtful
  /// Nothing is held and nothing is there.
  case empty

  /// Judges a row by what `stat` says of its file.
  init(row: FileStamp?, file: FileStamp?) {
    switch (row, file) {
    case (nil, nil): self = .empty
    case (_?, nil): self = .gone
    case (let row, let file?): self = row == file ? .agreed : .doubtful
    }
  }
}

/// Brings the index and the files back together before a run, when they may have parted.
///
/// They part when a run is killed between its renames and its rows, or when somebody else touches
/// the folders. Neither costs a download: files without rows are adopted when a catalog asks for
/// their URL, and what nobody asked for is swept at the end of a complete run.
package struct Recovery: Sendable {
  /// Pictures whose file was gone: their rows are forgotten.
  package private(set) var forgotten = 0
  /// Pictures whose file was ahead of its row: their rows now describe the file.
  package private(set) var adopted = 0
  /// Files without a row, by their path in the cache.
  package private(set) var orphans: Set<String> = []
  /// What earlier runs left unfinished and a picture may go on with.
  package let partials: PartialBodies

  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading

  /// Looks whether index and files may have parted, and if so brings them together.
  ///
  /// The caller holds the cache's lock. Costs 256 `stat` calls when all is well.
  ///
  /// - Parameters:
  ///   - layout: the cache.
  ///   - index: what is known of it.
  ///   - oldest: unfinished bodies last written before this are removed.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read or mended.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast
  ) throws(CacheError) {
    try self.init(layout, index, partialsSince: oldest) { name throws(CacheError) in
      try layout.digest(of: name)
    }
  }

  /// The same with another way to read a file.
  init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
    read: @escaping PictureReading
  ) throws(CacheError) {
    self.layout = layout
    self.index = index
    self.read = read
    partials = try PartialBodies(layout, since: oldest)
    let wasKilled = try index.wasKilled()
    let (before, now) = (try index.folderTimes(), try layout.folderTimes())
    if wasKilled || before != now { try reconcile() }
    if wasKilled { try index.buryKilledRuns() }
  }

  /// Compares every row with its file, and finds the files that have none.
  private mutating func reconcile() throws(CacheError) {
    var known: Set<String> = []
    var gone: [PictureID] = []
    var renewed: [PictureEntry] = []
    try index.forEachPicture { entry in
      known.insert(entry.name.path)
      let file: FileStamp?
      // Of what the system will not show, nobody can say that it is gone.
      do throws(CacheError) {
        file = try layout.existingFolder(entry.name.folder)?.find(entry.name.file)
      } catch { return }
      switch Standing(row: entry.stamp, file: file) {
      case .agreed, .empty: break
      case .gone: gone.append(entry.id)
      case .doubtful:
        let now: PictureEntry?
        // What cannot be read may be whole: its row stays as it is.
        do throws(CacheError) { now = try renew(entry) } catch { break }
        // Every commit is a rename, so other bytes in the same inode are damage, not ours.
        if let now,
          now.sha256 == entry.sha256 || now.stamp?.inode != entry.stamp?.inode
        {
          renewed.append(now)
        } else {
          gone.append(entry.id)
        }
      }
    }
    for folder in try layout.existingFolders() {
      for name in try layout.folder(folder).names() {
        let path = "images/\(PictureName.folderName(folder))/\(name)"
        if !known.contains(path) { orphans.insert(path) }
      }
    }
    let (rows, ids) = (renewed, gone)
    try index.write { db in
      var writer = try PictureRowWriter(db)
      for entry in rows { try writer.save(entry) }
      for id in ids { try Index.forget(id, in: db) }
    }
    forgotten = gone.count
    adopted = renewed.count
  }

  /// Adopts the file that lies where the picture at `url` belongs, when there is one without a row.
  ///
  /// Its row then holds the file's own date as the only thing known of the origin's word, so the
  /// next request can ask whether it is still good.
  package mutating func adopt(url: String, id: PictureID) throws(CacheError) -> PictureEntry? {
    guard !orphans.isEmpty else { return nil }
    let claimed = PictureEntry(id: id, url: url)
    guard orphans.remove(claimed.name.path) != nil, let entry = try adopt(claimed) else {
      return nil
    }
    adopted += 1
    return entry
  }

  /// Enters the file where a claimed picture belongs, which nobody else may claim from now on.
  ///
  /// - Parameter claimed: the picture's identity and URL.
  /// - Returns: Its row; nil when the file is no picture, and is removed, or cannot be read.
  /// - Throws: ``CacheError`` when the row cannot be written.
  package func adopt(_ claimed: PictureEntry) throws(CacheError) -> PictureEntry? {
    let renewed: PictureEntry?
    // What cannot be read is nobody's to remove; whoever asks for the picture puts another in its place.
    do throws(CacheError) { renewed = try renew(claimed) } catch { return nil }
    guard let entry = renewed else {
      // No picture: were it left, it would stay an orphan that no sweep knows of.
      try layout.remove(claimed.name.path)
      return nil
    }
    try index.write { db in
      var writer = try PictureRowWriter(db)
      try writer.save(entry)
    }
    return entry
  }

  /// Removes the files that no row and no catalog claimed.
  ///
  /// - Parameter claimed: paths that a catalog claims although this run did not ask for them.
  /// - Returns: How many were removed.
  /// - Throws: ``CacheError`` when one cannot be removed.
  package mutating func sweep(except claimed: Set<String> = []) throws(CacheError) -> Int {
    let nobodys = orphans.subtracting(claimed)
    try remove(nobodys)
    orphans.subtract(nobodys)
    return nobodys.count
  }

  /// Removes files that nobody claimed, by their paths in the cache.
  package func remove(_ paths: Set<String>) throws(CacheError) {
    for path in paths { try layout.remove(path) }
  }

  /// The entry as its file now is, or nil when that is no picture.
  private func renew(_ entry: PictureEntry) throws(CacheError) -> PictureEntry? {
    guard let file = try read(entry.name), let type = file.type else { return nil }
    var renewed = PictureEntry(id: entry.id, url: entry.url)
    renewed.sha256 = file.sha256
    renewed.bytes = file.stamp.bytes
    renewed.type = type
    renewed.stamp = file.stamp
    renewed.lastModified = file.stamp.modified
    if entry.sha256 == file.sha256 {
      // Only copied or touched: the origin's word still holds.
      renewed.response = entry.response
      renewed.expiry = entry.expiry
      renewed.fetched = entry.fetched
      renewed.checked = entry.checked
    }
    return renewed
  }
}

extension Index {
  /// When each picture folder last changed, as the last run left it.
  fileprivate func folderTimes() throws(CacheError) -> [Int64] {
    try read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'folders'")
        .map { PackedNumbers.unpack($0) } ?? []
    }
  }

  /// Notes how the folders are now, so that the next run need not look into them.
  package func noteFolderTimes(of layout: CacheLayout) throws(CacheError) {
    let times = try layout.folderTimes()
    try write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO meta(key, value) VALUES ('folders', ?)",
        arguments: [Data(PackedNumbers.pack(times))]
      )
    }
  }
}

extension CacheLayout {
  /// For every picture folder, its number and when a name in it last changed, in nanoseconds.
  fileprivate func folderTimes() throws(CacheError) -> [Int64] {
    var times: [Int64] = []
    for folder in try existingFolders() {
      var status = Glibc.stat()
      guard fstatat(images.descriptor, PictureName.folderName(folder), &status, 0) == 0 else {
        continue
      }
      times.append(Int64(folder))
      times.append(Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
    }
    return times
  }
}
