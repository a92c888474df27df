import GRDB
import Transport

/// A picture that a sweep removed.
package struct Tombstone: Sendable, Equatable {
  /// Its URL.
  package var url: String
  /// When it went.
  package var removed: UnixTime
  /// Why: `unreferenced`, `age` or `size`.
  package var reason: String
}

extension Tombstone: FetchableRecord, PersistableRecord {
  package static let databaseTableName = "tombstone"

  /// Reads a row of `tombstone`.
  package init(row: Row) throws {
    url = try row.decode(forColumn: "url")
    removed = try row.decode(forColumn: "removed")
    reason = try row.decode(forColumn: "reason")
  }

  /// Writes a row of `tombstone`.
  package func encode(to container: inout PersistenceContainer) {
    container["url"] = url
    container["removed"] = removed
    container["reason"] = reason
  }
}

extension Index {
  /// Forgets pictures for good and puts up a tombstone for each, together or not at all.
  ///
  /// Their files are to be removed after this: a file without a row is swept, a row without a file
  /// would be a lie.
  package func bury(_ removals: [GcPlan.Removal], at now: UnixTime) throws(CacheError) {
    try write { db in
      let picture = try db.cachedStatement(sql: "DELETE FROM picture WHERE id = ?")
      let mark = try db.cachedStatement(sql: "DELETE FROM unreferenced WHERE picture = ?")
      for removal in removals {
        let id = removal.picture.id
        try Tombstone(url: removal.picture.url, removed: now, reason: removal.reason.rawValue)
          .insert(db)
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
      try Tombstone.fetchAll(
        db,
        sql: "SELECT * FROM tombstone WHERE removed > ? AND removed <= ? ORDER BY url, removed",
        arguments: [old, new]
      )
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
