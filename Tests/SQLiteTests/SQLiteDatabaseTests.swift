import Base
import GRDB
import Glibc
import Support
import Testing

@testable import SQLite

/// The opening, protection and migration of the SQLite files that larder writes.
struct SQLiteDatabaseTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("a.sqlite")
    try DatabaseFile.make(path)
  }

  private static func table(_ name: String) -> DatabaseSchema.Migration {
    .init(name) { try $0.execute(sql: "CREATE TABLE \(name)(number INTEGER)") }
  }

  private func tables(_ database: SQLiteDatabase) throws -> Set<String> {
    try database.read {
      try String.fetchSet($0, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
  }

  @Test func `a file has its protections, rollback mode and sync, whoever opens it`() throws {
    let schema = DatabaseSchema([Self.table("a")])
    let databases = [
      try SQLiteDatabase(path, schema), try SQLiteDatabase(path, schema),
      try SQLiteDatabase(":memory:", schema),
    ]

    for (database, journal) in zip(databases, ["truncate", "truncate", "memory"]) {
      let found = try database.read { db in
        try ["trusted_schema", "synchronous", "foreign_keys", "journal_mode"].map {
          try String.fetchOne(db, sql: "PRAGMA \($0)")
        }
      }
      #expect(found == ["0", "2", "0", journal])
      #expect(throws: DatabaseFailure.self) {
        try database.write { db in
          try db.execute(sql: "PRAGMA writable_schema = ON")
          try db.execute(sql: "UPDATE sqlite_schema SET sql = 'x'")
        }
      }
    }
  }

  @Test func `a protection that SQLite refuses, or reports as off, is an error`() throws {
    let queue = try DatabaseQueue()
    let guards: [SQLiteDatabase.Configure] = [
      { _, _, _, _ in 1 },
      { _, _, _, state in
        state.pointee = 0
        return 0
      },
    ]

    for configure in guards {
      #expect(throws: DatabaseFailure.unfit("this SQLite does not support defensive mode")) {
        try queue.inDatabase { try SQLiteDatabase.harden($0, configure) }
      }
    }
  }

  @Test func `a failed migration leaves the file unchanged, and the next opening continues`()
    throws
  {
    let first = DatabaseSchema([Self.table("a")])
    let both = DatabaseSchema([Self.table("a"), Self.table("b")])
    _ = try SQLiteDatabase(path, first)
    let before = try folder.read("a.sqlite")
    let failing = DatabaseSchema(
      both.migrations + [.init("c") { _ in throw DatabaseError(resultCode: .SQLITE_FULL) }]
    )

    #expect(throws: DatabaseFailure.full) { try SQLiteDatabase(path, failing) }
    #expect(try tables(SQLiteDatabase(path, first)) == ["a", "grdb_migrations"])

    #expect(try folder.read("a.sqlite") == before)
    #expect(try tables(SQLiteDatabase(path, both)) == ["a", "b", "grdb_migrations"])
  }

  @Test func `reading an older file migrates it only in memory`() throws {
    let both = DatabaseSchema([Self.table("a"), Self.table("b")])
    _ = try SQLiteDatabase(path, DatabaseSchema([Self.table("a")]))
    let before = try folder.read("a.sqlite")

    let reader = try SQLiteDatabase(path, both, isReadOnly: true)

    #expect(try tables(reader) == ["a", "b", "grdb_migrations"])
    #expect(try folder.read("a.sqlite") == before)
  }

  @Test func `while one connection migrates a file, others wait and then find it done`() throws {
    let (path, schema) = (path, DatabaseSchema([Self.table("a")]))
    let slow = DatabaseSchema([
      .init("a") { db in
        #expect(throws: DatabaseFailure.busy) { try SQLiteDatabase(path, schema, patience: 0) }
        try db.execute(sql: "CREATE TABLE a(number INTEGER)")
      }
    ])

    _ = try SQLiteDatabase(path, slow)

    #expect(try tables(SQLiteDatabase(path, schema)) == ["a", "grdb_migrations"])
  }

  @Test func `a refusal happens before anything is written`() throws {
    struct Refusal: Error {}
    let before = folder.state(of: "a.sqlite")

    #expect(throws: Refusal.self) {
      try SQLiteDatabase(path, DatabaseSchema([Self.table("a")])) { _, _ in throw Refusal() }
    }

    #expect(folder.state(of: "a.sqlite") == before)
  }

  @Test func `a new file is readable by its owner only, and an existing one keeps its mode`()
    throws
  {
    try folder.write("text", to: "b.sqlite")
    chmod(folder.path("b.sqlite"), 0o640)

    try DatabaseFile.make(folder.path("b.sqlite"))

    #expect(folder.state(of: "a.sqlite")?.mode == 0o600)
    #expect(folder.state(of: "b.sqlite")?.mode == 0o640)
    #expect(try folder.text("b.sqlite") == "text")
    #expect(throws: SystemError(code: ENOENT)) { try DatabaseFile.make(folder.path("none/a")) }
  }

  @Test(arguments: ["", "-journal"])
  func `a link or a pipe instead of a file or its journal is refused`(_ suffix: String) throws {
    #expect(DatabaseFile.irregular(path) == nil)
    unlink(path + suffix)
    #expect(symlink(folder.path("b"), path + suffix) == 0)

    #expect(DatabaseFile.irregular(path)?.path == path + suffix)
    #expect(DatabaseFile.irregular(path)?.kind == S_IFLNK)
  }

  @Test func `the change counter in the header rises with each transaction`() throws {
    let database = try SQLiteDatabase(path, DatabaseSchema([Self.table("a")]))
    let header = try #require(DatabaseHeader(path))
    let before = try #require(header.changes)

    try database.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
    _ = try tables(database)

    #expect(header.changes == before + 1)
  }
}
