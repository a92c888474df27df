import Base
import GRDB
import Synchronization

/// Stores the square thumbnails of a cache's pictures, called squares: files below `squares/<side>/`, and rows in the
/// index.
///
/// The file of a square has the name of the picture's file, except for the extension. For example, the square of a GIF
/// is a PNG.
///
/// The row of a square has the SHA-256 of the picture that it was made of. The square is current while the picture has
/// that SHA-256. Each file is renamed into place, and rows are written later in groups. If the process is killed in
/// between, there may be a whole file without a row or with an older row. `larder verify` accepts such a file, and the
/// next run makes the square again.
///
/// A store is thread-safe. The caller holds the cache's lock.
package final class SquareStore: Sendable {
  private struct Pending {
    var rows: [SquareEntry] = []
    var folders: [String: Folder] = [:]
    var touched: Set<String> = []
    /// Whether a folder was created whose name is not synced yet.
    var hasUnsyncedNames = false
  }

  private let layout: CacheLayout
  private let index: Index
  private let disk: any Disk
  private let side: Int
  private let state = Mutex(Pending())

  /// The number of rows that are written in one transaction.
  private static let group = 64

  /// Prepares to store squares of one size.
  ///
  /// - Parameters:
  ///   - layout: The cache's folders.
  ///   - index: The cache's index.
  ///   - disk: The file system, which tests replace.
  ///   - side: The number of pixels along a side.
  package init(
    _ layout: CacheLayout,
    index: Index,
    disk: any Disk = SystemDisk(),
    side: Int
  ) {
    (self.layout, self.index, self.disk, self.side) = (layout, index, disk, side)
  }

  /// Whether the result of an earlier run is still valid.
  ///
  /// It is valid if the picture is the same, and either the square's file is unchanged or no square can be made of the
  /// picture.
  package func isCurrent(_ square: SquareEntry, of picture: PictureEntry) throws(LarderError)
    -> Bool
  {
    guard square.source == picture.sha256 else { return false }
    guard square.failure == nil else { return true }
    return try square.stamp == folder(of: picture, creating: false)?.stamp(of: file(of: picture))
  }

  /// Writes the file of a square and renames it into place.
  ///
  /// The square is durable after ``flush()``.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the square's file.
  ///   - picture: The picture that it was made of.
  /// - Throws: ``LarderError`` when the file cannot be written. In that case the earlier square stays.
  package func store(_ bytes: [UInt8], of picture: PictureEntry) throws(LarderError) {
    guard let source = picture.sha256, let folder = try folder(of: picture, creating: true) else {
      return
    }
    let partial = "\(picture.id.partialName)-\(side)"
    let file = try disk.create(partial, in: layout.partial)
    try disk.append(bytes.span.bytes, to: file)
    try disk.sync(file)
    let stamp = try file.stamp()
    let name = self.file(of: picture)
    try disk.rename(partial, in: layout.partial, to: name, in: folder)
    var entry = entry(of: picture, source)
    entry.sha256 = ContentDigest.sha256(bytes)
    entry.stamp = stamp
    try add(entry)
  }

  /// Records that no square can be made of a picture, and removes an earlier square.
  ///
  /// No run tries again to make a square until the picture changes.
  package func note(_ failure: String, of picture: PictureEntry) throws(LarderError) {
    guard let source = picture.sha256 else { return }
    if let folder = try folder(of: picture, creating: false) {
      try disk.remove(file(of: picture), in: folder)
    }
    var entry = entry(of: picture, source)
    entry.failure = failure
    try add(entry)
  }

  /// Makes all earlier changes durable.
  package func flush() throws(LarderError) {
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

  private func add(_ entry: SquareEntry) throws(LarderError) {
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

  /// The name of the file of a picture's square.
  ///
  /// It has the extension of the square's format. The square has the format of the picture unless the picture is a GIF.
  private func file(of picture: PictureEntry) -> String {
    picture.name.file(holding: picture.type?.kept)
  }

  /// The path of a picture's square below `squares/<side>/`.
  private func path(of picture: PictureEntry) -> String {
    "\(PictureName.folderName(picture.name.folder))/\(file(of: picture))"
  }

  /// The folder for a picture's square; nil if it does not exist and `creating` is false.
  private func folder(of picture: PictureEntry, creating: Bool) throws(LarderError) -> Folder? {
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
  /// The name of the file with the extension for `type`.
  ///
  /// It is unchanged if the type is nil, or if the type is JPEG and the name ends with `.jpeg`.
  func file(holding type: PictureType?) -> String {
    guard let type, let dot = file.lastIndex(of: ".") else { return file }
    let ending = file[file.index(after: dot)...]
    if ending == type.fileExtension || type == .jpeg && ending == "jpeg" { return file }
    return file[...dot] + type.fileExtension
  }
}

/// The row of one square in the index, which is a square thumbnail of a picture in one size.
package struct SquareEntry: Sendable, Equatable {
  /// The key of the picture.
  package var picture: PictureID
  /// The number of pixels along a side.
  package var side: Int
  /// The path below `squares/<side>/`, such as `3f/….png`.
  ///
  /// Except for the extension, it is the path of the picture below `images/`.
  var path: String
  /// The SHA-256 of the picture that the square was made of.
  package var source: [UInt8]
  /// The SHA-256 of the square; nil if no square could be made.
  package var sha256: [UInt8]?
  /// The stamp of the square's file when it was stored; nil if no square could be made.
  package var stamp: FileStamp?
  /// The reason why no square could be made; nil if there is a square.
  package var failure: String?

  /// The path of the square in the cache.
  package var name: String { "squares/\(side)/\(path)" }
}

extension Index {
  /// The rows of the squares of one size, or of all sizes if `side` is nil.
  ///
  /// Rows that say that no square could be made are included.
  package func squares(side: Int? = nil) throws(LarderError) -> [SquareEntry] {
    let sql = SquareEntry.select + "?1 IS NULL OR side = ?1 ORDER BY picture, side"
    return try rows(sql, side) { SquareEntry($0) }
  }

  /// The row of a picture's square of one size; nil if there is none.
  package func square(of picture: PictureID, side: Int) throws(LarderError) -> SquareEntry? {
    try row(SquareEntry.select + "picture = ? AND side = ?", picture, side) { SquareEntry($0) }
  }

  /// The current squares of one size, or of all sizes if `side` is nil, and the identities of their pictures.
  ///
  /// A square is current if its picture still has the bytes that the square was made of. Rows that say that no square
  /// could be made are left out.
  package func currentSquares(side: Int? = nil) throws(LarderError)
    -> [(identity: String, square: SquareEntry)]
  {
    let sql = """
      SELECT \(SquareEntry.columns), coalesce(p.identity, p.url) FROM square s \
      CROSS JOIN picture p ON p.id = s.picture AND p.sha256 = s.source \
      WHERE s.sha256 IS NOT NULL AND (?1 IS NULL OR s.side = ?1) ORDER BY s.picture, s.side
      """
    return try rows(sql, side) { ($0.text(9) ?? "", SquareEntry($0)) }
  }

  /// Deletes the rows of squares whose picture is gone or changed.
  func forgetStaleSquares() throws(LarderError) {
    try run(
      """
      DELETE FROM square \
      WHERE source IS NOT (SELECT sha256 FROM picture WHERE picture.id = square.picture)
      """
    )
  }

  /// Writes rows in one transaction.
  func save(_ entries: [SquareEntry]) throws(LarderError) {
    guard !entries.isEmpty else { return }
    try write { db in
      let row = try RowStatement(
        db,
        """
        INSERT OR REPLACE INTO square(picture, side, path, source, sha256, bytes, inode, modified, failure) \
        VALUES (?,?,?,?,?,?,?,?,?)
        """
      )
      for entry in entries {
        try row.run(
          entry.picture,
          entry.side,
          entry.path,
          entry.source,
          entry.sha256,
          entry.stamp?.bytes.count,
          entry.stamp?.inode,
          entry.stamp?.modified,
          entry.failure
        )
      }
    }
  }

  /// Deletes rows in one transaction.
  func forget(_ entries: [SquareEntry]) throws(LarderError) {
    guard !entries.isEmpty else { return }
    try write { db in
      let row = try RowStatement(db, "DELETE FROM square WHERE picture = ? AND side = ?")
      for entry in entries { try row.run(entry.picture, entry.side) }
    }
  }
}

extension SquareEntry {
  /// The columns that ``init(_:)`` reads, of the table `square` as `s`.
  fileprivate static let columns =
    "s.picture, s.side, s.path, s.source, s.sha256, s.bytes, s.inode, s.modified, s.failure"
  static let select = "SELECT \(columns) FROM square s WHERE "

  /// Reads the present row of a query that begins with ``columns``.
  init(_ row: borrowing RowStatement) {
    picture = PictureID(row.key(0))
    side = Int(row.number(1))
    path = row.text(2) ?? ""
    source = row.bytes(3) ?? []
    sha256 = row.bytes(4)
    if let inode = row.optionalNumber(6), let modified = row.optionalTime(7) {
      stamp = FileStamp(inode: inode, bytes: row.byteCount(5), modified: modified)
    }
    failure = row.text(8)
  }
}

extension CacheLayout {
  /// Removes squares whose picture is gone or changed, and files below `squares/` without a row.
  ///
  /// The caller holds the cache's lock, and calls this after the removal of pictures.
  ///
  /// - Returns: The number of removed files.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read or changed.
  package func sweepSquares(_ index: Index) throws(LarderError) -> Int {
    guard kind(of: "squares") != nil else { return 0 }
    // Delete the rows first. If a crash follows, there are files without rows, which the next sweep removes. If the
    // files were removed first, a crash could leave a row without a file. That row would count as current if its
    // picture came back.
    try index.forgetStaleSquares()
    let known = Set(try index.currentSquares().map(\.square.name))
    let strays = try squareFiles().filter { !known.contains($0) }
    for path in strays { try remove(path) }
    return strays.count
  }
}
