import FoundationEssentials
import GRDB
import Glibc
import Transport

/// When a name in each picture folder last changed: what a run notes, so that the next need not look into the folders.
package struct FolderTimes: Sendable, Equatable {
  /// By the folder's number, in nanoseconds since 1970.
  private var times: [UInt8: Int64] = [:]

  /// Looks at every picture folder that there is.
  init(of layout: CacheLayout) throws(CacheError) {
    for name in try layout.images.names() {
      if let number = layout.folderNumber(named: name) { look(at: number, in: layout) }
    }
  }

  /// Reads what was noted: a folder's number, its time, and so on.
  init(packed: [Int64]) {
    for place in stride(from: 0, to: packed.count - 1, by: 2) {
      times[UInt8(truncatingIfNeeded: packed[place])] = packed[place + 1]
    }
  }

  /// The times as they are noted.
  var packed: [Int64] { times.sorted { $0.key < $1.key }.flatMap { [Int64($0.key), $0.value] } }

  /// The times once this process has put files into folders.
  ///
  /// Those of the others stay: what somebody else did to them meanwhile is for the next run to find.
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
  func folderTimes() throws(CacheError) -> FolderTimes {
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
  /// - Throws: ``CacheError`` when the folders cannot be listed, or the index cannot be read or written.
  package func noteFolderTimes(
    of layout: CacheLayout,
    since found: FolderTimes? = nil
  ) throws(CacheError) {
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
