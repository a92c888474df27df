/// How a stored picture has to be turned or mirrored to be upright. (EXIF 2.32, tag 0x0112)
///
/// The raw values are those of the tag, for example 6 in most portrait photos of phones.
public enum Orientation: Int, Sendable, CaseIterable {
  /// Stored upright.
  case upright = 1
  /// Mirrored left to right.
  case mirrored
  /// Upside down.
  case upsideDown
  /// Mirrored top to bottom.
  case flipped
  /// Mirrored along the diagonal from the top left to the bottom right.
  case transposed
  /// Turned left; a quarter turn to the right makes it upright.
  case turnedLeft
  /// Mirrored along the diagonal from the bottom left to the top right.
  case transversed
  /// Turned right; a quarter turn to the left makes it upright.
  case turnedRight

  /// Whether width and height are swapped.
  public var swapsAxes: Bool { rawValue >= 5 }

  /// Whether a step to the right in the upright picture is a step backwards in the stored picture.
  ///
  /// Backwards is to the left or, if the axes are swapped, upwards.
  var reversesColumns: Bool { [.mirrored, .upsideDown, .turnedLeft, .transversed].contains(self) }

  /// Whether a step down in the upright picture is a step backwards in the stored picture.
  ///
  /// Backwards is upwards or, if the axes are swapped, to the left.
  var reversesRows: Bool { [.upsideDown, .flipped, .transversed, .turnedRight].contains(self) }

  /// The size of the upright picture, if its stored size is `size`.
  func upright(_ size: PixelSize) -> PixelSize {
    swapsAxes ? PixelSize(width: size.height, height: size.width) : size
  }

  /// Converts a region of the upright picture to the same region of the stored picture; `stored` is the stored
  /// picture's size.
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

  /// Makes the size of a square.
  public init(side: Int) {
    (width, height) = (side, side)
  }
}

/// A rectangle of whole pixels with its top left corner at `x`, `y`.
struct PixelRegion: Hashable, Sendable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  var size: PixelSize { PixelSize(width: width, height: height) }
}

extension PixelRegion {
  /// Makes the region of a whole picture.
  init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: size.width, height: size.height)
  }
}

extension Bitmap {
  /// The upright picture, if this bitmap is stored in `orientation`.
  public func upright(from orientation: Orientation) -> Bitmap {
    guard orientation != .upright else { return self }
    let turning = Turning(PixelSize(width: width, height: height), from: orientation, pixelBytes)
    var bitmap = Bitmap(
      width: turning.size.width,
      height: turning.size.height,
      layout: layout,
      depth: depth
    ) { target in
      samples.withUnsafeBufferPointer { samples in
        guard let rows = samples.baseAddress else { return }
        turning.lay(rows, first: 0, count: height, into: target)
      }
    }
    bitmap.clear = clear
    return bitmap
  }
}

/// Copies rows of a stored picture to their places in the upright picture.
struct Turning {
  /// The size of the upright picture.
  let size: PixelSize
  private let stored: PixelSize
  private let orientation: Orientation
  private let pixelBytes: Int
  /// The index of the stored pixel that becomes the first pixel of the upright picture.
  private let start: Int
  /// The distance, in stored pixels, from an upright pixel to its right neighbour; negative if the neighbour is stored
  /// earlier.
  private let across: Int
  /// The distance, in stored pixels, from an upright pixel to the pixel below it; negative if that pixel is stored
  /// earlier.
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

  /// Copies `count` stored rows, beginning with row `first`, to their places in the upright picture.
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
    // Pixels are copied in tiles. With long rows, either the source or the target would jump from row to row and miss
    // the cache.
    let tile = 32
    for top in stride(from: ys.lowerBound, to: ys.upperBound, by: tile) {
      for left in stride(from: xs.lowerBound, to: xs.upperBound, by: tile) {
        for y in top..<min(top + tile, ys.upperBound) {
          // SAFETY: each upright pixel corresponds to exactly one stored pixel. The stored pixels of `places` are
          // within the rows `lines`, and `source` begins with the first of these rows.
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

  /// The columns and rows of the upright picture that the stored rows `lines` fill.
  private func places(of lines: Range<Int>) -> (xs: Range<Int>, ys: Range<Int>) {
    let isReversed = orientation.swapsAxes ? orientation.reversesColumns : orientation.reversesRows
    let own =
      isReversed ? stored.height - lines.upperBound..<stored.height - lines.lowerBound : lines
    return orientation.swapsAxes ? (own, 0..<size.height) : (0..<size.width, own)
  }
}

struct Three<Sample: FixedWidthInteger & BitwiseCopyable>: BitwiseCopyable {
  private let first, second, third: Sample
}
