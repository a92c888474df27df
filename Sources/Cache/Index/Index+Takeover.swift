import GRDB
import Glibc

extension Index {
  /// Renames the files of pictures and squares that an older larder named, in place; nothing is fetched.
  ///
  /// The caller holds the cache's lock. Rows say which files are meant, and forget it once the new names are on the
  /// device. After a crash anywhere the next opening goes on: a file that has its new name already keeps it.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - disk: Where names are changed.
  /// - Throws: ``CacheError`` when a file cannot be renamed, or the index cannot be read or written.
  func takeOver(_ layout: CacheLayout, on disk: any Disk) throws(CacheError) {
    while true {
      let entries = try read { db in
        let rows = try RowReader(
          db,
          Self.select + " WHERE older IS NOT NULL ORDER BY older LIMIT \(Self.takenOverAtOnce)"
        )
        var entries: [PictureEntry] = []
        while try rows.next() { entries.append(PictureEntry(rows)) }
        return entries
      }
      guard !entries.isEmpty else { return }
      let squares = try squares(of: entries)
      if let keeper = layout.keeper {
        try keeper.move(entries.map { ($0.name.path, $0.ownName.path) })
      } else {
        try rename(entries, in: layout, on: disk)
      }
      try rename(squares, in: layout, on: disk)
      try write { db in
        for (square, path) in squares {
          try db.execute(
            sql: "UPDATE square SET path = ? WHERE picture = ? AND side = ?",
            arguments: [path, square.picture, square.side]
          )
        }
        for entry in entries {
          try db.execute(
            sql: "UPDATE picture SET older = NULL WHERE id = ?",
            arguments: [entry.id]
          )
        }
      }
    }
  }

  /// How many files are renamed between two transactions.
  private static let takenOverAtOnce = 4096

  private func rename(
    _ entries: [PictureEntry],
    in layout: CacheLayout,
    on disk: any Disk
  ) throws(CacheError) {
    var (left, filled): (Set<UInt8>, Set<UInt8>) = ([], [])
    for entry in entries {
      let (old, new) = (entry.name, entry.ownName)
      guard let source = try layout.existingFolder(old.folder), source.stamp(of: old.file) != nil
      else { continue }
      let folder = try layout.folder(new.folder)
      try disk.rename(old.file, in: source, to: new.file, in: folder)
      left.insert(old.folder)
      filled.insert(new.folder)
    }
    // The new names first: between the two, a file may have both, and is lost under neither.
    for number in filled.sorted() { try disk.sync(layout.folder(number)) }
    try layout.syncFolderNames(on: disk)
    for number in left.subtracting(filled).sorted() { try disk.sync(layout.folder(number)) }
  }

  /// The squares of pictures, each with the path that it is to have.
  private func squares(
    of entries: [PictureEntry]
  ) throws(CacheError) -> [(square: SquareEntry, path: String)] {
    try read { db in
      let select = try db.cachedStatement(sql: "SELECT * FROM square WHERE picture = ?")
      return try entries.flatMap { entry in
        let name = entry.ownName
        let folder = PictureName.folderName(name.folder)
        return try SquareEntry.fetchAll(select, arguments: [entry.id]).map { square in
          let ending = square.path[PictureName.withoutEnding(square.path).endIndex...]
          return (square, "\(folder)/\(PictureName.withoutEnding(name.file))\(ending)")
        }
      }
    }
  }

  private func rename(
    _ squares: [(square: SquareEntry, path: String)],
    in layout: CacheLayout,
    on disk: any Disk
  ) throws(CacheError) {
    var folders: [String: Folder] = [:]
    func folder(_ path: String) throws(CacheError) -> Folder {
      if let folder = folders[path] { return folder }
      let folder = try Folder(path: layout.path(path), creating: true)
      folders[path] = folder
      return folder
    }
    for (square, path) in squares where layout.kind(of: square.name) == S_IFREG {
      let side = "squares/\(square.side)"
      try disk.rename(
        String(square.path.dropFirst(3)),
        in: folder("\(side)/\(square.path.prefix(2))"),
        to: String(path.dropFirst(3)),
        in: folder("\(side)/\(path.prefix(2))")
      )
    }
    for path in folders.keys.sorted() {
      if let folder = folders[path] { try disk.sync(folder) }
    }
    for side in Set(squares.map(\.square.side)).sorted() where !folders.isEmpty {
      try disk.sync(folder("squares/\(side)"))
    }
  }
}
