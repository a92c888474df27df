import Base
import FoundationEssentials
import GRDB
import Glibc

/// The result of comparing a picture's row in the index with the `stat` of its file.
enum FileAgreement: Equatable {
  /// The file matches the row.
  case agreed
  /// There is a row, but no file.
  case gone
  /// The file is not the one that the row describes: it is newer, or a copy.
  case doubtful
  /// The row holds no picture, and there is no file.
  case empty

  /// Compares a row with the `stat` of its file.
  init(row: FileStamp?, file: FileStamp?) {
    switch (row, file) {
    case (nil, nil): self = .empty
    case (_?, nil): self = .gone
    case (let row, let file?): self = row == file ? .agreed : .doubtful
    }
  }
}

/// Repairs differences between the index and the files before a run.
///
/// The two differ if a run was killed after it renamed files and before it wrote their rows, or if another program
/// changed the folders. Neither case costs a download: a file without a row gets a row (is adopted) when a catalog
/// refers to its URL. Files that no catalog refers to are removed at the end of a complete run.
package struct Recovery: Sendable {
  /// The number of pictures whose file was gone; their rows were deleted.
  package let forgotten: Int
  /// The number of pictures whose file was newer than its row; their rows now describe the file.
  package let adopted: Int
  /// Files without a row, to be adopted or removed.
  package let strays: StrayFiles
  /// Unfinished bodies of earlier runs, which a fetch of the same picture may resume.
  package let partials: PartialBodies
  /// The times of the picture folders before the run; nil when an object store has the pictures.
  package let folders: FolderTimes?

  /// Compares the index with the files if they may differ, and repairs the index.
  ///
  /// The caller holds the cache's lock. Costs 256 `stat` calls when all is well.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - index: The cache's index.
  ///   - oldest: Unfinished bodies that were last written before this moment are removed.
  ///   - isClaimed: Whether the caller will write the row of the file at a path; such a file is no stray.
  ///   - read: Reads and hashes the file of a picture; nil for the normal function. Tests pass one that fails.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read or repaired.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
    isClaimed: (String) throws(LarderError) -> Bool = { _ in false },
    read: PictureReading? = nil
  ) throws(LarderError) {
    let read = read ?? layout.digest
    partials = try PartialBodies(layout, since: oldest)
    let wasKilled = try index.wasKilled()
    if let listing = layout.listing {
      (forgotten, adopted) = try layout.repair(index, from: listing)
      listing.forget()
      strays = StrayFiles([], layout, index, read: read)
      folders = nil
      if wasKilled { try index.markKilledRunsInterrupted() }
      return
    }
    let (before, now) = (try index.folderTimes(), try FolderTimes(of: layout))
    folders = now
    var comparison = Comparison()
    if wasKilled || before != now { try comparison.run(layout, index, isClaimed, read) }
    forgotten = comparison.forgotten
    adopted = comparison.adopted
    strays = StrayFiles(comparison.strays, layout, index, read: read)
    if wasKilled { try index.markKilledRunsInterrupted() }
  }
}

/// The result of comparing every row with its file.
private struct Comparison {
  /// The number of rows that were deleted because their file is gone or damaged.
  var forgotten = 0
  /// The number of rows that were updated from their files.
  var adopted = 0
  /// Files without a row, by their paths in the cache.
  var strays: Set<String> = []

  /// Compares all files with their rows, and updates the rows.
  ///
  /// Only one folder's names are in memory at a time.
  mutating func run(
    _ layout: CacheLayout,
    _ index: Index,
    _ isClaimed: (String) throws(LarderError) -> Bool,
    _ read: PictureReading
  ) throws(LarderError) {
    for number in UInt8.min...UInt8.max {
      let folder: Folder?
      // After a system error the files may still exist, so their rows stay.
      do throws(LarderError) { folder = try layout.existingFolder(number) } catch { continue }
      let known = try compare(number, folder, index, read)
      for name in try folder?.names() ?? [] where !known.contains(name) {
        let path = "images/\(PictureName.folderName(number))/\(name)"
        if try !isClaimed(path) { strays.insert(path) }
      }
    }
  }

