/// How a picture goes into a frame of another shape.
public enum PictureFit: String, Sendable, CaseIterable, Codable {
  /// The frame is filled, and the rest of the picture is cut off.
  case cover
  /// The whole picture is kept, and the rest of the frame is background.
  case contain
}

/// How an upright picture becomes a result: the part, its size, and its place.
///
/// A plan; nothing is decoded to make it.
struct Framing: Equatable {
  /// The part of the upright picture that is kept.
  let window: PixelRegion
  /// The size that the window is scaled to; its own where it is not.
  let scaled: PixelSize
  /// The size of the result, of which nothing but background lies outside of the scaled window.
  let canvas: PixelSize
  /// Where the scaled window lies on the canvas.
  let place: (x: Int, y: Int)
  /// The point that the window was drawn to.
  let focus: Focus

  /// Whether pixels are new.
  var isScaled: Bool { scaled != window.size }

  /// Whether pixels are more than twice as many, across or down, as the picture has.
  var isEnlarged: Bool {
    scaled.width > window.width * 2 || scaled.height > window.height * 2
  }

  /// How many times more pixels the window has, along either side, than leave the filter two for one of the
  /// result.
  var spare: Double {
    let across = Double(window.width) / Double(scaled.width)
    let down = Double(window.height) / Double(scaled.height)
    return min(across, down) / 2
  }

  /// Whether there is background around the picture.
  var isPadded: Bool { scaled != canvas }

  /// Plans a result.
  ///
  /// - Parameters:
  ///   - upright: The size of the picture, at least 1 × 1.
  ///   - frame: The size that is asked for; nil for a square of pixels as they are.
  ///   - fit: How the picture goes into the frame.
  ///   - focus: The point that the kept part is drawn to.
  ///   - gravity: Where a picture lies in a frame that it does not fill.
  ///   - enlarges: Whether pixels may be made where there are too few.
  init(
    _ upright: PixelSize,
    frame: PixelSize?,
    fit: PictureFit,
    focus: Focus,
    gravity: Gravity,
    enlarges: Bool
  ) {
    self.focus = focus
    switch fit {
    case .cover:
      let size = Self.shape(of: frame ?? PixelSize(width: 1, height: 1), within: upright)
      window = focus.region(of: size, in: upright)
      let isSmaller = frame.map { size.width < $0.width || size.height < $0.height } ?? false
      scaled = isSmaller && !enlarges ? size : frame ?? size
      canvas = scaled
      place = (0, 0)
    case .contain:
      window = PixelRegion(x: 0, y: 0, width: upright.width, height: upright.height)
      let longer = max(upright.width, upright.height)
      canvas = frame ?? PixelSize(width: longer, height: longer)
      let fitting = Self.shape(of: upright, within: canvas)
      let isSmaller = upright.width < fitting.width || upright.height < fitting.height
      scaled = isSmaller && !enlarges ? upright : fitting
      let region = Focus(gravity, in: canvas).region(of: scaled, in: canvas)
      place = (region.x, region.y)
    }
  }

  /// The largest size within `limits` that has the shape of `other`, as near as whole pixels can.
  private static func shape(of other: PixelSize, within limits: PixelSize) -> PixelSize {
    func part(_ side: Int, _ times: Int, _ over: Int, _ most: Int) -> Int {
      min(max((side * times + over / 2) / over, 1), most)
    }
    return limits.width * other.height >= limits.height * other.width
      ? PixelSize(
        width: part(limits.height, other.width, other.height, limits.width),
        height: limits.height
      )
      : PixelSize(
        width: limits.width,
        height: part(limits.width, other.height, other.width, limits.height)
      )
  }

  static func == (left: Framing, right: Framing) -> Bool {
    left.window == right.window && left.scaled == right.scaled && left.canvas == right.canvas
      && left.place == right.place && left.focus == right.focus
  }
}

/// The point of an upright picture that a part of it is drawn to, in pixels from the top left.
struct Focus: Equatable {
  var x: Double
  var y: Double

  /// Takes a point.
  init(x: Double, y: Double) {
    (self.x, self.y) = (x, y)
  }

  /// The point that a gravity draws to: an edge, a corner or the middle.
  ///
  /// Attention needs more than the size; it gives the middle here.
  init(_ gravity: Gravity, in size: PixelSize) {
    func along(_ isNear: Bool, _ isFar: Bool, _ length: Int) -> Double {
      isNear ? 0 : isFar ? Double(length) : Double(length) / 2
    }
    x = along(gravity.isLeft, gravity.isRight, size.width)
    y = along(gravity.isTop, gravity.isBottom, size.height)
  }

  /// The part of a picture that lies around this point as far as the edges allow; halves of a pixel
  /// are floored.
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

/// The part of a picture that a crop keeps.
public enum Gravity: String, Sendable, CaseIterable, Codable {
  /// The middle.
  case centre
  /// The top edge, in the middle of it.
  case top
  /// The bottom edge, in the middle of it.
  case bottom
  /// The left edge, in the middle of it.
  case left
  /// The right edge, in the middle of it.
  case right
  /// The corner at the top left.
  case topLeft = "top-left"
  /// The corner at the top right.
  case topRight = "top-right"
  /// The corner at the bottom left.
  case bottomLeft = "bottom-left"
  /// The corner at the bottom right.
  case bottomRight = "bottom-right"
  /// The most salient part: places that stand out from the rest by edges and colours, skin and
  /// dishes first. The middle where nothing does.
  case attention

  var isLeft: Bool { self == .left || self == .topLeft || self == .bottomLeft }
  var isRight: Bool { self == .right || self == .topRight || self == .bottomRight }
  var isTop: Bool { self == .top || self == .topLeft || self == .topRight }
  var isBottom: Bool { self == .bottom || self == .bottomLeft || self == .bottomRight }
}
