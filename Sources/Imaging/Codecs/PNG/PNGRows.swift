import Base
import CPNG

/// The rows of a PNG.
///
/// When the last row is read, the file is read to its end, so that all damage is found.
final class PNGRows: RowSource {
  let shape: RowShape
  private let limits: NamedLimits
  private let reader: OpaquePointer

  /// Starts to decode a picture.
  ///
  /// - Parameters:
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - chunks: The chunks of the file.
  ///   - isNative: Whether samples stay as they are in the file. If not, palette indices become colours, a transparent
  ///     colour (tRNS) becomes alpha, and samples get at least 8 bits.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when libpng refuses the file, or the picture takes too much memory.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ chunks: PNGChunks,
    isNative: Bool,
    _ limits: NamedLimits
  ) throws(LarderError) {
    (shape, self.limits) = (Self.shape(of: chunks, bytes, isNative: isNative), limits)
    try limits.check(memory: shape.rowBytes)
    var source = cpng_source(
      bytes: bytes.baseAddress,
      count: bytes.count,
      data_end: chunks.dataEnd,
      side: UInt32(clamping: limits.side),
      expands: !isNative,
      row_bytes: shape.rowBytes,
      memory: limits.memory
    )
    var outcome = cpng_outcome()
    guard let reader = cpng_reader_open(&source, &outcome) else {
      throw PNGCodec.error(limits, outcome)
    }
    self.reader = reader
  }

  deinit { cpng_reader_close(reader) }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    var outcome = cpng_outcome()
    guard cpng_reader_next(reader, target, UInt32(count), &outcome) else {
      throw PNGCodec.error(limits, outcome)
    }
  }

  /// Decodes an interlaced picture, which stores its pixels in seven passes over all rows.
  func interlaced() throws(LarderError) -> Bitmap {
    try shape.bitmap(limits) { (start) throws(LarderError) in
      for _ in 1...7 { try read(shape.height, into: start) }
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
