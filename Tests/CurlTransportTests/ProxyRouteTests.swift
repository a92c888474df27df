import Base
import Support
import Testing

@testable import CurlTransport

/// The proxy that is used for a URL, chosen by option and environment.
struct ProxyRouteTests {
  @Test(arguments: [
    ("http://proxy.example:3128", "http://proxy.example:3128"),
    ("http://proxy.example:3128/", "http://proxy.example:3128"),
    ("http://proxy.example", "http://proxy.example:1080"),
    ("http://proxy.example:80", "http://proxy.example:80"),
    ("http://proxy.example:443", "http://proxy.example:443"),
    ("https://Proxy.example", "https://proxy.example:443"),
    ("SOCKS5H://[::1]:9050", "socks5h://[::1]:9050"),
    ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
    ("proxy.example:8080", "http://proxy.example:8080"),
    (" proxy.example\n", "http://proxy.example:1080"),
    ("http://u%40x:p%3Aw@proxy.example:1", "http://proxy.example:1"),
  ])
  func `a proxy is read as curl reads it`(text: String, proxy: String) throws {
    #expect(try Proxy(parsing: text).description == proxy)
  }

  @Test func `user and password are decoded, and never described`() throws {
    let proxy = try Proxy(parsing: "http://u%40x:p%3Aw@proxy.example:1")

    #expect(proxy.user == "u@x")
    #expect(proxy.password == "p:w")
    #expect(!"\(proxy)".contains("u%40x") && !"\(proxy)".contains("p%3Aw"))
    #expect(try Proxy(parsing: "proxy.example").user == nil)
  }

  @Test(arguments: [
    "", "socks4://proxy", "ftp://proxy", "http://", "http://proxy:99999", "http://proxy/path",
    "http://proxy?x", "http://s3cret:pw@pro xy\\x",
  ])
  func `an invalid proxy is an error that does not repeat it`(text: String) {
    let error = #expect(throws: LarderError.self) { try Proxy(parsing: text) }

    #expect(error?.description.contains("s3cret") == false)
  }

  @Test(
    arguments: [
      (["http_proxy": "a"], "http://h/", "http://a:1080"),
      (["http_proxy": "a"], "https://h/", nil),
      (["HTTP_PROXY": "a"], "http://h/", nil),
      (["https_proxy": "a"], "https://h/", "http://a:1080"),
      (["HTTPS_PROXY": "a"], "https://h/", "http://a:1080"),
      (["https_proxy": "a", "HTTPS_PROXY": "b"], "https://h/", "http://a:1080"),
      (["all_proxy": "socks5h://a"], "http://h/", "socks5h://a:1080"),
      (["ALL_PROXY": "a"], "https://h/", "http://a:1080"),
      (["all_proxy": "a", "http_proxy": "b"], "http://h/", "http://b:1080"),
      (["all_proxy": "a", "http_proxy": ""], "http://h/", "http://a:1080"),
      (["all_proxy": "a", "no_proxy": "h"], "http://h/", nil),
      (["all_proxy": "a", "NO_PROXY": "h"], "http://h/", nil),
      (["all_proxy": "a", "no_proxy": "", "NO_PROXY": "h"], "http://h/", "http://a:1080"),
      ([:], "http://h/", nil),
    ] as [([String: String], String, String?)]
  )
  func `the environment is read as curl reads it`(
    variables: [String: String],
    url: String,
    proxy: String?
  ) throws {
    let route = try ProxyRoute(environment: variables)

    #expect(route.proxy(for: try CurlURLParser.parse(url))?.description == proxy)
  }

  @Test(arguments: [
    ("*", "any.example", true), ("shop.example", "shop.example", true),
    ("shop.example", "www.shop.example", true), (".shop.example", "shop.example", true),
    ("shop.example.", "shop.example", true), ("shop.example", "shop.example.", true),
    ("SHOP.example", "shop.example", true), ("shop.example", "myshop.example", false),
    ("a.example, b.example", "b.example", true), ("a.example b.example", "b.example", true),
    ("example", "shop.example", true), ("", "shop.example", false), ("a,*", "shop.example", false),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.0/8", "127.9.9.9", true),
    ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/33", "10.0.0.0", false),
    ("0.0.0.0/0", "8.8.8.8", true), ("::1", "::1", true), ("[::1]", "::1", true),
    ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false), ("0.0.0.1", "127.0.0.1", false),
    ("127", "127.0.0.1", false), (".", "shop.example", false),
  ])
  func `no_proxy names hosts, domains and networks`(list: String, host: String, isNamed: Bool) {
    #expect(ProxyExceptions(list).contain(host) == isNamed)
  }

  @Test func `a proxy given by option respects no_proxy, as in curl`() throws {
    let route = ProxyRoute(try Proxy(parsing: "a"), variables: ["no_proxy": "h"])

    #expect(route.proxy(for: try CurlURLParser.parse("https://h/")) == nil)
    #expect(
      route.proxy(for: try CurlURLParser.parse("https://other/"))?.description == "http://a:1080"
    )
  }
}
