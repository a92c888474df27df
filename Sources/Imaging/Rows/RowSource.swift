import Base

/// The size of a picture, and the layout and depth of its samples.
struct RowShape: Equatable {
  /// Pixels from left to right.
  var width: Int
  /// Pixels from top to bottom.
  var height: Int
  /// The samples of one pixel.
  var layout: Bitmap.Layout
  /// The number of bits of a sample: 1, 2, 4, 8 or 16.
  var depth = 8
  /// The transparent colour, a value for each channel; nil if there is none.
  var clear: [UInt16]?

  var size: PixelSize {
    get { PixelSize(width: width, height: height) }
    set { (width, height) = (newValue.width, newValue.height) }
  }
  /// The number of bytes of a pixel.
  var pixelBytes: Int { layout.pixelBytes(depth: depth) }
  /// The number of bytes of a row, without padding.
  var rowBytes: Int { width * pixelBytes }
}

/// A picture that is read row by row from the top, each row once.
///
/// A decoder is a source. Each step of a crop is a source that reads from another source: ``ScaledRows``,
/// ``ConvertedRows``, ``PaddedRows``, ``StampedRows``. An encoder reads from the last step, a strip of rows at a time.
protocol RowSource: AnyObject {
  /// The layout of the rows.
  var shape: RowShape { get }

  /// Writes the next `count` rows to `target` without gaps; at least `count` rows must be left.
  ///
  /// - Throws: ``LarderError`` when a row cannot be made. No more rows can be read after that.
  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError)
}

extension RowSource {
  /// Reads `count` rows that nobody needs, because damage in them counts, too.
  func skip(_ count: Int) throws(LarderError) {
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: shape.rowBytes)
    defer { row.deallocate() }
    for _ in 0..<count { try read(1, into: row) }
  }

  /// Reads all rows, a strip at a time.
  ///
  /// - Parameters:
  ///   - most: The number of rows in a strip; nil for about a megabyte of rows.
  ///   - body: Called with a strip, the index of its first row, and its number of rows.
  /// - Throws: ``LarderError`` when a row cannot be made, and the error of `body`.
  func inStrips(
    of most: Int? = nil,
    _ body: (UnsafeBufferPointer<UInt8>, _ first: Int, _ count: Int) throws(LarderError) -> Void
  ) throws(LarderError) {
    let (height, rowBytes) = (shape.height, shape.rowBytes)
    let most = min(most ?? max((1 << 20) / max(rowBytes, 1), 16), height)
    let strip = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: most * rowBytes)
    defer { strip.deallocate() }
    guard let start = strip.baseAddress else { return }
    for first in stride(from: 0, to: height, by: max(most, 1)) {
      let count = min(most, height - first)
      try read(count, into: start)
      try body(UnsafeBufferPointer(rebasing: strip[..<(count * rowBytes)]), first, count)
    }
  }

  /// Reads all rows into memory, and turns them upright from `orientation`.
  func collected(
    from orientation: Orientation = .upright,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> Bitmap {
    let (shape, size) = (shape, orientation.upright(shape.size))
    try limits.check(memory: shape.height * shape.rowBytes, of: name)
    var bitmap = try Bitmap(
      width: size.width,
      height: size.height,
      layout: shape.layout,
      depth: shape.depth
    ) { (pixels) throws(LarderError) in
      guard let start = pixels.baseAddress else { return }
      guard orientation != .upright else { return try read(shape.height, into: start) }
      let turning = Turning(shape.size, from: orientation, shape.pixelBytes)
      // A strip consists of whole tiles, which have 32 rows.
      try inStrips(of: 64) { (strip, first, count) throws(LarderError) in
        guard let rows = strip.baseAddress else { return }
        turning.lay(rows, first: first, count: count, into: pixels)
      }
    }
    bitmap.clear = shape.clear
    return bitmap
  }

  /// Reads all rows, and keeps every `step`-th row, starting with the first.
  func thinned(
    every step: Int,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> Bitmap {
    guard step > 1 else { return try collected(limits, name: name) }
    let shape = shape
    let height = (shape.height + step - 1) / step
    try limits.check(memory: height * shape.rowBytes, of: name)
    return try Bitmap(
      width: shape.width,
      height: height,
      layout: shape.layout,
      depth: shape.depth
    ) { (pixels) throws(LarderError) in
      try inStrips { (strip, first, count) in
        let next = (first + step - 1) / step * step
        for y in stride(from: next, to: first + count, by: step) {
          let row = strip[(y - first) * shape.rowBytes..<(y - first + 1) * shape.rowBytes]
          _ = pixels[(y / step * shape.rowBytes)...].update(fromContentsOf: row)
        }
      }
    }
  }
}

/// Rows of a bitmap.
///
/// The memory of a large bitmap is freed while the rows are read, if no other code holds the bitmap.
final class BitmapRows: RowSource {
  /// The smallest size, in bytes, of a bitmap that is freed while it is read.
  ///
  /// Freeing the bitmap makes room for the result, which takes as much memory.
  static let leastGivenBack = 32 << 20

  let shape: RowShape
  private var samples: [UInt8]
  private let givesBack: Bool
  /// The number of bytes that have been read.
  private var place = 0
  /// The number of bytes at the start of `samples` whose memory has been freed.
  private var given = 0

  init(_ bitmap: consuming Bitmap, least: Int = leastGivenBack) {
    shape = bitmap.shape
    givesBack = bitmap.samples.count >= least
    samples = bitmap.samples
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) {
    let bytes = count * shape.rowBytes
    let range = place..<place + bytes
    place += bytes
    let room = UnsafeMutableBufferPointer(start: target, count: bytes)
    guard givesBack else {
      return samples.withUnsafeBufferPointer { _ = room.update(fromContentsOf: $0[range]) }
    }
    samples.withUnsafeMutableBufferPointer {
      _ = room.update(fromContentsOf: $0[range])
      guard place - given >= 1 << 20 || place == $0.count else { return }
      Bitmap.releasePages(UnsafeBufferPointer(rebasing: $0[given..<place]))
      given = place
    }
  }
}

/// Supplies rows to a C function through a callback, and keeps the error if a row cannot be made.
final class RowFeed {
  private let source: any RowSource
  /// The number of rows that C has not read yet.
  private var left: Int
  /// The error that ended the rows; nil if there was none.
  private(set) var failure: LarderError?

  init(_ source: any RowSource) {
    self.source = source
    left = source.shape.height
  }

  /// The callback, whose context is ``context``.
  static let next:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, UInt32) -> Bool = {
      context,
      target,
      count in
      guard let context, let target else { return false }
      // SAFETY: the context is a feed, which lives until the C function has made its last call.
      return Unmanaged<RowFeed>.fromOpaque(context).takeUnretainedValue().take(Int(count), target)
    }

  /// This feed as a pointer for C; the caller keeps the feed alive while C uses it.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private func take(_ count: Int, _ target: UnsafeMutablePointer<UInt8>) -> Bool {
    guard failure == nil, count <= left else { return false }
    do throws(LarderError) {
      try source.read(count, into: target)
      left -= count
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Reads the rows that C did not ask for, because damage in them counts, too.
  func finish() throws(LarderError) {
    try source.skip(left)
    left = 0
  }
}
