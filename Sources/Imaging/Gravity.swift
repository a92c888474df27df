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
  /// What people look at: what stands out from the rest by edges and colours, skin and dishes
  /// first. The middle where nothing does.
  case attention

  var isLeft: Bool { self == .left || self == .topLeft || self == .bottomLeft }
  var isRight: Bool { self == .right || self == .topRight || self == .bottomRight }
  var isTop: Bool { self == .top || self == .topLeft || self == .topRight }
  var isBottom: Bool { self == .bottom || self == .bottomLeft || self == .bottomRight }
}
