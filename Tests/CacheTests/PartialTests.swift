import Base
import Cache
import Foundation
import Support
import Testing
import Transport

@testable import Cache

/// Bodies that are interrupted and resumed, within a run and across runs.
struct PartialTests {
  private let folder: TemporaryFolder
  /// A picture of 700 KB without repeated parts.
  private static let whole = {
    var random = SplitMix64(1)
    return jpeg("large") + random.bytes(700_000)
  }()
  private static let place = url("a")

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The response head for the picture's bytes from `offset` on.
  private static func head(
    _ offset: Int = 0,
    tag: String? = "\"v1\"",
    encoded: Bool = false
  ) -> ResponseHead {
    var headers = Headers()
    if let tag { headers.append("ETag", tag) }
    return ResponseHead(
      status: offset == 0 ? 200 : 206,
      headers: headers,
      url: WebURL(scheme: .https, host: "cdn.example", path: "/a.jpg"),
      contentLength: ByteCount(whole.count - offset),
      isEncoded: encoded
    )
  }

  private func sink(_ cache: CacheOnDisk) -> PictureSink {
    cache.store.sink(id: PictureID(url: url("a")), url: url("a"))
  }

  /// Sends the first `count` bytes of the picture before the transfer breaks off.
  private func begin(_ cache: CacheOnDisk, _ count: Int, tag: String? = "\"v1\"") -> PictureSink {
    let sink = sink(cache)
    _ = sink.begin(Self.head(tag: tag), at: 0)
    _ = CacheOnDisk.send(Array(Self.whole.prefix(count)), into: sink, pieces: 50_000)
    return sink
  }

  /// Sends the missing bytes as the origin would, and commits the picture.
  private func finish(_ sink: PictureSink, _ cache: CacheOnDisk) throws {
    let offset = Int(sink.resumePoint?.offset.count ?? 0)
    if offset == 0 { sink.restart() }
    _ = sink.begin(Self.head(offset), at: ByteCount(offset))
    _ = CacheOnDisk.send(Array(Self.whole.dropFirst(offset)), into: sink, pieces: 50_000)
    cache.store.commit(
      sink,
      as: { PictureEntry(id: PictureID(url: url("a")), url: url("a")) },
      replacing: nil
    ) { _ in }
    cache.flush()
  }

  private func expectWhole(_ cache: CacheOnDisk, _ words: String = "") throws {
    #expect(try folder.read(path("a")) == Self.whole, "\(words)")
    #expect(try cache.entry(url("a"))?.sha256 == ContentDigest.sha256(Self.whole), "\(words)")
    #expect(try cache.verify() == VerifyReport(checked: 1), "\(words)")
    #expect(folder.files(below: "cache/partial").isEmpty, "\(words)")
  }

  @Test(arguments: [12, 100, 70_000, 262_144, 300_000, 700_063])
  func `the next attempt resumes after the bytes received`(count: Int) throws {
    let cache = try CacheOnDisk(folder)
    let sink = begin(cache, count)

    #expect(
      sink.resumePoint
        == ResumePoint(
          offset: ByteCount(count),
          validator: "\"v1\"",
          source: Self.place,
          whole: ByteCount(Self.whole.count)
        )
    )

