/// One header line: a name in any case and a value without surrounding white space.
package struct HeaderField: Hashable, Sendable {
  /// The field name as it was written.
  package let name: String
  /// The field value.
  package let value: String

  /// Makes a field from a name and a value.
  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
