import Base
import Support
import Testing
import Transport

@testable import CurlTransport

/// The small pure functions around libcurl.
@Suite struct PartsTests {
  /// RFC 9112, section 6.3.
  @Test(
    arguments: [
      ("Content-Length: 5\n", 5, false), ("content-length:5\n", 5, false),
      ("Content-Length: 5\nContent-Length: 5\n", 5, false), ("Content-Length: 5, 5\n", 5, false),
      ("Content-Length: 5\nContent-Length: 6\n", 5, true), ("Content-Length: 5,6\n", 5, true),
      ("Content-Length: +5\n", nil, true), ("Content-Length: \n", nil, true),
      ("Content-Length: 99999999999999999999\n", ByteCount(Int64.max), false),
      ("Content-Length: 5\nTransfer-Encoding: chunked\n", nil, false),
      ("X-Content-Length: 5\n", nil, false), ("", nil, false),
      ("Content-Lengthy: 5\n", nil, false),
    ] as [(String, ByteCount?, Bool)]
  )
  func `the length is read from the head`(
    _ lines: String,
    _ length: ByteCount?,
    _ isContradictory: Bool
  ) {
    let framing = Self.framing(lines)

    #expect(framing.length == length)
    #expect(framing.isContradictory == isContradictory)
  }

  @Test func `codings and closing are read from the head`() {
    func codings(_ lines: String) -> [String] { Self.framing(lines).codings }
    #expect(codings("Content-Encoding: GZip\n") == ["gzip"])
    #expect(codings("Content-Encoding: br, gzip\nContent-Encoding: x\n") == ["br", "gzip", "x"])
    #expect(codings("Content-Encoding: Identity\n") == [])
    #expect(codings("Content-Encoding:\n") == [])
    #expect(Self.framing("Connection: close\n").closes)
    #expect(!Self.framing("Connection: Keep-Alive\n").closes)
  }

  private static func framing(_ lines: String) -> HeadFraming {
    HeadFraming(Headers(lines: Array(lines.utf8)))
  }

  @Test(arguments: [
    ("h:80:127.0.0.1:8080", "http://h/", true), ("h:80:127.0.0.1:8080", "https://h/", false),
    ("H:443:x:1", "https://h/", true), ("::127.0.0.1:8080", "https://any/", true),
    (":443:x:1", "https://any/", true), (":443:x:1", "http://any/", false),
    ("h::x:1", "http://h:9/", true), ("[::1]:80:x:1", "http://[::1]/", true),
    ("other:80:x:1", "http://h/", false), ("junk", "http://junk/", false),
    ("h:eighty:x:1", "http://h/", false), ("h:80:x:0", "http://h/", false),
    ("h:80:x:99999", "http://h/", false), ("h:80:x:1:", "http://h/", false),
    ("h:80:[::1]:1", "http://h/", true), ("h:80::", "http://h/", true),
  ])
  func `a connect-to rule names its source`(_ entry: String, _ url: String, _ named: Bool) throws {
    let trust = HostTrust(testOptions { $0.connectTo = [entry] })

    #expect(try trust.isNamed(CurlURLParser.parse(url).hostPort) == named)
  }

  @Test(
    arguments: [
      (.auto, .auto, 64, .upTo(16)), (.auto, .fixed(3), 64, .upTo(3)),
      (.auto, .fixed(128), 128, .upTo(128)), (.fixed(32), .auto, 32, .fixed(32)),
      (.fixed(32), .fixed(4), 32, .fixed(4)), (.fixed(0), .auto, 1, .fixed(1)),
    ] as [(TransportOptions.Count, TransportOptions.Count, Int, ConcurrencyWindow.Bounds)]
  )
  func `counts become limits of the schedule`(
    _ parallel: TransportOptions.Count,
    _ perHost: TransportOptions.Count,
    _ all: Int,
    _ host: ConcurrencyWindow.Bounds
  ) {
    let limits = testOptions {
      $0.parallel = parallel
      $0.perHost = perHost
    }.scheduleLimits

    #expect(limits.parallel == all)
    #expect(limits.perHost == host)
  }
}
