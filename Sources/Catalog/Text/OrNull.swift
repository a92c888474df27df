/// A property whose key is always written to JSON, with `null` if the property is nil.
///
/// Without this wrapper, the coding that the compiler generates leaves out the key of a property that is nil.
@propertyWrapper
package struct OrNull<Value> {
  /// The value, or nil if there is none.
  package var wrappedValue: Value?

  /// Makes a wrapper of a value.
  package init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }
}

extension OrNull: Sendable where Value: Sendable {}
extension OrNull: Equatable where Value: Equatable {}
extension OrNull: Hashable where Value: Hashable {}

extension OrNull: Encodable where Value: Encodable {
  /// Writes the value, or `null`.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}
