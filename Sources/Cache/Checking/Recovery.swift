import Base
import FoundationEssentials
import GRDB
import Glibc

/// Whether one row and its file agree.
enum FileAgreement: Equatable {
  /// The file is as the row says.
  case agreed
  /// There is a row and no file.
  case gone
  /// The file is not the one that the row was written for: newer than its row, or copied.
  case doubtful
  /// Nothing is held and nothing is there.
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

/// Brings the index and the files back together before a run, when they may have parted.
///
/// They part when a run is killed between its renames and its rows, or when another program touches
/// the folders. Neither costs a download: files without rows are adopted when a catalog asks for
/// their URL, and unclaimed files are removed at the end of a complete run.
package struct Recovery: Sendable {
  /// Pictures whose file was gone: their rows are forgotten.
  package let forgotten: Int
  /// Pictures whose file was ahead of its row: their rows now describe the file.
  package let adopted: Int
  /// Files without a row, to be claimed or swept.
  package let strays: StrayFiles
  /// Unfinished bodies of earlier runs, which a fetch of the same picture may resume.
  package let partials: PartialBodies
  /// The picture folders as they were found; nil where others keep the pictures.
  package let folders: FolderTimes?

  /// Looks whether index and files may have parted, and if so brings them together.
  ///
  /// The caller holds the cache's lock. Costs 256 `stat` calls when all is well.
  ///
  /// - Parameters:
  ///   - layout: the cache.
  ///   - index: the index.
  ///   - oldest: unfinished bodies last written before this are removed.
  ///   - isClaimed: whether the caller enters the row of a file, by its path; such a file is no stray.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read or repaired.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
    isClaimed: (String) throws(LarderError) -> Bool = { _ in false }
  ) throws(LarderError) {
    try self.init(
      layout,
      index,
      partialsSince: oldest,
      isClaimed: isClaimed
    ) { name throws(LarderError) in
      try layout.digest(of: name)
    }
  }

