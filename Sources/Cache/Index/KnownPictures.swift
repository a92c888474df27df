import Base
import GRDB
import SQLite
import Synchronization

/// The states of pictures at the start of a run, each as a ``PictureState``.
///
/// If there are few pictures, their states are kept in memory. If there are many, each state is looked up in the
/// index. A run looks up each picture once, before it writes the picture's row, so that it always finds the state at
/// the start of the run.
package struct KnownPictures: Sendable {
  /// The maximum number of pictures whose states are kept in memory.
  package static let most = 1 << 20

  private enum Source: Sendable {
    case memory(@Sendable () throws(LarderError) -> [PictureID: PictureState])
    case index(Index)
  }

  private let source: Source

  /// Uses the given states.
  package init(_ states: [PictureID: PictureState] = [:]) {
    source = .memory { () throws(LarderError) in states }
  }

  /// Uses the states of all pictures in an index, which are read when they are first used.
  package init(_ states: PictureStates) {
    source = .memory { () throws(LarderError) in try states.read().states }
  }

  /// Uses the states of all pictures in an index.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - limit: The maximum number of pictures for which the states are kept in memory.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package init(_ index: Index, limit: Int = most) throws(LarderError) {
    let count = try index.pictureCount()
    if count > limit {
      source = .index(index)
    } else {
      let states = try index.pictureStates(count: count).states
      source = .memory { () throws(LarderError) in states }
    }
  }

  /// The states of these pictures.
  ///
  /// Pictures without a row are left out, and the result can also contain other pictures.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func states(of ids: [PictureID]) throws(LarderError) -> [PictureID: PictureState] {
    switch source {
    case .memory(let states): try states()
    case .index(let index): try index.pictureStates(of: ids)
    }
  }

  /// Calls `body` with the ids of all pictures, in batches, until `body` returns true.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func forEachBatch(_ body: ([PictureID]) -> Bool) throws(LarderError) {
    switch source {
    case .memory(let states):
      var batch: [PictureID] = []
      for id in try states().keys {
        batch.append(id)
        guard batch.count == Index.idBatch else { continue }
        if body(batch) { return }
        batch = []
      }
      _ = body(batch)
    case .index(let index): try index.forEachPictureID(body)
    }
  }
}

/// The states of all pictures in an index, which are read once, when they are first used.
///
/// A run can first send some requests, and read the states while it waits for the answers. Reading a million states
/// takes a fifth of a second. The run reads the states before it requests the first picture, and thus before it writes
/// the first row.
package final class PictureStates: Sendable {
  private let index: Index
  private let found = Mutex<Result<Found, LarderError>?>(nil)

  private typealias Found = (states: [PictureID: PictureState], bytes: ByteCount)

  /// Prepares to read the states of the pictures in `index`.
  package init(_ index: Index) {
    self.index = index
  }

  /// Reads the states.
  ///
  /// After the first call, the same result or error is returned again.
  ///
  /// - Returns: The states of all pictures that have a row, and the total size of the held pictures.
  /// - Throws: ``LarderError`` when the index cannot be read.
  @discardableResult
  package func read() throws(LarderError) -> (states: [PictureID: PictureState], bytes: ByteCount)
  {
    let result = found.withLock { found in
      if let found { return found }
      let result = Result { () throws(LarderError) in try index.pictureStates() }
      found = result
      return result
    }
    return try result.get()
  }
}

extension Index {
  /// The number of pictures that have a row.
  package func pictureCount() throws(LarderError) -> Int {
    try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM picture") ?? 0 }
  }

  private static let selectStates = "SELECT id, expiry, checked, content, bytes FROM picture"

  /// The states of all pictures that have a row, and the total size of the held pictures.
  ///
  /// - Parameter count: The number of pictures; nil if the caller does not know it.
  /// - Returns: The states, and the total size.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func pictureStates(
    count: Int? = nil
  ) throws(LarderError) -> (states: [PictureID: PictureState], bytes: ByteCount) {
    let count = if let count { count } else { try pictureCount() }
    return try read { db in
      try SQLiteDatabase.scan(db) {
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

  /// The states of these pictures.
  ///
  /// Pictures without a row are left out.
  package func pictureStates(
    of ids: [PictureID]
  ) throws(LarderError) -> [PictureID: PictureState] {
    try rows(of: ids, Self.selectStates + " WHERE id = ?") { PictureState($0) }
  }

  static let idBatch = 4096

  /// Calls `body` with the sorted ids of all pictures that have rows, in batches, until `body` returns true.
  func forEachPictureID(_ body: ([PictureID]) -> Bool) throws(LarderError) {
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

  /// The total size of all held pictures.
  package func bytesHeld() throws(LarderError) -> ByteCount {
    try read { db in
      try SQLiteDatabase.scan(db) {
        let sums = try RowReader(db, "SELECT sum(bytes) FROM picture WHERE sha256 IS NOT NULL")
        return try sums.next() ? sums.byteCount(0) : 0
      }
    }
  }

  /// The total size of those held pictures that `members` selects.
  ///
  /// - Parameter members: Returns which of the given pictures are to be counted.
  /// - Returns: Their total size.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func bytesHeld(
    among members: ([PictureID]) -> Set<PictureID>
  ) throws(LarderError) -> ByteCount {
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
  /// Reads the state from the second to fourth column of a row.
  fileprivate init(_ rows: borrowing RowReader) {
    self.init(expiry: rows.time(1), checked: rows.time(2), content: rows.number(3))
  }
}