  /// Updates the rows of a folder from their files.
  ///
  /// - Returns: The names of the files that have rows.
  private mutating func compare(
    _ number: UInt8,
    _ folder: Folder?,
    _ index: Index,
    _ read: PictureReading
  ) throws(LarderError) -> Set<String> {
    var known: Set<String> = []
    var gone: [PictureID] = []
    var renewed: [PictureEntry] = []
    try index.forEachPicture(inFolder: number) { entry in
      let name = entry.name
      known.insert(name.file)
      let file: FileStamp?
      // After a system error the file may still exist, so its row stays.
      do throws(LarderError) { file = try folder?.find(name.file) } catch { return }
      switch FileAgreement(row: entry.stamp, file: file) {
      case .agreed, .empty: break
      case .gone: gone.append(entry.id)
      case .doubtful:
        let now: PictureEntry?
        // An unreadable file may be whole: its row stays as it is.
        do throws(LarderError) { now = entry.reconciled(with: try read(name)) } catch { break }
        if let now { renewed.append(now) } else { gone.append(entry.id) }
      }
    }
    try index.renew(renewed, forgetting: gone)
    forgotten += gone.count
    adopted += renewed.count
    return known
  }
}

extension PictureEntry {
  /// The entry for a file that differs from its row; nil when the file is damaged.
  ///
  /// Every commit is a rename and thus a new inode, so different bytes in the same inode are damage.
  func reconciled(with file: FileDigest?) -> PictureEntry? {
    guard let now = renewed(by: file),
      now.sha256 == sha256 || now.stamp?.inode != stamp?.inode
    else { return nil }
    return now
  }

  /// The entry, updated from its present file; nil when there is no file, or the file is no picture.
  func renewed(by file: FileDigest?) -> PictureEntry? {
    guard let file, let type = file.type else { return nil }
    var renewed = PictureEntry(id: id, url: url, identity: identity)
    renewed.sha256 = file.sha256
    renewed.bytes = file.stamp.bytes
    renewed.type = type
    renewed.stamp = file.stamp
    renewed.lastModified = file.stamp.modified
    if sha256 == file.sha256 {
      // The file was only copied or touched: the stored response is still valid.
      renewed.response = response
      renewed.expiry = expiry
      renewed.fetched = fetched
      renewed.checked = checked
    }
    return renewed
  }
}

extension CacheLayout {
  /// Finds out which pictures of a shard are in the cache, and writes their rows into the run's own index.
  ///
  /// A shard is one machine's part of a sync. This layout is the run's work folder.
  ///
  /// - Parameters:
  ///   - known: The rows of the shard's pictures in the cache's index.
  ///   - index: The run's own index.
  /// - Returns: The files without a row, to be adopted.
  /// - Throws: ``LarderError`` when a folder cannot be read.
  package func recoverShard(
    _ known: [PictureEntry],
    _ index: Index
  ) throws(LarderError) -> StrayFiles {
    var rows: [PictureEntry] = []
    var paths: Set<String> = []
    if let remote {
      rows = try Self.rows(of: known, in: remote)
    }
    for entry in known where remote == nil {
      let file = try existingFolder(entry.name.folder)?.find(entry.name.file)
      switch FileAgreement(row: entry.stamp, file: file) {
      case .agreed: rows.append(entry)
      // The row has no bytes, but records since when the picture has been failing.
      case .empty where entry.failure != nil: rows.append(entry)
      case .empty, .gone: break
      case .doubtful where entry.stamp == nil: paths.insert(entry.name.path)
      case .doubtful:
        if let now = entry.reconciled(with: try digest(of: entry.name)) { rows.append(now) }
      }
    }
    try index.save(rows)
    return StrayFiles(paths, self, index, read: digest)
  }

  /// The rows of pictures that the object store has, and of failing pictures that the store does not have.
  private static func rows(
    of known: [PictureEntry],
    in remote: any RemotePictures
  ) throws(LarderError) -> [PictureEntry] {
    let kept = try remote.rows(at: known.map(\.name.path))
    return known.compactMap { entry in
      guard let there = kept[entry.name.path] else {
        return entry.failure == nil ? nil : entry.lost
      }
      return entry.stamp == there.stamp ? entry : there.row(of: entry)
    }
  }

