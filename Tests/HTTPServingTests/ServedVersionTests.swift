import HTTPServing
import Testing

/// Conditional requests, ranges and targets, as both of our servers evaluate them.
@Suite struct ServedVersionTests {
  @Test(arguments: [
    ("bytes=0-1", ByteRange.part(0..<2)), ("bytes=5-", .part(5..<10)), ("bytes=-3", .part(7..<10)),
    ("BYTES=0-99999999999999999999", .part(0..<10)), ("bytes=-99", .part(0..<10)),
    ("bytes=10-", .unsatisfiable),
    ("bytes=-0", .unsatisfiable), ("bytes=0-1,3-4", .whole), ("bytes=3-2", .whole),
    ("bytes=", .whole),
    ("bytes=-", .whole), ("bytes=a-b", .whole), ("items=0-1", .whole), ("bytes 0-1", .whole),
    ("bytes=0 - 1", .part(0..<2)),
  ])
  func `a range is read as in RFC 9110, and an invalid one is ignored`(
    _ text: String,
    _ range: ByteRange
  ) {
    #expect(ByteRange(text, size: 10) == range)
  }

  @Test(arguments: [
    ([("If-None-Match", "\"a\"")], ServedVersion.Verdict.notModified),
    ([("If-None-Match", "W/\"a\"")], .notModified),
    ([("If-None-Match", "\"x,y\", \"a\"")], .notModified),
    ([("If-None-Match", "*")], .notModified),
    ([("If-None-Match", "\"b\"")], .passed), ([("If-None-Match", "a")], .passed),
    ([("If-Match", "\"b\"")], .failed), ([("If-Match", "W/\"a\"")], .failed),
    ([("If-Match", "*")], .passed),
    ([("If-Modified-Since", "Sun, 09 Sep 2001 01:46:40 GMT")], .notModified),
    ([("If-Modified-Since", "Sun, 09 Sep 2001 01:46:39 GMT")], .passed),
    ([("If-Modified-Since", "yesterday")], .passed),
    ([("If-Modified-Since", "Sun, 30 Feb 2020 08:49:37 GMT")], .passed),
    ([("If-Modified-Since", "Sunday, 09-Sep-01 01:46:40 GMT")], .notModified),
    ([("If-Modified-Since", "Sun Sep  9 01:46:40 2001")], .notModified),
    ([("if-none-match", "\"b\""), ("If-None-Match", "\"a\"")], .notModified),
    ([("If-Unmodified-Since", "Sun, 09 Sep 2001 01:46:39 GMT")], .failed),
    (
      [("If-None-Match", "\"b\""), ("If-Modified-Since", "Sun, 09 Sep 2001 01:46:40 GMT")], .passed
    ),
  ])
  func `conditions are evaluated in the order of RFC 9110`(
    _ fields: [(String, String)],
    _ verdict: ServedVersion.Verdict
  ) {
    let version = ServedVersion(etag: "\"a\"", modified: 1_000_000_000)

    #expect(version.verdict(lookUp(fields)) == verdict)
  }

  @Test(arguments: [
    ([], ByteRange.part(2..<4)), ([("If-Range", "\"a\"")], .part(2..<4)),
    ([("If-Range", "\"b\"")], .whole), ([("If-Range", "W/\"a\"")], .whole),
    ([("If-Range", "Sun, 09 Sep 2001 01:46:40 GMT")], .part(2..<4)),
    ([("If-Range", "Sun, 09 Sep 2001 01:46:41 GMT")], .whole), ([("If-Range", "a")], .whole),
    ([("Range", "bytes=0-0")], .whole),
  ])
  func `a range is sent only for the version that If-Range names, and for one Range field`(
    _ fields: [(String, String)],
    _ range: ByteRange
  ) {
    let version = ServedVersion(etag: "\"a\"", modified: 1_000_000_000)

    #expect(version.range(of: 10, lookUp([("Range", "bytes=2-3")] + fields)) == range)
  }

  @Test(
    arguments: [
      ("/a%20b?c=d", nil, "/a%20b", "c=d"), ("/", nil, "/", nil), ("/a?", nil, "/a", ""),
      ("http://h:1/x?y", "h:1", "/x", "y"), ("HTTPS://h", "h", "/", nil),
      ("http://h?q", "h", "/", "q"),
    ] as [(String, String?, String, String?)]
  )
  func `a target has an authority only in absolute form`(
    _ text: String,
    _ authority: String?,
    _ path: String,
    _ query: String?
  ) throws {
    let parts = try #require(TargetParts(text))

    #expect(parts.authority.map(String.init) == authority)
    #expect(parts.path == path && parts.query.map(String.init) == query)
    #expect(TargetParts("ftp://h/") == nil && TargetParts("*") == nil && TargetParts("") == nil)
  }

  private func lookUp(_ fields: [(String, String)]) -> (String) -> [String] {
    { name in fields.filter { $0.0.lowercased() == name.lowercased() }.map(\.1) }
  }
}
