import Base
import CPNG

/// The rows of a PNG.
///
/// When the last row is read, the file is read to its end, so that all damage is found.
final class PNGRows: RowSource {
  let shape: RowShape
  private let limits: NamedLimits
  private let reader: OpaquePointer?
  private let isInterlaced: Bool
  /// The even rows of an interlaced picture, one directly after the other; the file has them before the odd rows.
  private let evenRows: UnsafeMutablePointer<UInt8>
  /// The next row to read.
  private var reached = 0

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
    isInterlaced = chunks.isInterlaced
    let height = isInterlaced ? shape.height : 1
    try limits.check(memory: height * shape.rowBytes)
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
    reader = cpng_reader_open(&source, &outcome)
    evenRows = .allocate(capacity: (height + 1) / 2 * shape.rowBytes)
    guard reader != nil else { throw PNGCodec.error(limits, outcome) }
  }

  deinit {
    cpng_reader_close(reader)
    evenRows.deallocate()
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    guard isInterlaced else { return try decode(count, into: target) }
    for row in 0..<count {
      if reached == 0 { try holdEvenRows() }
      let place = target + row * shape.rowBytes
      try decode(1, into: reached % 2 == 0 ? nil : place)
      if reached % 2 == 0 { place.update(from: evenRow(reached), count: shape.rowBytes) }
      reached += 1
    }
  }

  /// Decodes all passes of an interlaced picture except the last one, which contains the odd rows.
  private func holdEvenRows() throws(LarderError) {
    for _ in 1...6 {
      for y in 0..<shape.height { try decode(1, into: y % 2 == 0 ? evenRow(y) : nil) }
    }
  }

  /// The address of an even row that is held.
  private func evenRow(_ y: Int) -> UnsafeMutablePointer<UInt8> {
    evenRows + y / 2 * shape.rowBytes
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
    var shape = RowShape(size: chunks.size, layout: .rgb)
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
