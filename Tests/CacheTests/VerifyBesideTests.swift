import Base
import Dispatch
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@testable import Cache

/// Checks a cache while a run changes it, and with files that cannot be read.
struct VerifyBesideTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    try cache.keep(["a", "b", "c", "d"].map { (url($0), jpeg($0)) })
    try cache.end()
  }

  private func relative(_ name: String) -> String { String(path(name).dropFirst("cache/".count)) }

  /// Commits a replaced picture, a new one and a duplicate.
  ///
  /// Pauses before and after each disk operation, and calls `body` during each pause.
  private func pausing(_ body: (CacheOnDisk, Int) throws -> Void) throws -> Int {
    let disk = PausingDisk()
    let cache = try CacheOnDisk(folder, disk: disk)
    let lock = try CacheLock(cache.layout, holder: "larder sync, process 1")
    let ended = DispatchGroup()
    // SAFETY: the thread uses only the cache's store and index, which any thread may use.
    nonisolated(unsafe) let writer = cache
    let thread = Thread {
      _ = try? writer.keep([
        (url("a"), jpeg("a, replaced")), (url("new"), jpeg("new")), (url("c"), jpeg("b")),
      ])
      disk.end()
      ended.leave()
    }
    ended.enter()
    thread.start()
    var pauses = 0
    while disk.nextPause() {
      try body(cache, pauses)
      pauses += 1
      disk.goOn()
    }
    ended.wait()
    try cache.end()
    withExtendedLifetime(lock) {}
    return pauses
  }

  @Test(arguments: [Verification.Depth.full, .fast])
  func `a check during a run that commits finds nothing wrong, at any moment`(
    _ depth: Verification.Depth
  ) throws {
    let pauses = try pausing { cache, pause in
      let report = try Verification(cache.layout, cache.index).run(depth)
      #expect(report.isClean, "at operation \(pause): \(report)")
    }

    #expect(pauses >= 10)
    let cache = try CacheOnDisk(folder)
    #expect(try Verification(cache.layout, cache.index).run(depth) == VerifyReport(checked: 5))
  }

  @Test func `real damage is found even during a run`() throws {
    _ = try pausing { cache, pause in
      if pause == 0 {
        let handle = try FileHandle(forWritingTo: URL(filePath: folder.path(path("b"))))
        try handle.write(contentsOf: Data(jpeg("B")))
        try handle.close()
        #expect(unlink(folder.path(path("d"))) == 0)
        try folder.write("no picture of ours", to: "cache/images/00/stray.jpg")
      }
      let report = try cache.verify()
      #expect(report.damaged == [relative("b")], "at operation \(pause)")
      #expect(report.missing == [relative("d")])
      #expect(report.strays == ["images/00/stray.jpg"])
    }
  }

  @Test func `files that a killed run left without rows are found once no run is active`() throws {
    let cache = try CacheOnDisk(folder)
    try folder.write("killed", to: "cache/lock")
    #expect(unlink(folder.path(path("a"))) == 0)
    try folder.write(jpeg("a, by a killed run"), to: path("a"))
    try folder.write(jpeg("x"), to: path("x"))

    let report = try cache.verify()

    #expect(report.damaged == [relative("a")])
    #expect(report.strays == [relative("x")])
  }

  @Test func `a wrong square and a foreign file beside it are reported once no run is active`()
    throws
  {
    let cache = try CacheOnDisk(folder)
    let picture = try #require(try cache.entry(url("a")))
    let squares = SquareStore(cache.layout, index: cache.index, side: 8)
    try squares.store(Array("a square".utf8), of: picture)
    try squares.flush()
    let square = try #require(try cache.index.square(of: picture.id, side: 8))
    #expect(try cache.verify() == VerifyReport(checked: 5))
    try folder.write("another", to: "cache/\(square.name)")
    try folder.write("no square", to: "cache/squares/8/stray")

    do {
      let lock = try CacheLock(cache.layout, holder: "larder sync, process 1")
      #expect(try cache.verify() == VerifyReport(checked: 5))
      withExtendedLifetime(lock) {}
    }
    let report = try cache.verify()

    #expect(report.damaged == [square.name] && report.strays == ["squares/8/stray"])
    #expect(report.checked == 5)
  }

  @Test func `a picture whose row changes during the check is not judged by the old row`()
    throws
  {
    let cache = try CacheOnDisk(folder)
    let count = Atomic<Int>(0)
    let (layout, bad) = (cache.layout, relative("a"))
    // SAFETY: the thread uses only the cache's store and index, which any thread may use.
    nonisolated(unsafe) let writer = cache
    let verification = Verification(cache.layout, cache.index) { name throws(LarderError) in
      guard name.path == bad else { return try layout.digest(of: name) }
      // The file and its row change before and after each reading, so the digest never matches the row that was read.
      let label = "a, version \(count.add(1, ordering: .relaxed).oldValue)"
      _ = try? writer.keep([(url("a"), jpeg(label))])
      let file = try layout.digest(of: name)
      _ = try? writer.keep([(url("a"), jpeg(label + " and on"))])
      return file
    }

    let report = try verification.run(.full)

    #expect(report == VerifyReport(checked: 4))
    #expect(count.load(ordering: .relaxed) > 2)
  }

  @Test(arguments: ["a", "d"])
  func `an unreadable file is not reported as damaged, and repair keeps it and its row`(
    _ name: String
  )
    throws
  {
    let cache = try CacheOnDisk(folder)
    let (layout, bad) = (cache.layout, relative(name))
    let verification = Verification(cache.layout, cache.index, isLocked: true) {
      file throws(LarderError) in
      if file.path == bad { throw .system("read", file.path, errno: EIO) }
      return try layout.digest(of: file)
    }
    #expect(unlink(folder.path(path("b"))) == 0)
    // Copied, so that its row no longer matches its stamp.
    let bytes = try folder.read(path(name))
    #expect(unlink(folder.path(path(name))) == 0)
    try folder.write(bytes, to: path(name))

    let report = try verification.run(.full)
    try verification.repair(
      report,
      claimed: [PictureEntry(id: PictureID(url: url(name)), url: url(name))]
    )

    #expect(report.unreadable == [bad] && report.damaged.isEmpty)
    #expect(report.missing == [relative("b")] && !report.isClean)
    #expect(try folder.read(path(name)) == bytes)
    #expect(try cache.entry(url(name))?.sha256 == ContentDigest.sha256(bytes))
    // The disk is readable again.
    #expect(try cache.verify() == VerifyReport(checked: 3))
  }

  @Test func `an unreadable stray is neither adopted nor removed`() throws {
    let cache = try CacheOnDisk(folder)
    try folder.write(jpeg("x"), to: path("x"))
    let stray = relative("x")
    let layout = cache.layout
    let read: PictureReading = { file throws(LarderError) in
      if file.path == stray { throw .system("read", file.path, errno: EIO) }
      return try layout.digest(of: file)
    }
    let recovery = try Recovery(cache.layout, cache.index, read: read)

    #expect(try recovery.strays.adopt(PictureID(url: url("x")), url: url("x")) == nil)
    try recovery.strays.sweep()

    #expect(try folder.read(path("x")) == jpeg("x"))
  }

  @Test func `an unreadable index is not reported as damaged`() throws {
    let index = try CacheOnDisk(folder).index
    #expect(try index.isWhole(fast: true))
    try index.read { try $0.execute(sql: "PRAGMA busy_timeout = 0") }
    let other = try DatabaseQueue(path: folder.path("cache/index.sqlite"))
    var error: LarderError?
    try other.inDatabase { db in
      try db.inTransaction(.exclusive) {
        error = #expect(throws: LarderError.self) { _ = try index.isWhole(fast: true) }
        return .rollback
      }
    }

    #expect(error?.code == .locked)
  }

  @Test func `only a valid picture path can belong to an active run`() {
    #expect(PictureName.id(at: relative("a")) != nil)
    let digits = String(repeating: "f", count: 32)
    #expect(PictureName.id(at: "images/ff/a-\(digits).jpg") != nil)
    for path in [
      "images/00/stray.jpg", "images/" + relative("a"), relative("a") + "/x",
      relative("a").replacing("images", with: "pictures"), "images/zz/a-\(digits).jpg",
      relative("a").replacing(".jpg", with: "0.jpg"), "images/ff/a-7fffffffffff.jpg",
      "images/ff/a-\(digits.uppercased()).jpg", "images/fe/a-\(digits).jpg",
      "images/ff/a-+\(digits.dropFirst()).jpg",
    ] { #expect(PictureName.id(at: path) == nil, "\(path)") }
  }
}

