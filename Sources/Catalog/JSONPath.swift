/// A path into JSON values. (RFC 9535)
///
/// Filters are safe on hostile input: what they may cost is bounded by the size of the document, and
/// their regular expressions take time in proportion to the text. (RFC 9485)
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

    /// Whether the step leads from one value to one at most.
    var isSingular: Bool {
      guard !isDescendant, selectors.count == 1 else { return false }
      switch selectors[0] {
      case .name, .index: return true
      case .wildcard, .slice, .filter: return false
      }
    }
  }

  /// What a step takes from a value. (RFC 9535, section 2.3)
  enum Selector: Hashable, Sendable {
    case name(String)
    case wildcard
    case index(Int)
    case slice(start: Int?, end: Int?, step: Int)
    case filter(JSONFilter)
  }

  /// Reads a path.
  ///
  /// - Parameter text: A query such as `$.products[?@.price > 0].images[0]`.
  /// - Throws: ``CatalogError`` with code `json-path`; its column is the position in `text`.
  public init(parsing text: String) throws(CatalogError) {
    var parser = JSONPathParser(text)
    self.init(description: text, segments: try parser.parse())
  }

  /// What is wrong with the first regular expression that the path spells out and that is none; nil
  /// when there is no such.
  ///
  /// RFC 9535 lets nothing match it. In a catalog file it is a mistake.
  var faultyPattern: CatalogError? {
    for segment in segments {
      for case .filter(let filter) in segment.selectors {
        guard let (fault, place) = filter.faultyPattern else { continue }
        return JSONPathParser(description).error(
          "\(fault.expected) at position \(fault.position + 1) of the pattern (RFC 9485)",
          at: place
        )
      }
    }
    return nil
  }

  /// Makes a path of steps that are already known.
  init(description: String, segments: [Segment]) {
    self.description = description
    self.segments = segments
    isSingular = segments.allSatisfy(\.isSingular)
  }

  /// The last name in the path, which is how the feed calls what it leads to.
  var lastName: String? {
    for segment in segments.reversed() {
      for case .name(let name) in segment.selectors { return name }
    }
    return nil
  }

  /// The path before its last wildcard, slice or filter: `$.products` for `$.products[?@.price]`.
  var withoutLastChoice: JSONPath? {
    guard let last = segments.last, !last.isDescendant, last.selectors.count == 1 else {
      return nil
    }
    switch last.selectors[0] {
    case .wildcard, .slice, .filter:
      return JSONPath(description: description, segments: segments.dropLast())
    case .name, .index: return nil
    }
  }
}
