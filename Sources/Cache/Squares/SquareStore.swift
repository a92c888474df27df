import Synchronization

/// The squares of a cache's pictures: files below `squares/<side>/`, and what is known of them.
///
/// Each is called as its picture, with the ending of what it holds itself.
///
/// A square is made from what is held and can be made again, so it follows its picture: a row says
/// which bytes it was made of, and it is in step while those are the picture's. Files come by one
/// rename each, rows in groups behind them. A kill between the two leaves a whole file without a
/// row, or with an older one, that the next run makes again; ``verify`` finds nothing wrong there.
///
/// May be used on several threads at once. The caller holds the cache's lock.
package final class SquareStore: Sendable {
  private struct State {
    var rows: [SquareEntry] = []
    var folders: [String: Folder] = [:]
    var touched: Set<String> = []
    /// Whether a folder's own name may not be on the device yet.
    var hasUnsyncedNames = false
  }

  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let side: Int
  private let state = Mutex(State())

  /// Squares between two commits of their rows.
  private static let group = 64

  /// Opens the squares of one size.
  ///
  /// - Parameters:
  ///   - layout: the cache's folders.
  ///   - index: its index.
  ///   - disk: where bytes go.
  ///   - side: pixels along a side.
  package init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk = SystemDisk(),
    side: Int
  ) {
    (self.layout, self.index, self.disk, self.side) = (layout, index, disk, side)
  }

  /// Whether what an earlier run came to still holds: the square is there as it was committed, or
  /// none can be made of these very bytes.
  package func isCurrent(_ square: SquareEntry, of picture: PictureEntry) throws(CacheError)
    -> Bool
  {
    guard square.source == picture.sha256 else { return false }
    guard square.failure == nil else { return true }
    // Squares were once called as their pictures, a PNG of a GIF too.
    guard square.path == path(of: picture) else { return false }
    return try square.stamp == folder(of: picture, creating: false)?.stamp(of: file(of: picture))
  }

  /// Puts a square in place, whole or not at all; durable after ``flush()``.
  ///
  /// - Parameters:
  ///   - bytes: the square.
  ///   - picture: what it was made of.
  /// - Throws: ``CacheError`` when the disk refuses; what was there before then stays.
  package func store(_ bytes: [UInt8], of picture: PictureEntry) throws(CacheError) {
    guard let source = picture.sha256, let folder = try folder(of: picture, creating: true) else {
      return
    }
    let partial = "\(picture.partialName)-\(side)"
    let file = try disk.create(partial, in: layout.partial)
    try disk.append(bytes.span.bytes, to: file)
    try disk.sync(file)
    let stamp = try file.stamp()
    let name = self.file(of: picture)
    try disk.rename(partial, in: layout.partial, to: name, in: folder)
    if name != picture.name.file { try disk.remove(picture.name.file, in: folder) }
    var entry = entry(of: picture, source)
    entry.sha256 = ContentDigest.sha256(bytes)
    entry.stamp = stamp
    try add(entry)
  }

  /// Notes that no square can be made of a picture, so that it is not tried again while the picture
  /// stays as it is; a square of what it was before goes.
  package func note(_ failure: String, of picture: PictureEntry) throws(CacheError) {
    guard let source = picture.sha256 else { return }
    if let folder = try folder(of: picture, creating: false) {
      for name in Set([picture.name.file, file(of: picture)]) { try disk.remove(name, in: folder) }
    }
    var entry = entry(of: picture, source)
    entry.failure = failure
    try add(entry)
  }

  /// Makes durable what was done so far.
  package func flush() throws(CacheError) {
    let (rows, folders, hasUnsyncedNames) = state.withLock { state in
      defer { (state.rows, state.touched, state.hasUnsyncedNames) = ([], [], false) }
      return (
        state.rows, state.touched.compactMap { state.folders[$0] }, state.hasUnsyncedNames
      )
    }
    for folder in folders { try disk.sync(folder) }
    if hasUnsyncedNames {
      for name in ["squares/\(side)", "squares"] {
        try disk.sync(Folder(path: layout.path(name), creating: false))
      }
      try disk.sync(layout.root)
    }
    try index.save(rows)
  }

  private func add(_ entry: SquareEntry) throws(CacheError) {
    let isFull = state.withLock { state in
      state.rows.append(entry)
      state.touched.insert(String(entry.path.prefix(2)))
      return state.rows.count >= Self.group
    }
    if isFull { try flush() }
  }

  private func entry(of picture: PictureEntry, _ source: [UInt8]) -> SquareEntry {
    SquareEntry(picture: picture.id, side: side, path: path(of: picture), source: source)
  }

  /// The name of a picture's square, which is of the same format, and a PNG of a GIF.
  private func file(of picture: PictureEntry) -> String {
    picture.name.file(holding: picture.type?.kept)
  }

  /// The path of a picture's square below `squares/<side>/`.
  private func path(of picture: PictureEntry) -> String {
    "\(PictureName.folderName(picture.name.folder))/\(file(of: picture))"
  }

  /// The folder of a picture's square; nil when there is none and none is to be made.
  private func folder(of picture: PictureEntry, creating: Bool) throws(CacheError) -> Folder? {
    let name = PictureName.folderName(picture.name.folder)
    if let folder = state.withLock({ $0.folders[name] }) { return folder }
    let path = layout.path("squares/\(side)")
    if creating {
      for path in [layout.path("squares"), path] { _ = try Folder(path: path, creating: true) }
    } else if layout.kind(of: "squares/\(side)/\(name)") == nil {
      return nil
    }
    let folder = try Folder(path: "\(path)/\(name)", creating: creating)
    state.withLock {
      $0.folders[name] = folder
      if creating { $0.hasUnsyncedNames = true }
    }
    return folder
  }
}

extension PictureName {
  /// The file's name, ending as what it holds; its own while that is not known.
  package func file(holding type: PictureType?) -> String {
    guard let type, let dot = file.lastIndex(of: ".") else { return file }
    let ending = file[file.index(after: dot)...]
    if ending == type.fileExtension || type == .jpeg && ending == "jpeg" { return file }
    return file[...dot] + type.fileExtension
  }
}
