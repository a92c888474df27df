/// What a look at one file of the cache came to.
enum FileVerdict: Equatable {
  case good
  /// The bytes are others than the row says; `isNewer` when the file got its name after the row was
  /// written, for a commit gives every file an inode of its own.
  case damaged(isNewer: Bool)
  case missing
  /// The system would not let us look.
  case unreadable
}

/// Looks at the file of one picture and compares it with its row.
struct PictureJudge: Sendable {
  private let layout: CacheLayout
  private let read: PictureReading

  /// - Parameters:
  ///   - layout: The cache.
  ///   - read: How a file is read in full.
  init(_ layout: CacheLayout, read: @escaping PictureReading) {
    self.layout = layout
    self.read = read
  }

  /// What a look at the file of this row comes to.
  ///
  /// A takeover that was stopped has renamed some files whose rows have the older path still.
  func verdict(_ entry: PictureEntry, _ depth: Verification.Depth) -> FileVerdict {
    let verdict = look(at: entry, depth)
    guard verdict == .missing, entry.older != nil else { return verdict }
    var renamed = entry
    renamed.older = nil
    return look(at: renamed, depth)
  }

  private func look(at entry: PictureEntry, _ depth: Verification.Depth) -> FileVerdict {
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
  private func isNewer(_ file: FileStamp, _ row: FileStamp?) -> Bool {
    file.inode != row?.inode
  }

  /// What to call a picture without a regular file: a link or pipe in its place is to be removed.
  private func absence(_ entry: PictureEntry) throws(CacheError) -> FileVerdict {
    try layout.existingFolder(entry.name.folder)?.findKind(entry.name.file) == nil
      ? .missing : .damaged(isNewer: false)
  }
}
