import Testing

@testable import ObjectStore

struct EnvironmentTests {
  private static let keys = ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hush"]

  @Test func `the variables of the AWS tools are read, the more specific first`() throws {
    let environment = try S3Environment(
      Self.keys.merging([
        "AWS_DEFAULT_REGION": "a", "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL": "http://x",
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9/", "AWS_SESSION_TOKEN": "t",
      ]) { $1 }
    )

    #expect(environment.region == "eu-central-1")
    #expect(environment.base(of: "shop") == "http://127.0.0.1:9/shop")
    #expect(environment.token == "t")
    #expect(environment.nickname == "127.0.0.1-9")
  }

  @Test(arguments: [
    ("shop", "eu-west-1", "https://shop.s3.eu-west-1.amazonaws.com"),
    ("my.shop", "eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.shop"),
    ("shop", "cn-north-1", "https://shop.s3.cn-north-1.amazonaws.com.cn"),
  ])
  func `without an endpoint the bucket is at AWS`(bucket: String, region: String, base: String)
    throws
  {
    let environment = try S3Environment(Self.keys.merging(["AWS_REGION": region]) { $1 })

    #expect(environment.base(of: bucket) == base)
  }

  @Test(arguments: [
    (["AWS_ACCESS_KEY_ID": ""], "AWS_ACCESS_KEY_ID is not set"),
    (["AWS_SECRET_ACCESS_KEY": ""], "AWS_SECRET_ACCESS_KEY is not set"),
    (["AWS_SECRET_ACCESS_KEY": "hush hush"], "cannot use AWS_SECRET_ACCESS_KEY"),
    (["AWS_ACCESS_KEY_ID": "hush\n"], "cannot use AWS_ACCESS_KEY_ID"),
    (["AWS_REGION": "a/b"], "cannot use AWS_REGION"),
    (["AWS_ENDPOINT_URL_S3": "ftp://hush"], "cannot use AWS_ENDPOINT_URL_S3"),
    (["AWS_ENDPOINT_URL_S3": "https://me:hush@host"], "cannot use AWS_ENDPOINT_URL_S3"),
  ])
  func `an invalid variable is named, and no value is repeated`(
    more: [String: String],
    words: String
  ) {
    #expect {
      try S3Environment(Self.keys.merging(more) { $1 })
    } throws: { "\($0)".contains(words) && !"\($0)".contains("hush") }
  }
}
