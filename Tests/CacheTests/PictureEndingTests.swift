import Base
import Testing

@testable import Cache

/// The end markers by which a complete picture is recognised.
struct PictureEndingTests {
  private static let iend = Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
  private static func webp(_ size: UInt8) -> [UInt8] {
    Array("RIFF".utf8) + [size, 0, 0, 0] + Array("WEBPdata".utf8)
  }

  @Test(arguments: [
    (PictureType.jpeg, [0xFF, 0xD8, 0xFF, 1, 2, 0xFF, 0xD9], true),
    (.jpeg, [0xFF, 0xD8, 0xFF, 0xFF, 0xD9] + [UInt8](repeating: 0, count: 1000), true),
    (.jpeg, [0xFF, 0xD8, 0xFF, 0xFF, 0xD9] + [UInt8](repeating: 7, count: 2000), false),
    (.jpeg, [0xFF, 0xD8, 0xFF, 1, 2, 0xFF], false), (.png, [1, 2, 3] + Self.iend, true),
    (.png, [1, 2, 3] + Self.iend.dropLast(), false), (.gif, [1, 0x3B, 0, 0], true),
    (.gif, [1, 0x3B, 0, 1], false), (.gif, [], false), (.webp, webp(8), true),
    (.webp, webp(9), false), (.webp, Array("RIFF".utf8), false), (.avif, [1], true),
  ])
  func `a picture is whole when its end marker is present, however the bytes are split`(
    type: PictureType,
    bytes: [UInt8],
    isWhole: Bool
  ) {
    for size in [1, 3, 700, 5000] {
      var ending = PictureEnding()
      for start in stride(from: 0, to: bytes.count, by: size) {
        ending.append(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(ending.isWhole(type) == isWhole, "in pieces of \(size)")
      #expect(ending.count == ByteCount(bytes.count))
    }
  }
}
