import Cache
import Glibc
import Support
import Testing

@testable import Cache

/// Makes each file operation of a run fail or crash in turn, and then checks the reopened cache.
struct CrashTests {
  /// The pictures that are stored before the run, and the pictures of the run.
  ///
  /// The run has a duplicate, a replacement, an unchanged picture, a large picture and new pictures.
  private static let before = ["old", "same", "twin"]
  private static let run: [(url: String, bytes: [UInt8])] = [
    (url("new"), jpeg("new")), (url("copy"), jpeg("new")), (url("old"), jpeg("replaced")),
    (url("same"), jpeg("same")), (url("other"), jpeg("twin")),
    (url("large"), jpeg("large", count: 300_000)),
  ]

  private func prepared() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    try cache.keep(Self.before.map { (url($0), jpeg($0)) })
    try cache.end()
    return folder
  }

  /// The number of disk operations of a run without faults.
  private func operations() throws -> Int {
    let disk = FaultyDisk()
    let outcomes = try CacheOnDisk(prepared(), disk: disk).keep(Self.run)
    #expect(!outcomes.contains { if case .refused = $0 { true } else { $0 == nil } })
    return disk.operations.count
  }

  @Test(arguments: [ENOSPC, EIO, EACCES])
  func `one failed operation loses only its pictures and is reported`(code: Int32) throws {
    for number in 1...(try operations()) {
      let folder = try prepared()
      do {
        let disk = FaultyDisk(.fail(at: number, errno: code))
        let cache = try CacheOnDisk(folder, disk: disk)

        let outcomes = try cache.keep(Self.run)

        let told = outcomes.contains { if case .refused(.disk, _) = $0 { true } else { false } }
        let failed = disk.operations[number - 1]
        // A file that could not be removed from `partial/` is swept by the next run.
        if !failed.hasPrefix("remove") { #expect(told, "operation \(number): \(failed)") }
        if told {
          #expect(cache.store.failure?.code == (code == ENOSPC ? .diskFull : .disk))
        }
        // A refused picture can be stored again at once.
        let again = try cache.keep(Self.run.filter { $0.url != url("large") })
        #expect(!again.contains { if case .refused = $0 { true } else { $0 == nil } })
      }

      try expectWhole(folder, "operation \(number)")
    }
  }

  @Test(arguments: [1, 3])
  func `a crash at any operation never leaves a row without its whole file`(queues: Int) throws {
    for number in 1...(try operations()) {
      let folder = try prepared()
      do {
        let cache = try CacheOnDisk(folder, disk: FaultyDisk(.crash(at: number)), queues: queues)
        try cache.keep(Self.run)
      }

      try expectWhole(folder, "operation \(number)")

      let outcomes = try CacheOnDisk(folder).keep(Self.run)
      #expect(!outcomes.contains { if case .refused = $0 { true } else { $0 == nil } })
      for picture in Self.run {
        let name = PictureName(url: picture.url, id: PictureID(url: picture.url))
        #expect(try folder.read("cache/\(name.path)") == picture.bytes)
      }
      #expect(try CacheOnDisk(folder).verify() == VerifyReport(checked: 7))
    }
  }

  @Test func `after a crash files without rows are adopted, not fetched again`() throws {
    let folder = try prepared()
    do {
      let cache = try CacheOnDisk(folder)
      try cache.index.write {
        try $0.execute(
          sql: """
            CREATE TRIGGER refuse BEFORE INSERT ON picture BEGIN SELECT RAISE(ABORT, 'test'); END
            """
        )
      }
      let outcomes = try cache.keep(Self.run)
      #expect(outcomes.allSatisfy { if case .refused(.disk, _) = $0 { true } else { false } })
      #expect(cache.store.failure?.code == .disk)
      try cache.index.write { try $0.execute(sql: "DROP TRIGGER refuse") }
    }

    let cache = try CacheOnDisk(folder)

    #expect(cache.recovery.adopted == 1)
    #expect(cache.recovery.forgotten == 0)
    #expect(cache.recovery.strays.paths.count == 4)
    for picture in Self.run where try cache.entry(picture.url) == nil {
      let id = PictureID(url: picture.url)
      let entry = try #require(try cache.recovery.strays.adopt(id, url: picture.url))
      #expect(entry.sha256 == ContentDigest.sha256(picture.bytes))
      #expect(entry.lastModified == 1_500_000_000)
    }
    #expect(try cache.entry(url("old"))?.sha256 == ContentDigest.sha256(jpeg("replaced")))
    #expect(cache.recovery.strays.isEmpty)
    #expect(try cache.verify() == VerifyReport(checked: 7))
  }

  /// Checks that after the recovery, `partial/` is empty and every picture with a row has its whole file.
  private func expectWhole(_ folder: TemporaryFolder, _ words: String) throws {
    let cache = try CacheOnDisk(folder)
    let report = try cache.verify()
    #expect(report.damaged.isEmpty && report.missing.isEmpty, "\(words)")
    #expect(Set(report.strays) == cache.recovery.strays.paths, "\(words)")
    #expect(folder.files(below: "cache/partial").isEmpty, "\(words)")
    for name in Self.before {
      #expect(try cache.entry(url(name))?.isHeld == true, "\(words): \(name)")
    }
    try cache.recovery.strays.sweep()
    #expect(try cache.verify().isClean, "\(words)")
  }
}
