import Base
import CGIF

/// Decodes the first frame of a GIF with giflib.
///
/// No other Swift file uses its pointers and structs.
enum GIFCodec {
  /// Decodes a region of the screen, which is the GIF's canvas, with the first frame on it.
  ///
  /// The result has palette indices. If the frame does not cover the screen, an unused index becomes transparent. If
  /// every index is used, the result is `rgba` instead.
  static func decode(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let frame = blocks.frame
    try limits.check(memory: frame.width * frame.height, of: file.name)
    var status = CInt(cgif_done)
    // The array is not filled with zeroes first, so that memory is used only for the pixels that the file contains.
    let indices = [UInt8](unsafeUninitializedCapacity: frame.width * frame.height) {
      target,
      count in
      status = file.bytes.withUnsafeBufferPointer { bytes in
        cgif_decode(
          bytes.baseAddress,
          bytes.count,
          CInt(frame.width),
          CInt(frame.height),
          blocks.isInterlaced,
          target.baseAddress
        )
      }
      count = status == CInt(cgif_done) ? frame.width * frame.height : 0
    }
    try check(status, file.name)
    let palette = palette(
      file,
      blocks,
      most: Int(indices.max() ?? 0),
      clear: clearIndex(blocks, indices)
    )
    var bitmap = Bitmap(
      width: frame.width,
      height: frame.height,
      layout: .indexed(palette),
      depth: [1, 2, 4].first { palette.colours.count <= 3 << $0 } ?? 8,
      samples: consume indices
    )
    if blocks.isFull {
      bitmap.keep(region)
      return bitmap
    }
    if palette.clearIndex == nil { bitmap = bitmap.converted { .expanded($0, withAlpha: true) } }
    return try bitmap.placed(frame, over: region, limits, name: file.name)
  }

  static func check(_ outcome: CInt, _ name: String) throws(LarderError) {
    if outcome != CInt(cgif_done) { throw refusal(outcome, name) }
  }

  /// The error for an outcome other than success.
  static func refusal(_ outcome: CInt, _ name: String) -> LarderError {
    outcome == CInt(cgif_no_memory)
      ? .tooLarge(name, "it takes more memory than is allowed")
      : .damaged(name, "its first frame is broken or ends too early")
  }

  /// The transparent index: the file's own index or, if the frame does not cover the screen, an unused index.
  private static func clearIndex(_ blocks: GIFBlocks, _ indices: [UInt8]) -> Int? {
    if blocks.isFull || blocks.clear != nil { return blocks.clear }
    var isUsed = [Bool](repeating: false, count: 256)
    for index in indices { isUsed[Int(index)] = true }
    return isUsed.firstIndex(of: false)
  }

  /// The palette for pixels whose largest index is `most`, with `clear` as its transparent index.
  ///
  /// An index for which the file has no colour becomes black.
  static func palette(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    most: Int,
    clear: Int?
  ) -> Bitmap.Palette {
    var colours = Array(file.bytes[blocks.palette])
    // In many files, the transparent index is larger than the index of the last colour.
    let last = max(most, clear ?? 0)
    if colours.count < (last + 1) * 3 {
      colours += Array(repeating: 0, count: (last + 1) * 3 - colours.count)
    }
    let alpha = clear.map { Array(repeating: UInt8(255), count: $0) + [UInt8(0)] } ?? []
    return Bitmap.Palette(colours: colours, alpha: alpha)
  }
}

/// The rows of a GIF's first frame, as palette indices.
///
/// The frame is decoded while the rows are read.
///
/// An interlaced frame stores its even rows before its odd rows. The even rows are decoded first, and held in memory.
/// The odd rows are decoded while they are read.
final class GIFRows: RowSource {
  let shape: RowShape
  private let name: String
  private let handle: OpaquePointer
  private let isInterlaced: Bool
  /// The even rows of an interlaced frame, once the first row has been read.
  private var held: [UInt8] = []
  /// The number of bytes at the start of `held` whose memory was freed.
  private var given = 0
  private var reached = 0

  /// Starts at the frame's first row.
  ///
  /// - Parameters:
  ///   - file: The picture.
  ///   - bytes: The bytes of the file, which must stay valid while these rows are read.
  ///   - blocks: The blocks of the file.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when there is no first frame, or the frame takes too much memory.
  init(
    _ file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ blocks: GIFBlocks,
    _ limits: PictureLimits
  ) throws(LarderError) {
    let frame = blocks.frame
    (name, isInterlaced) = (file.name, blocks.isInterlaced)
    let palette = GIFCodec.palette(file, blocks, most: 0, clear: blocks.clear)
    shape = RowShape(width: frame.width, height: frame.height, layout: .indexed(palette))
    if blocks.isInterlaced {
      try limits.check(memory: (frame.height + 1) / 2 * frame.width, of: name)
    }
    var outcome = CInt(cgif_done)
    let handle = cgif_rows_open(
      bytes.baseAddress,
      bytes.count,
      CInt(frame.width),
      CInt(frame.height),
      blocks.isInterlaced,
      &outcome
    )
    guard let handle else { throw GIFCodec.refusal(outcome, name) }
    self.handle = handle
  }

  deinit { cgif_rows_close(handle) }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    if isInterlaced, reached == 0 { try hold() }
    for row in 0..<count {
      let place = target + row * shape.width
      if isInterlaced, reached % 2 == 0 {
        let start = reached / 2 * shape.width
        held.withUnsafeBufferPointer {
          _ = UnsafeMutableBufferPointer(start: place, count: shape.width)
            .update(fromContentsOf: $0[start..<start + shape.width])
        }
      } else {
        try GIFCodec.check(cgif_rows_next(handle, place), name)
      }
      reached += 1
    }
    releasePages()
  }

  /// Decodes the even rows of an interlaced frame, which the file stores in three passes.
  private func hold() throws(LarderError) {
    let count = (shape.height + 1) / 2 * shape.width
    var outcome = CInt(cgif_done)
    held = [UInt8](unsafeUninitializedCapacity: count) { rows, initialized in
      outcome = cgif_rows_passes(handle, 3, CInt(shape.height), 2, rows.baseAddress)
      initialized = outcome == CInt(cgif_done) ? count : 0
    }
    try GIFCodec.check(outcome, name)
  }

  /// Frees the memory of even rows that have been read, because the result of the next step needs memory.
  private func releasePages() {
    let end = min(reached / 2 * shape.width, held.count)
    guard end - given >= 1 << 20 else { return }
    held.withUnsafeMutableBufferPointer {
      Bitmap.releasePages(UnsafeBufferPointer(rebasing: $0[given..<end]))
    }
    given = end
  }
}
