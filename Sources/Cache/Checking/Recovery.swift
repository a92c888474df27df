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
  package let forgotten: Int
  /// Pictures whose file was ahead of its row: their rows now describe the file.
  package let adopted: Int
  /// Files without a row, to be claimed or swept.
  package let orphans: OrphanFiles
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
  ///   - index: what is known of it.
  ///   - oldest: unfinished bodies last written before this are removed.
  ///   - isClaimed: whether the caller enters the row of a file, by its path; such a file is no orphan.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read or mended.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
    isClaimed: (String) throws(CacheError) -> Bool = { _ in false }
  ) throws(CacheError) {
    try self.init(
      layout,
      index,
      partialsSince: oldest,
      isClaimed: isClaimed
    ) { name throws(CacheError) in
      try layout.digest(of: name)
    }
  }

  /// The same with another way to read a file.
  init(
    _ layout: CacheLayout,
    _ index: Index,
    partialsSince oldest: UnixTime = .distantPast,
    isClaimed: (String) throws(CacheError) -> Bool = { _ in false },
    read: @escaping PictureReading
  ) throws(CacheError) {
    partials = try PartialBodies(layout, since: oldest)
    let wasKilled = try index.wasKilled()
    if let listing = layout.listing {
      let comparison = try KeptRecovery(layout, listing, index)
      try comparison.write(to: index, layout)
      listing.forget()
      forgotten = comparison.gone.count
      adopted = comparison.renewed.count
      orphans = OrphanFiles([], layout, index, read: read)
      folders = nil
      if wasKilled { try index.buryKilledRuns() }
      return
    }
    let (before, now) = (try index.folderTimes(), try FolderTimes(of: layout))
    folders = now
    var comparison = Comparison()
    if wasKilled || before != now { try comparison.run(layout, index, isClaimed, read) }
    forgotten = comparison.forgotten
    adopted = comparison.adopted
    orphans = OrphanFiles(comparison.orphans, layout, index, read: read)
    if wasKilled { try index.buryKilledRuns() }
  }
}

/// What comparing every row with its file found.
private struct Comparison {
  /// How many rows were forgotten, as their file is gone or damaged.
  var forgotten = 0
  /// How many rows are now as their files are.
  var adopted = 0
  /// Files without a row, by their paths in the cache.
  var orphans: Set<String> = []

  /// Compares a folder after the other, so that memory holds one folder's names, and brings the rows in step.
  mutating func run(
    _ layout: CacheLayout,
    _ index: Index,
    _ isClaimed: (String) throws(CacheError) -> Bool,
    _ read: PictureReading
  ) throws(CacheError) {
    for number in UInt8.min...UInt8.max {
      let folder: Folder?
      // Of what the system will not show, nobody can say that it is gone.
      do throws(CacheError) { folder = try layout.existingFolder(number) } catch { continue }
      let known = try compare(number, folder, index, read)
      for name in try folder?.names() ?? [] where !known.contains(name) {
        let path = "images/\(PictureName.folderName(number))/\(name)"
        if try !isClaimed(path) { orphans.insert(path) }
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
  ) throws(CacheError) -> Set<String> {
    var known: Set<String> = []
    var gone: [PictureID] = []
    var renewed: [PictureEntry] = []
    try index.forEachPicture(inFolder: number) { entry in
      let name = entry.name
      known.insert(name.file)
      let file: FileStamp?
      // As above.
      do throws(CacheError) { file = try folder?.find(name.file) } catch { return }
      switch Standing(row: entry.stamp, file: file) {
      case .agreed, .empty: break
      case .gone: gone.append(entry.id)
      case .doubtful:
        let now: PictureEntry?
        // What cannot be read may be whole: its row stays as it is.
        do throws(CacheError) { now = entry.reconciled(with: try read(name)) } catch { break }
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
