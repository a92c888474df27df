import Cache
import Foundation
import Support
import Testing

@testable import Cache

/// The recovery of a cache whose last run was killed.
///
/// A stray is a file without a row.
struct RecoveryTests {
  private static let stamp = FileStamp(inode: 1, bytes: 2, modified: 3)

  @Test(arguments: [
    (nil, nil, FileAgreement.empty), (Self.stamp, nil, .gone), (Self.stamp, Self.stamp, .agreed),
    (nil, Self.stamp, .doubtful),
    (Self.stamp, FileStamp(inode: 9, bytes: 2, modified: 3), .doubtful),
    (Self.stamp, FileStamp(inode: 1, bytes: 9, modified: 3), .doubtful),
    (Self.stamp, FileStamp(inode: 1, bytes: 2, modified: 9), .doubtful),
  ])
  func `a row and its file are compared by inode, size and modification time`(
    row: FileStamp?,
    file: FileStamp?,
    standing: FileAgreement
  ) {
    #expect(FileAgreement(row: row, file: file) == standing)
  }

  @Test func `nothing is recovered after a run that ended normally`() throws {
    let folder = try filled("a", "b")

    let cache = try CacheOnDisk(folder)

    #expect(cache.recovery.forgotten + cache.recovery.adopted == 0)
    #expect(cache.recovery.strays.isEmpty)
  }

  @Test func `a removed file is forgotten, its neighbours are kept`() throws {
    let folder = try filled("a", "b")
    try FileManager.default.removeItem(atPath: folder.path(path("a")))

    let cache = try CacheOnDisk(folder)

    #expect(cache.recovery.forgotten == 1)
    #expect(try cache.entry(url("a"))?.isHeld == false)
    #expect(try cache.entry(url("b"))?.isHeld == true)
    #expect(try cache.verify().isClean)
  }

  @Test func `a removed folder is forgotten with all its files`() throws {
    let folder = try filled("a", "b")
    try FileManager.default.removeItem(atPath: folder.path("cache/images"))

    let cache = try CacheOnDisk(folder)

    #expect(cache.recovery.forgotten == 2)
    #expect(try cache.verify().isClean)
  }

  @Test func `a copied cache keeps its pictures and their validators`() throws {
    let folder = try filled("a", "b")
    let other = try TemporaryFolder()
    try FileManager.default.copyItem(
      atPath: folder.path("cache"),
      toPath: other.path("cache")
    )

    let cache = try CacheOnDisk(other)

    #expect(cache.recovery.forgotten == 0)
    #expect(try cache.entry(url("a"))?.response == "word of a")
    #expect(try cache.verify() == VerifyReport(checked: 2))
  }

  @Test func `a file that was changed in place is forgotten, not trusted`() throws {
    let folder = try filled("a", "b")
    try change(folder.path(path("a")), to: jpeg("damaged"))
    try FileManager.default.removeItem(atPath: folder.path(path("b")))

    let cache = try CacheOnDisk(folder)

    #expect(try cache.entry(url("a"))?.isHeld == false)
    #expect(cache.recovery.adopted == 0)
  }

  @Test func `a stray is adopted once by the URL that it fits, and other strays are swept`() throws
  {
    let folder = try filled("a")
    try folder.write(jpeg("b"), to: path("b"))
    try folder.write("no picture at all", to: path("c"))
    try folder.write(jpeg("d"), to: path("d"))
    let strays = try CacheOnDisk(folder).recovery.strays

    let adopted = try strays.adopt(PictureID(url: url("b")), url: url("b"))
    let refused = try strays.adopt(PictureID(url: url("c")), url: url("c"))
    let twice = try strays.adopt(PictureID(url: url("b")), url: url("b"))
    let unknown = try strays.adopt(PictureID(url: url("e")), url: url("e"))

    #expect(adopted?.sha256 == ContentDigest.sha256(jpeg("b")))
    #expect(adopted?.expiry == 0 && adopted?.response == nil)
    #expect(refused == nil && twice == nil && unknown == nil)
    #expect(try strays.sweep() == 1)
    #expect(folder.state(of: path("d")) == nil)
  }

  @Test func `a stray that is not a picture is removed, even if its name fits a URL`() throws {
    let folder = try filled("a")
    try folder.write("no picture at all", to: path("c"))
    let cache = try CacheOnDisk(folder)

    _ = try cache.recovery.strays.adopt(PictureID(url: url("c")), url: url("c"))
    try cache.recovery.strays.sweep()

    #expect(try cache.verify().isClean)
  }

  @Test func `partial files of a killed run are removed`() throws {
    let folder = try filled("a")
    try folder.write(jpeg("half"), to: "cache/partial/0123-4")

    _ = try CacheOnDisk(folder)

    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  private func filled(_ names: String...) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    try cache.keep(names.map { (url($0), jpeg($0)) })
    for name in names {
      var entry = try #require(try cache.entry(url(name)))
      entry.response = "word of \(name)"
      let row = entry
      cache.store.commit(row: { row }) {}
    }
    cache.flush()
    try cache.end()
    return folder
  }
}

/// Overwrites a file's first bytes in place, as an editor would: same inode, new modification
/// time.
func change(_ path: String, to bytes: [UInt8]) throws {
  let handle = try #require(FileHandle(forUpdatingAtPath: path))
  try handle.write(contentsOf: Data(bytes))
  try handle.close()
}
