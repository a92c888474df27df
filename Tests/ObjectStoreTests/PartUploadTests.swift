import Base
import Cache
import Support
import Synchronization
import Testing

@testable import ObjectStore

/// Multipart uploads of large pictures, and the removal of unfinished ones.
struct PartUploadTests {
  private let bucket = FakeBucket()
  private let bytes: [UInt8]

  init() {
    var random = SplitMix64(1)
    bytes = [0xFF, 0xD8, 0xFF] + random.bytes(12 << 20)
  }

  /// Stores the bytes as a picture and waits for the result.
  private func put() throws -> Result<FileStamp, LarderError> {
    var entry = PictureEntry(id: PictureID(url: "http://a/p.jpg"), url: "http://a/p.jpg")
    entry.sha256 = ContentDigest.sha256(bytes)
    entry.bytes = ByteCount(bytes.count)
    entry.type = .jpeg
    let result = Mutex<Result<FileStamp, LarderError>?>(nil)
    let done = Semaphore()
    S3Pictures(try bucket.store()).put(entry, try file(bytes)) { outcome in
      result.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    return try #require(result.withLock { $0 })
  }

  @Test func `a large picture is uploaded in parts and is whole, with its metadata`() throws {
    let stamp = try put().get()

    let object = try #require(bucket.objects.values.first)
    #expect(isSame(object.bytes, bytes))
    #expect(object.headers["x-amz-meta-larder-url"] == "http%3A%2F%2Fa%2Fp.jpg")
    #expect(stamp == S3Headers.stamp(tag: object.tag, bytes: Int64(bytes.count)))
    #expect(bucket.requests.count == 5)
    #expect(bucket.openUploads == 0)
  }

  @Test(arguments: 1...5)
  func `when a part fails, no object appears and the upload is aborted`(number: Int) throws {
    bucket.fail(number)

    let result = try put()

    #expect(throws: LarderError.self) { try result.get() }
    #expect(bucket.objects.isEmpty)
    #expect(bucket.openUploads == 0)
  }

  @Test(arguments: [
    ("SlowDown", "store-busy"), ("InternalError", "store-busy"), ("AccessDenied", "store-refused"),
    ("Strange", "store-unfit"),
  ])
  func `an error inside a 200 response is a failure, and says whether to retry`(
    code: String,
    kind: String
  ) throws {
    bucket.refuseWhole(code)

    let result = try put()

    let error = try #require(throws: LarderError.self) { try result.get() }
    #expect(error.code.rawValue == kind)
    #expect(bucket.objects.isEmpty)
    #expect(bucket.openUploads == 0)
  }

  @Test func `an upload left open by a killed run is aborted after a day, and not earlier`() throws
  {
    bucket.fail(3, andAll: true)
    _ = try put()
    bucket.fail(nil)
    #expect(bucket.openUploads == 1)
    let pictures = S3Pictures(try bucket.store())
    let begun = try #require(UnixTime(rfc3339: "2026-01-01T00:00:00.000Z"))

    try pictures.abortOldUploads(now: begun + 3600)
    #expect(bucket.openUploads == 1)

    try pictures.abortOldUploads(now: begun + 2 * 86_400)
    #expect(bucket.openUploads == 0)
  }

  @Test func `uploads beyond the first page of their list are aborted too`() throws {
    bucket.leaveOpen((100..<150).map { "m/images/aa/p-\($0).jpg" })
    bucket.list(pagesOf: 7)

    try S3Pictures(try bucket.store()).abortOldUploads(now: 1_800_000_000)

    #expect(bucket.openUploads == 0)
  }
}
