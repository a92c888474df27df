import Base
import Cache
import CurlTransport
import Foundation
import Pipeline
import SampleStore
import Support
import Synchronization
import Testing
import Transport
import Web

@testable import ObjectStore

/// `larder serve` on a cache whose pictures are in an object store.
struct ServedStoreTests {
  private let shop: SampleShop
  private let folder: TemporaryFolder
  private let bucket = FakeBucket()
  private let pictures: S3Pictures
  private let curl: CurlTransport

  init() throws {
    shop = try SampleShop(sections: 1, items: 2)
    folder = try TemporaryFolder()
    pictures = S3Pictures(try bucket.store())
    _ = try shop.sync(folder, remote: pictures)
    var options = shop.transportOptions()
    options.allowPrivateAddresses = true
    curl = try CurlTransport(options)
  }

  /// An answer of the server; the status is 0 if the connection broke off.
  private struct Reply {
    var status: Int
    var headers = Headers()
    var body: [UInt8] = []
  }

  /// Sends requests to a server.
  ///
  /// If `fetching` is true, the server may fetch missing pictures from their origin.
  private func ask(
    fetching: Bool = false,
    _ questions: [(path: String, headers: Headers)]
  ) async throws -> [Reply] {
    let served = try OpenCatalog(cache: folder.path("cache"), catalog: nil)
    let clock = shop.clock
    let catalog = try shop.catalog()
    var content = ServerContent(
      cache: folder.path("cache"),
      catalog: served,
      clock: { clock.now }
    )
    content.remote = pictures
    content.squares = [16]
    if fetching {
      try content.fetchMissing { [curl, pictures] room in
        PicturePull(
          SyncRun(catalog, cache: room, transport: curl, remote: pictures, now: { clock.now })
        )
      }
    }
    let web = try WebServer(content, bind: "127.0.0.1", port: 0)
    var replies: [Reply] = []
    for question in questions {
      var request = Request(try curl.parse("\(web.url)/\(question.path)", relativeTo: nil))
      request.trust = .named
      request.headers = question.headers
      request.headers["If-None-Match"] = nil
      request.condition = question.headers["If-None-Match"].map {
        Condition(Validators(entityTag: $0, lastModified: nil))
      }
      request.asksForPart = question.headers.contains("Range")
      request.accept = .anything
      let sink = MemorySink()
      let result = await withCheckedContinuation { waiting in
        curl.fetch(request, into: sink) { waiting.resume(returning: $0) }
      }
      switch result {
      case .success(let response):
        let head = response.head
        replies.append(Reply(status: head.status, headers: head.headers, body: sink.bytes))
      case .failure(let failure):
        // An answer that broke off began with status 200.
        let status = failure.status == 200 ? nil : failure.status
        replies.append(Reply(status: status ?? 0, headers: failure.headers))
      }
    }
    web.stop()
    return replies
  }

  private var rows: [PictureEntry] {
    get throws {
      var rows: [PictureEntry] = []
      try Index(reading: folder.path("cache")).forEachPicture { rows.append($0) }
      return rows.sorted { $0.url < $1.url }
    }
  }

  private func object(_ row: PictureEntry) -> FakeBucket.Object? {
    bucket.objects["m/" + row.name.path]
  }

  @Test func `pictures are served from the store, in full, in part, or as 304`()
    async throws
  {
    let row = try rows[0]
    let bytes = try #require(object(row)).bytes
    let tag = "\"\(Hexadecimal.text(row.sha256 ?? []))\""
    bucket.requests = []

    let path = row.name.path
    let replies = try await ask([
      (path, [:]), (path, ["Range": "bytes=3-9"]), (path, ["If-None-Match": tag]),
      (path, ["Range": "bytes=3-9", "If-Range": "\"other\""]),
      (path, ["Range": "bytes=\(bytes.count)-"]), (path, ["If-Match": "\"other\""]),
    ])

    #expect(replies.map(\.status) == [200, 206, 304, 200, 416, 412])
    #expect(replies[0].body == bytes)
    #expect(replies[1].body == Array(bytes[3...9]))
    #expect(replies[3].body == bytes)
    #expect(replies[0].headers["ETag"] == tag)
    #expect(replies[0].headers["Content-Type"] == "image/jpeg")
    #expect(replies[0].headers["Last-Modified"] == row.fetched?.httpDate)
    #expect(bucket.requests == [String](repeating: "GET m/\(path)", count: 3))
    #expect(folder.files(below: "cache/images").isEmpty)
  }

