import Foundation
import Testing
import Transport

@testable import Pipeline

/// Feeds that are stored compressed.
struct PackedBodyTests {
  private static let text = #"{"items":[{"id":1}]}"#
  private static let gzip = bytes(
    "1f8b0808f6b4036b0003612e6a736f6e00ab56ca2c49cd2d56b28aae56ca4c51b232ac8dad05001b"
      + "d0bd3314000000"
  )
  private static let zstd = bytes(
    "28b52ffd2414a100007b226974656d73223a5b7b226964223a317d5d7dbfa809aa"
  )
  private static let brotli = bytes(
    "8b09807b226974656d73223a5b7b226964223a317d5d7d03"
  )

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
    }
  }

  private func plain(
    _ body: [UInt8],
    _ name: String,
    type: String? = nil,
    limit: ByteCount = ByteCount(1000)
  ) throws -> String {
    String(
      decoding: try PackedBody.plain(body, name: name, type: type, limit: limit),
      as: UTF8.self
    )
  }

  @Test func `a body is unpacked by what it is, or by its name or type`() throws {
    #expect(try plain(Self.gzip, "feed") == Self.text)
    #expect(try plain(Self.zstd, "feed.json.zst?v=1") == Self.text)
    #expect(try plain(Self.brotli, "feed.json.br") == Self.text)
    #expect(try plain(Self.brotli, "feed", type: "application/brotli; q=1") == Self.text)
  }

  @Test func `members that follow each other are one body`() throws {
    #expect(try plain(Self.gzip + Self.gzip, "a.gz") == Self.text + Self.text)
    #expect(try plain(Self.zstd + Self.zstd, "a.zst") == Self.text + Self.text)
  }

  @Test func `lines are known under the name of what is packed`() throws {
    #expect(try plain(Self.gzip, "feed.jsonl.gz") == "[\(Self.text)]")
  }

  @Test(arguments: ["feed.json.gz", "feed.json.br", "feed.json.zst", "feed.json"])
  func `what the server unpacked already is read as it is`(_ name: String) throws {
    #expect(try plain(Array(Self.text.utf8), name) == Self.text)
  }

  @Test(arguments: [gzip, zstd])
  func `a body that ends early or is damaged is a fault`(_ body: [UInt8]) {
    for count in 5..<body.count {
      #expect(throws: PackedBody.Fault.self) { try plain(Array(body.prefix(count)), "a") }
    }
    var damaged = body
    damaged[damaged.count - 3] ^= 0x55
    damaged[damaged.count / 2] ^= 0xFF
    #expect(throws: PackedBody.Fault.self) { try plain(damaged, "a") }
  }

  @Test(arguments: [(gzip, "a.gz"), (zstd, "a.zst"), (brotli, "a.br")])
  func `a body may become as large as the limit, and not a byte larger`(
    body: [UInt8],
    name: String
  ) throws {
    let size = Self.text.utf8.count

    #expect(try plain(body, name, limit: ByteCount(size)) == Self.text)
    #expect(throws: PackedBody.Fault.tooLarge(ByteCount(size - 1))) {
      try plain(body, name, limit: ByteCount(size - 1))
    }
  }
}
