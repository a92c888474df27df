/// The `ftyp` box, with which an ISO media file such as an AVIF begins. (ISO/IEC 14496-12, 4.3)
///
/// It lists four-letter brands, for example `avif`. If the box is longer than the bytes that were read, the rest of its
/// brands is ignored.
struct FileType {
  /// The major brand, followed by the compatible brands.
  private let brands: [ArraySlice<UInt8>]

  /// Reads a file's first bytes; nil if they do not begin with an `ftyp` box.
  init?(_ head: [UInt8]) {
    guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
    let size = head[..<4].reduce(0) { $0 << 8 | Int($1) }
    let ends = stride(from: 20, through: min(size, head.count), by: 4)
    brands = [head[8..<12]] + ends.map { head[($0 - 4)..<$0] }
  }

  /// Whether the major brand is one of `names`.
  ///
  /// If the major brand is a general one such as `mif1`, which names no codec, the compatible brands are checked
  /// instead.
  func holds(_ names: [String]) -> Bool {
    func isOne(_ brand: ArraySlice<UInt8>, of names: [String]) -> Bool {
      names.contains { brand.elementsEqual($0.utf8) }
    }
    guard let major = brands.first, !isOne(major, of: names) else { return true }
    return isOne(major, of: ["mif1", "msf1", "miaf"])
      && brands.dropFirst().contains { isOne($0, of: names) }
  }
}

/// A box of an ISO media file. (ISO/IEC 14496-12, 4.2)
struct MediaBox: Equatable, Sendable {
  /// The four-letter type, such as `meta`.
  let type: String
  let body: Range<Int>

  /// Visits the boxes in a range, one after the other.
  ///
  /// Bytes after the last box are ignored if they are too few for another box, for example a line feed that a program
  /// appended.
  ///
  /// - Returns: Whether every box ends within the range.
  @discardableResult
  static func visit(
    _ reader: ByteReader,
    in range: Range<Int>,
    _ body: (MediaBox) -> Void
  ) -> Bool {
    var offset = range.lowerBound
    while offset + 8 <= range.upperBound {
      guard var size = reader.long(offset) else { return false }
      var header = 8
      if size == 0 { size = range.upperBound - offset }
      if size == 1 {
        guard reader.long(offset + 8) == 0, let low = reader.long(offset + 12) else {
          return false
        }
        (size, header) = (low, 16)
      }
      guard size >= header, size <= range.upperBound - offset else { return false }
      let type = String(decoding: reader.bytes[offset + 4..<offset + 8], as: UTF8.self)
      body(MediaBox(type: type, body: offset + header..<offset + size))
      offset += size
    }
    return true
  }
}
