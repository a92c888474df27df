import Base
import CGIF
import CZimg

/// The first frame of a GIF by giflib, of which no pointer or struct is seen elsewhere.
enum GIFCodec {
  /// Decodes a region of the screen with the first frame on it: indices, of which one is clear where
  /// the frame leaves a part of the screen free; `rgba` where it has all 256 colours there are.
  static func decode(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let frame = blocks.frame
    try limits.check(memory: frame.width * frame.height, of: file.name)
    var status = CInt(cgif_done)
    // Not a byte of it is touched where there are no codes for it.
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
    if blocks.isFull { return bitmap.part(region) }
    if palette.clearIndex == nil { bitmap = (consume bitmap).expanded(withAlpha: true) }
    return try (consume bitmap).placed(frame, over: region, limits, name: file.name)
  }

  static func check(_ outcome: CInt, _ name: String) throws(LarderError) {
    switch Int(outcome) {
    case cgif_done: break
    case cgif_no_memory: throw .tooLarge(name, "it takes more memory than is allowed")
    default: throw .damaged(name, "its first frame is broken or ends too early")
    }
  }

  /// The index that stands for clear: the file's; or, where the frame leaves a part of the screen free, one
  /// that no pixel has.
  private static func clearIndex(_ blocks: GIFBlocks, _ indices: [UInt8]) -> Int? {
    if blocks.isFull || blocks.clear != nil { return blocks.clear }
    var isUsed = [Bool](repeating: false, count: 256)
    for index in indices { isUsed[Int(index)] = true }
    return isUsed.firstIndex(of: false)
  }

  /// The colours, black where an index has none, and which of them is clear.
  static func palette(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    most: Int,
    clear: Int?
  ) -> Bitmap.Palette {
    var colours = Array(file.bytes[blocks.palette])
    // The clear index often lies behind the last colour.
    let last = max(most, clear ?? 0)
    if colours.count < (last + 1) * 3 {
      colours += Array(repeating: 0, count: (last + 1) * 3 - colours.count)
    }
    let alpha = clear.map { Array(repeating: UInt8(255), count: $0) + [UInt8(0)] } ?? []
    return Bitmap.Palette(colours: colours, alpha: alpha)
  }
}

/// A region of a GIF's screen row by row, as its first frame is decoded.
///
/// Of an interlaced frame the even rows come first, in three passes, and are held; the others on their way.
struct GIFRows: ~Copyable {
  private let frame: PixelRegion
  private let region: PixelRegion
  /// What pixels beside the frame are: an index, or nil for clear colours, which all pixels become then.
  private let clear: UInt8?
  private let colours: Bitmap.Palette.Table
  private let handle: OpaquePointer
  /// The even rows of an interlaced frame, empty for others, and how many bytes of them were given back.
  private var held: [UInt8] = []
  private var given = 0
  /// The row that came last on its way, which one is next, and how far it is from one to the next.
  private var line: [UInt8]
  private var coming: Int
  private let step: Int
  /// Rows of the region that have been asked for.
  private var reached = 0
  private var outcome = CInt(cgif_done)

  /// Begins with the region's first row.
  ///
  /// - Parameters:
  ///   - bytes: The file, which stays where it is.
  ///   - blocks: Its blocks.
  ///   - region: The part of the screen.
  ///   - colours: What the indices stand for.
  ///   - outcome: Set to why there are no rows.
  init?(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    _ colours: Bitmap.Palette.Table,
    _ outcome: inout CInt
  ) {
    (frame, self.region, self.colours) = (blocks.frame, region, colours)
    clear = blocks.isFull ? 0 : blocks.clear.map { UInt8(truncatingIfNeeded: $0) }
    line = [UInt8](repeating: 0, count: frame.width)
    (coming, step) = blocks.isInterlaced ? (1, 2) : (0, 1)
    let opened = cgif_rows_open(
      bytes.baseAddress,
      bytes.count,
      CInt(frame.width),
      CInt(frame.height),
      blocks.isInterlaced,
      &outcome
    )
    guard let opened else { return nil }
    handle = opened
  }

  deinit { cgif_rows_close(handle) }

  /// Whether rows are indices; else they are `rgba`.
  private var isIndexed: Bool { clear != nil }

