import Base

/// The blocks of a GIF, which are found without decoding its frames. (GIF89a)
struct GIFBlocks: Sendable {
  /// The size of the screen, which is the GIF's canvas.
  ///
  /// It is enlarged if the first frame extends beyond it.
  private(set) var size = PixelSize(width: 0, height: 0)
  /// The region of the screen that the first frame covers.
  private(set) var frame = PixelRegion(x: 0, y: 0, width: 0, height: 0)
  /// Whether the rows of the first frame are stored in four passes.
  private(set) var isInterlaced = false
  /// The byte range of the colours of the first frame; each colour takes three bytes.
  private(set) var palette = 0..<0
  /// The byte range of the first frame's codes: the number of bits of an index, and data blocks up to an empty one.
  ///
  /// It is nil if the file ends before the empty block.
  private(set) var codes: Range<Int>?
  /// The transparent palette index; nil if there is none.
  private(set) var clear: Int?
  /// Whether the trailer, or data that is no block, was found.
  ///
  /// A file without either is incomplete.
  private(set) var isWhole = false

  /// Whether the first frame covers the screen.
  var isFull: Bool { frame == PixelRegion(size) }

  /// Reads the blocks of `bytes`.
  ///
  /// - Throws: ``LarderError`` when there is no first frame, or the picture exceeds `limits`.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try walk(ByteReader(bytes: bytes, isLittleEndian: true), limits)
    }
    guard frame.width > 0 else { throw limits.damaged("it ends before the picture begins") }
  }

  private mutating func walk(_ reader: ByteReader, _ limits: NamedLimits) throws(LarderError) {
    guard let width = reader.short(6), let height = reader.short(8), let flags = reader.byte(10)
    else { throw limits.damaged("its header is cut short") }
    size = PixelSize(width: width, height: height)
    var offset = 13
    if let colours = Self.colours(flags, at: offset) {
      (palette, offset) = (colours, colours.upperBound)
    }
    while let kind = reader.byte(offset) {
      switch kind {
      case 0x21:
        // The label and the count of 4 bytes are followed by flags, a delay, and the transparent index. (Section 23)
        if frame.width == 0, reader.byte(offset + 1) == 0xF9, reader.byte(offset + 2) == 4,
          let flags = reader.byte(offset + 3)
        {
          clear = flags & 1 == 1 ? reader.byte(offset + 6) : nil
        }
        guard let end = Self.endOfBlocks(reader, from: offset + 2) else { return }
        offset = end
      case 0x2C:
        let isFirst = frame.width == 0
        let start = try readFrame(reader, offset, limits)
        guard let end = Self.endOfBlocks(reader, from: start + 1) else { return }
        if isFirst { codes = start..<end }
        offset = end
      default:
        // This is the trailer, or data that is no block, at which browsers stop reading, too.
        isWhole = true
        return
      }
    }
  }

  /// Reads the header of a frame, and returns the offset of the frame's compressed data. (Section 20)
  private mutating func readFrame(
    _ reader: ByteReader,
    _ offset: Int,
    _ limits: NamedLimits
  ) throws(LarderError) -> Int {
    guard let x = reader.short(offset + 1), let y = reader.short(offset + 3),
      let width = reader.short(offset + 5), let height = reader.short(offset + 7),
      let flags = reader.byte(offset + 9)
    else {
      // Only the first frame has to be complete.
      if frame.width > 0 { return reader.bytes.count }
      throw limits.damaged("it ends before the picture begins")
    }
    let colours = Self.colours(flags, at: offset + 10)
    let codes = colours?.upperBound ?? offset + 10
    guard frame.width == 0 else { return codes }
    guard width > 0, height > 0 else {
      throw limits.damaged("its first frame is \(width) × \(height) pixels")
    }
    frame = PixelRegion(x: x, y: y, width: width, height: height)
    // A frame that extends beyond the screen enlarges the screen, as in browsers.
    size = PixelSize(width: max(size.width, x + width), height: max(size.height, y + height))
    try limits.check(width: size.width, height: size.height)
    isInterlaced = flags & 0x40 != 0
    if let colours { palette = colours }
    guard palette.upperBound <= reader.bytes.count else {
      throw limits.damaged("it ends before the picture begins")
    }
    return codes
  }

  /// The byte range of the colour table at `offset`; nil if the flags say that there is none.
  private static func colours(_ flags: Int, at offset: Int) -> Range<Int>? {
    flags & 0x80 == 0 ? nil : offset..<offset + 3 << (flags & 7 + 1)
  }

  /// The offset after the empty block that ends a series of data blocks; nil if the file ends before it.
  private static func endOfBlocks(_ reader: ByteReader, from offset: Int) -> Int? {
    var offset = offset
    while let count = reader.byte(offset) {
      offset += count + 1
      if count == 0 { return offset }
    }
    return nil
  }
}

extension GIFBlocks: PictureCodec {
  static let name = "GIF"
  static var kept: PictureFormat { .png }

  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8)
  }

  /// Whether the file ends with the trailer, apart from zeroes after it. (GIF89a, section 27)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    tail.last { $0 != 0 } == 0x3B
  }

  var depth: Int { 8 }
  var channels: Int { 1 }
  var isCutShort: Bool { !isWhole }
  var chroma: ChromaSampling? { .full }

  /// Opens rows of a region of the screen, which is the GIF's canvas, with the first frame on it.
  ///
  /// The whole frame is decoded first, because the palette of the result depends on the indices that are used.
  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let isCutShort = isCutShort
    let samples = try indices(in: bytes, limits)
    let palette = palette(of: bytes, most: Int(samples.max() ?? 0))
    var rows: any RowSource = BitmapRows(
      Bitmap(
        width: frame.width,
        height: frame.height,
        layout: .indexed(palette),
        depth: [1, 2, 4].first { palette.colours.count <= 3 << $0 } ?? 8,
        samples: consume samples
      )
    )
    // The pixels around the frame must be transparent. If no index is, the rows need alpha instead.
    if !isFull, clear == nil { rows = rows.converted { .expanded($0, withAlpha: true) } }
    let background = clear.map { [UInt8(truncatingIfNeeded: $0)] }
    rows = rows.placed(frame, over: request.region, pixel: background)
    return OpenRows(source: rows) { isCutShort }
  }

  /// The palette for pixels whose largest index is `most`.
  ///
  /// An index for which the file has no colour becomes black.
  func palette(of bytes: FileBytes, most: Int) -> Bitmap.Palette {
    var colours = Array(bytes[palette])
    // In many files, the transparent index is larger than the index of the last colour.
    let last = max(most, clear ?? 0)
    if colours.count < (last + 1) * 3 {
      colours += Array(repeating: 0, count: (last + 1) * 3 - colours.count)
    }
    let alpha = clear.map { Array(repeating: UInt8(255), count: $0) + [UInt8(0)] } ?? []
    return Bitmap.Palette(colours: colours, alpha: alpha)
  }
}
