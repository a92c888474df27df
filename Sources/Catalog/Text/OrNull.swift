/// A member of a JSON document whose key is always present: `null` if it has no value.
///
/// Without this wrapper, the compiler's coding leaves out the key of an optional that is nil.
@propertyWrapper
package struct OrNull<Value> {
  /// The value, if there is one.
  package var wrappedValue: Value?

  /// Wraps a value.
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

extension OrNull: Decodable where Value: Decodable {
  /// Reads a value, or `null`.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension KeyedDecodingContainer {
  /// Reads a member that may be absent, as for an optional.
  ///
  /// The coding that the compiler generates calls this.
  package func decode<Value: Decodable>(
    _ type: OrNull<Value>.Type,
    forKey key: Key
  ) throws -> OrNull<Value> {
    OrNull(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}