  /// Compares a picture's row, which another run wrote, with the present file.
  ///
  /// If a second run has replaced the file since, the result is the row of the present file.
  ///
  /// - Parameters:
  ///   - entry: The row that the other run recorded.
  ///   - isRead: Whether to read the file and compare its SHA-256 even if its stamp matches.
  /// - Returns: The row; nil when the file is missing or damaged.
  /// - Throws: ``LarderError`` when the file cannot be read.
  package func confirmed(_ entry: PictureEntry, read isRead: Bool) throws(LarderError)
    -> PictureEntry?
  {
    guard entry.isHeld else { return entry }
    guard let file = try find(entry.name) else { return nil }
    let isAgreed = file == entry.stamp
    if isAgreed, !isRead { return entry }
    if !isAgreed, !isRead, let remote {
      let path = entry.name.path
      var now = try remote.rows(at: [path])[path]?.row(of: entry)
      now?.failure = entry.failure
      now?.failingSince = entry.failingSince
      return now
    }
    let digest = try digest(of: entry.name)
    if isAgreed { return digest?.sha256 == entry.sha256 ? entry : nil }
    var now = entry.reconciled(with: digest)
    now?.failure = entry.failure
    now?.failingSince = entry.failingSince
    return now
  }
}

extension PictureEntry {
  /// A copy of this entry without any bytes, for a missing file; it keeps the reason and the start of the picture's
  /// failure.
  fileprivate var lost: PictureEntry {
    var entry = PictureEntry(id: id, url: url, identity: identity)
    entry.failure = failure
    entry.failingSince = failingSince
    entry.expiry = expiry
    entry.checked = checked
    return entry
  }
}

/// The modification time of each picture folder.
///
/// A run records the times, so that the next run need not compare files if the times are unchanged.
package struct FolderTimes: Sendable, Equatable {
  /// The times by the folder's number, in nanoseconds since 1970.
  private var times: [UInt8: Int64] = [:]

  /// Reads the times of all picture folders.
  init(of layout: CacheLayout) throws(LarderError) {
    for name in try layout.images.names() {
      if let number = layout.folderNumber(named: name) { look(at: number, in: layout) }
    }
  }

  /// Reads the recorded form: pairs of a folder's number and its time.
  init(packed: [Int64]) {
    for place in stride(from: 0, to: packed.count - 1, by: 2) {
      times[UInt8(truncatingIfNeeded: packed[place])] = packed[place + 1]
    }
  }

  /// The recorded form: pairs of a folder's number and its time.
  var packed: [Int64] { times.sorted { $0.key < $1.key }.flatMap { [Int64($0.key), $0.value] } }

  /// A copy of these times, updated for the folders into which this process has put files.
  ///
  /// The times of the other folders stay as they were, so that the next run notices changes by other programs.
  func filled(by layout: CacheLayout) -> FolderTimes {
    var now = self
    for number in layout.filledFolders { now.look(at: number, in: layout) }
    return now
  }

  /// Records a folder's modification time; a folder that cannot be read counts as missing.
  private mutating func look(at number: UInt8, in layout: CacheLayout) {
    guard let status = try? layout.images.status(of: PictureName.folderName(number)),
      status.st_mode & S_IFMT == S_IFDIR
    else {
      times[number] = nil
      return
    }
    times[number] =
      Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }
}

extension Index {
  /// The times of the picture folders, as the last run recorded them.
  func folderTimes() throws(LarderError) -> FolderTimes {
    try read { db in
      let noted: Data? = try db.singleValue("folders")
      return FolderTimes(packed: noted.map { PackedNumbers.unpack($0) } ?? [])
    }
  }

  /// Records the present times of the picture folders, so that the next run need not compare files.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - found: The times before this process put files into folders; nil to read the times of all folders again.
  /// - Throws: ``LarderError`` when the folders cannot be listed, or the index cannot be read or written.
  package func noteFolderTimes(
    of layout: CacheLayout,
    since found: FolderTimes? = nil
  ) throws(LarderError) {
    let times = if let found { found.filled(by: layout) } else { try FolderTimes(of: layout) }
    // Unchanged times are not written, because a transaction waits for the disk.
    guard try times != folderTimes() else { return }
    try write { try $0.setSingleValue("folders", Data(PackedNumbers.pack(times.packed))) }
  }
}
