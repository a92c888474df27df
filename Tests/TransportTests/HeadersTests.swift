import Testing

@testable import Transport

/// Header fields. (RFC 9110, section 5)
@Suite struct HeadersTests {
  @Test func `names match in any case, and the first value is used`() {
    let headers: Headers = ["ETag": "\"1\"", "x-a": "1", "X-A": "2"]

    #expect(headers["etag"] == "\"1\"")
    #expect(headers["X-a"] == "1")
    #expect(headers.all("X-A") == ["1", "2"])
    #expect(headers.combined("x-A") == "1, 2")
    #expect(headers.combined("none") == nil)
    #expect(headers["ETa"] == nil)
  }

  @Test func `setting replaces every field of the name`() {
    var headers: Headers = ["a": "1", "b": "2", "A": "3"]

    headers["A"] = "4"
    headers["b"] = nil

    #expect(headers.text == "A: 4\n")
  }

  @Test func `no value can inject a field`() {
    var headers = Headers()

    headers.append("X", "1\r\nEvil: 2\u{0}3\nMore: 4")
    headers.append("Bad Name", "1")
    headers.append("Bad:Name", "1")
    headers.append("", "1")

    #expect(headers.text == "X: 1  Evil: 2 3 More: 4\n")
  }

  @Test func `header lines lose surrounding white space and keep their order`() {
    let headers = Headers(lines: Array("A:  1 \t\nno colon here\nB:\nC:x:y\n".utf8))

    #expect(headers.fields.map(\.name) == ["A", "B", "C"])
    #expect(headers.fields.map(\.value) == ["1", "", "x:y"])
  }

  @Test func `bytes that are not UTF-8 do no harm`() {
    let headers = Headers(lines: [0x41, 0x3A, 0xFF, 0xFE, 10])

    #expect(headers["a"] == "\u{FFFD}\u{FFFD}")
  }

  @Test(arguments: [
    ("https://s.example/a?x=1", "https://s.example/a?x=1"),
    ("https://s.example/a?token=abc&x=1", "https://s.example/a?token=***&x=1"),
    ("https://s.example/a?X-Amz-Signature=abc", "https://s.example/a?X-Amz-Signature=***"),
    ("https://s.example/a?key=abc&monkey=1", "https://s.example/a?key=***&monkey=1"),
    ("https://s.example/a?ACCESS_TOKEN=abc", "https://s.example/a?ACCESS_TOKEN=***"),
  ])
  func `secrets in a query are not shown`(_ text: String, _ shown: String) {
    let url = WebURL(
      scheme: .https,
      userInfo: "ann:secret",
      host: "s.example",
      path: "/a",
      query: String(text.split(separator: "?")[1])
    )

    #expect(url.text == text)
    #expect("\(url)" == shown)
  }

  @Test func `a URL is split into its parts`() {
    let url = WebURL(scheme: .http, host: "::1", port: 8080, path: "/a/b", query: "c?d")
    let plain = WebURL(scheme: .https, host: "h", port: 443, path: "/")

    #expect(url.text == "http://[::1]:8080/a/b?c?d")
    #expect(url.origin == "http://[::1]:8080")
    #expect(url.path == "/a/b")
    #expect(url.query == "c?d")
    #expect(url.hostPort == HostPort(host: "::1", port: 8080))
    #expect("\(url.hostPort)" == "[::1]:8080")
    #expect(plain.text == "https://h/")
    #expect(plain.query == nil)
    #expect(plain.port == 443)
  }

  @Test(
    arguments: [
      (["<p2>; rel=\"next\""], "p2"), (["<p1>; rel=prev, <p3>; title=\"a, b\"; rel=next"], "p3"),
      (["<a,b;c>; REL=\"last Next\""], "a,b;c"), (["<p1>; rel=prev", "<p2>;rel=next"], "p2"),
      (["<p1>; rel=\"nextpage\""], nil), (["<>; rel=next"], nil), (["p2; rel=next"], nil),
      (["<p2; rel=next"], nil), ([], nil), (["<p2> rel=\"next\""], "p2"),
      (["<p2>; rel=next last"], "p2"), (["<p2>; rel=\"next\" title"], "p2"),
      (["<p2>; rel=next\""], "p2"), (["<p1>; rel=prev, <p2> rel=next"], "p2"),
    ] as [([String], String?)]
  )
  func `the link to the next page is found among others`(values: [String], target: String?) {
    let headers = Headers(values.map { ("Link", $0) })

    #expect(headers.nextLink == target)
  }
}
