import Base
import NIOCore
import NIOHTTP1
import Testing
import Transport

@testable import Web

/// The parts of the web server that need no socket, such as the parsing of targets and ranges.
@Suite struct ServerPartTests {
  @Test(arguments: [
    ("/", [""], "/"), ("/images/3f/a.jpg", ["images", "3f", "a.jpg"], "/images/3f/a.jpg"),
    ("/a%2Fb/c?d=e", ["a/b", "c"], "/a/b/c"), ("/%EA%B0%80", ["가"], "/가"),
    ("http://h:1/x?y", ["x"], "/x"), ("http://h", [""], "/"), ("/../a", ["..", "a"], "/../a"),
    ("/%2e%2e/a", ["..", "a"], "/../a"),
    ("/items/A%091%0d", ["items", "A\t1\r"], "/items/A\t1\r"),
  ])
  func `a target is decoded once, segment by segment`(
    _ text: String,
    _ segments: [String],
    _ path: String
  ) throws {
    let target = try #require(RequestTarget(text))

    #expect(target.segments == segments && target.path == path)
  }

  @Test(arguments: [
    "", "*", "a", "/%", "/%4", "/%zz", "/%00", "/a%0d%0aB: c", "/%ff", "/%c0%ae", "/\u{7}",
    "/a\u{7F}",
    "/?a=%",
    "/?%ff", "ftp://h/", "/?a=%00",
  ])
  func `a malformed target is nil`(_ text: String) {
    #expect(RequestTarget(text) == nil)
  }

  @Test func `a form is decoded, including its line ends`() throws {
    let pairs = try #require(RequestTarget.pairs("a=b+c&d=%0D%0A&e&=f&g=h=i".utf8))

    #expect(pairs.map(\.name) == ["a", "d", "e", "", "g"])
    #expect(pairs.map(\.value) == ["b c", "\r\n", "", "f", "h=i"])
  }

  @Test(arguments: [
    ("localhost", "127.0.0.1", true), ("LOCALHOST:80", "127.0.0.1", true),
    ("127.0.0.1", "127.0.0.1", true),
    ("[::1]:1", "::1", true), ("shop.example", "127.0.0.1", true),
    ("shop.example.", "10.0.0.1", true),
    ("10.0.0.1:8080", "10.0.0.1", true), ("localhost", "10.0.0.1", false),
    ("10.0.0.2", "10.0.0.1", false),
    ("127.0.0.1", "10.0.0.1", false), ("evil.example", "127.0.0.1", false),
    ("", "127.0.0.1", false),
    ("localhost:", "127.0.0.1", true), ("localhost:a", "127.0.0.1", false),
    ("localhost evil", "127.0.0.1", false),
    ("a@localhost", "127.0.0.1", false), ("[::1", "::1", false),
    ("localhost/", "127.0.0.1", false),
    ("xshop.example", "127.0.0.1", false), ("shop.example.evil", "127.0.0.1", false),
  ])
  func `a server accepts its address, localhost on loopback, and the given names`(
    _ host: String,
    _ local: String,
    _ isAdmitted: Bool
  ) throws {
    let rule = HostRule(names: ["Shop.Example"])

    #expect(try rule.admits(host, at: SocketAddress(ipAddress: local, port: 1)) == isAdmitted)
  }

  @Test
  func `each client has its own limit of requests per second, and loopback none`()
    throws
  {
    var limits = ServerLimits()
    limits.perClient = 5
    let rates = ClientRates(limits)
    let start = NIODeadline.now()
    let (one, other) = (
      try SocketAddress(ipAddress: "192.0.2.1", port: 1),
      try SocketAddress(ipAddress: "192.0.2.2", port: 1)
    )
    for _ in 0..<10 { #expect(rates.refusal(of: one, at: start) == nil) }

    #expect(rates.refusal(of: one, at: start) == 1)
    #expect(rates.refusal(of: other, at: start) == nil)
    #expect(rates.refusal(of: one, at: start + .milliseconds(200)) == nil)
    #expect(rates.refusal(of: one, at: start + .milliseconds(210)) == 1)
    let local = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
    for _ in 0..<1000 { #expect(rates.refusal(of: local, at: start) == nil) }
    let neighbours = try (1...11).map { try SocketAddress(ipAddress: "2001:db8::\($0)", port: 1) }
    #expect(neighbours.map { rates.refusal(of: $0, at: start) }.last == 1)
  }

  @Test func `an LRU cache keeps the last entries used, and no more than its limit`() {
    let shelf = LRUCache<Int>(most: 20_000)
    shelf.add(0, cost: 900, for: "kept")
    for number in 1...200 {
      shelf.add(number, cost: 900, for: "\(number)")
      #expect(shelf["kept"] == 0)
    }

    #expect((1...200).filter { shelf["\($0)"] != nil }.count < 22)
    #expect(shelf["200"] == 200 && shelf["1"] == nil)
    shelf.add(2, cost: 900, for: "\u{E9}")
    #expect(shelf["\u{E9}"] == 2 && shelf["e\u{301}"] == nil)
    shelf.add(1, cost: 20_000, for: "large")
    #expect(shelf["large"] == nil)
  }

  @Test func `characters that would end a header line are left out`() {
    let answer = Answer(200, [("A", "b\r\nC: d"), ("E", "f")])

    #expect(answer.status == 200)
    #expect(answer.head.headers == ["E": "f", "Content-Length": "0"])
  }
}
