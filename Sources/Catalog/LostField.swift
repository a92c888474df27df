/// A field that is there and could not be read; what it belongs to does without it.
public struct LostField: Hashable, Sendable, Codable {
  /// The field as the feed calls it; nil when its path ends in no name.
  public var field: String?
  /// Why it could not be used.
  public var reason: String

  /// Makes a record.
  public init(field: String?, reason: String) {
    self.field = field
    self.reason = reason
  }
}