  /// Lends the rows to C, and the colours that they stand for where they are indices.
  ///
  /// The frame is decoded to its end even where the region ends before: one that is damaged anywhere is.
  ///
  /// - Returns: How it ended.
  mutating func lend(_ body: (czimg_rows, Bitmap.Palette.Table?) -> Bool) -> CInt {
    let (width, height) = (UInt32(region.width), UInt32(region.height))
    let colours = isIndexed ? colours : nil
    let isDone = withUnsafeMutablePointer(to: &self) {
      body(
        czimg_rows(
          width: width,
          height: height,
          next: { context, target, count in
            // SAFETY: `context` is these rows, which stay where they are until `body` returns.
            context?.assumingMemoryBound(to: GIFRows.self).pointee.take(Int(count), target)
              ?? false
          },
          context: UnsafeMutableRawPointer($0)
        ),
        colours
      )
    }
    decode(before: frame.height)
    // Where it is not the rows that did not come, it is what they were for that had too little memory.
    return isDone || outcome != CInt(cgif_done) ? outcome : CInt(cgif_no_memory)
  }

  /// Decodes rows until the next one is not before `end`.
  private mutating func decode(before end: Int) {
    if step == 2, held.isEmpty, outcome == CInt(cgif_done) { hold() }
    while outcome == CInt(cgif_done), coming < end {
      outcome = line.withUnsafeMutableBufferPointer { cgif_rows_next(handle, $0.baseAddress) }
      coming += step
    }
  }

  /// Decodes the even rows of an interlaced frame, which come before all others.
  private mutating func hold() {
    let count = (frame.height + 1) / 2 * frame.width
    held = [UInt8](unsafeUninitializedCapacity: count) { rows, initialized in
      outcome = cgif_rows_passes(handle, 3, CInt(frame.height), 2, rows.baseAddress)
      initialized = outcome == CInt(cgif_done) ? count : 0
    }
  }

  /// Writes the next rows; false where there are not so many, or the frame is broken.
  private mutating func take(_ count: Int, _ target: UnsafeMutablePointer<UInt8>?) -> Bool {
    guard let target, reached + count <= region.height else { return false }
    let rowBytes = region.width * (isIndexed ? 1 : 4)
    for row in 0..<count {
      write(UnsafeMutableBufferPointer(start: target + row * rowBytes, count: rowBytes))
      guard outcome == CInt(cgif_done) else { return false }
    }
    giveBack()
    return true
  }

  /// Gives the memory of rows back that were asked for, as what is made of them takes more meanwhile.
  private mutating func giveBack() {
    let end = min(max(region.y + reached - frame.y, 0) / 2 * frame.width, held.count)
    guard end - given >= 1 << 20 else { return }
    held.withUnsafeMutableBufferPointer {
      Bitmap.giveBack(UnsafeBufferPointer(rebasing: $0[given..<end]))
    }
    given = end
  }

  private mutating func write(_ target: UnsafeMutableBufferPointer<UInt8>) {
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

extension GIFCodec {
  /// Decodes a region of the screen and scales it as its rows come, so that it is never in memory whole.
  static func scaled(
    _ file: PictureFile,
    _ blocks: GIFBlocks,
    _ region: PixelRegion,
    to size: PixelSize,
    strip: Int? = nil,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    // What has few indices is scaled at once, as other pictures are.
    let isLarge = region.width * region.height >= Bitmap.leastInStrips
    let strip = strip ?? (isLarge ? PNGCodec.strip : 1 << 40)
    let palette = palette(file, blocks, most: 0, clear: blocks.clear)
    let colours = Bitmap.Palette.Table(palette, withAlpha: blocks.hasAlpha)
    let layout = colours.layout
    try limits.check(memory: size.width * size.height * layout.pixelBytes(depth: 8), of: file.name)
    if blocks.isInterlaced {
      try limits.check(memory: (blocks.frame.height + 1) / 2 * blocks.frame.width, of: file.name)
    }
    return try Bitmap(width: size.width, height: size.height, layout: layout, depth: 8) {
      (target) throws(LarderError) in
      var outcome = CInt(cgif_broken)
      file.bytes.withUnsafeBufferPointer { bytes in
        guard var rows = GIFRows(bytes, blocks, region, colours, &outcome) else { return }
        outcome = rows.lend { rows, colours in
          rows.scaled(
            width: size.width,
            height: size.height,
            layout: layout,
            depth: 8,
            strip: strip,
            colours: colours
          ) { $0.next($0.context, target.baseAddress, $0.height) }
        }
      }
      try check(outcome, file.name)
    }
  }
}
