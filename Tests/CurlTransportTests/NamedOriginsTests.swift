import CurlTransport
import Testing
import Transport

/// The trust and the secrets that a URL's origin gets, depending on whether the user named it.
struct NamedOriginsTests {
  private static func url(_ text: String) throws -> WebURL {
    try CurlURLParser().parse(text, relativeTo: nil)
  }

  /// A base with user information, a section on another host, and details on a third.
  private static func named() throws -> NamedOrigins {
    var named = NamedOrigins()
    named.allowCredentials(try url("https://clerk:pw@shop.example/api/"))
    named.allowCredentials(try url("http://10.0.0.5:8080/lists/a"))
    named.name(try url("https://details.example/1").hostPort)
    return named
  }

  @Test(arguments: [
    // The origins of base and sections, in different spellings.
    ("https://shop.example/page2", Request.Trust.named, true, "clerk:pw" as String?),
    ("https://SHOP.example:443/page2", .named, true, "clerk:pw"),
    ("https://other:one@shop.example/page2", .named, true, "clerk:pw"),
    ("http://10.0.0.5:8080/elsewhere", .named, true, nil),
    ("http://0xa.5:8080/elsewhere", .named, true, nil),
    // Named by the user, but given no credentials.
    ("https://details.example/2", .named, false, nil),
    // A different scheme, port or name, even if it is the same machine.
    ("http://shop.example/page2", .discovered, false, nil),
    ("http://shop.example:443/page2", .named, false, nil),
    ("https://shop.example:8443/page2", .discovered, false, nil),
    ("https://shop.example./page2", .discovered, false, nil),
    ("http://10.0.0.5/", .discovered, false, nil),
    ("https://10.0.0.5:8080/", .named, false, nil),
    ("http://[::ffff:10.0.0.5]:8080/", .discovered, false, nil),
    ("https://shop.example.evil.example/", .discovered, false, nil),
    ("https://shop.example@evil.example/", .discovered, false, "shop.example:"),
    ("https://www.shop.example/", .discovered, false, nil),
  ])
  func `a request gets trust and secrets by its URL`(
    text: String,
    trust: Request.Trust,
    getsSecrets: Bool,
    userInfo: String?
  ) throws {
    let secrets: Headers = ["token": "s3cret"]

    let request = try Self.named().request(for: try Self.url(text), carrying: secrets)

    #expect(request.trust == trust)
    #expect(request.credentials == (getsSecrets ? secrets : Headers()))
    #expect(request.url.userInfo == userInfo)
    #expect(request.headers.isEmpty)
  }

  @Test func `at the start, no origin is named by the user`() throws {
    let request = NamedOrigins().request(
      for: try Self.url("http://127.0.0.1/"),
      carrying: ["token": "s3cret"]
    )

    #expect(request.trust == .discovered)
    #expect(request.credentials.isEmpty)
  }

  @Test func `naming an origin again without user information keeps the earlier one`() throws {
    var named = try Self.named()
    named.allowCredentials(try Self.url("https://shop.example/lists/b"))

    let request = named.request(for: try Self.url("https://shop.example/x"))

    #expect(request.url.userInfo == "clerk:pw")
    #expect(request.url.text == "https://shop.example/x")
  }

  @Test(arguments: [
    ("http://shop.example/2?a=b", "https://shop.example/1", "https://shop.example/2?a=b"),
    ("http://shop.example/2", "http://shop.example/1", "http://shop.example/2"),
    ("http://cdn.example/2", "https://shop.example/1", "http://cdn.example/2"),
    ("http://shop.example:8080/2", "https://shop.example/1", "http://shop.example:8080/2"),
    ("http://shop.example/2", "https://shop.example:8443/1", "http://shop.example/2"),
    ("https://shop.example/2", "http://shop.example/1", "https://shop.example/2"),
  ])
  func `a next page is upgraded to https when the page before it came over TLS from the same host`(
    next: String,
    page: String,
    read: String
  ) throws {
    #expect(try Self.url(next).asSecure(as: try Self.url(page)).text == read)
  }
}
