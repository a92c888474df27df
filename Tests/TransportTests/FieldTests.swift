import Base
import Testing

@testable import Transport

/// Single header fields.
@Suite struct FieldTests {
  /// RFC 9110, section 10.2.3.
  @Test(
    arguments: [
      ("120", 120), ("0", 0), (" 5 ", 5), ("1.5", 2), ("99999999999999999999999", Int64.max),
      ("Fri, 15 Jan 2027 08:01:40 GMT", 100), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("-5", nil), ("", nil), ("soon", nil), ("5 minutes", nil), ("0x10", nil),
    ] as [(String, Int64?)]
  )
  func `a Retry-After is read as seconds or a date`(_ value: String, _ seconds: Int64?) {
    #expect(RetryAfter.seconds(value, now: UnixTime(1_800_000_000)) == seconds)
  }

  /// RFC 9110, section 14.4.
  @Test(
    arguments: [
      ("bytes 0-499/1234", 0...499, 1234), ("bytes 500-1233/1234", 500...1233, 1234),
      ("bytes 42-1233/*", 42...1233, nil), ("BYTES 0-0/1", 0...0, 1),
    ] as [(String, ClosedRange<ByteCount>, ByteCount?)]
  )
  func `a Content-Range is read`(
    _ value: String,
    _ bytes: ClosedRange<ByteCount>,
    _ whole: ByteCount?
  ) {
    #expect(ContentRange(value)?.bytes == bytes)
    #expect(ContentRange(value)?.whole == whole)
  }

  @Test(arguments: [
    "", "bytes", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-9", "items 0-9/10", "bytes 0-9/x",
    "bytes */*", "bytes */1234", "bytes -5/10", "bytes 0-9/10, 20-29/30",
    "bytes 0-99999999999999999999/*",
  ])
  func `a Content-Range that contradicts itself is refused`(_ value: String) {
    #expect(ContentRange(value) == nil)
  }

