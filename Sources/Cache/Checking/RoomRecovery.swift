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
    for entry in known {
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
    let entered = rows
    try index.write { db in
      var writer = try PictureRowWriter(db)
      for entry in entered { try writer.save(entry) }
    }
    orphans = OrphanFiles(paths, layout, index, read: read)
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
    let file = try existingFolder(entry.name.folder)?.find(entry.name.file)
    guard let file else { return nil }
    let isAgreed = file == entry.stamp
    if isAgreed, !isRead { return entry }
    let digest = try digest(of: entry.name)
    if isAgreed { return digest?.sha256 == entry.sha256 ? entry : nil }
    var now = entry.reconciled(with: digest)
    now?.failure = entry.failure
    now?.failingSince = entry.failingSince
    return now
  }
}
