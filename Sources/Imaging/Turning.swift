/// Where the pixels of a stored picture lie once it stands upright.
struct Turning {
  /// The size of the upright picture.
  let size: PixelSize
  private let stored: PixelSize
  private let orientation: Orientation
  private let pixelBytes: Int
  /// Where the first upright pixel is stored, and how far the next ones along a row and a column are from it, in
  /// stored pixels.
  private let start: Int
  private let across: Int
  private let down: Int

  init(_ stored: PixelSize, from orientation: Orientation, _ pixelBytes: Int) {
    (self.stored, self.orientation, self.pixelBytes) = (stored, orientation, pixelBytes)
    size = orientation.upright(stored)
    let first = orientation.stored(PixelRegion(x: 0, y: 0, width: 1, height: 1), in: stored)
    let (along, between) = orientation.swapsAxes ? (stored.width, 1) : (1, stored.width)
    start = first.y * stored.width + first.x
    across = orientation.reversesColumns ? -along : along
    down = orientation.reversesRows ? -between : between
  }

  /// Lays stored rows, `count` of them from the row `first` on, where they belong in the upright picture.
  func lay(
    _ rows: UnsafePointer<UInt8>,
    first: Int,
    count: Int,
    into target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let lines = first..<first + count
    switch pixelBytes {
    case 1: lay(rows, lines, into: target, as: UInt8.self)
    case 2: lay(rows, lines, into: target, as: UInt16.self)
    case 3: lay(rows, lines, into: target, as: Three<UInt8>.self)
    case 4: lay(rows, lines, into: target, as: UInt32.self)
    case 6: lay(rows, lines, into: target, as: Three<UInt16>.self)
    default: lay(rows, lines, into: target, as: UInt64.self)
    }
  }

  private func lay<Pixel: BitwiseCopyable>(
    _ rows: UnsafePointer<UInt8>,
    _ lines: Range<Int>,
    into target: UnsafeMutableBufferPointer<UInt8>,
    as: Pixel.Type
  ) {
    guard let target = UnsafeMutableRawPointer(target.baseAddress) else { return }
    let source = UnsafeRawPointer(rows)
    let bytes = MemoryLayout<Pixel>.size
    let (xs, ys) = places(of: lines)
    // In tiles, as one of the two sides jumps from row to row and would miss the cache.
    let tile = 32
    for top in stride(from: ys.lowerBound, to: ys.upperBound, by: tile) {
      for left in stride(from: xs.lowerBound, to: xs.upperBound, by: tile) {
        for y in top..<min(top + tile, ys.upperBound) {
          // SAFETY: each upright pixel is one of the stored ones, as many as both have, and those of `places` lie in
          // `lines`, which `source` begins with.
          let index = start + y * down + left * across - lines.lowerBound * stored.width
          var from = source + index * bytes
          var to = target + (y * size.width + left) * bytes
          for _ in left..<min(left + tile, xs.upperBound) {
            to.storeBytes(of: from.loadUnaligned(as: Pixel.self), as: Pixel.self)
            from += across * bytes
            to += bytes
          }
        }
      }
    }
  }

  /// The upright columns and rows that stored rows become.
  private func places(of lines: Range<Int>) -> (xs: Range<Int>, ys: Range<Int>) {
    let isReversed = orientation.swapsAxes ? orientation.reversesColumns : orientation.reversesRows
    let own =
      isReversed ? stored.height - lines.upperBound..<stored.height - lines.lowerBound : lines
    return orientation.swapsAxes ? (own, 0..<size.height) : (0..<size.width, own)
  }
}

/// Three samples of a pixel, which are moved together.
struct Three<Sample: FixedWidthInteger & BitwiseCopyable>: BitwiseCopyable {
  private let first, second, third: Sample
}

/// Takes the stored rows of a picture one by one, and lays them upright into the samples of a bitmap.
struct UprightRows {
  /// Rows that are turned together.
  private static let most = 64

  private let target: UnsafeMutableBufferPointer<UInt8>
  private let rowBytes: Int
  private let height: Int
  /// Nil for those that are upright as they are.
  private let turning: Turning?
  /// Rows that wait to be turned.
  private var strip: [UInt8] = []
  /// Rows that have been laid.
  private var laid = 0

  init(
    into target: UnsafeMutableBufferPointer<UInt8>,
    _ stored: PixelSize,
    from orientation: Orientation,
    _ pixelBytes: Int
  ) {
    (self.target, rowBytes, height) = (target, stored.width * pixelBytes, stored.height)
    turning = orientation == .upright ? nil : Turning(stored, from: orientation, pixelBytes)
    if turning != nil { strip.reserveCapacity(Self.most * rowBytes) }
  }

  /// Takes the next row.
  mutating func take(_ row: UnsafePointer<UInt8>) {
    let row = UnsafeBufferPointer(start: row, count: rowBytes)
    guard let turning else {
      _ = target[(laid * rowBytes)...].update(fromContentsOf: row)
      laid += 1
      return
    }
    strip.append(contentsOf: row)
    let count = strip.count / rowBytes
    guard count == Self.most || laid + count == height else { return }
    strip.withUnsafeBufferPointer { strip in
      guard let rows = strip.baseAddress else { return }
      turning.lay(rows, first: laid, count: count, into: target)
    }
    laid += count
    strip.removeAll(keepingCapacity: true)
  }
}
