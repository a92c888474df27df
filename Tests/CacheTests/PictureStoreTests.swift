import Base
import Cache
import Support
import Testing

@testable import Cache

/// The store of pictures, whose files and index rows are committed in groups.
struct PictureStoreTests {
  private let folder: TemporaryFolder
  private let cache: CacheOnDisk

  init() throws {
    folder = try TemporaryFolder()
    cache = try CacheOnDisk(folder)
  }

  @Test func `pictures and their rows appear whole, and no other files do`() throws {
    let names = (0..<70).map { "p\($0)" }

    let outcomes = try cache.keep(names.map { (url($0), jpeg($0)) })

    #expect(outcomes.allSatisfy { $0 == .stored(bytes: 64, wasHeld: false) })
    for name in names {
      let entry = try #require(try cache.entry(url(name)))
      #expect(try folder.read(path(name)) == jpeg(name))
      #expect(entry.sha256 == ContentDigest.sha256(jpeg(name)))
      #expect(entry.bytes == 64)
      #expect(entry.type == .jpeg)
      #expect(entry.stamp?.modified == 1_500_000_000)
    }
    #expect(folder.files(below: "cache/images").count == 70)
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try cache.verify() == VerifyReport(checked: 70))
  }

  @Test func `a group is committed after a time even when it is not full`() async throws {
    let sink = cache.store.sink(id: PictureID(url: url("a")), url: url("a"))
    #expect(CacheOnDisk.send(jpeg("a"), into: sink) == nil)

    let outcome = await withCheckedContinuation { done in
      cache.store.commit(
        sink,
        as: { PictureEntry(id: PictureID(url: url("a")), url: url("a")) },
        replacing: nil
      ) { done.resume(returning: $0) }
    }

    #expect(outcome == .stored(bytes: 64, wasHeld: false))
    #expect(try cache.verify() == VerifyReport(checked: 1))
  }

  @Test(.timeLimit(.minutes(1)))
  func `each of many groups is committed after a time, full or not`() async throws {
    // A group is full with 32 pictures. The 33rd of each round starts a group that never fills.
    for round in 0..<2 {
      await withTaskGroup(of: PictureOutcome.self) { group in
        for number in 0..<33 {
          let name = "\(round)-\(number)"
          let sink = cache.store.sink(id: PictureID(url: url(name)), url: url(name))
          #expect(CacheOnDisk.send(jpeg(name), into: sink) == nil)
          group.addTask { [store = cache.store] in
            await withCheckedContinuation { done in
              store.commit(
                sink,
                as: { PictureEntry(id: PictureID(url: url(name)), url: url(name)) },
                replacing: nil
              ) { done.resume(returning: $0) }
            }
          }
        }
        for await outcome in group {
          #expect(outcome == .stored(bytes: 64, wasHeld: false))
        }
      }
    }

    #expect(try cache.verify() == VerifyReport(checked: 66))
  }

  @Test(.timeLimit(.minutes(1)))
  func `the rows of a full group do not wait for a slow picture`() async throws {
    // A group is full with 32 pictures. The announced 33rd never arrives.
    cache.store.announce(33)
    let outcomes = await withTaskGroup(of: PictureOutcome.self) { group in
      for number in 0..<32 {
        let sink = cache.store.sink(id: PictureID(url: url("\(number)")), url: url("\(number)"))
        #expect(CacheOnDisk.send(jpeg("\(number)"), into: sink) == nil)
        group.addTask { [store = cache.store] in
          await withCheckedContinuation { done in
            store.commit(
              sink,
              as: { PictureEntry(id: PictureID(url: url("\(number)")), url: url("\(number)")) },
              replacing: nil
            ) { done.resume(returning: $0) }
            store.conclude()
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }

    #expect(outcomes == Array(repeating: .stored(bytes: 64, wasHeld: false), count: 32))
  }

  @Test(.timeLimit(.minutes(1)))
  func `the last pictures of a run do not wait until a group is full`() async throws {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder, patience: .seconds(3600))
    cache.store.announce(2)
    let sink = cache.store.sink(id: PictureID(url: url("a")), url: url("a"))
    #expect(CacheOnDisk.send(jpeg("a"), into: sink) == nil)

    let outcome = await withCheckedContinuation { done in
      cache.store.commit(
        sink,
        as: { PictureEntry(id: PictureID(url: url("a")), url: url("a")) },
        replacing: nil
      ) { done.resume(returning: $0) }
      cache.store.conclude()
      // The other picture failed, so it is not stored and no further one is expected.
      cache.store.conclude()
    }

    #expect(outcome == .stored(bytes: 64, wasHeld: false))
    #expect(try cache.verify() == VerifyReport(checked: 1))
  }

  @Test func `equal bytes share one file, within a group and across groups`() throws {
    try cache.keep([(url("a"), jpeg("same")), (url("b"), jpeg("same")), (url("x"), jpeg("x"))])
    try cache.keep([(url("c"), jpeg("same"))])
    let again = try reopened()
    try again.keep([(url("d"), jpeg("same"))])

    let inodes = Set(["a", "b", "c", "d"].map { folder.state(of: path($0))?.inode })
    #expect(inodes.count == 1)
    #expect(folder.state(of: path("x"))?.inode != inodes.first)
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try again.verify() == VerifyReport(checked: 5))
  }

  @Test func `a picture that shared a file gets its own when its bytes change`() throws {
    try cache.keep([(url("a"), jpeg("same")), (url("b"), jpeg("same"))])

    let outcomes = try cache.keep([(url("b"), jpeg("other"))])

    #expect(outcomes == [.stored(bytes: 64, wasHeld: true)])
    #expect(try folder.read(path("a")) == jpeg("same"))
    #expect(try folder.read(path("b")) == jpeg("other"))
    #expect(try cache.verify().isClean)
  }

  @Test func `two pictures may swap their bytes`() throws {
    try cache.keep([(url("a"), jpeg("1")), (url("b"), jpeg("2"))])

    try cache.keep([(url("a"), jpeg("2")), (url("b"), jpeg("1"))])
    try cache.keep([(url("a"), jpeg("1")), (url("b"), jpeg("1"))])

    #expect(try folder.read(path("a")) == jpeg("1"))
    #expect(try folder.read(path("b")) == jpeg("1"))
    #expect(try cache.verify().isClean)
  }

  @Test func `replaced bytes are written and recorded as a change`() throws {
    try cache.keep([(url("a"), jpeg("old")), (url("b"), jpeg("b"))])
    #expect(try cache.index.pictureChanges(after: 0, through: cache.run).isEmpty)

    let outcomes = try cache.keep([(url("a"), jpeg("new", count: 80))])

    #expect(outcomes == [.stored(bytes: 80, wasHeld: true)])
    #expect(try folder.read(path("a")) == jpeg("new", count: 80))
    #expect(try cache.index.pictureChanges(after: 0, through: cache.run) == [url("a")])
    #expect(try cache.verify().isClean)
  }

  @Test(arguments: [64, 700_000])
  func `the same bytes are not written again`(count: Int) throws {
    try cache.keep([(url("a"), jpeg("a", count: count))])
    let before = folder.state(of: path("a"))

    let outcomes = try cache.keep([(url("a"), jpeg("a", count: count))])

    #expect(outcomes == [.same(bytes: ByteCount(count))])
    #expect(folder.state(of: path("a")) == before)
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try cache.index.pictureChanges(after: 0, through: cache.run).isEmpty)
  }

  @Test func `the same bytes are written again when their file is missing, without a change`()
    throws
  {
    try cache.keep([(url("a"), jpeg("a"))])
    try cache.layout.remove(PictureName(url: url("a"), id: PictureID(url: url("a"))).path)

    let outcomes = try cache.keep([(url("a"), jpeg("a"))])

    #expect(outcomes == [.stored(bytes: 64, wasHeld: false)])
    #expect(try folder.read(path("a")) == jpeg("a"))
    #expect(try cache.index.pictureChanges(after: 0, through: cache.run).isEmpty)
    #expect(try cache.verify().isClean)
  }

  @Test(arguments: [
    ("nothing", [], 1), ("one byte", [0xFF], 1), ("two bytes", [0xFF, 0xD8], 1),
    ("a JPEG's first three", [0xFF, 0xD8, 0xFF], 1),
    ("a GIF's first six", Array("GIF89a".utf8), 1),
    ("a page", Array("<!DOCTYPE html><p>Not found".utf8), 1), ("zeros", [0], 300_000),
  ])
  func `a body that is not a picture is refused and leaves no file`(
    what: String,
    part: [UInt8],
    times: Int
  ) throws {
    let bytes = Array(repeatElement(part, count: times).joined())

    let outcomes = try cache.keep([(url("a"), bytes)])

    guard case .refused(.notAPicture, _)? = outcomes.first else {
      Issue.record("kept \(bytes.count) bytes: \(outcomes)")
      return
    }
    #expect(folder.files(below: "cache/images").isEmpty)
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try cache.entry(url("a")) == nil)
  }

  @Test(arguments: [1, 11, 4096, 262_143, 262_144, 262_145, 1_000_000])
  func `the hash of a body does not depend on how it is split`(pieces: Int) throws {
    var random = SplitMix64(1)
    let bytes = jpeg("large", count: 300_000 + pieces % 7) + random.bytes(800_000)
    let count = pieces == 1 ? 270_000 : bytes.count

    let outcomes = try cache.keep([(url("a"), Array(bytes.prefix(count)))], pieces: pieces)

    #expect(outcomes == [.stored(bytes: ByteCount(count), wasHeld: false)])
    #expect(try folder.read(path("a")) == Array(bytes.prefix(count)))
    #expect(try cache.verify() == VerifyReport(checked: 1))
  }

  @Test(arguments: [64, 600_000])
  func `a restarted sink forgets the earlier bytes`(count: Int) throws {
    let sink = cache.store.sink(id: PictureID(url: url("a")), url: url("a"))
    #expect(CacheOnDisk.send(jpeg("first", count: count), into: sink) == nil)
    sink.restart()
    #expect(CacheOnDisk.send(jpeg("second", count: count + 1), into: sink) == nil)

    cache.store.commit(
      sink,
      as: { PictureEntry(id: PictureID(url: url("a")), url: url("a")) },
      replacing: nil
    ) { _ in }
    cache.flush()

    #expect(try folder.read(path("a")) == jpeg("second", count: count + 1))
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try cache.verify() == VerifyReport(checked: 1))
  }

  @Test func `a restarted sink still refuses a body that is not a picture`() {
    let sink = cache.store.sink(id: PictureID(url: url("a")), url: url("a"))
    #expect(CacheOnDisk.send(jpeg("a"), into: sink) == nil)

    sink.restart()

    #expect(CacheOnDisk.send(Array("<html>no picture".utf8), into: sink) == .notAPicture)
  }

  @Test(arguments: [1, 2, 4])
  func `pictures are stored whole with any number of writer queues`(queues: Int) throws {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder, queues: queues)
    // There are more small pictures than one writer queue takes. Some of them are equal, and there are large pictures
    // between them.
    let pictures = (0..<400).map { number in
      (
        url("p\(number)"),
        jpeg("\(number % 90)", count: number % 50 == 7 ? 600_000 : 5_000 + number)
      )
    }

    let outcomes = try cache.keep(pictures, pieces: 16_384)

    #expect(
      outcomes == pictures.map { .stored(bytes: ByteCount($0.1.count), wasHeld: false) }
    )
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try cache.verify() == VerifyReport(checked: 400))
    #expect(
      try CacheOnDisk(folder, queues: queues).keep(pictures)
        == pictures.map { .same(bytes: ByteCount($0.1.count)) }
    )
  }

  @Test func `rows without bytes are committed with the group`() throws {
    try cache.keep([(url("a"), jpeg("a"))])
    var entry = try #require(try cache.entry(url("a")))
    entry.failure = "http-500"
    entry.failingSince = 7
    let row = entry

    cache.store.commit(row: { row }) {}
    cache.flush()

    #expect(try cache.entry(url("a")) == row)
    #expect(try cache.verify().isClean)
  }

  private func reopened() throws -> CacheOnDisk { try CacheOnDisk(folder) }
}
