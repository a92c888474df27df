import Foundation
import Support
import Synchronization
import Testing

@testable import Cache

/// Tests that a full check finds bytes that changed on disk without an error.
struct BitRotTests {
  private static let count = 1000

  /// A cache of a thousand pictures, in each of which one bit is changed in place.
  private func rotten() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    try cache.keep((0..<Self.count).map { (url("p\($0)"), jpeg("p\($0)", count: 300)) })
    try cache.end()
    var random = SeededRandom(7)
    for file in folder.files(below: "cache/images").keys.sorted() {
      var bytes = try folder.read(file)
      let place = Int.random(in: bytes.indices, using: &random)
      bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let handle = try #require(FileHandle(forUpdatingAtPath: folder.path(file)))
      try handle.write(contentsOf: Data(bytes))
      try handle.close()
    }
    return folder
  }

  private func verification(_ folder: TemporaryFolder) throws -> Verification {
    Verification(
      try CacheLayout(reading: folder.path("cache")),
      try Index(reading: folder.path("cache"))
    )
  }

  @Test func `each of a thousand changed bytes in a thousand files is found`() throws {
    let folder = try rotten()

    let report = try verification(folder).run(.full)

    #expect(report.checked == Self.count)
    #expect(report.damaged.count == Self.count)
    #expect(report.missing.isEmpty && report.strays.isEmpty)
    withExtendedLifetime(folder) {}
  }

  @Test func `an interrupted check reports what it found, and that it is incomplete`() throws {
    let folder = try rotten()
    let asked = Mutex(0)
    var seen = 0

    let report = try verification(folder).run(
      .full,
      isStopped: {
        asked.withLock { asked in
          asked += 1
          return asked > 600
        }
      }
    ) { checked, total in
      seen = checked
      #expect(total == Self.count)
    }

    #expect(!report.isComplete && !report.isClean)
    #expect(report.checked == seen && (1..<Self.count).contains(seen))
    #expect(report.damaged.count == seen && report.unchecked == Self.count - seen)
  }
}
