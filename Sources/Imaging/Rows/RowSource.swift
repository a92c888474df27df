import Base

/// The size of a picture, and the layout and depth of its samples.
struct RowShape: Equatable {
  /// Pixels from left to right and from top to bottom.
  var size: PixelSize
  /// The samples of one pixel.
  var layout: Bitmap.Layout
  /// The number of bits of a sample: 1, 2, 4, 8 or 16.
  var depth = 8
  /// One colour that is transparent, as one value for each channel; nil if no colour is.
  var clear: [UInt16]?
  /// Whether the samples are those that a JPEG stores, usually YCbCr, which only a JPEG made from it can take.
  var isStored = false

  var width: Int { size.width }
  var height: Int { size.height }
  var pixelBytes: Int { layout.pixelBytes(depth: depth) }
  /// The number of bytes of a row.
  ///
  /// There are no unused bytes between rows.
  var rowBytes: Int { width * pixelBytes }

  /// Makes a bitmap of this shape with the samples that `fill` writes; `fill` must write all samples.
  ///
  /// - Throws: ``LarderError`` when the bitmap takes more memory than is allowed, and the error of `fill`.
  func bitmap(
    _ limits: NamedLimits,
    filling fill: (UnsafeMutablePointer<UInt8>) throws(LarderError) -> Void
  ) throws(LarderError) -> Bitmap {
    try limits.check(memory: height * rowBytes)
    var bitmap = try Bitmap(width: width, height: height, layout: layout, depth: depth) {
      (samples) throws(LarderError) in
      if let start = samples.baseAddress { try fill(start) }
    }
    bitmap.clear = clear
    return bitmap
  }
}

/// A picture that is read row by row from the top, each row once.
///
/// A decoder is a source. Each step of a crop is a source that reads from another source: ``ScaledRows``,
/// ``ConvertedRows``, ``PaddedRows``, ``StampedRows``. An encoder reads from the last step, a strip of rows at a time.
protocol RowSource: AnyObject {
  /// The layout of the rows.
  var shape: RowShape { get }

  /// Writes the next `count` rows to `target`, one directly after the other.
  ///
  /// The source must have at least `count` rows left.
  ///
  /// - Throws: ``LarderError`` when a row cannot be made. Do not read from the source after that.
  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError)
}

extension RowSource {
  /// Reads `count` rows and drops them.
  ///
  /// They are read because damage in them counts, too.
  func skip(_ count: Int) throws(LarderError) {
    guard count > 0 else { return }
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: shape.rowBytes)
    defer { row.deallocate() }
    for _ in 0..<count { try read(1, into: row) }
  }

  /// Reads all rows, a strip at a time.
  ///
  /// - Parameters:
  ///   - most: The number of rows of a strip. If it is nil, a strip has about a megabyte.
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

  /// Reads the next `count` rows into a bitmap.
  func bitmap(of count: Int, _ limits: NamedLimits) throws(LarderError) -> Bitmap {
    var shape = shape
    shape.size.height = count
    return try shape.bitmap(limits) { (start) throws(LarderError) in
      try read(count, into: start)
    }
  }

  /// Reads all rows into a bitmap, which is turned upright if the rows are stored in another `orientation`.
  func collected(
    from orientation: Orientation = .upright,
    _ limits: NamedLimits
  ) throws(LarderError) -> Bitmap {
    guard orientation != .upright else { return try bitmap(of: shape.height, limits) }
    let turning = Turning(shape.size, from: orientation, shape.pixelBytes)
    var upright = shape
    upright.size = orientation.upright(shape.size)
    return try upright.bitmap(limits) { (start) throws(LarderError) in
      // ``Turning`` copies pixels in tiles of 32 rows, so a strip has two tiles.
      try inStrips(of: 64) { (strip, first, count) throws(LarderError) in
        guard let rows = strip.baseAddress else { return }
        turning.lay(rows, first: first, count: count, into: start)
      }
    }
  }

  /// Reads all rows, and keeps every `step`-th row: the first row, the row `step` below it, and so on.
  func thinned(every step: Int, _ limits: NamedLimits) throws(LarderError) -> Bitmap {
    var small = shape
    small.size.height = (shape.height + step - 1) / step
    return try small.bitmap(limits) { (start) throws(LarderError) in
      for y in 0..<small.height {
        try read(1, into: start + y * small.rowBytes)
        try skip(min(step, shape.height - y * step) - 1)
      }
    }
  }
}

/// The rows of a bitmap.
///
/// If nothing else refers to the bitmap and it is large, its memory is freed step by step while the rows are read.
final class BitmapRows: RowSource {
  /// A bitmap of at least this many bytes is freed while it is read.
  ///
  /// The result of a step takes about as much memory as the bitmap itself.
  static let leastGivenBack = 32 << 20

  let shape: RowShape
  private var samples: [UInt8]
  private let givesBack: Bool
  private var place = 0
  /// The number of bytes at the start of `samples` whose memory was freed.
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

/// Passes the rows of a source to a C function, which asks for them through a callback.
///
/// If a row cannot be made, the callback returns false, and ``failure`` keeps the error.
final class RowFeed {
  private let source: any RowSource
  private var left: Int
  /// Why a row could not be made; nil if all rows could be made so far.
  private(set) var failure: LarderError?

  init(_ source: any RowSource) {
    self.source = source
    left = source.shape.height
  }

  /// The callback for C; its context is ``context``.
  static let next:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, UInt32) -> Bool = {
      context,
      target,
      count in
      guard let context, let target else { return false }
      // SAFETY: the context is a feed, which lives until the C function has made its last call.
      return Unmanaged<RowFeed>.fromOpaque(context).takeUnretainedValue().take(Int(count), target)
    }

  /// This object as a pointer for C.
  ///
  /// The caller must keep the object alive while C uses the pointer.
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
}
