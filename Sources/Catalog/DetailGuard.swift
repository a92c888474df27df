/// Keeps what details held in a field that all of them have suddenly lost: a shop that renames a field takes
/// it from all details at once.
///
/// The counterpart of `FieldGuard` for what is fetched item by item.
public enum DetailGuard {
  /// What a run learned of one field.
  public struct Evidence: Hashable, Sendable {
    /// How many details that are held were answered for.
    public var held = 0
    /// How many of those had the field.
    public var had = 0
    /// Whether any detail has it now, be it new or as it was.
    public var isLeft = false
    /// How many of the held came anew.
    public var came = 0
    /// How many of those had the field.
    public var cameWith = 0
    /// Whether any of what came has it.
    public var isInNew = false

    /// Evidence of nothing.
    public init() {}
  }

  /// Details that lose a field together and stand for those that were not asked for.
  static let telling = 10

  /// Judges whether a field is lost as if by a fault, rather than dropped by some details.
  ///
  /// It is when more than half of the details had it and none has it now. Of details that are asked for a
  /// few at a time, as each goes stale, ten that come anew tell as much: more than half of them had it and
  /// none has. Fewer than three details may change as they like.
  ///
  /// - Parameter evidence: What a run learned of the field.
  /// - Returns: Whether what was held is to stay.
  public static func isLost(_ evidence: Evidence) -> Bool {
    guard evidence.held >= 3 else { return false }
    if !evidence.isLeft { return evidence.had * 2 > evidence.held }
    return !evidence.isInNew && evidence.cameWith >= telling
      && evidence.cameWith * 2 > evidence.came
  }
}
