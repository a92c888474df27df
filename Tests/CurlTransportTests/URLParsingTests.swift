import Support
import Testing
import Transport

@testable import CurlTransport

/// URLs as libcurl parses them by RFC 3986.
@Suite struct URLParsingTests {
  static let base = "http://h.example/d/e?x=1"

  @Test(arguments: [
    ("http://Ex.COM", "http://ex.com/"),
    (
      "HTTP://h/a b/한.png?q=한 x&y=%ed%zz#f",
      "http://h/a%20b/%ED%95%9C.png?q=%ED%95%9C%20x&y=%ed%zz"
    ),
    (" \n http://h/x\t", "http://h/x"), ("http://h/a%20b%2Fc", "http://h/a%20b%2Fc"),
    ("http://h/a/../b/./c", "http://h/b/c"), ("http://h:80/", "http://h/"),
    ("https://h:80/", "https://h:80/"), ("http://h?x", "http://h/?x"),
    ("http://0x7f.1/", "http://127.0.0.1/"), ("http://[::1]:8080/", "http://[::1]:8080/"),
    ("http://한국.kr/", "http://xn--3e0b707e.kr/"), ("http://u:p@h/x", "http://h/x"),
    ("http://h/\"<>", "http://h/%22%3C%3E"), ("http://h/a?b?c", "http://h/a?b?c"),
    ("http://%65x.com/", "http://ex.com/"), ("http://h/x?a=+b", "http://h/x?a=+b"),
    ("http://h/a\\b\\", "http://h/a/b/"), ("http://h/a?b\\c", "http://h/a?b%5Cc"),
    ("http://h/a{1}|^`.png?s={w}x{h}|", "http://h/a%7B1%7D%7C%5E%60.png?s=%7Bw%7Dx%7Bh%7D%7C"),
    ("http://h/a[1]?b[]=1", "http://h/a[1]?b[]=1"),
    ("http://h/${}${a b}$", "http://h/$%7B%7D$%7Ba%20b%7D$"),
    ("http://h/${KEY_1}?k=${KEY_1}", "http://h/${KEY_1}?k=${KEY_1}"),
  ])
  func `an absolute URL is normalised as libcurl sends it`(_ text: String, _ expected: String)
    throws
  {
    #expect(try CurlURLParser.parse(text).text == expected)
    #expect(try CurlURLParser.parse(expected).text == expected)
  }

  @Test(arguments: [
    ("x y.png", "http://h.example/d/x%20y.png"), ("/a b", "http://h.example/a%20b"),
    ("//o.kr/z", "http://o.kr/z"), ("?q=1 2", "http://h.example/d/e?q=1%202"),
    ("../../c", "http://h.example/c"), ("#f", "http://h.example/d/e?x=1"),
    ("한.png", "http://h.example/d/%ED%95%9C.png"), ("https://z/k", "https://z/k"),
    ("./a:b", "http://h.example/d/a:b"), ("a%20b", "http://h.example/d/a%20b"),
  ])
  func `a relative URL is resolved`(_ text: String, _ expected: String) throws {
    #expect(
      try CurlURLParser.parse(text, relativeTo: CurlURLParser.parse(Self.base)).text == expected
    )
  }

  @Test(
    arguments: [
      ("", .urlInvalid), ("   ", .urlInvalid), ("h/x", .urlInvalid), ("//h/x", .urlInvalid),
      ("http://", .urlInvalid), ("http://h:99999/", .urlInvalid), ("http://h:0/", .urlInvalid),
      ("http://a b/", .urlInvalid), ("http://h\\@evil/", .urlInvalid),
      ("http://[fe80::1%25eth0]/", .urlInvalid), ("http://[::1/", .urlInvalid),
      ("http://h\u{0}x/", .urlInvalid),
      // The variable with the host was empty.
      ("https:///secret/hook", .urlInvalid), ("HTTP:////h/x", .urlInvalid),
      ("ftp://h/", .schemeRefused), ("file:///etc/passwd", .schemeRefused),
      ("javascript:alert(1)", .schemeRefused), ("data:image/png;base64,AA", .schemeRefused),
      ("mailto:a@b", .schemeRefused), ("http:foo", .urlInvalid),
    ] as [(String, FailureReason)]
  )
  func `a URL that cannot be fetched is refused`(_ text: String, _ reason: FailureReason) throws {
    let failure = #expect(throws: TransferFailure.self) { try CurlURLParser.parse(text) }

    #expect(failure?.reason == reason)
  }

  @Test(arguments: ["javascript:alert(1)", "data:image/png;base64,AA", "file:///etc/passwd"])
  func `a URL with another scheme is never taken as relative`(_ text: String) throws {
    let base = try CurlURLParser.parse(Self.base)

    let failure = #expect(throws: TransferFailure.self) {
      try CurlURLParser.parse(text, relativeTo: base)
    }

    #expect(failure?.reason == .schemeRefused)
  }

  @Test func `a URL that is too long is refused`() {
    let failure = #expect(throws: TransferFailure.self) {
      try CurlURLParser.parse("http://h/" + String(repeating: "a", count: 40_000))
    }

    #expect(failure?.reason == .urlInvalid)
    #expect((failure?.url.utf8.count ?? 0) <= 200)
  }

  @Test func `user information is stored separately and never shown`() throws {
    let url = try CurlURLParser.parse("https://ann:p%40ss@h.example/x")
    let failure = #expect(throws: TransferFailure.self) {
      try CurlURLParser.parse("https://ann:secret@h.example:99999/x")
    }

    #expect(url.userInfo == "ann:p%40ss")
    #expect(!"\(url)".contains("ss"))
    #expect(failure.map { "\($0)".contains("secret") } == false)
  }

  @Test(arguments: [
    ("x.jpg", "clerk:secret"), ("/x.jpg", "clerk:secret"), ("?a", "clerk:secret"),
    ("//shop.example/x.jpg", nil), ("https://shop.example/x.jpg", nil),
    ("//other:one@shop.example/", "other:one"),
  ])
  func `a path inherits its base's user information, another host does not`(
    text: String,
    userInfo: String?
  ) throws {
    let base = try CurlURLParser.parse("https://clerk:secret@shop.example/a/b")

    let url = try CurlURLParser.parse(text, relativeTo: base)

    #expect(url.userInfo == userInfo)
    #expect(!url.text.contains("secret"))
  }
}
