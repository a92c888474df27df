import GRDB
import Transport

extension Index {
  /// How many pictures have a row.
  package func pictureCount() throws(CacheError) -> Int {
    try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM picture") ?? 0 }
  }

  private static let selectStates = "SELECT id, expiry, checked, content, bytes FROM picture"

  /// The state of every picture that has a row, and the bytes that are held of all.
  ///
  /// - Parameter count: How many there are, where that is known.
  /// - Returns: The states, and the bytes.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func pictureStates(
    count: Int? = nil
  ) throws(CacheError) -> (states: [PictureID: PictureState], bytes: ByteCount) {
    let count = if let count { count } else { try pictureCount() }
    return try read { db in
      try Self.scan(db) {
        var states = [PictureID: PictureState](minimumCapacity: count)
        var bytes: ByteCount = 0
        let rows = try RowReader(db, Self.selectStates)
        while try rows.next() {
          let state = PictureState(rows)
          states[PictureID(rows.key(0))] = state
          if state.isHeld { bytes += rows.byteCount(4) }
        }
        return (states, bytes)
      }
    }
  }

  /// The states of these pictures, as far as they have rows.
  package func pictureStates(
    of ids: [PictureID]
  ) throws(CacheError) -> [PictureID: PictureState] {
    try rows(of: ids, Self.selectStates + " WHERE id = ?") { PictureState($0) }
  }

  /// How many identities are handed on at once.
  static let idBatch = 4096

  /// Calls `body` with the identities of all pictures that have rows, in order, so many at a time, until it says that
  /// it has enough.
  func forEachPictureID(_ body: ([PictureID]) -> Bool) throws(CacheError) {
    try read { db in
      let rows = try RowReader(db, "SELECT id FROM picture ORDER BY id")
      var batch: [PictureID] = []
      while try rows.next() {
        batch.append(PictureID(rows.key(0)))
        guard batch.count == Self.idBatch else { continue }
        if body(batch) { return }
        batch.removeAll(keepingCapacity: true)
      }
      _ = body(batch)
    }
  }

  /// How many bytes are held of all pictures.
  package func bytesHeld() throws(CacheError) -> ByteCount {
    try read { db in
      try Self.scan(db) {
        let sums = try RowReader(db, "SELECT sum(bytes) FROM picture WHERE sha256 IS NOT NULL")
        return try sums.next() ? sums.byteCount(0) : 0
      }
    }
  }

  /// How many bytes are held of some pictures.
  ///
  /// - Parameter members: Which of these are meant.
  /// - Returns: Their bytes.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func bytesHeld(
    among members: ([PictureID]) -> Set<PictureID>
  ) throws(CacheError) -> ByteCount {
    try read { db in
      let rows = try RowReader(
        db,
        "SELECT id, bytes FROM picture WHERE sha256 IS NOT NULL ORDER BY id"
      )
      var bytes: ByteCount = 0
      var batch: [PictureID: ByteCount] = [:]
      func count() {
        for id in members(Array(batch.keys)) { bytes += batch[id] ?? 0 }
        batch.removeAll(keepingCapacity: true)
      }
      while try rows.next() {
        batch[PictureID(rows.key(0))] = rows.byteCount(1)
        if batch.count == Self.idBatch { count() }
      }
      count()
      return bytes
    }
  }
}

extension PictureState {
  /// The state in a row's second to fourth column.
  fileprivate init(_ rows: borrowing RowReader) {
    self.init(expiry: rows.time(1), checked: rows.time(2), content: rows.number(3))
  }
}
