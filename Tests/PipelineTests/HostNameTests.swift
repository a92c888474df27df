import CurlTransport
import Synchronization
import Testing
import Transport

@testable import Pipeline

/// The hosts of URLs, each of which is parsed once.
struct HostNameTests {
  /// A parser that counts its calls.
  private final class Counting: URLParsing {
    let calls = Mutex(0)

    func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
      calls.withLock { $0 += 1 }
      return try CurlURLParser().parse(text, relativeTo: base)
    }
  }

  @Test func `the host of a URL is that which a request for it is sent to`() {
    let hosts = HostNames(of: Counting())
    let urls = [
      "https://u:p@shop.test:8443/a", "https://u:p@shop.test:8443/b/c?d", "https://shop.test?e/f",
      "https://shop.test#/g", "HTTP://Shop.Test", "http://[::1]:80/h", "http://한국.test/i",
      "https://shop.test/a b/{c}", "http://a@b@c/", "//shop.test/a", "/b/c/d", "nothing", "",
      "ftp://shop.test/a", "http://", "http:///a", "https://shop.test\\other/a",
      "https:shop.test/a", "https:/shop.test/a/b",
    ]

    for url in urls + urls {
      let parsed = try? CurlURLParser().parse(url, relativeTo: nil)
      #expect(hosts.host(of: url) == parsed.map { "\($0.hostPort)" } ?? "", "\(url)")
    }
  }

  @Test func `the host of many pictures is parsed once`() {
    let parser = Counting()
    let hosts = HostNames(of: parser)

    for number in 0..<100 {
      #expect(hosts.host(of: "https://shop.test/\(number).jpg?x=/") == "shop.test:443")
    }

    #expect(parser.calls.withLock(\.self) == 1)
  }
}