  /// The table of RFC 9110, section 8.8.3.2.
  @Test(arguments: [
    (#"W/"1""#, #"W/"1""#, false, true), (#"W/"1""#, #"W/"2""#, false, false),
    (#"W/"1""#, #""1""#, false, true), (#""1""#, #""1""#, true, true),
  ])
  func `entity-tags compare strongly and weakly`(
    _ left: String,
    _ right: String,
    _ strong: Bool,
    _ weak: Bool
  ) throws {
    let left = try #require(EntityTag(left))
    let right = try #require(EntityTag(right))
    #expect(left.isIdentical(to: right) == strong)
    #expect(left.isEquivalent(to: right) == weak)
  }

  /// RFC 9110, section 8.8.3.
  @Test(arguments: [
    "", "1", #"w/"1""#, #"W/1"#, #""1"#, #""a b""#, #""a"b""#, "\"\u{7F}\"", #""1","2""#,
  ])
  func `a malformed entity-tag is nil`(_ value: String) {
    #expect(EntityTag(value) == nil)
  }

  @Test(arguments: [#""""#, #""xyzzy""#, #"W/"é""#, #""a,b""#])
  func `an entity-tag is sent back unchanged`(_ value: String) {
    #expect(
      Validators(entityTag: value, lastModified: nil).conditionalHeaders["If-None-Match"] == value
    )
  }

  @Test func `fields outside ASCII are the same from the wire, in a file and back on the wire`() {
    let headers: Headers = ["ETag": #""aü""#, "X": "é"]

    let read = Headers(lines: Array(headers.text.utf8))

    #expect(read == headers)
    #expect(Validators(read).conditionalHeaders == ["If-None-Match": #""aü""#])
  }

  @Test func `a header with an invalid name is dropped`() {
    var headers: Headers = ["A": "1"]

    for name in ["B C", "B:", ""] {
      headers.append(name, "2")
    }

    #expect(headers == ["A": "1"])
  }

  @Test func `a value cannot start another field`() {
    var headers = Headers()

    headers.append("A", "1\r\nB: 2\0;")

    #expect(headers == ["A": "1  B: 2 ;"])
  }

  @Test func `two differing tags give no validator`() {
    let same: Headers = ["ETag": "\"1\"", "etag": "\"1\""]
    let different: Headers = ["ETag": "\"1\"", "etag": "\"2\""]

    #expect(Validators(same).entityTag == "\"1\"")
    #expect(Validators(different).isEmpty)
  }

  /// RFC 9111, section 3.1.
  @Test func `fields named in Connection are hop-by-hop`() {
    let headers: Headers = ["Connection": "close, ETag ,a", "ETag": "\"1\"", "A": "1", "B": "2"]
    let usual: Headers = ["Connection": "keep-alive", "keep-alive": "5"]

    #expect(headers.endToEnd == ["Connection": "close, ETag ,a", "B": "2"])
    #expect(usual.endToEnd == usual)
  }

  @Test(arguments: [
    ("https://a.example/x", "https://a.example/x"),
    ("https://a.example/x?id=1&expires=2", "https://a.example/x?id=1&expires=2"),
    ("https://a.example/x?X-Amz-Date=1&X-Amz-Signature=s", "https://a.example/x"),
    ("https://a.example/x?v=2&X-Amz-Signature=s&w=9", "https://a.example/x?v=2&w=9"),
    ("https://a.example/x?Expires=1&Signature=s&Key-Pair-Id=k&v=1", "https://a.example/x?v=1"),
    ("https://a.example/x?sv=1&se=2&sr=b&sp=r&sig=s", "https://a.example/x"),
  ])
  func `a resource is identified without its URL's signature`(_ url: String, _ resource: String) {
    let parts = url.dropFirst("https://a.example".count).split(separator: "?")
    let url = WebURL(
      scheme: .https,
      host: "a.example",
      path: String(parts[0]),
      query: parts.count > 1 ? String(parts[1]) : nil
    )

    #expect(url.resource == resource)
  }

  @Test func `a tag without quotes is sent back unchanged, and cannot resume a part`() {
    let validators = Validators(["ETag": "0x8DD2F3D8D65F264"])

    #expect(validators.conditionalHeaders == ["If-None-Match": "0x8DD2F3D8D65F264"])
    #expect(validators.mayBeRenewed(by: Validators(["ETag": "0x8DD2F3D8D65F264"])))
    #expect(validators.mayBeRenewed(by: Validators([:])))
    #expect(!validators.mayBeRenewed(by: Validators(["ETag": "0x8DD2F3D8D65F265"])))
    #expect(validators.resumeValidator(date: nil) == nil)
    for tag in ["", "*", "a b", "a,b", "a\"b", "\"a"] {
      #expect(Validators(["ETag": tag]).isEmpty)
    }
  }

  /// RFC 9110, sections 8.8.2.2 and 13.1.5.
  @Test(
    arguments: [
      (#""1""#, nil, nil, #""1""#), (#"W/"1""#, nil, nil, nil),
      (#"W/"1""#, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT", nil),
      (
        nil, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT"
      ),
      (nil, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:36 GMT", nil),
      (nil, "Sun, 06 Nov 1994 08:49:37 GMT", nil, nil), (nil, nil, nil, nil),
    ] as [(String?, String?, String?, String?)]
  )
  func `only a strong validator can resume`(
    _ tag: String?,
    _ modified: String?,
    _ date: String?,
    _ expected: String?
  ) {
    let validators = Validators(entityTag: tag, lastModified: modified)
    #expect(validators.resumeValidator(date: date) == expected)
  }

  /// RFC 9110, section 12.5.5; RFC 9111, section 4.1.
  @Test(
    arguments: [
      ([:], ["Accept": "a"], ["Accept": "b"], true),
      (["Vary": "Accept"], ["Accept": "a"], ["accept": "a"], true),
      (["Vary": "accept"], ["Accept": "a"], ["Accept": "b"], false),
      (["Vary": "Accept"], [:], ["Accept": "b"], false), (["Vary": "Accept"], [:], [:], true),
      (
        ["Vary": "Accept, Accept-Language"], ["Accept": "a"],
        ["Accept": "a", "Accept-Language": "ko"], false
      ),
      (["Vary": "Accept"], ["Accept": "a"], ["Accept": ""], false),
      (["Vary": "Accept"], [:], ["Accept": ""], false),
      (["Vary": ",, "], ["A": "1"], [:], true),
    ] as [(Headers, Headers, Headers, Bool)]
  )
  func `Vary decides which request a response answers`(
    _ response: Headers,
    _ old: Headers,
    _ new: Headers,
    _ matches: Bool
  ) {
    let vary = Vary(response)

    #expect((vary.selection(from: old) == vary.selection(from: new)) == matches)
  }
}
