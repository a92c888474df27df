import Base
import CGIF

/// Decodes the first frame of a GIF with giflib, whose pointers and structs are used nowhere else.
enum GIFCodec {
  /// Decodes a region of the GIF's screen (canvas) with the first frame on it.
  ///
  /// The result has palette indices. If the frame does not cover the screen, an unused index becomes transparent. If no
  /// index is unused, the result is `rgba` instead.
  static func decode(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let frame = blocks.frame
    try limits.check(memory: frame.width * frame.height, of: file.name)
    var status = CInt(cgif_done)
    // The array is not filled with zeroes first, so that memory is used only for pixels that the file contains.
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

  /// Rows of a region of the screen with the first frame on it.
  ///
  /// If the rows are going to be scaled, they are decoded while they are read; otherwise the whole region is decoded
  /// first.
  static func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ blocks: GIFBlocks,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    let isCutShort = file.probe.isCutShort
    let source: any RowSource =
      request.scaling == nil
      ? BitmapRows(try decode(file, blocks, request.region, limits))
      : try GIFRows(file, bytes, blocks, request.region, limits)
    return OpenRows(source: source) { isCutShort }
  }

  static func check(_ outcome: CInt, _ name: String) throws(LarderError) {
    switch Int(outcome) {
    case cgif_done: break
    case cgif_no_memory: throw .tooLarge(name, "it takes more memory than is allowed")
    default: throw .damaged(name, "its first frame is broken or ends too early")
    }
  }

  /// The transparent index: the file's own or, if the frame does not cover the screen, an unused index.
  private static func clearIndex(_ blocks: GIFBlocks, _ indices: [UInt8]) -> Int? {
    if blocks.isFull || blocks.clear != nil { return blocks.clear }
    var isUsed = [Bool](repeating: false, count: 256)
    for index in indices { isUsed[Int(index)] = true }
    return isUsed.firstIndex(of: false)
  }

  /// The palette with its transparent index.
  ///
  /// An index for which the file has no colour becomes black.
  static func palette(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    most: Int,
    clear: Int?
  ) -> Bitmap.Palette {
    var colours = Array(file.bytes[blocks.palette])
    // In many files, the transparent index is larger than that of the last colour.
    let last = max(most, clear ?? 0)
    if colours.count < (last + 1) * 3 {
      colours += Array(repeating: 0, count: (last + 1) * 3 - colours.count)
    }
    let alpha = clear.map { Array(repeating: UInt8(255), count: $0) + [UInt8(0)] } ?? []
    return Bitmap.Palette(colours: colours, alpha: alpha)
  }
}

/// A region of a GIF's screen, row by row; the first frame is decoded while the rows are read.
///
/// An interlaced frame stores its even rows first, in three passes. These rows are decoded and held in memory; the odd
/// rows are decoded while they are read.
final class GIFRows: RowSource {
  let shape: RowShape
  private let name: String
  private let frame: PixelRegion
  private let region: PixelRegion
  /// The index of pixels around the frame; nil if all rows become `rgba`, because no index is transparent.
  private let clear: UInt8?
  private let colours: Bitmap.Palette.Table
  private var handle: OpaquePointer?
  /// The even rows of an interlaced frame; empty for other frames.
  private var held: [UInt8] = []
  /// The number of bytes at the start of `held` whose memory has been freed.
  private var given = 0
  /// The row that was decoded last.
  private var line: [UInt8]
  /// The number of the next row to decode.
  private var coming: Int
  /// The distance from one decoded row to the next: 2 for the odd rows of an interlaced frame, otherwise 1.
  private let step: Int
  /// The number of rows of the region that have been read.
  private var reached = 0
  private var outcome = CInt(cgif_done)

