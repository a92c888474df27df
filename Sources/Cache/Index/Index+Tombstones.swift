import Transport
import FoundationEssentials
import GRDB

/// A picture that a sweep removed.
package struct Tombstone: Sendable, Equatable {
  /// Its URL.
  package var url: String
  /// When it went.
  package var removed: UnixTime
  /// Why: `unreferenced`, `age` or `size`.
  package var reason: String
}

extension Index {
  /// Forgets pictures for good and puts up a tombstone for each, together or not at all.
  ///
  /// Their files are to be removed after this: a file without a row is swept, a row without a file
  /// would be a lie.
  package func bury(_ removals: [GcPlan.Removal], at now: UnixTime) throws(CacheError) {
    try write { db in
      let tombstone = try db.cachedStatement(
        sql: "INSERT INTO tombstone(url, removed, reason) VALUES (?,?,?)"
      )
      let picture = try db.cachedStatement(sql: "DELETE FROM picture WHERE id = ?")
      let mark = try db.cachedStatement(sql: "DELETE FROM unreferenced WHERE picture = ?")
      for removal in removals {
        let id = removal.picture.id.number
        try tombstone.execute(arguments: [removal.picture.url, now, removal.reason.rawValue])
        try picture.execute(arguments: [id])
        try mark.execute(arguments: [id])
      }
    }
  }

  /// The pictures that went after one moment and not after another, by URL.
  package func tombstones(after old: UnixTime, through new: UnixTime) throws(CacheError)
    -> [Tombstone]
  {
    try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT url, removed, reason FROM tombstone WHERE removed > ? AND removed <= ? \
          ORDER BY url, removed
          """,
        arguments: [old, new]
      ).map { Tombstone(url: $0[0], removed: $0[1], reason: $0[2]) }
    }
  }

  /// When the index was made anew although there were pictures already; nil
  /// when that did not happen, or every picture has been claimed since.
  package func lostSince() throws(CacheError) -> UnixTime? {
    try read { db in
      try UnixTime.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'lost'")
    }
  }

  /// Notes that the index was made anew, or that nothing is left to be claimed.
  package func noteLost(since moment: UnixTime?) throws(CacheError) {
    try write { db in
      try db.execute(sql: "DELETE FROM meta WHERE key = 'lost'")
      if let moment {
        try db.execute(sql: "INSERT INTO meta(key, value) VALUES ('lost', ?)", arguments: [moment])
      }
    }
  }
}
