import Transport

/// What lies in a cache of the pictures that a run beside others is to bring: a look at each of their files.
package struct RoomRecovery {
  /// Files that no row describes, to be adopted.
  package let orphans: OrphanFiles

  /// Looks at the files, and enters what is held into the run's own index.
  ///
  /// - Parameters:
  ///   - layout: The run's room.
  ///   - index: The run's own index.
  ///   - known: What the cache's index knew of each picture.
  /// - Throws: ``CacheError`` when a folder cannot be read.
  package init(_ layout: CacheLayout, _ index: Index, known: [PictureEntry]) throws(CacheError) {
    let read: PictureReading = { name throws(CacheError) in try layout.digest(of: name) }
    var rows: [PictureEntry] = []
    var paths: Set<String> = []
    if let keeper = layout.keeper {
      rows = try Self.rows(of: known, in: keeper)
    }
    for entry in known where layout.keeper == nil {
      let file = try layout.existingFolder(entry.name.folder)?.find(entry.name.file)
      switch Standing(row: entry.stamp, file: file) {
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
    orphans = OrphanFiles(paths, layout, index, read: read)
  }

  /// What a store keeps of pictures, and what was known of those that it does not keep and that fail.
  private static func rows(
    of known: [PictureEntry],
    in keeper: any PictureKeeping
  ) throws(CacheError) -> [PictureEntry] {
    let kept = try keeper.rows(at: known.map(\.name.path))
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
  /// - Throws: ``CacheError`` when the file cannot be read.
  package func confirmed(_ entry: PictureEntry, read isRead: Bool) throws(CacheError)
    -> PictureEntry?
  {
    guard entry.isHeld else { return entry }
    guard let file = try find(entry.name) else { return nil }
    let isAgreed = file == entry.stamp
    if isAgreed, !isRead { return entry }
    if !isAgreed, !isRead, let keeper {
      let path = entry.name.path
      var now = try keeper.rows(at: [path])[path]?.row(of: entry)
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
  /// The entry of a picture of which nothing is held any more: why and since when it fails.
  fileprivate var lost: PictureEntry {
    var entry = PictureEntry(id: id, url: url, identity: identity)
    entry.failure = failure
    entry.failingSince = failingSince
    entry.expiry = expiry
    entry.checked = checked
    return entry
  }
}
