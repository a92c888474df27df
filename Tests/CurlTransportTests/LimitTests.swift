import Base
import Support
import Testing

@testable import CurlTransport

/// Limits on the size of a server's answers.
@Suite struct LimitTests {
  static let ok = "HTTP/1.1 200 OK\r\n"

  @Test func `an announced length above the limit fails before any byte`() throws {
    let server = ScriptedServer(.send(Self.ok + "Content-Length: 11\r\n\r\nhello world"))
    defer { server.close() }
    let sink = CollectingSink()

    let failure = try fetch(server.url(), into: sink) { $0.bodyLimit = 10 }.failure

    #expect(failure?.reason == .tooLarge)
    #expect(sink.events.isEmpty)
    #expect(sink.count == 0)
  }

  @Test func `a body of exactly the limit is accepted`() throws {
    let server = ScriptedServer(.send(Self.ok + "Content-Length: 11\r\n\r\nhello world"))
    defer { server.close() }
    let sink = CollectingSink()

    _ = try fetch(server.url(), into: sink) { $0.bodyLimit = 11 }.get()

    #expect(sink.text == "hello world")
  }

  @Test func `an endless body is stopped at the limit`() throws {
    let server = ScriptedServer(.send(Self.ok + "\r\n"), .flood("0123456789abcdef"))
    defer { server.close() }
    let sink = CollectingSink()

    let failure = try fetch(server.url(), into: sink) { $0.bodyLimit = 100_000 }.failure

    #expect(failure?.reason == .tooLarge)
    #expect(sink.count <= 100_000)
  }

  @Test func `a gzip bomb is stopped at the limit of its decoded bytes`() throws {
    let bomb = gzippedZeros(32 << 20)
    let head = Self.ok + "Content-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
    let server = ScriptedServer(.send(head), .bytes(bomb))
    defer { server.close() }
    let sink = CollectingSink()

    let failure = try fetch(server.url(), into: sink) {
      $0.accept = .json
      $0.bodyLimit = .mebibytes(1)
    }.failure

    #expect(bomb.count < 1 << 20)
    #expect(failure?.reason == .tooLarge)
    #expect(sink.count <= 1 << 20)
  }

  @Test
  func `a compressed chunk within the limit is accepted, although libcurl counts its bytes later`()
    throws
  {
    // 4 MiB of zeros in 26 KiB, in one chunk. It is within the limit, although nothing is counted
    // while it is unpacked.
    let packed = gzippedZeros(4 << 20)
    let server = ScriptedServer(
      .send(Self.ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"),
      .send(String(packed.count, radix: 16) + "\r\n"),
      .bytes(packed),
      .send("\r\n0\r\n\r\n")
    )
    defer { server.close() }
    let sink = CollectingSink()

    let failure = try fetch(server.url(), into: sink) { $0.accept = .json }.failure

    // Only the stream's missing trailer is an error.
    #expect(failure?.reason != .tooLarge, "\(failure?.detail ?? "")")
    #expect(sink.count > 4_000_000)
  }

  @Test func `JSON is requested compressed and arrives decoded`() throws {
    let server = ScriptedServer(
      .send(Self.ok + "Content-Encoding: gzip\r\nContent-Length: \(gzippedJSON.count)\r\n\r\n"),
      .bytes(gzippedJSON)
    )
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url(), into: sink) { $0.accept = .json }.get()

    #expect(sink.text == #"{"a":1}"#)
    #expect(response.bodyBytes == 7)
    #expect(response.wireBytes == ByteCount(gzippedJSON.count))
    #expect(response.head.isEncoded)
    #expect(response.head.contentLength == nil)
    #expect(server.received[0].header("Accept-Encoding") == "gzip")
  }

  @Test func `a picture is requested uncompressed, and decoded if it arrives compressed`()
    throws
  {
    let server = ScriptedServer(
      .send(Self.ok + "Content-Encoding: gzip\r\nContent-Length: \(gzippedJSON.count)\r\n\r\n"),
      .bytes(gzippedJSON)
    )
    defer { server.close() }
    let sink = CollectingSink()

    _ = try fetch(server.url(), into: sink) { $0.accept = .picture }.get()

    #expect(sink.text == #"{"a":1}"#)
    #expect(server.received[0].header("Accept-Encoding") == "identity")
  }

  @Test(arguments: ["utf-8", "aws-chunked", "x, y"])
  func `a picture with an unknown coding is stored unchanged`(_ coding: String) throws {
    let server = ScriptedServer(
      .send(Self.ok + "Content-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nhello")
    )
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url(), into: sink) { $0.accept = .picture }.get()

