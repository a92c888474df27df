/// How a stored picture has to be turned to stand upright. (EXIF 2.32, tag 0x0112)
public enum Orientation: Int, Sendable, CaseIterable {
  /// Upright as it is.
  case upright = 1
  /// Mirrored left to right.
  case mirrored
  /// Upside down.
  case upsideDown
  /// Mirrored top to bottom.
  case flipped
  /// Mirrored along the falling diagonal.
  case transposed
  /// To be turned right by a quarter.
  case turnedLeft
  /// Mirrored along the rising diagonal.
  case transversed
  /// To be turned left by a quarter.
  case turnedRight

  /// Whether width and height change places.
  public var swapsAxes: Bool { rawValue >= 5 }

  /// Whether upright columns run against the stored axis that they come from.
  var reversesColumns: Bool { [.mirrored, .upsideDown, .turnedLeft, .transversed].contains(self) }

  /// Whether upright rows run against the stored axis that they come from.
  var reversesRows: Bool { [.upsideDown, .flipped, .transversed, .turnedRight].contains(self) }

  /// The size of a picture once it stands upright.
  func upright(_ size: PixelSize) -> PixelSize {
    swapsAxes ? PixelSize(width: size.height, height: size.width) : size
  }

  /// Where a region of the upright picture lies in the stored one, whose size is `stored`.
  func stored(_ region: PixelRegion, in stored: PixelSize) -> PixelRegion {
    let upright = upright(stored)
    let across = reversesColumns ? upright.width - region.x - region.width : region.x
    let down = reversesRows ? upright.height - region.y - region.height : region.y
    return swapsAxes
      ? PixelRegion(x: down, y: across, width: region.height, height: region.width)
      : PixelRegion(x: across, y: down, width: region.width, height: region.height)
  }
}

/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, Codable {
  /// Pixels from left to right.
  public var width: Int
  /// Pixels from top to bottom.
  public var height: Int

  /// Makes a size.
  public init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  /// The size of a square.
  public init(side: Int) {
    (width, height) = (side, side)
  }
}

/// A rectangle of whole pixels, from the top left.
struct PixelRegion: Hashable, Sendable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  var size: PixelSize { PixelSize(width: width, height: height) }
}

extension Bitmap {
  /// The same picture, turned and mirrored so that it stands upright; no sample changes.
  ///
  /// A large one that nobody else holds gives its memory back meanwhile.
  public consuming func upright(from orientation: Orientation) -> Bitmap {
    guard orientation != .upright else { return self }
    let (layout, depth, clear) = (layout, depth, clear)
    let turning = Turning(PixelSize(width: width, height: height), from: orientation, pixelBytes)
    var picture = consume self
    var bitmap = Bitmap(
      width: turning.size.width,
      height: turning.size.height,
      layout: layout,
      depth: depth
    ) { target in
      var first = 0
      _ = picture.drain(least: Self.leastInStrips) { rows, count in
        turning.lay(rows, first: first, count: count, into: target)
        first += count
        return true
      }
    }
    bitmap.clear = clear
    return bitmap
  }
}

extension Bitmap {
  /// Turns and mirrors the picture so that it stands upright; no sample changes.
  ///
  /// A square is turned in its own memory. Laid into another's, the first rows of a large picture would touch a page
  /// of each row there, 28 MB of 49 megapixels, before any memory is given back.
  mutating func turnUpright(from orientation: Orientation) {
    guard orientation != .upright else { return }
    guard width == height else { return self = (consume self).upright(from: orientation) }
    switch pixelBytes {
    case 1: turnSquare(orientation, as: UInt8.self)
    case 2: turnSquare(orientation, as: UInt16.self)
    case 3: turnSquare(orientation, as: Three<UInt8>.self)
    case 4: turnSquare(orientation, as: UInt32.self)
    case 6: turnSquare(orientation, as: Three<UInt16>.self)
    default: turnSquare(orientation, as: UInt64.self)
    }
  }

  private mutating func turnSquare<Pixel: BitwiseCopyable>(
    _ orientation: Orientation,
    as: Pixel.Type
  ) {
    let side = width
    samples.withUnsafeMutableBytes { samples in
      guard let start = samples.baseAddress else { return }
      // SAFETY: every index below is that of one of the `side` × `side` pixels that `samples` holds.
      let pixels = SquarePixels<Pixel>(start: start, side: side)
      if orientation.swapsAxes { pixels.transpose() }
      if orientation.reversesRows { pixels.reverseRows() }
      if orientation.reversesColumns { pixels.reverseColumns() }
    }
  }
}

/// The pixels of a square, which change their places in pairs.
private struct SquarePixels<Pixel: BitwiseCopyable> {
  let start: UnsafeMutableRawPointer
  let side: Int

  func transpose() {
    // In tiles, as one of the two sides jumps from row to row and would miss the cache.
    let tile = 32
    for top in stride(from: 0, to: side, by: tile) {
      for left in stride(from: top, to: side, by: tile) {
        for y in top..<min(top + tile, side) {
          for x in max(left, y + 1)..<max(left, y + 1, min(left + tile, side)) {
            swap(y * side + x, x * side + y)
          }
        }
      }
    }
  }

  func reverseRows() {
    for y in 0..<side / 2 {
      for x in 0..<side { swap(y * side + x, (side - 1 - y) * side + x) }
    }
  }

  func reverseColumns() {
    for y in 0..<side {
      for x in 0..<side / 2 { swap(y * side + x, y * side + side - 1 - x) }
    }
  }

  private func swap(_ one: Int, _ other: Int) {
    let (one, other) = (start + one * Self.bytes, start + other * Self.bytes)
    let pixel = one.loadUnaligned(as: Pixel.self)
    one.storeBytes(of: other.loadUnaligned(as: Pixel.self), as: Pixel.self)
    other.storeBytes(of: pixel, as: Pixel.self)
  }

  private static var bytes: Int { MemoryLayout<Pixel>.size }
}

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
