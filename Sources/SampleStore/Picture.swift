/// Makes any number of different picture files from one picture, the base.
///
/// It writes a label into a comment of the file. Therefore each label gives a file with other bytes and the same
/// pixels, which every decoder accepts.
package struct Picture: Sendable {
  private enum Format {
    case jpeg, png
  }

  private let format: Format
  /// The bytes before the comments: the marker SOI of a JPEG, or the signature and the chunk IHDR of a PNG.
  private let start: [UInt8]
  private let end: [UInt8]
  private let digest: String

  /// Reads the base.
  ///
  /// - Parameter base: The bytes of a JPEG or PNG file.
  /// - Throws: ``SampleError`` with code `picture` when the file is neither JPEG nor PNG.
  package init(_ base: [UInt8]) throws(SampleError) {
    if base.starts(with: [0xFF, 0xD8, 0xFF]) {
      format = .jpeg
    } else if base.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), base.count > 33
    {
      format = .png
    } else {
      throw SampleError(
        .picture,
        "vary a picture",
        "its first bytes are neither JPEG nor PNG",
        "give a JPEG or PNG file as the base"
      )
    }
    start = Array(base.prefix(format == .jpeg ? 2 : 33))
    end = Array(base.dropFirst(start.count))
    self.digest = Resource.etag(of: base)
  }

  /// Makes a file with a label.
  ///
  /// The file has exactly `byteCount` bytes, or more if the base and the label need more.
  package func distinct(_ label: String, byteCount: Int = 0) -> [UInt8] {
    var bytes = start
    bytes.reserveCapacity(max(byteCount, start.count + end.count + label.utf8.count + 32))
    appendComments(label, wanted: byteCount - start.count - end.count, to: &bytes)
    bytes += end
    return bytes
  }

  /// Makes a file with a label as a resource.
  ///
  /// Its `ETag` is derived from the base, the label and the size, so that the bytes need not be hashed.
  package func resource(_ label: String, byteCount: Int = 0) -> Resource {
    let bytes = distinct(label, byteCount: byteCount)
    let name = Resource.etag(of: Array("\(digest) \(bytes.count) \(label)".utf8))
    return Resource(bytes, type: format == .jpeg ? "image/jpeg" : "image/png", etag: name)
  }

  /// The number of bytes that a comment needs in addition to its text.
  private var overhead: Int {
    format == .jpeg ? 4 : 12
  }

  /// Appends comments that have `wanted` bytes in total.
  ///
  /// The first comment begins with the label. The rest of the bytes are spaces.
  private func appendComments(_ label: String, wanted: Int, to bytes: inout [UInt8]) {
    // A JPEG comment has at most 64 KiB, because its length has 16 bits. PNG readers refuse chunks that are much
    // longer.
    let longest = 0xFFFF - 2
    var text = Array((format == .jpeg ? "" : "Comment\0").utf8) + label.utf8.prefix(longest - 40)
    var rest = max(wanted, overhead + text.count)
    while rest > 0 {
      var size = min(rest, longest + overhead)
      let left = rest - size
      // Leave enough bytes for another comment, which has a keyword too in a PNG.
      if left > 0, left < overhead + 8 { size -= overhead + 8 }
      text += [UInt8](repeating: 0x20, count: size - overhead - text.count)
      append(text, to: &bytes)
      text = Array((format == .jpeg ? "" : "Comment\0").utf8)
      rest -= size
    }
  }

  private func append(_ text: [UInt8], to bytes: inout [UInt8]) {
    switch format {
    case .jpeg:
      let length = text.count + 2
      bytes += [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)]
      bytes += text
    case .png:
      bytes += bigEndian(UInt32(text.count))
      let checked = Array("tEXt".utf8) + text
      bytes += checked
      bytes += bigEndian(CRC32.of(checked))
    }
  }

  private func bigEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
  }
}

/// The checksum CRC-32 of PNG chunks and gzip files. (RFC 1952, section 8)
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
    }
  }

  static func of(_ bytes: [UInt8]) -> UInt32 {
    var value = ~(0 as UInt32)
    table.withUnsafeBufferPointer { table in
      for byte in bytes {
        value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ (value >> 8)
      }
    }
    return ~value
  }
}
