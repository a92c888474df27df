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

/// Copies rows of a stored picture to their places in the upright picture.
struct Turning {
  private let stored: PixelSize
  private let pixelBytes: Int
  /// The index of the upright pixel that is stored first.
  private let start: Int
  /// The distance, in upright pixels, from a stored pixel to its right neighbour; negative if the neighbour comes
  /// earlier.
  private let across: Int
  /// The distance, in upright pixels, from a stored pixel to the pixel below it; negative if that pixel comes earlier.
  private let down: Int

  init(_ stored: PixelSize, from orientation: Orientation, _ pixelBytes: Int) {
    (self.stored, self.pixelBytes) = (stored, pixelBytes)
    let size = orientation.upright(stored)
    let column = orientation.reversesColumns ? -1 : 1
    let row = orientation.reversesRows ? -size.width : size.width
    start = (column < 0 ? size.width - 1 : 0) + (row < 0 ? (size.height - 1) * size.width : 0)
    (across, down) = orientation.swapsAxes ? (row, column) : (column, row)
  }

  /// Copies `count` stored rows, beginning with row `first`, to their places in the upright picture.
  func lay(
    _ rows: UnsafePointer<UInt8>,
    first: Int,
    count: Int,
    into target: UnsafeMutablePointer<UInt8>
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
    into target: UnsafeMutablePointer<UInt8>,
    as: Pixel.Type
  ) {
    let (source, target) = (UnsafeRawPointer(rows), UnsafeMutableRawPointer(target))
    let bytes = MemoryLayout<Pixel>.size
    // Pixels are copied in tiles. With long rows, either the source or the target would jump from row to row and miss
    // the cache.
    let tile = 32
    for top in stride(from: lines.lowerBound, to: lines.upperBound, by: tile) {
      for left in stride(from: 0, to: stored.width, by: tile) {
        for y in top..<min(top + tile, lines.upperBound) {
          // SAFETY: each stored pixel corresponds to exactly one upright pixel, and `source` begins with the first of
          // the rows `lines`.
          var from = source + ((y - lines.lowerBound) * stored.width + left) * bytes
          var to = target + (start + y * down + left * across) * bytes
          for _ in left..<min(left + tile, stored.width) {
            to.storeBytes(of: from.loadUnaligned(as: Pixel.self), as: Pixel.self)
            from += bytes
            to += across * bytes
          }
        }
      }
    }
  }
}

struct Three<Sample: FixedWidthInteger & BitwiseCopyable>: BitwiseCopyable {
  private let first, second, third: Sample
}
