import Base
import Foundation
import Testing
import Transport

@testable import Pipeline

/// Responses and files that are gzip data.
struct PackedBodyTests {
  private static let text = #"{"items":[{"id":1}]}"#
  private static let gzip = bytes(
    "1f8b0808f6b4036b0003612e6a736f6e00ab56ca2c49cd2d56b28aae56ca4c51b232ac8dad05001b"
      + "d0bd3314000000"
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
    limit: ByteCount = ByteCount(1000)
  ) throws -> String {
    String(
      decoding: try PackedBody.plain(DocumentBody(body), of: name, limit: limit).inMemory,
      as: UTF8.self
    )
  }

  @Test func `a body is unpacked by its content, whatever its name`() throws {
    #expect(try plain(Self.gzip, "feed") == Self.text)
    #expect(try plain(Self.gzip, "feed.json.gz?v=1") == Self.text)
  }

  @Test(arguments: [
    (
      "<!doctype html><p>", "text/html; charset=EUC-KR",
      "<meta charset=\"EUC-KR\"><!doctype html><p>"
    ),
    (
      " \n<HTML lang=ko>", "text/html;Charset=\"euc-kr\"",
      "<meta charset=\"euc-kr\"> \n<HTML lang=ko>"
    ),
    ("<!doctype html><p>", "text/html", nil), ("<html>", "text/html; charset=none", nil),
    ("<!-- a --><html>", "text/html; charset='cp949'", "<meta charset=\"cp949\"><!-- a --><html>"),
    ("<!doctype html><p>", "text/html; charset=\"><x>", nil),
    ("<html xmlns=\"x\"/>", "application/xhtml+xml; charset=euc-kr", nil),
    ("<html>", "text/html; charset=UTF-8", nil), ("<rss/>", "text/html; charset=euc-kr", nil),
    ("[1]", "text/html; charset=euc-kr", nil),
  ])
  func `the encoding that only the header field names stands before an HTML page`(
    _ body: String,
    _ type: String,
    _ expected: String?
  ) throws {
    let plain = try PackedBody.plain(
      DocumentBody(Array(body.utf8)),
      of: "page",
      type: type,
      limit: ByteCount(1000)
    )

    #expect(String(decoding: plain.inMemory, as: UTF8.self) == expected ?? body)
  }

  @Test func `concatenated gzip members are one body`() throws {
    #expect(try plain(Self.gzip + Self.gzip, "a.gz") == Self.text + Self.text)
  }

  @Test func `a JSON document is no JSON Lines, whatever its name`() throws {
    let document = "{\n  \"items\": [\n    1\n  ]\n}\n"

    #expect(try plain(Array(document.utf8), "goods.jsonl") == document)
  }

  @Test func `JSON Lines are recognised by the name without .gz`() throws {
    #expect(try plain(Self.gzip, "feed.jsonl.gz") == "[\(Self.text)]")
  }

  @Test(arguments: ["feed.json.gz", "feed.json"])
  func `a body that the server already unpacked is read as it is`(_ name: String) throws {
    #expect(try plain(Array(Self.text.utf8), name) == Self.text)
  }

  @Test func `a body that ends early or is damaged is refused`() {
    let body = Self.gzip
    for count in 5..<body.count {
      #expect(throws: TransferFailure.self) { try plain(Array(body.prefix(count)), "a") }
    }
    var damaged = body
    damaged[damaged.count - 3] ^= 0x55
    damaged[damaged.count / 2] ^= 0xFF
    #expect(throws: TransferFailure.self) { try plain(damaged, "a") }
  }

  @Test func `a body may be as large as the limit, and not a byte larger`() throws {
    let size = Self.text.utf8.count

    #expect(try plain(Self.gzip, "a.gz", limit: ByteCount(size)) == Self.text)
    let failure = #expect(throws: TransferFailure.self) {
      try plain(Self.gzip, "a.gz", limit: ByteCount(size - 1))
    }
    #expect(failure?.reason == .tooLarge)
    #expect(failure?.detail == "decompressed, it is larger than \(size - 1) bytes")
  }
}
