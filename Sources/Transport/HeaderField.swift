/// One header line: a name in any case and a value without surrounding white space.
public struct HeaderField: Hashable, Sendable {
  /// The field name as it was written.
  public let name: String
  /// The field value.
  public let value: String

  /// Makes a field from a name and a value.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
