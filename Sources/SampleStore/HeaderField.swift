/// A header line of a request or an answer, such as `Accept: */*`.
package struct HeaderField: Hashable, Sendable {
  /// The name with its upper-case and lower-case letters as they are sent.
  package var name: String
  /// The value, without white space at its ends.
  package var value: String

  /// Creates a header line.
  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether the field has a name; upper and lower case are equal. (RFC 9110, section 5.1)
  func isNamed(_ other: String) -> Bool {
    name.lowercased() == other.lowercased()
  }
}

extension [HeaderField] {
  /// Replaces all fields with a name by a single field.
  mutating func set(_ name: String, _ value: String) {
    removeAll { $0.isNamed(name) }
    append(HeaderField(name, value))
  }
}
