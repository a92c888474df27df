import GRDB
import Glibc
import Transport

extension Index {
  /// Whether the file is whole, as SQLite judges it; `fast` leaves out that its own indices agree.
  ///
  /// - Throws: ``CacheError`` when it cannot be read, which says nothing about it.
  package func isWhole(fast: Bool) throws(CacheError) -> Bool {
    do {
      return try read {
        try String.fetchOne($0, sql: fast ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)")
      } == "ok"
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  /// The pictures that can still be read from a damaged index, from both ends up to the damage.
  static func salvage(_ path: String) -> [PictureEntry] {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { try harden($0, path) }
    guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else {
      return []
    }
    var entries: [PictureID: PictureEntry] = [:]
    // An older larder may have written it, with fewer columns.
    let known = try? queue.read { Set(try $0.columns(in: "picture").map(\.name)) }
    let columns = pictureColumns.map { known?.contains($0) == false ? "NULL" : $0 }
    let select = "SELECT \(columns.joined(separator: ", ")) FROM picture"
    for order in ["ASC", "DESC"] {
      _ = try? queue.read { db in
        let rows = try RowReader(db, select + " ORDER BY rowid \(order)")
        while try rows.next() {
          var entry = PictureEntry(rows)
          // A damaged page can hold anything; a URL proves its own row.
          let id = PictureID(url: entry.identity)
          if entry.id != id {
            // Older larders kept the key as a number.
            guard rows.isInteger(0), rows.number(0) == id.olderNumber else { continue }
            entry.id = id
            if entry.isHeld { entry.older = PictureName(older: entry.url).path }
          }
          entries[id] = entry
        }
      }
    }
    return entries.values.sorted { $0.id < $1.id }
  }

  /// The first name that nothing has: this one, or with a number behind it.
  private static func freeName(_ path: String) -> String {
    var (name, number) = (path, 1)
    while access(name, F_OK) == 0 || access(name + "-journal", F_OK) == 0 {
      number += 1
      name = "\(path)-\(number)"
    }
    return name
  }

  /// Makes an index anew in place of one that is gone or damaged, from the files.
  ///
  /// The damaged one is kept beside it, as `index.sqlite.damaged-TIME`. What can still be read of it is entered for the files that are
  /// as it says; all other files stay, for the next run of their catalog to claim.
  ///
  /// - Parameters:
  ///   - layout: the cache, whose lock the caller holds.
  ///   - now: the moment.
  /// - Returns: The new index, and where the damaged one is now; nil when there was none.
  /// - Throws: ``CacheError`` when it cannot be made.
  package static func rebuilt(
    in layout: CacheLayout,
    at now: UnixTime
  ) throws(CacheError) -> (index: Index, aside: String?) {
    let path = layout.path("index.sqlite")
    let aside = freeName(path + ".damaged-" + now.text("%Y%m%dT%H%M%SZ"))
    let salvaged = salvage(path)
    let wasThere = access(path, F_OK) == 0
    for suffix in ["", "-journal"] where access(path + suffix, F_OK) == 0 {
      guard Glibc.rename(path + suffix, aside + suffix) == 0 else {
        throw .system("move aside", path + suffix, errno: errno)
      }
    }
    let index = try Index(layout)
    try index.noteLost(since: now)
    var found: [PictureEntry] = []
    for entry in salvaged where entry.isHeld {
      // The next run compares all rows with what a store keeps.
      if layout.keeper != nil { found.append(entry) }
      let folder = try layout.existingFolder(entry.name.folder)
      if folder?.stamp(of: entry.name.file) == entry.stamp { found.append(entry) }
    }
    let rows = found
    try index.write { db in
      var writer = try PictureRowWriter(db)
      for entry in rows { try writer.save(entry) }
    }
    try index.takeOver(layout, on: SystemDisk())
    return (index, wasThere ? aside : nil)
  }
}