/// A disk that stops before and after every operation until it is told to continue.
private final class PausingDisk: Disk {
  private let disk = SystemDisk(durable: false)
  private let reached = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)
  private let hasEnded = Mutex(false)

  /// Waits for the next operation.
  ///
  /// - Returns: False if there is no further one.
  func nextPause() -> Bool {
    reached.wait()
    return hasEnded.withLock { !$0 }
  }

  func goOn() { released.signal() }

  /// Announces that no further operation follows.
  func end() {
    hasEnded.withLock { $0 = true }
    reached.signal()
  }

  /// Pauses before and after each operation.
  ///
  /// After a group's last file, the files are in place, but the group's rows are not written yet.
  private func paused<Value>(_ body: () throws(LarderError) -> Value) throws(LarderError) -> Value
  {
    pause()
    let value = try body()
    pause()
    return value
  }

  private func pause() {
    reached.signal()
    released.wait()
  }

  func create(_ name: String, in folder: Folder) throws(LarderError) -> OpenFile {
    try disk.create(name, in: folder)
  }

  func reopen(_ name: String, in folder: Folder, keeping size: ByteCount) throws(LarderError)
    -> OpenFile
  {
    try disk.reopen(name, in: folder, keeping: size)
  }

  func append(_ bytes: RawSpan, to file: OpenFile) throws(LarderError) {
    try disk.append(bytes, to: file)
  }

  func setModified(_ time: UnixTime, of file: OpenFile) throws(LarderError) {
    try disk.setModified(time, of: file)
  }

  func sync(_ file: OpenFile) throws(LarderError) { try disk.sync(file) }

  func rename(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError)
  {
    try paused { () throws(LarderError) in try disk.rename(name, in: old, to: new, in: folder) }
  }

  func link(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError) -> Bool
  {
    try paused { () throws(LarderError) in try disk.link(name, in: old, to: new, in: folder) }
  }

  func remove(_ name: String, in folder: Folder) throws(LarderError) {
    try paused { () throws(LarderError) in try disk.remove(name, in: folder) }
  }

  func sync(_ folder: Folder) throws(LarderError) {
    try paused { () throws(LarderError) in try disk.sync(folder) }
  }
}
