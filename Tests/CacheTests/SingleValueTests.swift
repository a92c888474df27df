import Cache
import Foundation
import GRDB
import Support
import Testing

@testable import Cache

/// The single values in the index's `meta` table, such as the folders' modification times, valid
/// or damaged.
struct SingleValueTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test
  func
    `a truncated, changed or swapped meta value causes a check of the files but loses no picture`()
    throws
  {
    do {
      let cache = try CacheOnDisk(folder)
      try cache.keep([("https://shop.example/a.jpg", jpeg("a"))])
      try cache.index.noteVary(7)
      try cache.end()
    }
    let layout = try CacheLayout(creating: folder.path("cache"))
    let index = try Index(layout)
    let whole = try #require(
      try index.read { db in
        try Data.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'folders'").map {
          [UInt8]($0)
        }
      }
    )
    #expect(whole.starts(with: "{".utf8))

    for key in ["folders", "selection", "lost", "of a newer larder"] {
      var values = (0...whole.count).map { Array(whole[..<$0]).databaseValue }
      for place in whole.indices {
        for bit in 0..<8 {
          var flipped = whole
          flipped[place] ^= 1 << bit
          values.append(flipped.databaseValue)
        }
      }
      values += ["text".databaseValue, Int64.min.databaseValue, Int64.max.databaseValue]
      values.append((0.5).databaseValue)
      for value in values {
        try index.write { db in
          try db.execute(
            sql: "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)",
            arguments: [key, value]
          )
        }

        let recovery = try Recovery(layout, index)
        try index.noteVary(7)
        _ = try index.lostSince()

        #expect(recovery.forgotten == 0 && recovery.strays.isEmpty)
      }
      try index.noteLost(since: nil)
    }
    #expect(try Verification(layout, index).run(.full) == VerifyReport(checked: 1))
    #expect(
      try index.read {
        try Int.fetchOne($0, sql: "SELECT count(*) FROM meta WHERE key LIKE 'of%'")
      }
        == 1
    )
  }
}

extension [UInt8] {
  fileprivate var databaseValue: DatabaseValue { Data(self).databaseValue }
}
