import Base
import FoundationEssentials
import GRDB
import Glibc

/// The result of comparing a picture's row in the index with the stamp of its file.
enum FileAgreement: Equatable {
  /// The file matches the row.
  case agreed
  /// There is a row, but no file.
  case gone
  /// There is a file that differs from the row: it is newer, or it is a copy of the file that the row describes.
  case doubtful
  /// The row describes no file, and there is no file.
  case empty

  /// Compares the stamp in a row with the stamp of the file.
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
/// The index and the files differ if a run was killed after it renamed files and before it wrote their rows. They also
/// differ if another program changed the folders. In neither case is anything downloaded again: if a catalog refers to
/// the picture of a file without a row, the file is adopted, which means that it gets a row. At the end of a complete
/// run, files that no catalog refers to are removed.
package struct Recovery: Sendable {
  /// The number of pictures whose files were missing or damaged, so that their rows were marked as empty.
  package let forgotten: Int
  /// The number of pictures whose files differed from their rows, so that the rows were updated.
  package let adopted: Int
  /// The files without a row, which will be adopted or removed.
  package let strays: StrayFiles
  /// The unfinished downloads of earlier runs, which a fetch of the same picture can resume.
  package let partials: PartialBodies
  /// The times of the picture folders before the run; nil if an object store has the pictures.
  package let folders: FolderTimes?

  /// Repairs the index if it may differ from the files.
  ///
  /// The caller holds the cache's lock. If nothing has changed, this takes 256 `stat` calls.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - index: The cache's index.
  ///   - oldest: Unfinished downloads that were last written before this moment are removed.
  ///   - read: Reads and hashes the file of a picture. Pass nil to use the normal function; tests pass a function
  ///     that fails.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read or repaired.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
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
    if wasKilled || before != now { try comparison.run(layout, index, read) }
    forgotten = comparison.forgotten
    adopted = comparison.adopted
    strays = StrayFiles(comparison.strays, layout, index, read: read)
    if wasKilled { try index.markKilledRunsInterrupted() }
  }

  /// Foresees the recovery of the next run, for a dry run: its changes are made in ``Index/shadowTables(_:)``.
  ///
  /// If an object store has the pictures, nothing is foreseen, because that would take requests to the store.
  ///
  /// - Parameters:
  ///   - layout: The cache. It is not changed.
  ///   - index: The cache's index, opened for reading.
  /// - Returns: The paths of the files without a row.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  @discardableResult
  package static func foresee(
    _ layout: CacheLayout,
    _ index: Index
  ) throws(LarderError) -> Set<String> {
    guard layout.listing == nil else { return [] }
    let (before, now) = (try index.folderTimes(), try FolderTimes(of: layout))
    guard try index.wasKilled() || before != now else { return [] }
    try index.shadowTables(["picture", "meta"])
    var comparison = Comparison()
    try comparison.run(layout, index, layout.digest)
    return comparison.strays
  }
}

/// Compares every row of a picture with its file, and counts the differences.
private struct Comparison {
  var forgotten = 0
  var adopted = 0
  /// The paths of the files without a row.
  var strays: Set<String> = []

  /// Compares all files with their rows, and updates the rows that differ.
  ///
  /// Only the names of one folder are in memory at a time.
  mutating func run(
    _ layout: CacheLayout,
    _ index: Index,
    _ read: PictureReading
  ) throws(LarderError) {
    for number in UInt8.min...UInt8.max {
      let folder: Folder?
      // After a system error the files may still exist, so their rows stay.
      do throws(LarderError) { folder = try layout.existingFolder(number) } catch { continue }
      let known = try compare(number, folder, index, read)
      for name in try folder?.names() ?? [] where !known.contains(name) {
        strays.insert("images/\(PictureName.folderName(number))/\(name)")
      }
    }
  }

  /// Updates the rows of the pictures in one folder.
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
        // An unreadable file may be whole, so its row stays as it is.
        do throws(LarderError) { now = entry.reconciled(with: try read(name)) } catch { break }
        if let now { renewed.append(now) } else { gone.append(entry.id) }
      }
    }
    try index.save(renewed, forgetting: gone)
    forgotten += gone.count
    adopted += renewed.count
    return known
  }
}

extension PictureEntry {
  /// The new row for a file that differs from its row; nil if the file is damaged or missing.
  ///
  /// Each commit renames a new file into place, so the file has a new inode. If the inode is the same but the bytes
  /// differ, the file is damaged.
  func reconciled(with file: FileDigest?) -> PictureEntry? {
    guard let now = renewed(by: file),
      now.sha256 == sha256 || now.stamp?.inode != stamp?.inode
    else { return nil }
    return now
  }

  /// This row, updated from the present file; nil if there is no file, or if the file is not a picture.
  func renewed(by file: FileDigest?) -> PictureEntry? {
    guard let file, let type = file.type else { return nil }
    var renewed = PictureEntry(id: id, url: url, identity: identity)
    renewed.sha256 = file.sha256
    renewed.bytes = file.stamp.bytes
    renewed.type = type
    renewed.stamp = file.stamp
    renewed.lastModified = file.stamp.modified
    if sha256 == file.sha256 {
      // The bytes are the same because the file was only copied or touched. So the stored response is still valid.
      renewed.response = response
      renewed.expiry = expiry
      renewed.fetched = fetched
      renewed.checked = checked
    }
    return renewed
  }
}

