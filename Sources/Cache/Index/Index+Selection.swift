import FoundationEssentials
import GRDB

extension Index {
  /// Notes the digest of the fields that requests for pictures send from now on.
  ///
  /// When it is another than before, such as after an update of larder, what a field of the request selected is due
  /// at once: its row then tells whether it was chosen by the fields that are sent now. So no other run has to look
  /// into the words of pictures that are fresh. (RFC 9111, section 4.1)
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
