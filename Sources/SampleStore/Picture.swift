/// Makes any number of distinct pictures from one base picture.
///
/// A label is written into a comment of the file. Therefore each label gives a file with different bytes and the same
/// pixels, which every decoder accepts.
package struct Picture: Sendable {
  private enum Format {
    case jpeg, png
  }

  private let format: Format
  /// The bytes before the comments: SOI in a JPEG; the signature and IHDR in a PNG.
  private let start: [UInt8]
  private let end: [UInt8]
  private let digest: String

  /// Makes a base picture from a JPEG or PNG.
  ///
  /// - Parameter base: The bytes of the file.
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

  /// Makes a picture with a label.
  ///
  /// The picture has exactly `byteCount` bytes, or more if the base picture and the label need more.
  package func distinct(_ label: String, byteCount: Int = 0) -> [UInt8] {
    var bytes = start
    bytes.reserveCapacity(max(byteCount, start.count + end.count + label.utf8.count + 32))
    appendComments(label, wanted: byteCount - start.count - end.count, to: &bytes)
    bytes += end
    return bytes
  }

  /// Makes a picture with a label as a resource.
  ///
  /// Its `ETag` is derived from base, label and size, so that the bytes need not be hashed.
  package func resource(_ label: String, byteCount: Int = 0) -> Resource {
    let bytes = distinct(label, byteCount: byteCount)
    let name = Resource.etag(of: Array("\(digest) \(bytes.count) \(label)".utf8))
    return Resource(bytes, type: format == .jpeg ? "image/jpeg" : "image/png", etag: name)
  }

  /// The number of bytes of a segment or chunk in addition to its text.
  private var overhead: Int {
    format == .jpeg ? 4 : 12
  }

  /// Appends comments of `wanted` bytes in total.
  ///
  /// The first comment begins with the label; the remaining bytes are spaces.
  private func appendComments(_ label: String, wanted: Int, to bytes: inout [UInt8]) {
    // The length of a JPEG segment has 16 bits, and PNG readers refuse chunks that are much longer.
    let longest = 0xFFFF - 2
    var text = Array((format == .jpeg ? "" : "Comment\0").utf8) + label.utf8.prefix(longest - 40)
    var rest = max(wanted, overhead + text.count)
    while rest > 0 {
      var size = min(rest, longest + overhead)
      let left = rest - size
      // Leave enough bytes for another segment, which also has a keyword in PNG.
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

/// The checksum of PNG chunks and gzip members. (RFC 1952, section 8)
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
