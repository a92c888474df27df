import Support
import Testing

@testable import Cache

struct CacheLockTests {
  @Test func `a second holder is refused and told who holds it`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    let lock = try CacheLock(layout, holder: "larder sync, process 4711")

    let error = #expect(throws: CacheError.self) {
      _ = try CacheLock(CacheLayout(creating: folder.path("cache")), holder: "another")
    }

    #expect(error?.code == .locked)
    #expect(
      error?.description
        == "cannot change \(folder.path("cache")): larder sync, process 4711 holds it; "
        + "try again when that run has ended"
    )
    withExtendedLifetime(lock) {}
  }

  @Test func `the lock is free again when its holder is gone, and names nobody`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    do { withExtendedLifetime(try CacheLock(layout, holder: "a long name of a first holder")) {} }
    #expect(try folder.read("cache/lock") == [])

    let next = try CacheLock(layout, holder: "next")

    #expect(
      String(decoding: try folder.read("cache/lock"), as: UTF8.self)
        == "next on \(LockStanding.host)"
    )
    withExtendedLifetime(next) {}
  }
}
