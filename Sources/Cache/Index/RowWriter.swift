import GRDB
import GRDBSQLite
import Transport

/// A statement that is run once a row, its values bound one by one.
///
/// GRDB boxes every argument and checks the list against the statement at each run, which for the
/// rows of a picture and of an item costs more than SQLite's own work. Here the places are fixed
/// by the code beside the SQL, and every row binds all of them. For one transaction, on the queue that holds it.
struct RowWriter: ~Copyable {
  private let db: Database
  private let statement: Statement
  private let raw: OpaquePointer
  /// Where the bytes of a row stay until it has run, so that SQLite need not allocate for each.
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
  private var used = 0

  // SAFETY: SQLite's own SQLITE_TRANSIENT, which Swift does not import: copy the bytes at once.
  static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Prepares `sql`, or finds it prepared.
  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
    raw = statement.sqliteStatement
  }

  deinit {
    // The statement outlives this, and must not point at what goes now.
    sqlite3_clear_bindings(raw)
    room.deallocate()
  }

  /// Puts bytes where SQLite can read them until the row has run; nil when there is no room for them.
  private mutating func hold(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= room.count - used else { return nil }
    let place = UnsafeMutableRawBufferPointer(rebasing: room[used..<used + bytes.count])
    place.copyMemory(from: bytes)
    used += bytes.count
    return UnsafeRawPointer(place.baseAddress)
  }

  /// Binds a number, or NULL; places count from 1.
  func bind(_ place: Int32, _ value: Int64?) {
    if let value { sqlite3_bind_int64(raw, place, value) } else { sqlite3_bind_null(raw, place) }
  }

  /// Binds a moment, or NULL.
  func bind(_ place: Int32, _ time: UnixTime?) { bind(place, time?.seconds) }

  /// Binds a number of bytes.
  func bind(_ place: Int32, _ bytes: ByteCount) { bind(place, bytes.count) }

  /// Binds a text, or NULL.
  mutating func bind(_ place: Int32, _ text: String?) {
    guard var text else { return _ = sqlite3_bind_null(raw, place) }
    // An empty buffer may have no address, and SQLite takes that for NULL.
    if text.isEmpty { return _ = sqlite3_bind_text(raw, place, "", 0, Self.copied) }
    text.withUTF8 { utf8 in
      let held = hold(UnsafeRawBufferPointer(utf8))
      let start = held ?? UnsafeRawPointer(utf8.baseAddress)
      _ = sqlite3_bind_text(
        raw,
        place,
        start?.assumingMemoryBound(to: CChar.self),
        Int32(utf8.count),
        held == nil ? Self.copied : nil
      )
    }
  }

  /// Binds bytes, or NULL.
  mutating func bind(_ place: Int32, _ bytes: [UInt8]?) {
    guard let bytes else { return _ = sqlite3_bind_null(raw, place) }
    if bytes.isEmpty { return _ = sqlite3_bind_zeroblob(raw, place, 0) }
    bytes.withUnsafeBytes {
      let held = hold($0)
      let start = held ?? $0.baseAddress
      _ = sqlite3_bind_blob(raw, place, start, Int32($0.count), held == nil ? Self.copied : nil)
    }
  }

  /// Binds a key.
  mutating func bind(_ place: Int32, _ key: IdentityDigest) {
    withUnsafeTemporaryAllocation(byteCount: IdentityDigest.size, alignment: 8) { buffer in
      key.write(to: buffer)
      let held = hold(UnsafeRawBufferPointer(buffer))
      _ = sqlite3_bind_blob(
        raw,
        place,
        held ?? UnsafeRawPointer(buffer.baseAddress),
        Int32(IdentityDigest.size),
        held == nil ? Self.copied : nil
      )
    }
  }

  /// Runs the statement for the row that is bound, and readies it for the next.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and words.
  mutating func run() throws {
    let code = sqlite3_step(raw)
    defer {
      sqlite3_reset(raw)
      used = 0
    }
    guard code == SQLITE_DONE else { throw db.lastError }
  }
}