extension CacheLayout {
  /// Finds the pictures of a shard that are in the cache, and writes their rows into the run's own index.
  ///
  /// A shard is one machine's part of a sync. This layout is the run's work folder.
  ///
  /// - Parameters:
  ///   - known: The rows of the shard's pictures in the cache's index.
  ///   - index: The run's own index.
  /// - Returns: The files without a row, which the run can adopt.
  /// - Throws: ``LarderError`` when a folder cannot be read.
  package func recoverShard(
    _ known: [PictureEntry],
    _ index: Index
  ) throws(LarderError) -> StrayFiles {
    // Every picture has a row with its URL. The rows of pictures that are in the cache replace these.
    var rows = known.map { PictureEntry(id: $0.id, url: $0.url, identity: $0.identity) }
    var paths: Set<String> = []
    let stored = try remote?.rows(at: known.map(\.name.path))
    for entry in known {
      let path = entry.name.path
      let file =
        if let stored { stored[path]?.stamp } else {
          try existingFolder(entry.name.folder)?.find(entry.name.file)
        }
      switch FileAgreement(row: entry.stamp, file: file) {
      case .agreed: rows.append(entry)
      // The picture is not in the cache, but its row records since when its requests have failed.
      case .empty where entry.failure != nil: rows.append(entry)
      case .empty, .gone: break
      case .doubtful where stored != nil:
        if let now = stored?[path]?.row(of: entry) { rows.append(now) }
      case .doubtful where entry.stamp == nil: paths.insert(path)
      case .doubtful:
        if let now = entry.reconciled(with: try digest(of: entry.name)) { rows.append(now) }
      }
    }
    try index.save(rows)
    return StrayFiles(paths, self, index, read: digest)
  }

  /// Compares the present file of a picture with the row that another run wrote.
  ///
  /// If a third run has replaced the file meanwhile, the result is a row for the present file.
  ///
  /// - Parameters:
  ///   - entry: The row that the other run wrote.
  ///   - isRead: Whether to read the file and compare its SHA-256, even if its stamp is the same as in the row.
  /// - Returns: The row; nil if the file is missing or damaged.
  /// - Throws: ``LarderError`` when the file cannot be read.
  package func confirmed(_ entry: PictureEntry, read isRead: Bool) throws(LarderError)
    -> PictureEntry?
  {
    guard entry.isHeld else { return entry }
    guard let file = try find(entry.name) else { return nil }
    let isAgreed = file == entry.stamp
    if isAgreed, !isRead { return entry }
    var now: PictureEntry?
    if !isRead, let remote {
      let path = entry.name.path
      now = try remote.rows(at: [path])[path]?.row(of: entry)
    } else {
      let digest = try digest(of: entry.name)
      if isAgreed { return digest?.sha256 == entry.sha256 ? entry : nil }
      now = entry.reconciled(with: digest)
    }
    now?.failure = entry.failure
    now?.failingSince = entry.failingSince
    return now
  }
}

/// The times at which the content and the status of each picture folder changed.
///
/// At its end, a run records these times. If they are unchanged when the next run begins, that run need not compare
/// the files with the index.
package struct FolderTimes: Sendable, Equatable, Codable {
  /// For each folder's name, the sum of both times in nanoseconds since 1970.
  ///
  /// Programs that restore files set the modification time back, and that changes the time of the status (`st_ctim`),
  /// which no program can set.
  private var times: [String: Int64] = [:]
}

extension FolderTimes {
  /// Reads the times of all picture folders.
  init(of layout: CacheLayout) throws(LarderError) {
    for name in try layout.images.names() where layout.folderNumber(named: name) != nil {
      look(at: name, in: layout)
    }
  }

  /// A copy of these times that has the present times of those folders into which this process has put files.
  ///
  /// The times of the other folders stay as they are here, so that the next run notices changes by other programs.
  func filled(by layout: CacheLayout) -> FolderTimes {
    var now = self
    for number in layout.filledFolders {
      now.look(at: PictureName.folderName(number), in: layout)
    }
    return now
  }

  /// Records the times of one folder.
  ///
  /// A folder that cannot be read counts as missing.
  private mutating func look(at name: String, in layout: CacheLayout) {
    guard let status = try? layout.images.status(of: name), status.st_mode & S_IFMT == S_IFDIR
    else {
      times[name] = nil
      return
    }
    times[name] = [status.st_mtim, status.st_ctim].reduce(0) { sum, time in
      sum &+ Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
  }
}

extension Index {
  /// The times of the picture folders that the last run recorded.
  ///
  /// There are none if they cannot be read.
  func folderTimes() throws(LarderError) -> FolderTimes {
    let bytes = try read { db in try db.singleValue("folders") { $0.bytes(0) } ?? nil }
    let times = try? JSONDecoder().decode(FolderTimes.self, from: Data(bytes ?? []))
    return times ?? FolderTimes()
  }

  /// Records the times of the picture folders, so that the next run need not compare files.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - found: The times before this process put files into folders. Pass nil to read the times of all folders now.
  /// - Throws: ``LarderError`` when the folders cannot be listed, or the index cannot be read or written.
  package func noteFolderTimes(
    of layout: CacheLayout,
    since found: FolderTimes? = nil
  ) throws(LarderError) {
    let times = if let found { found.filled(by: layout) } else { try FolderTimes(of: layout) }
    // Do not write unchanged times, because a transaction waits for the disk.
    guard try times != folderTimes() else { return }
    try write { db in try db.setSingleValue("folders", times.jsonLine()) }
  }
}
