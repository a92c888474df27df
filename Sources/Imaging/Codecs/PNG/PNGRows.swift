import Base
import CPNG

/// The rows of a PNG.
///
/// When the last row is read, the file is read to its end, so that all damage is found.
final class PNGRows: RowSource {
  /// At most this many bytes of an interlaced picture's even rows are held at a time.
  ///
  /// An interlaced picture stores its even rows before its odd rows. If there are more even rows, they are divided into
  /// bands of this size, and the picture is decompressed again from its beginning for each band. 50 megapixels of 8
  /// bits with alpha fit into one band.
  static let band = 96 << 20

  let shape: RowShape
  private let limits: NamedLimits
  private var source: cpng_source
  private var reader: OpaquePointer?
  /// The even rows among the rows `held` of an interlaced picture, one directly after the other.
  private let evenRows: UnsafeMutablePointer<UInt8>
  private var held = 0..<0
  /// The number of rows that are held or passed over at a time; 0 if the picture is not interlaced.
  private let most: Int
  /// The next row to read.
  private var reached = 0
  /// The next row of an interlaced picture's last pass, which contains the odd rows.
  private var line = 0

  /// Starts to decode a picture.
  ///
  /// - Parameters:
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - chunks: The chunks of the file.
  ///   - isNative: Whether samples stay as they are in the file. If not, palette indices become colours, a transparent
  ///     colour (tRNS) becomes alpha, and samples get at least 8 bits.
  ///   - band: At most this many bytes of an interlaced picture's even rows are held at a time.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when libpng refuses the file, or the picture takes too much memory.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ chunks: PNGChunks,
    isNative: Bool,
    band: Int = band,
    _ limits: NamedLimits
  ) throws(LarderError) {
    (shape, self.limits) = (Self.shape(of: chunks, bytes, isNative: isNative), limits)
    // The limit also bounds the number of bands, because an interlaced picture is decompressed once for each of them.
    let height = chunks.isInterlaced ? shape.height : 1
    try limits.check(memory: height * shape.rowBytes)
    most = chunks.isInterlaced ? min(max(band / shape.rowBytes, 1) * 2, shape.height) : 0
    evenRows = .allocate(capacity: (most + 1) / 2 * shape.rowBytes)
    source = cpng_source(
      bytes: bytes.baseAddress,
      count: bytes.count,
      data_end: chunks.dataEnd,
      side: UInt32(clamping: limits.side),
      expands: !isNative,
      row_bytes: shape.rowBytes,
      memory: limits.memory
    )
    try open()
  }

  deinit {
    cpng_reader_close(reader)
    evenRows.deallocate()
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    guard most > 0 else { return try decode(count, into: target) }
    for row in 0..<count {
      if reached == held.upperBound { try hold() }
      let place = target + row * shape.rowBytes
      if reached % 2 == 0 {
        place.update(from: evenRow(reached), count: shape.rowBytes)
      } else {
        try decode(reached - line, into: nil)
        try decode(1, into: place)
        line = reached + 1
      }
      reached += 1
    }
    if reached == shape.height { try decode(shape.height - line, into: nil) }
  }

  /// Decodes all passes of an interlaced picture except the last one, and holds the even rows of the next band.
  private func hold() throws(LarderError) {
    if reached > 0 { try open() }
    held = reached..<min(reached + most, shape.height)
    for _ in 1...6 {
      for y in 0..<shape.height {
        try decode(1, into: y % 2 == 0 && held.contains(y) ? evenRow(y) : nil)
      }
    }
    line = 0
  }

  /// The address of an even row that is held; a band begins with an even row.
  private func evenRow(_ y: Int) -> UnsafeMutablePointer<UInt8> {
    evenRows + (y - held.lowerBound) / 2 * shape.rowBytes
  }

  /// Opens the file, or opens it again at its beginning.
  private func open() throws(LarderError) {
    cpng_reader_close(reader)
    var outcome = cpng_outcome()
    reader = cpng_reader_open(&source, &outcome)
    guard reader != nil else { throw PNGCodec.error(limits, outcome) }
  }

  /// Decodes the next rows in the order of the file; drops them if `target` is nil.
  private func decode(
    _ count: Int,
    into target: UnsafeMutablePointer<UInt8>?
  ) throws(LarderError) {
    var outcome = cpng_outcome()
    guard cpng_reader_next(reader, target, UInt32(count), &outcome) else {
      throw PNGCodec.error(limits, outcome)
    }
  }

  private static func shape(
    of chunks: PNGChunks,
    _ bytes: UnsafeBufferPointer<UInt8>,
    isNative: Bool
  ) -> RowShape {
    let hasClear = chunks.transparency != nil && !isNative
    var shape = RowShape(width: chunks.size.width, height: chunks.size.height, layout: .rgb)
    shape.depth = isNative ? chunks.depth : max(chunks.depth, 8)
    switch chunks.colourType {
    case 0: shape.layout = hasClear ? .greyAlpha : .grey
    case 3 where isNative:
      shape.layout = .indexed(
        Bitmap.Palette(
          colours: Array(bytes[chunks.palette.prefix(3 << min(chunks.depth, 8))]),
          alpha: chunks.transparency.map { Array(bytes[$0]) } ?? []
        )
      )
    case 4: shape.layout = .greyAlpha
    case 6: shape.layout = .rgba
    default: shape.layout = hasClear ? .rgba : .rgb
    }
    if isNative, chunks.colourType != 3, let colour = chunks.transparency {
      // Only the low bits count, as many as a sample has. (Section 11.3.2.1)
      let sample = UInt16.max >> (16 - chunks.depth)
      shape.clear = stride(from: colour.lowerBound, to: colour.upperBound, by: 2).map {
        (UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])) & sample
      }
    }
    return shape
  }
}
