/// The part of a picture that a square crop keeps.
public enum Gravity: String, Sendable, CaseIterable {
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

  /// Where a square of `side` begins in an upright picture; an odd difference is floored.
  func origin(of side: Int, in size: PixelSize) -> (x: Int, y: Int) {
    let spare = (x: size.width - side, y: size.height - side)
    let x =
      switch self {
      case .left, .topLeft, .bottomLeft: 0
      case .right, .topRight, .bottomRight: spare.x
      case .centre, .top, .bottom: spare.x / 2
      }
    let y =
      switch self {
      case .top, .topLeft, .topRight: 0
      case .bottom, .bottomLeft, .bottomRight: spare.y
      case .centre, .left, .right: spare.y / 2
      }
    return (x, y)
  }
}
