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