    try finish(sink, cache)
    try expectWhole(cache)
  }

  @Test(arguments: [
    (0, "\"v1\""), (11, "\"v1\""), (300_000, "W/\"v1\""), (300_000, "no tag"), (300_000, nil),
  ])
  func `a body without a type or a strong validator restarts`(count: Int, tag: String?) throws {
    let cache = try CacheOnDisk(folder)
    let sink = begin(cache, count, tag: tag)

    #expect(sink.resumePoint == nil)

    sink.leave()
    cache.flush()
    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  @Test func `a decoded body restarts, because its offsets mean nothing to the origin`() throws {
    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)
    _ = sink.begin(Self.head(encoded: true), at: 0)
    _ = CacheOnDisk.send(Array(Self.whole.prefix(300_000)), into: sink)

    #expect(sink.resumePoint == nil)
  }

  @Test(arguments: [65_536, 262_143, 300_000, 700_000])
  func `a failed transfer keeps all received bytes for the next run`(count: Int) throws {
    do {
      let cache = try CacheOnDisk(folder)
      begin(cache, count).leave()
      cache.flush()
      #expect(try cache.verify().isClean)
    }

    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)

    #expect(
      sink.resumePoint
        == ResumePoint(
          offset: ByteCount(count),
          validator: "\"v1\"",
          source: Self.place,
          whole: ByteCount(Self.whole.count)
        )
    )
    try finish(sink, cache)
    try expectWhole(cache)
  }

  @Test func `a killed run loses only the bytes that were in memory`() throws {
    do {
      let cache = try CacheOnDisk(folder)
      let sink = begin(cache, 650_000)
      cache.flush()
      withExtendedLifetime(sink) {}
    }

    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)

    // The sink passes on five pieces of 50,000 bytes at a time, because six would exceed 256 KiB.
    #expect(sink.resumePoint?.offset == 500_000)
    try finish(sink, cache)
    try expectWhole(cache)
  }

  @Test func `a body can be interrupted and resumed in run after run`() throws {
    for (run, count) in [100_000, 260_000, 270_000, 640_000].enumerated() {
      let cache = try CacheOnDisk(folder)
      let sink = run == 0 ? begin(cache, 0) : sink(cache)
      let offset = Int(sink.resumePoint?.offset.count ?? 0)
      #expect(offset == [0, 100_000, 260_000, 270_000][run])
      if offset > 0 { _ = sink.begin(Self.head(offset), at: ByteCount(offset)) }
      _ = CacheOnDisk.send(Array(Self.whole[offset..<count]), into: sink, pieces: 50_000)
      sink.leave()
      cache.flush()
    }

    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)

    #expect(sink.resumePoint?.offset == 640_000)
    try finish(sink, cache)
    try expectWhole(cache)
  }

  @Test func `a complete body that was not committed requests its last byte only`() throws {
    do {
      let cache = try CacheOnDisk(folder)
      begin(cache, Self.whole.count).leave()
      cache.flush()
    }

    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)

    #expect(sink.resumePoint?.offset == ByteCount(Self.whole.count - 1))
    try finish(sink, cache)
    try expectWhole(cache)
  }

  @Test func `another version at the origin replaces the partial body`() throws {
    do {
      let cache = try CacheOnDisk(folder)
      begin(cache, 300_000).leave()
      cache.flush()
    }
    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)
    let other = jpeg("other", count: 400_000)

    sink.restart()
    _ = sink.begin(Self.head(tag: "\"v2\""), at: 0)
    _ = CacheOnDisk.send(other, into: sink)
    cache.store.commit(
      sink,
      as: { PictureEntry(id: PictureID(url: url("a")), url: url("a")) },
      replacing: nil
    ) { _ in }
    cache.flush()

    #expect(try folder.read(path("a")) == other)
    #expect(try cache.verify() == VerifyReport(checked: 1))
    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  @Test func `a partial body of less than 64 KiB is not kept`() throws {
    let cache = try CacheOnDisk(folder)

    begin(cache, 65_535).leave()
    cache.flush()

    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  /// Notes of the first version and of a possible later one, written by hand.
  @Test(arguments: [
    "larder partial 1\nBOOT\nURL\n\"v1\"\nURL\nimage/jpeg\n700063\nend\n",
    "larder partial 3\nBOOT\nURL\n\"v1\"\nURL\nimage/jpeg\n700063\nend 0\n70000 0\n", "",
  ])
  func `the partial body of an old version is removed, and the picture fetched from the start`(
    _ note: String
  ) throws {
    let name = try left("a")
    let text = note.replacing("BOOT", with: PartialBody.boot).replacing("URL", with: url("a"))
    try folder.write(text, to: "cache/partial/\(name).note")

    let cache = try CacheOnDisk(folder)
    let sink = sink(cache)

    #expect(sink.resumePoint == nil)
    #expect(folder.files(below: "cache/partial").isEmpty)
    try finish(sink, cache)
    try expectWhole(cache)
  }

  @Test func `a partial body that changed by one bit is never resumed`() throws {
    let layout = try CacheLayout(creating: folder.path("cache"))
    let name = try left("a", count: 65_536)
    let (body, note) = (
      try folder.read("cache/partial/\(name)"), try folder.read("cache/partial/\(name).note")
    )
    func taken(_ body: [UInt8], _ note: [UInt8]) throws -> PartialBody? {
      try folder.write(body, to: "cache/partial/\(name)")
      try folder.write(note, to: "cache/partial/\(name).note")
      return try PartialBodies(layout, since: 0).take(PictureID(url: url("a")))
    }
    let whole = try #require(try taken(body, note))
    #expect(whole.size == 65_536)

    for place in stride(from: 0, to: body.count, by: 1021) {
      #expect(try taken(Array(body[..<place]), note) == nil)
      var flipped = body
      flipped[place] ^= 1 << (place % 8)
      #expect(try taken(flipped, note) == nil)
    }
    for place in note.indices {
      #expect(try taken(body, Array(note[..<place])) == nil)
      for bit in 0..<8 {
        var flipped = note
        flipped[place] ^= 1 << bit
        #expect(try taken(body, flipped) == nil, "byte \(place), bit \(bit)")
      }
    }
    #expect(folder.files(below: "cache/partial").isEmpty)
    // Bytes that the last line of the note does not cover are removed.
    #expect(try taken(body + [1, 2, 3], note) == whole)
  }

  @Test func `partial bodies without a valid note are removed, and so are notes without a body`()
    throws
  {
    let good = try left("good")
    let torn = try left("torn")
    try folder.write("larder partial 1\n", to: "cache/partial/\(torn).note")
    let bare = try left("bare")
    try FileManager.default.removeItem(atPath: folder.path("cache/partial/\(bare).note"))
    let lone = try left("lone")
    try FileManager.default.removeItem(atPath: folder.path("cache/partial/\(lone)"))
    let long = try left("long", count: Self.whole.count + 1)
    let short = try left("short", count: 65_535)
    try folder.write(jpeg("half"), to: "cache/partial/0123-4")
    try FileManager.default.createDirectory(
      atPath: folder.path("cache/partial/folder"),
      withIntermediateDirectories: true
    )
    try folder.write("x", to: "cache/partial/folder/x")

    let partials = try CacheOnDisk(folder).recovery.partials

    #expect(partials.count == 1)
    #expect(
      Set(folder.files(below: "cache/partial").keys)
        == ["cache/partial/\(good)", "cache/partial/\(good).note"]
    )
    #expect(Set([torn, bare, lone, long, short]).count == 5)
  }

  @Test func `old partial bodies are removed, and of many the newest stay`() throws {
    let now = Int64(Date().timeIntervalSince1970)
    for number in 0..<260 { try left("p\(number)", modified: now - Int64(number)) }
    try left("old", modified: now - PartialBodies.longestAge - 1)
    try left("future", modified: now + 1_000_000_000)

    let layout = try CacheLayout(creating: folder.path("cache"))
    let partials = try PartialBodies(layout, since: UnixTime(now - PartialBodies.longestAge))

    #expect(partials.count == PartialBodies.most)
    #expect(folder.files(below: "cache/partial").count == 2 * PartialBodies.most)
    #expect(partials.take(PictureID(url: url("future"))) != nil)
    #expect(partials.take(PictureID(url: url("p0"))) != nil)
    #expect(partials.take(PictureID(url: url("p0"))) == nil)
    #expect(partials.take(PictureID(url: url("p259"))) == nil)
    #expect(partials.take(PictureID(url: url("old"))) == nil)

    partials.sweep()

    #expect(folder.files(below: "cache/partial").count == 4)
  }

  @Test func `after a failed or killed step, no wrong bytes are resumed`() throws {
    // Operations of the first run: file, note, pieces. Of the second run: reopening, pieces,
    // commit.
    for isCrash in [false, true] {
      for number in 1...30 {
        let folder = try TemporaryFolder()
        let tests = PartialTests(folder)
        let fault: FaultyDisk.Fault =
          isCrash ? .crash(at: number) : .fail(at: number, errno: ENOSPC)
        do {
          let cache = try CacheOnDisk(folder, disk: FaultyDisk(fault))
          let sink = tests.begin(cache, 650_000)
          if number % 2 == 0 { sink.leave() }
          cache.flush()
        }
        do {
          let cache = try CacheOnDisk(folder, disk: FaultyDisk(fault))
          try tests.finish(tests.sink(cache), cache)
          #expect(try cache.verify().damaged.isEmpty, "operation \(number)")
        }

        let cache = try CacheOnDisk(folder)
        if try cache.entry(url("a"))?.isHeld != true { try tests.finish(tests.sink(cache), cache) }

        try tests.expectWhole(cache, "operation \(number), \(isCrash ? "crash" : "failure")")
      }
    }
  }

  private init(_ folder: TemporaryFolder) {
    self.folder = folder
  }

  /// Writes a partial body and its note, and returns its name in `partial/`.
  @discardableResult
  private func left(
    _ label: String,
    count: Int = 70_000,
    modified: Int64? = nil
  ) throws -> String {
    let body = PartialBody(
      url: url(label),
      validator: "\"v1\"",
      source: url(label),
      type: .jpeg,
      length: ByteCount(Self.whole.count)
    )
    let name = body.id.partialName
    let cut = [UInt8](repeating: 1, count: count)
    try folder.write(cut, to: "cache/partial/\(name)")
    let line = PartialBody.line(ByteCount(count), sha256: ContentDigest.sha256(cut))
    try folder.write(body.note(boot: PartialBody.boot) + line, to: "cache/partial/\(name).note")
    if let modified {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: Double(modified))],
        ofItemAtPath: folder.path("cache/partial/\(name)")
      )
    }
    return name
  }
}
