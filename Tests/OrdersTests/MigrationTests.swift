import Base
import Foundation
import GRDB
import Glibc
import SQLite
import Support
import Synchronization
import Testing

@testable import Orders

/// Outbox files of other versions of larder.
@Suite struct MigrationTests {
  /// Files written by earlier versions, with orders in every state.
  static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")

  /// Makes a shelf with a copy of a fixture as its outbox.
  static func shelf(_ name: String) throws -> Shelf {
    let shelf = try Shelf()
    let bytes = [UInt8](try Data(contentsOf: fixtures.appending(path: name)))
    try shelf.folder.write(bytes, to: "state/orders.sqlite")
    // The time at which the fixture was written.
    shelf.clock.advance(seconds: 1_795_327_900 - shelf.clock.now().seconds)
    return shelf
  }

  @Test func `every order of version 1 is listed unchanged`() throws {
    let shelf = try Self.shelf("orders-1.sqlite")

    let entries = try shelf.outbox().orders()

    let rows = entries.map { "\($0.order.by) \($0.state) \($0.delivery.state)" }
    #expect(
      rows == [
        "delivered ordered delivered", "refused ordered dead", "gateway ordered queued",
        "slow ordered queued", "page ordered queued", "error ordered queued",
        "closed ordered ambiguous", "advanced preparing delivered", "cancelled cancelled dead",
        "killed ordered ambiguous", "stopped ordered queued", "waiting ordered queued",
        "cut-off ordered queued", "last ordered queued",
      ]
    )
    #expect(entries.map(\.order.total.minorUnits).reduce(0, +) == 89_000)
    #expect(entries[0].order.lines.map(\.title) == ["불고기", "국 & <밥>"])
    #expect(entries[2].messages[0].attempts.count == 3)
    #expect(entries[7].messages.map(\.state) == [.ordered, .preparing])
    #expect(entries[8].history.map(\.state) == [.ordered, .cancelled])
    #expect(entries[2].mayHaveArrived && entries[4].mayHaveArrived && !entries[5].mayHaveArrived)
  }

  @Test func `every order of version 1 is sent, and ambiguous ones only on request`()
    throws
  {
    let shelf = try Self.shelf("orders-1.sqlite")
    let webhook = FakeWebhook()
    let names = try Dictionary(
      uniqueKeysWithValues: shelf.outbox().orders().map { ($0.order.id, $0.order.by) }
    )
    func send(_ policy: AmbiguityPolicy) throws -> [String] {
      try shelf.send(webhook, .slack, policy: policy) { $0.patience = 600_000 }
        .delivered.compactMap { names[$0] }
    }

    #expect(try send(.hold) == ["stopped", "waiting", "cut-off", "last", "error"])
    #expect(try send(.resend) == ["gateway", "slow", "page", "closed", "killed"])
    #expect(try shelf.outbox().replay(nil, at: shelf.clock.now()).map { names[$0] } == ["refused"])
    #expect(try send(.hold) == ["refused"])
    #expect(try shelf.outbox().counts()[.delivered] == 14)
  }

  @Test
  func `an interrupted attempt of version 1 is held, and a rate-limited one is sent`()
    throws
  {
    let shelf = try Self.shelf("orders-1-killed.sqlite")
    let webhook = FakeWebhook()

    let report = try shelf.send(webhook, .slack) { $0.patience = 600_000 }

    #expect(report.delivered.count == 1 && report.held.count == 1)
    let entries = try shelf.outbox().orders()
    #expect(entries.map(\.delivery.state) == [.delivered, .ambiguous])
    #expect(entries[1].messages[0].attempts[0].outcome == "unknown interrupted")
  }

  /// The schema of the outbox, which calls `interrupt` before each statement and at the end of each migration.
  private static func tables(
    interrupt: @escaping @Sendable (Database) throws -> Void
  ) -> DatabaseSchema {
    DatabaseSchema(
      Outbox.steps.map { step in
        DatabaseSchema.Migration(step.name) { db in
          for statement in step.statements {
            try interrupt(db)
            try db.execute(sql: statement)
          }
          try interrupt(db)
        }
      }
    )
  }

  @Test(arguments: ["orders-1.sqlite", "orders-1-killed.sqlite", nil])
  func `a migration that fails or is killed anywhere leaves a file that opens`(_ name: String?)
    throws
  {
    let shelf = try name.map(Self.shelf) ?? Shelf()
    if name == nil { try shelf.folder.write("", to: "state/orders.sqlite") }
    let original = try shelf.folder.read("state/orders.sqlite")
    let reference = try name.map(Self.shelf) ?? Shelf()
    let expected = try reference.outbox().orders()
    var steps = 0
    for count in 1... {
      try shelf.folder.write(original, to: "state/orders.sqlite")
      let left = Mutex(count)
      let killed = shelf.folder.path("killed-\(count)")

      let tables = Self.tables { db in
        guard
          left.withLock({
            $0 -= 1; return $0 == 0
          })
        else { return }
        // Copies the files that a process killed at this moment would leave.
        try FileManager.default.createDirectory(atPath: killed, withIntermediateDirectories: true)
        for end in ["", "-journal"] where access(shelf.path + end, F_OK) == 0 {
          try FileManager.default.copyItem(
            atPath: shelf.path + end,
            toPath: "\(killed)/orders.sqlite\(end)"
          )
        }
        throw DatabaseError(resultCode: .SQLITE_IOERR)
      }
      var wasInterrupted = false
      do { _ = try Outbox(shelf.path, tables) } catch { wasInterrupted = true }
      guard wasInterrupted else { break }
      steps = count

      #expect(try Outbox("\(killed)/orders.sqlite").orders() == expected)
      #expect(try shelf.outbox().orders() == expected)
    }
    // Every statement of every migration, and the version number after each migration.
    #expect(steps == Outbox.steps.reduce(0) { $0 + $1.statements.count + 1 })
  }

  @Test(arguments: [false, true])
  func `a file of a newer larder is refused by name and version, and not touched`(
    _ isNumbered: Bool
  ) throws {
    let shelf = try Shelf()
    try shelf.place()
    do {
      let queue = try DatabaseQueue(path: shelf.path)
      try queue.write { db in
        if isNumbered { try db.execute(sql: "PRAGMA user_version = 7") }
        for number in Outbox.steps.count..<7 {
          try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('later-\(number)')")
        }
      }
    }
    chmod(shelf.path, 0o640)
    let before = try shelf.folder.read("state/orders.sqlite")
    let state = shelf.folder.state(of: "state/orders.sqlite")

    let error = #expect(throws: LarderError.self) { try shelf.outbox() }

    #expect(error?.code == .tooNew)
    #expect(
      error?.description
        == "cannot use \(shelf.path): it was written by a newer larder (schema 7, this one knows 4); "
        + "install that version or later"
    )
    #expect(try shelf.folder.read("state/orders.sqlite") == before)
    if isNumbered { #expect(shelf.folder.state(of: "state/orders.sqlite") == state) }
  }
}