    #expect(sink.text == "hello")
    #expect(sink.events == ["begin 200 at 0"])
    #expect(response.attempts == 1)
    #expect(!response.head.isEncoded)
    #expect(server.received.map { $0.header("Accept-Encoding") } == ["identity"])
  }

  @Test(arguments: [
    ("deflate", [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x06, 0x2C, 0x02, 0x15]),
    ("br", [0x0B, 0x02, 0x80] + Array("hello".utf8) + [0x03]),
    ("zstd", [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x05, 0x29, 0x00, 0x00] + Array("hello".utf8)),
  ])
  func `a server may choose another coding than gzip, and is asked twice`(
    _ coding: String,
    _ packed: [UInt8]
  ) throws {
    let server = ScriptedServer(
      .send(Self.ok + "Content-Encoding: \(coding)\r\nContent-Length: \(packed.count)\r\n\r\n"),
      .bytes(packed)
    )
    defer { server.close() }
    let sink = CollectingSink()

    let response = try fetch(server.url(), into: sink) { $0.accept = .json }.get()

    #expect(sink.text == "hello")
    #expect(response.head.isEncoded)
    #expect(response.attempts == 1)
    #expect(server.received.map { $0.header("Accept-Encoding") } == ["gzip", "gzip"])
  }

  @Test func `every beginning of gzip data is refused, and no beginning of plain data`() throws {
    for count in 0...gzippedJSON.count {
      let packed = gzippedJSON.prefix(count)
      let server = ScriptedServer(
        .send(Self.ok + "Content-Encoding: gzip\r\nContent-Length: \(count)\r\n\r\n"),
        .bytes(Array(packed))
      )
      defer { server.close() }

      let failure = try fetch(server.url(), into: CollectingSink()) { $0.accept = .json }.failure

      let isWhole = count == 0 || count == gzippedJSON.count
      #expect(failure?.reason == (isWhole ? nil : .truncated), "\(count) bytes")
    }
  }

  @Test func `gzip data may have several members, and bytes after them are ignored`() throws {
    let packed = gzippedJSON + gzippedJSON + [0, 0, 0]
    let server = ScriptedServer(
      .send(Self.ok + "Content-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"),
      .bytes(packed)
    )
    defer { server.close() }
    let sink = CollectingSink()

    _ = try fetch(server.url(), into: sink) { $0.accept = .json }.get()

    #expect(sink.text == #"{"a":1}{"a":1}"#)
  }

  @Test func `the run's byte limit ends all transfers`() throws {
    let server = ScriptedServer(
      .send(Self.ok + "Content-Length: 1000\r\n\r\n" + String(repeating: "x", count: 1000))
    )
    defer { server.close() }
    let transport = try CurlTransport(
      testOptions {
        $0.maxBytes = 3500
        $0.parallel = .fixed(1)
      }
    )
    let results = Results()

    for number in 0..<10 {
      try results.begin(number, server.url("/\(number)"), over: transport)
    }
    let all = results.wait(for: 10)

    #expect(all.prefix(3).allSatisfy { $0.response != nil })
    #expect(all.dropFirst(3).allSatisfy { $0.failure?.reason == .bytesLimit })
  }

  @Test func `a sink that refuses the head ends the transfer with its reason`() throws {
    let server = ScriptedServer(.send(Self.ok + "Content-Length: 5\r\n\r\nhello"))
    defer { server.close() }
    let options = testOptions { $0.retry.retries = 3 }

    let atHead = try fetch(
      server.url(),
      options,
      into: CollectingSink(onBegin: .refuse(.notAPicture))
    )
    let atBody = try fetch(server.url(), options, into: CollectingSink(onBytes: .refuse(.disk)))

    #expect(atHead.failure?.reason == .notAPicture)
    #expect(atBody.failure?.reason == .disk)
    #expect(server.received.count == 2)
  }

  @Test func `the first bytes of a refusal's body are kept`() throws {
    let server = ScriptedServer(.send("HTTP/1.1 403 No\r\nContent-Length: 10\r\n\r\nno_service"))
    defer { server.close() }

    let failure = try fetch(server.url()).failure

    #expect(failure.map { String(decoding: $0.refusal, as: UTF8.self) } == "no_service")
    #expect(failure?.status == 403)
  }
}

/// `{"a":1}` as gzip.
let gzippedJSON: [UInt8] = [
  0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56,
  0x4A, 0x54, 0xB2, 0x32, 0xAC, 0x05, 0x00, 0xAF, 0xAC, 0x1B, 0x56, 0x07,
  0x00, 0x00, 0x00,
]

/// A gzip stream of zeros: one literal, then copies of 258 bytes, in fixed Huffman codes. (RFC
/// 1951, section 3.2.6)
///
/// The trailer is missing, because no reader should get that far.
func gzippedZeros(_ count: Int) -> [UInt8] {
  var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
  var word: UInt64 = 0
  var filled: UInt64 = 0
  func put(_ bits: String) {
    for bit in bits.utf8 {
      word |= (bit == UInt8(ascii: "1") ? 1 : 0) << filled
      filled += 1
      if filled == 8 {
        bytes.append(UInt8(word))
        word = 0
        filled = 0
      }
    }
  }
  put("1" + "10")
  put("00110000")
  for _ in 0..<count / 258 { put("11000101" + "00000") }
  put("0000000" + "0000000")
  return bytes
}
