/// How many items of a listing may be lost before the listing is not believed.
public enum SkipLimit: Hashable, Sendable {
  /// So many of a hundred, and at least one unless it is none at all.
  case percent(Double)
  /// So many.
  case count(Int)

  /// What a run allows that was told nothing else.
  public static let standard = SkipLimit.percent(10)

  /// Whether a listing is not to be taken: too many of its elements cannot be read, or none can.
  ///
  /// - Parameters:
  ///   - lost: How many cannot be read.
  ///   - elements: How many the feed lists, these included.
  /// - Returns: Whether it is refused.
  public func refuses(lost: Int, of elements: Int) -> Bool {
    guard lost > 0 else { return false }
    return lost >= elements || isPassed(by: lost, of: elements)
  }

  /// Whether too many elements are lost, however many of the others can be read.
  ///
  /// - Parameters:
  ///   - lost: How many cannot be read.
  ///   - most: How many the feed lists at most, these included.
  /// - Returns: Whether the listing is refused once all of it is read.
  package func isPassed(by lost: Int, of most: Int) -> Bool {
    switch self {
    case .percent(let share):
      return lost > (share > 0 ? 1 : 0) && Double(lost) * 100 > share * Double(most)
    case .count(let limit):
      return lost > limit
    }
  }
}
