import Base
import Cache
import Testing

@testable import ObjectStore

/// The requests to an object store: lists, conditional writes, removals and refusals.
struct ObjectStoreTests {
  private let bucket = FakeBucket()

  @Test func `a list of many pages has every object once, in order`() throws {
    for number in 100..<150 {
      bucket.objects["m/images/aa/p-\(number).jpg"] = .init(bytes: [1], headers: [:], tag: "t")
    }
    bucket.objects["mm/images/aa/other"] = .init(bytes: [1], headers: [:], tag: "t")
    bucket.list(pagesOf: 7)

    var keys: [String] = []
    try bucket.store().forEach(below: "images/") { keys.append($0.key) }

    #expect(keys == (100..<150).map { "m/images/aa/p-\($0).jpg" })
    #expect(bucket.requests.count == 8)
    let objects = try S3Pictures(try bucket.store()).objects()
    #expect(objects.keys.sorted() == (100..<150).map { "images/aa/p-\($0).jpg" })
  }

  @Test(arguments: [(FakeBucket.Endless.repeated, 2), (.empty, ObjectStore.mostEmptyPages)])
  func `a list that never ends is given up`(endless: FakeBucket.Endless, requests: Int) throws {
    bucket.list(endless)
    let pictures = S3Pictures(try bucket.store())

    let error = try #require(throws: LarderError.self) { _ = try pictures.objects() }

    #expect(error.description.contains("the store's list does not end"))
    #expect(bucket.requests.count == requests)
  }

  @Test(arguments: [
    ("http://127.0.0.1:9000", false), ("http://localhost", false),
    ("https://store.example", false),
    ("http://10.0.0.7:9000", true), ("http://minio.internal", true),
  ])
  func `plain http to another machine is reported as unencrypted`(endpoint: String, isOpen: Bool)
    throws
  {
    let environment = try S3Environment([
      "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
      "AWS_ENDPOINT_URL_S3": endpoint,
    ])
    let location = try S3Location(parsing: "s3://shop/m")

    #expect(ObjectStore(location, environment, transport: bucket).isUnencrypted == isOpen)
  }

  @Test func `an object is created once, and its creator succeeds again after a lost reply`()
    throws
  {
    let store = try bucket.store()

    #expect(try store.create([1], at: "manifest", type: "text/plain"))
    #expect(try !store.create([2], at: "manifest", type: "text/plain"))
    // The creator repeats its request, as after a lost reply.
    #expect(try store.create([1], at: "manifest", type: "text/plain"))
    #expect(try store.bytes(of: "manifest") == [1])
    #expect(try store.bytes(of: "nothing") == nil)
  }

  @Test func `when two writers create an object at once, the one that comes second learns of it`()
    throws
  {
    let store = try bucket.store()
    bucket.overtake(with: [2])

    #expect(try !store.create([1], at: "manifest", type: "text/plain"))
    #expect(try store.bytes(of: "manifest") == [2])
  }

  @Test func `removing a missing object succeeds, and a refusal is an error`() throws {
    let store = try bucket.store()
    try store.remove(["a", "b"])

    bucket.fail(2, with: 403, "AccessDenied")

    #expect(throws: LarderError.self) { try store.remove(["a", "b", "c"]) }
  }

  @Test(arguments: [
    ("SignatureDoesNotMatch", 403, "AWS_SECRET_ACCESS_KEY", "store-refused"),
    ("InvalidAccessKeyId", 403, "AWS_ACCESS_KEY_ID", "store-refused"),
    ("AccessDenied", 403, "lack the permission", "store-refused"),
    ("ExpiredToken", 400, "AWS_SESSION_TOKEN", "store-refused"),
    ("RequestTimeTooSkewed", 403, "clock", "store-refused"),
    ("XAmzContentSHA256Mismatch", 400, "differs from the data sent", "store-refused"),
    ("NoSuchBucket", 404, "no such bucket", "store-refused"),
    ("PermanentRedirect", 301, "AWS_REGION", "store-refused"),
    ("SlowDown", 503, "run it again later", "store-busy"),
    ("Anything", 503, "Anything (503)", "store-busy"),
    ("TooManyRequests", 429, "run it again later", "store-busy"),
    // The S3 code has a meaning of its own, whatever the status.
    ("SlowDown", 400, "run it again later", "store-busy"),
    ("RequestTimeout", 400, "run it again later", "store-busy"),
    ("OperationAborted", 409, "run it again later", "store-busy"),
    ("PreconditionFailed", 412, "the request were unsigned", "store-refused"),
    ("Strange", 418, "Strange (418)", "store-unfit"),
  ])
  func `a refusal by the store is one sentence with advice`(
    code: String,
    status: Int,
    words: String,
    kind: String
  ) throws {
    bucket.fail(1, with: status, code)

    #expect {
      try bucket.store().put([1], to: "x", type: "text/plain")
    } throws: { error in
      let text = "\(error)"
      return (error as? LarderError)?.code.rawValue == kind && text.contains(words)
        && text.hasPrefix("cannot write s3://shop/m/x: ") && !text.contains("secret ")
    }
  }
}
