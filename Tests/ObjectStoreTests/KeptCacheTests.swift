import Base
import Foundation
import Pipeline
import SampleStore
import Support
import Testing

@testable import Cache
@testable import ObjectStore

/// A cache whose pictures are in an object store keeps the same promises as one in a folder.
struct KeptCacheTests {
  private let shop: SampleShop
  private let folder: TemporaryFolder
  private let bucket = FakeBucket()
  private let pictures: S3Pictures

  init() throws {
    shop = try SampleShop(sections: 2, items: 3)
    folder = try TemporaryFolder()
    pictures = S3Pictures(try bucket.store())
  }

  private func sync() throws -> SyncReport { try shop.sync(folder, remote: pictures) }

  private func check(repairs: Bool = false, _ depth: Verification.Depth = .full) throws
    -> VerifyReport
  {
    let check = try CacheCheck(
      folder.path("cache"),
      holder: repairs ? "a test" : nil,
      depth: depth,
      remote: pictures
    )
    let report = try check.run(depth)
    if repairs { try check.repair(report) }
    return report
  }

  private var keys: [String] { bucket.objects.keys.sorted() }

  @Test func `all pictures of a sync are in the store, and none on this machine`() throws {
    let report = try sync()

    #expect(report.outcome == .complete)
    #expect(report.pictures.fetched == report.pictures.total)
    #expect(bucket.objects.count == report.pictures.total)
    #expect(keys.allSatisfy { $0.hasPrefix("m/images/") })
    for object in bucket.objects.values {
      let url = try #require(
        object.headers["x-amz-meta-larder-url"].map { PercentEncoding.lenientText($0) }
      )
      let path = try #require(url.firstRange(of: "/pictures/").map { url[$0.lowerBound...] })
      #expect(object.bytes == (try SampleShop.bytes(of: String(path))))
    }
    #expect(folder.files(below: "cache/images").isEmpty)
    #expect(folder.files(below: "cache/partial").isEmpty)
    #expect(try check().isClean)
    #expect(try check(.fast).isClean)
  }

  @Test func `pictures in the store are neither fetched nor uploaded again`() throws {
    _ = try sync()
    bucket.requests = []

    let second = try sync()

    #expect(second.pictures.fetched == 0)
    #expect(bucket.requests.allSatisfy { $0.hasPrefix("GET ?") })
  }

  @Test func `a lost index is rebuilt from the store, row for row`() throws {
    let first = try sync()
    let before = try rows()
    try folder.remove("cache")

    let again = try sync()

    #expect(again.pictures.fetched == 0)
    #expect(again.pictures.total == first.pictures.total)
    #expect(try rows() == before)
  }

  private func rows() throws -> [PictureEntry] {
    var rows: [PictureEntry] = []
    try Index(reading: folder.path("cache")).forEachPicture { rows.append($0) }
    return rows.sorted { $0.url < $1.url }
  }

  @Test func `a picture removed from the store, or changed in it, is fetched again`()
    throws
  {
    _ = try sync()
    bucket.objects[keys[0]] = nil
    // Another program has overwritten the first of the remaining pictures.
    bucket.objects[keys[0]] = .init(bytes: [1, 2, 3], headers: [:], tag: "other")

    let found = try check()
    let second = try sync()

    #expect(found.missing.count == 1)
    #expect(found.damaged.count == 1)
    #expect(second.pictures.fetched == 2)
    #expect(try check().isClean)
  }

  @Test func `verify reads every byte, and a repair removes damaged pictures`() throws {
    _ = try sync()
    // One byte is changed, but the object's ETag still matches.
    bucket.objects[keys[2]]?.bytes[3] ^= 1

    #expect(try check(.fast).isClean)
    let found = try check(repairs: true)

    #expect(found.damaged.count == 1)
    #expect(try check().isClean)
    #expect(try sync().pictures.fetched == 1)
  }

  @Test func `a foreign object is reported as a stray, and no sync touches it`() throws {
    _ = try sync()
    let stray = FakeBucket.Object(bytes: [1], headers: [:], tag: "x")
    bucket.objects["m/images/aa/notes.txt"] = stray
    bucket.objects["m/other"] = stray

    let report = try sync()
    let found = try check()

    #expect(report.outcome == .complete)
    #expect(bucket.objects["m/images/aa/notes.txt"] == stray)
    #expect(found.strays == ["images/aa/notes.txt"])
    _ = try check(repairs: true)
    #expect(bucket.objects["m/images/aa/notes.txt"] == nil)
    #expect(bucket.objects["m/other"] == stray)
  }

  @Test func `another machine's object is no stray, and the next run enters it into the index`()
    throws
  {
    _ = try sync()
    let other = try TemporaryFolder()
    shop.items["A"]?.append(SampleShop.Item("A9"))
    try shop.publish()
    _ = try shop.sync(other, remote: pictures)

    #expect(try check().isClean)
    let plan = gc(at: shop.clock.now + 30 * 86_400, isDryRun: true)
    #expect(try plan.run(holder: "a test").strays.isEmpty)
    #expect(try sync().pictures.fetched == 0)
    #expect(try check().checked == bucket.objects.count)
  }

  private func gc(at now: UnixTime, isDryRun: Bool = false) -> CacheGc {
    var options = SweepOptions()
    options.isDryRun = isDryRun
    return CacheGc(folder.path("cache"), remote: pictures, options: options, now: now)
  }

  @Test func `gc removes pictures from the store that no catalog has listed for a week`() throws {
    _ = try sync()
    shop.items["A"]?.removeFirst()
    try shop.publish()
    var options = SyncOptions()
    options.allowRemovals = true
    _ = try shop.sync(folder, options: options, remote: pictures)
    let before = bucket.objects.count

    let report = try gc(at: shop.clock.now + 8 * 86_400).run(holder: "a test")

    #expect(report.plan.removals.count == 3)
    #expect(bucket.objects.count == before - 3)
    #expect(try check().isClean)
  }

  @Test func `an export fetches each picture once`() throws {
    let synced = try sync()
    let export = try CacheExport(cache: folder.path("cache"), catalog: nil, remote: pictures)
    bucket.requests = []

    let first = try export.run(into: folder.path("out"))
    let second = try export.run(into: folder.path("out"))

    #expect(first.copied == synced.pictures.total)
    #expect(second.unchanged == synced.pictures.total)
    #expect(bucket.requests.count == synced.pictures.total)
  }

  @Test(arguments: [false, true])
  func `whichever request fails, the next sync completes and fetches no more than necessary`(
    isKill: Bool
  ) throws {
    _ = try sync()
    let whole = bucket.objects
    let requests = bucket.requests.count

    for place in Sweep.places(requests, part: isKill ? 1 : 0) {
      let number = place + 1
      try folder.remove("cache")
      bucket.objects = [:]
      bucket.fail(number, andAll: isKill)
      #expect(throws: LarderError.self, "request \(number)") { try sync() }
      let left = bucket.objects
      for (key, object) in left { #expect(object.bytes == whole[key]?.bytes) }

      bucket.fail(nil)
      let report = try sync()

      #expect(report.outcome == .complete)
      #expect(report.pictures.fetched == report.pictures.total - left.count, "request \(number)")
      #expect(Set(bucket.objects.keys) == Set(whole.keys))
      #expect(try check().isClean)
    }
  }

  @Test func `a store that answers SlowDown ends the run with that word`() throws {
    bucket.fail(1)

    #expect {
      try sync()
    } throws: { error in
      guard let error = error as? LarderError else { return false }
      return error.code == .storeBusy && error.description.contains("SlowDown")
    }
  }
}

extension TemporaryFolder {
  /// The paths of the files below a folder.
  fileprivate func files(below name: String) throws -> [String] {
    FileManager.default.enumerator(atPath: path(name))?.compactMap { $0 as? String }
      .filter { !$0.hasSuffix("/") } ?? []
  }

  fileprivate func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path(name))
  }
}
