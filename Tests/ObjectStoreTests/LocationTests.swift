import Base
import Testing

@testable import ObjectStore

struct LocationTests {
  @Test(arguments: [
    ("s3://shop", "shop", ""), ("s3://shop/", "shop", ""), ("s3://shop/a/b", "shop", "a/b"),
    ("s3://shop/a/b/", "shop", "a/b"), ("S3://my.shop-1/x_~y", "my.shop-1", "x_~y"),
  ])
  func `a bucket and a prefix are read`(text: String, bucket: String, prefix: String) throws {
    let location = try S3Location(parsing: text)

    #expect(location.bucket == bucket)
    #expect(location.prefix == prefix)
    #expect(location.path(of: location.key("images/3f/a.jpg")) == "images/3f/a.jpg")
  }

  @Test(arguments: [
    "s3://", "s3://ab", "s3://Shop/x", "s3://shop/a//b", "s3://shop/../x", "s3://shop/a b",
    "s3://shop/밑", "s3://shop/a?b", "s3:///x", "s3://user:pw@shop/x", "s3://-shop", "/folder",
    "s3://shop/" + String(repeating: "a", count: 600),
  ])
  func `an invalid location is refused with the accepted form`(text: String) {
    #expect(throws: LarderError.self) { try S3Location(parsing: text) }
  }

  @Test func `a longer name with the same start is not below a prefix`() throws {
    let location = try S3Location(parsing: "s3://shop/a")

    #expect(location.path(of: "ab/images/x") == nil)
    #expect(location.path(of: "a/images/x") == "images/x")
  }
}
