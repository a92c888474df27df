import SampleStore

/// Makes any number of different picture files from one picture, the base.
///
/// It writes a label into a comment of the file. Therefore each label gives a file with other bytes and the same
/// pixels, which every decoder accepts.
package struct Picture: Sendable {
  private let isPNG: Bool
  /// The bytes before the comments: the marker SOI of a JPEG, or the signature and the chunk IHDR of a PNG.
  private let start: [UInt8]
  private let end: [UInt8]
  private let digest: String

  /// Reads the base.
  ///
  /// - Parameter base: The bytes of a JPEG or PNG file.
  /// - Throws: ``Unknown`` when the file is neither JPEG nor PNG.
  package init(_ base: [UInt8]) throws(Unknown) {
    isPNG = base.count > 33 && base.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    guard isPNG || base.starts(with: [0xFF, 0xD8, 0xFF]) else { throw Unknown() }
    start = Array(base.prefix(isPNG ? 33 : 2))
    end = Array(base.dropFirst(start.count))
    digest = Resource.etag(of: base)
  }

  /// Makes a file with a label.
  ///
  /// The file has exactly `byteCount` bytes, or more if the base and the label need more.
  package func distinct(_ label: String, byteCount: Int = 0) -> [UInt8] {
    let size = byteCount - start.count - end.count
    return start + (isPNG ? Self.chunk(label, size) : Self.segments(label, size)) + end
  }

  /// Makes a file with a label as a resource.
  ///
  /// Its `ETag` is derived from the base, the label and the size, so that the bytes need not be hashed.
  package func resource(_ label: String, byteCount: Int = 0) -> Resource {
    let bytes = distinct(label, byteCount: byteCount)
    let name = Resource.etag(of: Array("\(digest) \(bytes.count) \(label)".utf8))
    return Resource(bytes, type: isPNG ? "image/png" : "image/jpeg", etag: name)
  }

  /// A PNG's chunk `tEXt` with a label and then spaces, of at least `size` bytes.
  private static func chunk(_ label: String, _ size: Int) -> [UInt8] {
    var text = Array("tEXtComment\0\(label)".utf8)
    text += [UInt8](repeating: 0x20, count: max(0, size - text.count - 8))
    return bigEndian(UInt32(text.count - 4)) + text + bigEndian(CRC32.of(text))
  }

  /// A JPEG's comments with a label and then spaces, of at least `size` bytes in total.
  ///
  /// A comment has a marker, its length in 16 bits, and text.
  private static func segments(_ label: String, _ size: Int) -> [UInt8] {
    let longest = 2 + 0xFFFF
    var text = Array(label.utf8.prefix(longest - 44))
    var rest = max(size, text.count + 4)
    var bytes: [UInt8] = []
    while rest > 0 {
      var count = min(rest, longest)
      // Leave enough bytes for the marker and length of another comment.
      if (1..<4).contains(rest - count) { count -= 4 }
      text += [UInt8](repeating: 0x20, count: count - 4 - text.count)
      bytes += [0xFF, 0xFE, UInt8((count - 2) >> 8), UInt8((count - 2) & 0xFF)] + text
      text = []
      rest -= count
    }
    return bytes
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
  }

  /// The base is neither JPEG nor PNG.
  package struct Unknown: Error {}
}

/// The checksum CRC-32 of PNG chunks. (RFC 1952, section 8)
package enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
    }
  }

  /// The checksum of some bytes.
  package static func of(_ bytes: [UInt8]) -> UInt32 {
    var value = ~(0 as UInt32)
    table.withUnsafeBufferPointer { table in
      for byte in bytes {
        value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ (value >> 8)
      }
    }
    return ~value
  }
}