  @Test func `a large picture of another machine is streamed in its current version`()
    async throws
  {
    var row = try rows[0]
    var random = SplitMix64(1)
    let bytes = [0xFF, 0xD8, 0xFF] + random.bytes(2 << 20)
    row.sha256 = ContentDigest.sha256(bytes)
    row.bytes = ByteCount(bytes.count)
    let done = Semaphore()
    pictures.put(row, try file(bytes)) { _ in done.signal() }
    done.wait()
    bucket.requests = []

    let reply = try await ask([(row.name.path, [:])])[0]

    // Compared outside of `#expect`, so that a failure does not print two mebibytes.
    let isWhole = reply.body == bytes
    #expect(isWhole)
    #expect(reply.headers["ETag"] == "\"\(Hexadecimal.text(row.sha256 ?? []))\"")
    // One request detects the replaced picture, and five fetch at most half a mebibyte each.
    #expect(bucket.requests.count == 6)
  }

  @Test func `a picture missing from the store is not served, or is fetched and stored again`()
    async throws
  {
    let row = try rows[0]
    let bytes = try #require(object(row)).bytes
    bucket.objects["m/" + row.name.path] = nil

    #expect(try await ask([(row.name.path, [:])])[0].status == 404)
    let replies = try await ask(fetching: true, [(row.name.path, [:]), (row.name.path, [:])])

    #expect(replies.map(\.body) == [bytes, bytes])
    #expect(object(row)?.bytes == bytes)
    #expect(
      try rows[0].stamp
        == S3Headers.stamp(tag: object(row)?.tag ?? "", bytes: Int64(bytes.count))
    )
    #expect(folder.files(below: "cache/images").isEmpty)
    #expect(folder.files(below: "cache/serving").isEmpty)
  }

  @Test func `while the store is busy a client is asked to retry`() async throws {
    let row = try rows[0]
    bucket.fail(1, andAll: true)

    let reply = try await ask([(row.name.path, [:])])[0]

    #expect(reply.status == 503)
    #expect(reply.headers["Retry-After"] == "10")
  }

  @Test func `a picture that breaks off is not a complete answer`() async throws {
    var row = try rows[0]
    let bytes = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 1 << 20)
    row.sha256 = ContentDigest.sha256(bytes)
    row.bytes = ByteCount(bytes.count)
    let done = Semaphore()
    pictures.put(row, try file(bytes)) { _ in done.signal() }
    done.wait()
    // The first request detects the replaced picture, the second begins to read it, and the third
    // fails.
    bucket.fail(3, andAll: true)

    #expect(try await ask([(row.name.path, [:])])[0].status == 0)
  }

  @Test func `a square is made of the store's bytes, and made once`() async throws {
    // A picture of 16 × 32 grey pixels.
    let text =
      "iVBORw0KGgoAAAANSUhEUgAAABAAAAAgCAAAAAA+4qcQAAAAEklEQVR42mMIRQMMowKjAggAAKysqgFHRNprAAAAAElFTkSuQmCC"
    let picture = [UInt8](try #require(Data(base64Encoded: text)))
    shop.store.content["/pictures/A1-thumb.jpg"] = Resource(picture, type: "image/png")
    try FileManager.default.removeItem(atPath: folder.path("cache"))
    bucket.objects = [:]
    _ = try shop.sync(folder, remote: pictures)
    let row = try #require(try rows.first { $0.type == .png })
    bucket.requests = []

    let path = row.name.path + "?square=16"
    let replies = try await ask([(path, [:]), (path, [:])])

    #expect(replies.map(\.status) == [200, 200])
    #expect(replies[0].body == replies[1].body)
    #expect(!replies[0].body.isEmpty && replies[0].body != object(row)?.bytes)
    #expect(bucket.requests == ["GET m/\(row.name.path)"])
    #expect(folder.files(below: "cache/images").isEmpty)
  }
}
