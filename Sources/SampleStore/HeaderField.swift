/// A header line of a request, such as `Accept: */*`.
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
}
