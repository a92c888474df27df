/// The `ftyp` box at the start of an ISO media file, or as much of it as is within the file's first bytes. (ISO/IEC
/// 14496-12, 4.3)
struct FileType {
  /// The major brand, then the compatible brands.
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
  /// If the major brand names no codec, the compatible brands are checked instead.
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
  /// The content of the box, without its header.
  let body: Range<Int>

  /// Visits the consecutive boxes in a range.
  ///
  /// After the last box, bytes that are too few for a header are ignored, for example a line feed that a program
  /// appended.
  ///
  /// - Returns: Whether all boxes end within the range.
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
