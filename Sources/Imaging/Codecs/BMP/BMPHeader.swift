import Base

/// The headers of a BMP.
///
/// larder reads them itself, because the format is simple and no library for it is well maintained. (Windows GDI:
/// BITMAPFILEHEADER, BITMAPCOREHEADER, BITMAPINFOHEADER, BITMAPV5HEADER)
struct BMPHeader: Sendable {
  private(set) var size = PixelSize(width: 0, height: 0)
  private(set) var pixelBits = 0
  /// The bits of a pixel that are red, green, blue and, if there is any, alpha; empty for palette indices.
  private(set) var masks: [UInt32] = []
  /// Whether the bottom row is stored first.
  private(set) var isBottomUp = true
  /// The red, green and blue values of every possible index.
  private(set) var palette: [UInt8] = []
  /// The offset of the pixels in the file.
  private(set) var start = 0

  /// The number of bytes of a stored row, which is a multiple of four.
  var rowBytes: Int { (size.width * pixelBits + 31) / 32 * 4 }

  var layout: Bitmap.Layout {
    isIndexed ? .indexed(Bitmap.Palette(colours: palette)) : masks.count == 4 ? .rgba : .rgb
  }

  private static let lengths = [12, 40, 52, 56, 64, 108, 124]

  /// Reads the headers of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the file is incomplete, exceeds `limits`, or has an unsupported combination of bits
  ///   and compression.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try read(ByteReader(bytes: bytes, isLittleEndian: true), limits)
    }
  }

  private mutating func read(_ reader: ByteReader, _ limits: NamedLimits) throws(LarderError) {
    let cut = limits.damaged("the file ends too early")
    guard let start = reader.long(10), let length = reader.long(14) else { throw cut }
    let isOld = length == 12
    guard Self.lengths.contains(length) else {
      throw limits.damaged("its header has an unknown length")
    }
    let fields =
      isOld
      ? (reader.short(18), reader.short(20), reader.short(24))
      : (reader.long(18), reader.long(22), reader.short(28))
    guard case (let width?, let high?, let bits?) = fields,
      14 + length <= reader.bytes.count
    else { throw cut }
    // If the height is negative, the top row is stored first.
    let height = isOld ? high : Int(Int32(truncatingIfNeeded: high))
    isBottomUp = height > 0
    try limits.check(width: width, height: abs(height))
    size = PixelSize(width: width, height: abs(height))
    (pixelBits, self.start) = (bits, start)
    let kind = isOld ? 0 : reader.long(30) ?? 0
    try readPacking(reader, kind, length, limits)
    if isIndexed {
      let (entryBytes, used) = (isOld ? 3 : 4, isOld ? 0 : reader.long(46) ?? 0)
      // Some programs leave the palette out of the offset of the pixels.
      if start == 14 + length { self.start += (used == 0 ? 1 << bits : used) * entryBytes }
      readPalette(reader, at: 14 + length, entryBytes, used)
    }
    guard self.start >= 14 + length, self.start <= reader.bytes.count,
      rowBytes * size.height <= reader.bytes.count - self.start
    else { throw cut }
  }

  private mutating func readPacking(
    _ reader: ByteReader,
    _ kind: Int,
    _ length: Int,
    _ limits: NamedLimits
  ) throws(LarderError) {
    switch (kind, pixelBits) {
    case (0, 1), (0, 4), (0, 8): break
    case (0, 16): masks = [0x7C00, 0x03E0, 0x001F]
    case (0, 24), (0, 32): masks = [0xFF_0000, 0xFF00, 0xFF]
    case (3, 16), (3, 32), (6, 16), (6, 32):
      let count = kind == 6 || length >= 56 && length != 64 ? 4 : 3
      masks = (0..<count).compactMap { reader.long(54 + $0 * 4).map { UInt32($0) } }
      if masks.last == 0 { masks = Array(masks.prefix(3)) }
      // The bits of a mask must be contiguous.
      let areWhole = masks.allSatisfy { mask in
        let low = mask >> UInt32(mask.trailingZeroBitCount & 31)
        return mask != 0 && low & (low &+ 1) == 0
      }
      guard masks.count >= 3, areWhole else {
        throw limits.damaged("its colour masks are invalid")
      }
    default:
      let form =
        kind == 1 || kind == 2
        ? "in run-length encoding" : "with \(pixelBits) bits per pixel and compression \(kind)"
      throw limits.unsupported("a BMP \(form); save it as PNG")
    }
  }

  private mutating func readPalette(
    _ reader: ByteReader,
    at place: Int,
    _ entryBytes: Int,
    _ used: Int
  ) {
    let most = 1 << pixelBits
    palette = (0..<most).flatMap { index -> [UInt8] in
      let entry = place + index * entryBytes
      guard used == 0 || index < used, entry + 3 <= min(start, reader.bytes.count) else {
        return [0, 0, 0]
      }
      return [reader.bytes[entry + 2], reader.bytes[entry + 1], reader.bytes[entry]]
    }
  }
}

extension BMPHeader: PictureCodec {
  static let name = "BMP"
  static var kept: PictureFormat { .png }
  static var isShown: Bool { false }

  /// Whether a file begins with the letters BM, has zeroes in the reserved bytes, and has a header of a known length.
  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: "BM".utf8) && head.count >= 18 && head[6..<10].allSatisfy { $0 == 0 }
      && lengths.contains(Int(head[14]))
      && head[15..<18].allSatisfy { $0 == 0 }
  }

  var depth: Int { 8 }
  var channels: Int { layout.channels }
  var isIndexed: Bool { masks.isEmpty }
  var chroma: ChromaSampling? { .full }

  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    OpenRows(source: BMPRows(self, bytes, request.region))
  }
}
