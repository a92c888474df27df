import Base

/// The rows of a GIF's first frame, as palette indices.
///
/// The frame is decoded while the rows are read.
///
/// An interlaced frame stores its even rows before its odd rows. The even rows are decoded first, and held in memory.
/// The odd rows are decoded while they are read.
final class GIFRows: RowSource {
  let shape: RowShape
  private let codes: GIFCodes
  private let isInterlaced: Bool
  /// The even rows of an interlaced frame, once the first row has been read.
  private var evenRows: BitmapRows?
  private var reached = 0

  /// Starts at the frame's first row.
  ///
  /// - Parameters:
  ///   - file: The picture.
  ///   - bytes: The bytes of the file, which must stay valid while these rows are read.
  ///   - blocks: The blocks of the file.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when the frame is broken, or takes too much memory.
  init(
    _ file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ blocks: GIFBlocks,
    _ limits: PictureLimits
  ) throws(LarderError) {
    let frame = blocks.frame
    let palette = blocks.palette(of: file, most: 0, clear: blocks.clear)
    shape = RowShape(width: frame.width, height: frame.height, layout: .indexed(palette))
    isInterlaced = blocks.isInterlaced
    if isInterlaced {
      try limits.check(memory: (frame.height + 1) / 2 * frame.width, of: file.name)
    }
    codes = try GIFCodes(
      bytes,
      blocks.codes,
      count: frame.width * frame.height,
      name: file.name
    )
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    if isInterlaced, reached == 0 { evenRows = try decodedEvenRows() }
    for row in 0..<count {
      let place = target + row * shape.width
      if let evenRows, reached % 2 == 0 {
        evenRows.read(1, into: place)
      } else {
        try codes.read(shape.width, into: place)
      }
      reached += 1
    }
  }

  /// Decodes the even rows of an interlaced frame, which the file stores in three passes. (GIF89a, appendix E)
  private func decodedEvenRows() throws(LarderError) -> BitmapRows {
    let (width, height) = (shape.width, shape.height)
    let bitmap = try Bitmap(
      width: width,
      height: (height + 1) / 2,
      layout: .grey,
      depth: 8
    ) { (rows) throws(LarderError) in
      guard let start = rows.baseAddress else { return }
      for (first, step) in [(0, 8), (4, 8), (2, 4)] {
        for y in stride(from: first, to: height, by: step) {
          try codes.read(width, into: start + y / 2 * width)
        }
      }
    }
    return BitmapRows(bitmap, least: 1 << 20)
  }
}
