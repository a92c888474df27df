import FoundationEssentials
import GRDB

extension Index {
  /// Notes the digest of the fields that requests for pictures send from now on.
  ///
  /// When the digest has changed, such as after an update of larder, every picture whose response varies by a request
  /// field is due at once, and its row then tells whether the fields that are now sent select it. Later runs need
  /// not read the stored headers of fresh pictures. (RFC 9111, section 4.1)
  package func noteSelection(_ digest: Int64) throws(CacheError) {
    let known = try read { db in
      try Data.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'selection'")
        .flatMap { PackedNumbers.unpack($0).first }
    }
    guard known != digest else { return }
    try write { db in
      try db.execute(
        sql: """
          UPDATE picture SET expiry = 0 \
          WHERE sha256 IS NOT NULL AND instr(response, ' selected=') > 0
          """
      )
      try db.execute(
        sql: "INSERT OR REPLACE INTO meta(key, value) VALUES ('selection', ?)",
        arguments: [Data(PackedNumbers.pack([digest]))]
      )
    }
  }
}
