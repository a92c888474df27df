import Cache
import CurlTransport
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Interrupted pictures, through the whole pipeline.
struct ResumeTests {
  private static let path = "/pictures/large.jpg"
  private let folder: TemporaryFolder
  private let shop: SampleShop
  private let bytes: [UInt8]

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
    var random = SplitMix64(1)
    bytes = [0xFF, 0xD8, 0xFF, 0xE0] + random.bytes(800_000)
    shop.items["A"]?[0].thumbnail = Self.path
    try shop.publish()
    put(bytes)
  }

  private func put(_ bytes: [UInt8], etag: String? = nil) {
    shop.store.content[Self.path] = Resource(bytes, type: "image/jpeg", etag: etag)
  }

  /// The requested ranges; nil for a request without a range.
  private var ranges: [String?] {
    shop.store.requests.filter { $0.path == Self.path }.map { $0.headers["range"] }
  }

  private func held() throws -> [UInt8] {
    let url = shop.store.baseURL + Self.path
    return try folder.read("cache/" + PictureName(url: url, id: PictureID(url: url)).path)
  }

  private func expectWhole(_ report: SyncReport) throws {
    #expect(report.outcome == .complete)
    #expect(try held() == bytes)
    #expect(try verify(folder).isClean)
    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  @Test func `an interrupted picture is resumed in the same run`() throws {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000)))
    ]
    var options = shop.transportOptions()
    options.retry.retries = 1
    options.retry.firstDelay = .milliseconds(1)

    let report = try shop.sync(folder, transport: options)

    try expectWhole(report)
    #expect(ranges == [nil, "bytes=500000-"])
  }

  @Test func `an interrupted picture is resumed in the next run`() throws {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000)))
    ]

    let first = try shop.sync(folder)
    #expect(first.failures.map(\.reason) == ["truncated"])
    #expect(folder.files(below: "cache/partial").count == 2)
    #expect(try verify(folder).isClean)

    try expectWhole(try shop.sync(folder))
    #expect(ranges == [nil, "bytes=500000-"])
  }

  @Test func `a picture that changed meanwhile is fetched whole`() throws {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000)))
    ]
    _ = try shop.sync(folder)
    let other = Array(bytes.prefix(4)) + bytes.dropFirst(4).map { ~$0 }
    put(other)

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(try held() == other)
    #expect(ranges == [nil, "bytes=500000-"])
    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  @Test(arguments: [
    FaultEffect.status(416), .status(206), .header("Content-Range", "bytes 400000-800003/800004"),
    .header("ETag", "\"other\""), .chunked,
  ])
  func `a partial answer that does not fit is fetched whole`(effect: FaultEffect) throws {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000))),
      FaultRule(Self.path, hits: .range(2...2), effect),
    ]
    _ = try shop.sync(folder)

    try expectWhole(try shop.sync(folder))
  }

  @Test(arguments: [
    FaultEffect.status(502), .status(500), .status(400), .status(403),
  ])
  func `a picture whose missing bytes are refused is fetched whole, in the same run`(
    effect: FaultEffect
  )
    throws
  {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000))),
      FaultRule(Self.path, hits: .range(2...2), effect),
    ]
    _ = try shop.sync(folder)

    try expectWhole(try shop.sync(folder))

    #expect(ranges == [nil, "bytes=500000-", nil])
  }

  @Test(arguments: [429, 503])
  func `a picture whose origin is busy is resumed in the next run`(status: Int) throws {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000))),
      FaultRule(Self.path, hits: .range(2...2), .status(status)),
    ]
    _ = try shop.sync(folder)
    #expect(try shop.sync(folder).failures.map(\.reason) == ["http-\(status)"])

    try expectWhole(try shop.sync(folder))

    #expect(ranges == [nil, "bytes=500000-", "bytes=500000-"])
  }

  @Test func `partial bodies that no catalog needs are removed after a complete run`() throws {
    shop.store.faults = [FaultRule(Self.path, .truncate(after: .bytes(500_000)))]
    _ = try shop.sync(folder)
    #expect(folder.files(below: "cache/partial").count == 2)
    shop.items["A"]?[0].thumbnail = "/pictures/A1-thumb.jpg"
    try shop.publish()

    #expect(try shop.sync(folder).outcome == .complete)

    #expect(folder.files(below: "cache/partial").isEmpty)
  }

  @Test func `a picture that no longer exists leaves no partial body`() throws {
    shop.store.faults = [
      FaultRule(Self.path, hits: .range(1...1), .truncate(after: .bytes(500_000)))
    ]
    _ = try shop.sync(folder)
    shop.store.content[Self.path] = nil
    shop.store.faults = [FaultRule(Self.path, .status(404))]

    #expect(try shop.sync(folder).failures.map(\.reason) == ["http-404"])

    #expect(folder.files(below: "cache/partial").isEmpty)
  }
}
