import Support
import Testing

@testable import Pipeline

/// The description in a report of a body that a server sent instead of a picture.
struct RefusedPictureTests {
  private let shop: ScriptedShop

  init() throws {
    shop = try ScriptedShop()
  }

  @Test(arguments: [
    ("<html><title>Please log in</title>", "an HTML page: Please log in"),
    ("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "an XML document"),
    (#"{"error": {"message": "quota exceeded"}}"#, "the origin says: quota exceeded"),
    ("this is no picture at all", nil),
  ])
  func `a body that is not a picture is described like an invalid section body`(
    body: String,
    words: String?
  )
    throws
  {
    defer { shop.close() }
    shop["/x"] = ScriptedShop.Answer(body: Array(body.utf8))

    let report = try shop.run()

    #expect(report.failures.map(\.reason) == ["not-a-picture"])
    #expect(report.failures.map(\.detail) == [words])
  }

  @Test func `an unquoted ETag is sent back unquoted, and answered with 304`() throws {
    defer { shop.close() }
    shop["/x"] = ScriptedShop.Answer(
      fields: ["Cache-Control: no-cache"],
      body: CacheSuiteOrigin.picture("picture one"),
      tag: "0x8DD2F3D8D65F264"
    )
    try shop.run()

    let report = try shop.run()

    #expect(report.pictures.revalidated == 1 && report.pictures.fetched == 0)
  }
}