  /// The same with another way to read a file.
  init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
    isClaimed: (String) throws(LarderError) -> Bool = { _ in false },
    read: @escaping PictureReading
  ) throws(LarderError) {
    partials = try PartialBodies(layout, since: oldest)
    let wasKilled = try index.wasKilled()
    if let listing = layout.listing {
      let comparison = try RemoteRecovery(layout, listing, index)
      try comparison.write(to: index, layout)
      listing.forget()
      forgotten = comparison.gone.count
      adopted = comparison.renewed.count
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
  /// How many rows were forgotten, as their file is gone or damaged.
  var forgotten = 0
  /// How many rows are now as their files are.
  var adopted = 0
  /// Files without a row, by their paths in the cache.
  var strays: Set<String> = []

  /// Compares a folder after the other, so that memory holds one folder's names, and brings the rows in step.
  mutating func run(
    _ layout: CacheLayout,
    _ index: Index,
    _ isClaimed: (String) throws(LarderError) -> Bool,
    _ read: PictureReading
  ) throws(LarderError) {
    for number in UInt8.min...UInt8.max {
      let folder: Folder?
      // A file that the system cannot show may still exist.
      do throws(LarderError) { folder = try layout.existingFolder(number) } catch { continue }
      let known = try compare(number, folder, index, read)
      for name in try folder?.names() ?? [] where !known.contains(name) {
        let path = "images/\(PictureName.folderName(number))/\(name)"
        if try !isClaimed(path) { strays.insert(path) }
      }
    }
  }

  /// Brings the rows of a folder in step with their files.
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
      // As above.
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
  /// The entry for a file that is not the one that the row was written for; nil when that is damage.
  ///
  /// Every commit is a rename, so other bytes in the same inode are damage, not ours.
  func reconciled(with file: FileDigest?) -> PictureEntry? {
    guard let now = renewed(by: file),
      now.sha256 == sha256 || now.stamp?.inode != stamp?.inode
    else { return nil }
    return now
  }

  /// The entry as its file now is; nil when that is no picture, or none is there.
  func renewed(by file: FileDigest?) -> PictureEntry? {
    guard let file, let type = file.type else { return nil }
    var renewed = PictureEntry(id: id, url: url, identity: identity)
    renewed.sha256 = file.sha256
    renewed.bytes = file.stamp.bytes
    renewed.type = type
    renewed.stamp = file.stamp
    renewed.lastModified = file.stamp.modified
    if sha256 == file.sha256 {
      // Only copied or touched: the stored response still holds.
      renewed.response = response
      renewed.expiry = expiry
      renewed.fetched = fetched
      renewed.checked = checked
    }
    return renewed
  }
}

/// The files in a shared cache of the pictures that one shard is to fetch, each checked once.
package struct ShardRecovery {
  /// Files that no row describes, to be adopted.
  package let strays: StrayFiles

  /// Checks the files, and enters the held ones into the run's own index.
  ///
  /// - Parameters:
  ///   - layout: The run's room.
  ///   - index: The run's own index.
  ///   - known: the rows of the cache's index for these pictures.
  /// - Throws: ``LarderError`` when a folder cannot be read.
  package init(_ layout: CacheLayout, _ index: Index, known: [PictureEntry]) throws(LarderError) {
    let read: PictureReading = { name throws(LarderError) in try layout.digest(of: name) }
    var rows: [PictureEntry] = []
    var paths: Set<String> = []
    if let remote = layout.remote {
      rows = try Self.rows(of: known, in: remote)
    }
    for entry in known where layout.remote == nil {
      let file = try layout.existingFolder(entry.name.folder)?.find(entry.name.file)
      switch FileAgreement(row: entry.stamp, file: file) {
      case .agreed: rows.append(entry)
      // Since when it fails is worth knowing, though nothing is held.
      case .empty where entry.failure != nil: rows.append(entry)
      case .empty, .gone: break
      case .doubtful where entry.stamp == nil: paths.insert(entry.name.path)
      case .doubtful:
        if let now = entry.reconciled(with: try read(entry.name)) { rows.append(now) }
      }
    }
    try index.save(rows)
    strays = StrayFiles(paths, layout, index, read: read)
  }

  /// The pictures that a store keeps, and the rows of failing pictures that it does not keep.
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
}

extension CacheLayout {
  /// The row of a picture that another run placed, held against the file.
  ///
  /// Where a second run of the same pictures came between, the row is that of the file that is there.
  ///
  /// - Parameters:
  ///   - entry: The row as that run left it.
  ///   - isRead: Whether the bytes are read and compared although the file is the one that was placed.
  /// - Returns: The row; nil when the file is gone or is no whole picture.
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
  /// The entry of a picture that is no longer held: the reason and start of its failure.
  fileprivate var lost: PictureEntry {
    var entry = PictureEntry(id: id, url: url, identity: identity)
    entry.failure = failure
    entry.failingSince = failingSince
    entry.expiry = expiry
    entry.checked = checked
    return entry
  }
}

/// The last change of names in each picture folder: a run records it, so that the next need not look into the folders.
package struct FolderTimes: Sendable, Equatable {
  /// By the folder's number, in nanoseconds since 1970.
  private var times: [UInt8: Int64] = [:]

  /// Looks at every picture folder that there is.
  init(of layout: CacheLayout) throws(LarderError) {
    for name in try layout.images.names() {
      if let number = layout.folderNumber(named: name) { look(at: number, in: layout) }
    }
  }

  /// Reads the record: a folder's number, its time, and so on.
  init(packed: [Int64]) {
    for place in stride(from: 0, to: packed.count - 1, by: 2) {
      times[UInt8(truncatingIfNeeded: packed[place])] = packed[place + 1]
    }
  }

  /// The times as they are noted.
  var packed: [Int64] { times.sorted { $0.key < $1.key }.flatMap { [Int64($0.key), $0.value] } }

  /// The times once this process has put files into folders.
  ///
  /// The times of the other folders stay: the next run finds changes that another program made to them
  /// meanwhile.
  func filled(by layout: CacheLayout) -> FolderTimes {
    var now = self
    for number in layout.filledFolders { now.look(at: number, in: layout) }
    return now
  }

  /// One that the system will not show counts as one that is not there.
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
  /// When each picture folder last changed, as the last run left it.
  func folderTimes() throws(LarderError) -> FolderTimes {
    try read { db in
      let noted = try Data.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'folders'")
      return FolderTimes(packed: noted.map { PackedNumbers.unpack($0) } ?? [])
    }
  }

  /// Notes how the folders are now, so that the next run need not look into them.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - found: The folders as they were before this process put files in some; nil to look at all of them.
  /// - Throws: ``LarderError`` when the folders cannot be listed, or the index cannot be read or written.
  package func noteFolderTimes(
    of layout: CacheLayout,
    since found: FolderTimes? = nil
  ) throws(LarderError) {
    let times = if let found { found.filled(by: layout) } else { try FolderTimes(of: layout) }
    // A transaction waits for the disk.
    guard try times != folderTimes() else { return }
    try write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO meta(key, value) VALUES ('folders', ?)",
        arguments: [Data(PackedNumbers.pack(times.packed))]
      )
    }
  }
}
