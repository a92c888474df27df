/// A path into JSON values. (RFC 9535, without filters)
///
/// Names, indices, wildcards, slices, several selectors in one bracket, and descendants.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
  /// The path as it was written.
  public let description: String
  /// The steps from the root, in order.
  let segments: [Segment]
  /// Whether the path leads to one value at most. (RFC 9535, section 2.3.5.1)
  let isSingular: Bool

  /// One step: which values to look at, and what to take from them. (RFC 9535, section 2.5)
  struct Segment: Hashable, Sendable {
    /// Whether to look at every descendant (`..`), not at the value alone.
    let isDescendant: Bool
    /// What to take, in order.
    let selectors: [Selector]
  }

  /// What a step takes from a value. (RFC 9535, section 2.3)
  enum Selector: Hashable, Sendable {
    case name(String)
    case wildcard
    case index(Int)
    case slice(start: Int?, end: Int?, step: Int)
  }

  /// Reads a path.
  ///
  /// - Parameter text: A query such as `$.products[*].images[0]`.
  /// - Throws: ``CatalogError`` with code `json-path`; its column is the position in `text`.
  public init(parsing text: String) throws(CatalogError) {
    var parser = JSONPathParser(text)
    self.init(description: text, segments: try parser.parse())
  }

  /// Makes a path of steps that are already known.
  init(description: String, segments: [Segment]) {
    self.description = description
    self.segments = segments
    isSingular = segments.allSatisfy { segment in
      guard !segment.isDescendant, segment.selectors.count == 1 else { return false }
      switch segment.selectors[0] {
      case .name, .index: return true
      case .wildcard, .slice: return false
      }
    }
  }

  /// The last name in the path, which is how the feed calls what it leads to.
  var lastName: String? {
    for segment in segments.reversed() {
      for case .name(let name) in segment.selectors { return name }
    }
    return nil
  }

  /// The path to the arrays whose elements this path selects: `$.products` for `$.products[*]`.
  var withoutLastWildcard: JSONPath? {
    guard let last = segments.last, !last.isDescendant, last.selectors == [.wildcard] else {
      return nil
    }
    return JSONPath(description: description, segments: segments.dropLast())
  }
}