  /// Begins with the region's first row.
  ///
  /// - Parameters:
  ///   - file: The picture.
  ///   - bytes: The bytes of the file, which must stay valid while these rows are read.
  ///   - blocks: The blocks of the file.
  ///   - region: The part of the screen.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when there is no first frame, or the frame takes too much memory.
  init(
    _ file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(LarderError) {
    let palette = GIFCodec.palette(file, blocks, most: 0, clear: blocks.clear)
    (frame, self.region, name) = (blocks.frame, region, file.name)
    colours = Bitmap.Palette.Table(palette, withAlpha: blocks.hasAlpha)
    clear = blocks.isFull ? 0 : blocks.clear.map { UInt8(truncatingIfNeeded: $0) }
    shape = RowShape(
      width: region.width,
      height: region.height,
      layout: clear == nil ? .rgba : .indexed(palette)
    )
    line = [UInt8](repeating: 0, count: frame.width)
    (coming, step) = blocks.isInterlaced ? (1, 2) : (0, 1)
    if blocks.isInterlaced {
      try limits.check(memory: (frame.height + 1) / 2 * frame.width, of: name)
    }
    handle = cgif_rows_open(
      bytes.baseAddress,
      bytes.count,
      CInt(frame.width),
      CInt(frame.height),
      blocks.isInterlaced,
      &outcome
    )
    guard handle != nil else { try GIFCodec.check(outcome, name); return }
  }

  deinit { cgif_rows_close(handle) }

  /// Whether rows are palette indices; otherwise they are `rgba`.
  private var isIndexed: Bool { clear != nil }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let rowBytes = shape.rowBytes
    for row in 0..<count {
      write(UnsafeMutableBufferPointer(start: target + row * rowBytes, count: rowBytes))
      try GIFCodec.check(outcome, name)
    }
    releasePages()
    // The rows below the region are decoded to find damage there.
    guard reached == region.height else { return }
    decode(before: frame.height)
    try GIFCodec.check(outcome, name)
  }

  /// Decodes all rows before row `end` of the frame.
  private func decode(before end: Int) {
    if step == 2, held.isEmpty, outcome == CInt(cgif_done) { hold() }
    while outcome == CInt(cgif_done), coming < end {
      outcome = line.withUnsafeMutableBufferPointer { cgif_rows_next(handle, $0.baseAddress) }
      coming += step
    }
  }

  /// Decodes the even rows of an interlaced frame, which come before all others.
  private func hold() {
    let count = (frame.height + 1) / 2 * frame.width
    held = [UInt8](unsafeUninitializedCapacity: count) { rows, initialized in
      outcome = cgif_rows_passes(handle, 3, CInt(frame.height), 2, rows.baseAddress)
      initialized = outcome == CInt(cgif_done) ? count : 0
    }
  }

  /// Frees the memory of even rows that were delivered, to make room for the reader's results.
  private func releasePages() {
    let end = min(max(region.y + reached - frame.y, 0) / 2 * frame.width, held.count)
    guard end - given >= 1 << 20 else { return }
    held.withUnsafeMutableBufferPointer {
      Bitmap.releasePages(UnsafeBufferPointer(rebasing: $0[given..<end]))
    }
    given = end
  }

  private func write(_ target: UnsafeMutableBufferPointer<UInt8>) {
    let y = region.y + reached - frame.y
    reached += 1
    let columns = (frame.x..<frame.x + frame.width).clamped(to: region.x..<region.x + region.width)
    guard (0..<frame.height).contains(y), !columns.isEmpty else {
      target.update(repeating: clear ?? 0)
      return
    }
    let isHeld = step == 2 && y % 2 == 0
    decode(before: isHeld ? 0 : y + 1)
    guard outcome == CInt(cgif_done) else { return }
    if columns.count < region.width { target.update(repeating: clear ?? 0) }
    let start = (isHeld ? y / 2 * frame.width : 0) - frame.x
    let seen = start + columns.lowerBound..<start + columns.upperBound
    let left = columns.lowerBound - region.x
    (isHeld ? held : line).withUnsafeBufferPointer { line in
      if isIndexed {
        _ = target[left...].update(fromContentsOf: line[seen])
      } else {
        colours.look(up: line[seen], into: .init(rebasing: target[(left * 4)...]))
      }
    }
  }
}
