/// How a picture is fitted into a frame that has another shape.
public enum PictureFit: String, Sendable, CaseIterable, Codable {
  /// The picture fills the frame, and the parts beyond the frame are cut off.
  case cover
  /// The whole picture is kept, and the rest of the frame is background.
  case contain
}

/// How an upright picture becomes a result: the part that is kept, the size to which it is scaled, and its position.
///
/// It is a plan; nothing is decoded to make it.
struct Framing: Equatable {
  /// The part of the upright picture that is kept.
  ///
  /// It is called the window below.
  let window: PixelRegion
  /// The size of the window after scaling; it is the size of the window itself if nothing is scaled.
  let scaled: PixelSize
  /// The size of the result.
  ///
  /// Outside of the scaled window, the result is background.
  let canvas: PixelSize
  /// The position of the scaled window on the canvas, from the top left corner.
  let place: EncodedPicture.Point
  /// The point around which the window was placed.
  let focus: Focus

  var isScaled: Bool { scaled != window.size }

  var isEnlarged: Bool {
    scaled.width > window.width * 2 || scaled.height > window.height * 2
  }

  var isPadded: Bool { scaled != canvas }

  /// Frames a picture.
  ///
  /// - Parameters:
  ///   - upright: The size of the picture, at least 1 × 1.
  ///   - crop: The crop, which says how the picture is fitted into which frame. Without a frame, the result is the
  ///     largest square without scaling.
  ///   - focus: The point around which the kept part is placed.
  init(_ upright: PixelSize, _ crop: Crop, focus: Focus) {
    let (frame, enlarges) = (crop.frame, crop.enlarges)
    self.focus = focus
    switch crop.fit {
    case .cover:
      let size = Self.shape(of: frame ?? PixelSize(width: 1, height: 1), within: upright)
      window = focus.region(of: size, in: upright)
      let isSmaller = frame.map { size.width < $0.width || size.height < $0.height } ?? false
      scaled = isSmaller && !enlarges ? size : frame ?? size
      canvas = scaled
      place = EncodedPicture.Point(x: 0, y: 0)
    case .contain:
      window = PixelRegion(x: 0, y: 0, width: upright.width, height: upright.height)
      let longer = max(upright.width, upright.height)
      canvas = frame ?? PixelSize(width: longer, height: longer)
      let fitting = Self.shape(of: upright, within: canvas)
      let isSmaller = upright.width < fitting.width || upright.height < fitting.height
      scaled = isSmaller && !enlarges ? upright : fitting
      let region = Focus(crop.gravity, in: canvas).region(of: scaled, in: canvas)
      place = EncodedPicture.Point(x: region.x, y: region.y)
    }
  }

  /// The largest size within `limits` that has the proportions of `other`, rounded to whole pixels.
  private static func shape(of other: PixelSize, within limits: PixelSize) -> PixelSize {
    func part(_ side: Int, _ times: Int, _ over: Int, _ most: Int) -> Int {
      min(max((side * times + over / 2) / over, 1), most)
    }
    var size = limits
    if limits.width * other.height >= limits.height * other.width {
      size.width = part(limits.height, other.width, other.height, limits.width)
    } else {
      size.height = part(limits.width, other.height, other.width, limits.height)
    }
    return size
  }
}

/// The point of an upright picture around which the kept part is placed, in pixels from the top left corner.
struct Focus: Equatable {
  var x: Double
  var y: Double

  init(x: Double, y: Double) {
    (self.x, self.y) = (x, y)
  }

  /// Takes the point that a gravity names: the middle, the middle of an edge, or a corner.
  ///
  /// The gravity `attention` depends on pixels, so it is treated as the middle.
  init(_ gravity: Gravity, in size: PixelSize) {
    func along(_ isNear: Bool, _ isFar: Bool, _ length: Int) -> Double {
      isNear ? 0 : isFar ? Double(length) : Double(length) / 2
    }
    x = along(gravity.isLeft, gravity.isRight, size.width)
    y = along(gravity.isTop, gravity.isBottom, size.height)
  }

  /// The region of `size` whose middle is this point; it is moved if it would extend beyond an edge of the picture.
  ///
  /// A position between two pixels is rounded down.
  func region(of size: PixelSize, in whole: PixelSize) -> PixelRegion {
    func start(_ middle: Double, _ length: Int, _ all: Int) -> Int {
      min(max(Int((middle - Double(length) / 2).rounded(.down)), 0), all - length)
    }
    return PixelRegion(
      x: start(x, size.width, whole.width),
      y: start(y, size.height, whole.height),
      width: size.width,
      height: size.height
    )
  }
}

/// The part of a picture that a crop keeps, for example its middle.
public enum Gravity: String, Sendable, CaseIterable, Codable {
  /// The middle.
  case centre
  /// The middle of the top edge.
  case top
  /// The middle of the bottom edge.
  case bottom
  /// The middle of the left edge.
  case left
  /// The middle of the right edge.
  case right
  /// The corner at the top left.
  case topLeft = "top-left"
  /// The corner at the top right.
  case topRight = "top-right"
  /// The corner at the bottom left.
  case bottomLeft = "bottom-left"
  /// The corner at the bottom right.
  case bottomRight = "bottom-right"
  /// The most salient part: the part that stands out by edges, by colours, or by the tones of skin and of cooked
  /// dishes.
  ///
  /// If nothing stands out, it is the middle.
  case attention

  var isLeft: Bool { self == .left || self == .topLeft || self == .bottomLeft }
  var isRight: Bool { self == .right || self == .topRight || self == .bottomRight }
  var isTop: Bool { self == .top || self == .topLeft || self == .topRight }
  var isBottom: Bool { self == .bottom || self == .bottomLeft || self == .bottomRight }
}
