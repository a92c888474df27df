extension JSONPath {
  /// All values that the path selects, in the order of RFC 9535.
  ///
  /// - Parameter root: What `$` stands for.
  /// - Returns: The values; one may come more than once.
  public func values(in root: JSONNode) -> [JSONNode] {
    var values = [root]
    for segment in segments {
      var selected: [JSONNode] = []
      for value in values {
        segment.isDescendant
          ? Self.descend(value, segment.selectors, into: &selected)
          : Self.select(value, segment.selectors, into: &selected)
      }
      values = selected
    }
    return values
  }

  /// The first value that the path selects.
  ///
  /// - Parameter root: What `$` stands for.
  /// - Returns: The value; nil when there is none.
  public func firstValue(in root: JSONNode) -> JSONNode? {
    var value = root
    for (index, segment) in segments.enumerated() {
      guard !segment.isDescendant, segment.selectors.count == 1 else {
        return remainder(from: index).values(in: value).first
      }
      let next: JSONNode?
      switch segment.selectors[0] {
      case .name(let name): next = value[name]
      case .index(let position):
        next = value.kind == .array ? value[position < 0 ? value.count + position : position] : nil
      case .wildcard, .slice: return remainder(from: index).values(in: value).first
      }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  private func remainder(from index: Int) -> JSONPath {
    JSONPath(description: description, segments: Array(segments[index...]))
  }

  /// Selects from a value, then from all below it, parents before children.
  private static func descend(
    _ value: JSONNode,
    _ selectors: [Selector],
    into selected: inout [JSONNode]
  ) {
    select(value, selectors, into: &selected)
    for child in value.children { descend(child, selectors, into: &selected) }
  }

  private static func select(
    _ value: JSONNode,
    _ selectors: [Selector],
    into selected: inout [JSONNode]
  ) {
    for selector in selectors {
      switch selector {
      case .name(let name):
        if let member = value[name] { selected.append(member) }
      case .wildcard: selected += value.children
      case .index(let index):
        guard value.kind == .array else { continue }
        if let element = value[index < 0 ? value.count + index : index] {
          selected.append(element)
        }
      case .slice(let start, let end, let step):
        guard value.kind == .array else { continue }
        let positions = slice(of: value.count, start: start, end: end, step: step)
        selected += positions.compactMap { value[$0] }
      }
    }
  }

  /// The positions that a slice takes from an array. (RFC 9535, section 2.3.4.2.2)
  private static func slice(
    of count: Int,
    start: Int?,
    end: Int?,
    step: Int
  ) -> StrideTo<Int> {
    func normalized(_ index: Int) -> Int { index >= 0 ? index : count + index }
    guard step != 0 else { return stride(from: 0, to: 0, by: 1) }
    if step > 0 {
      let lower = min(max(normalized(start ?? 0), 0), count)
      let upper = min(max(normalized(end ?? count), 0), count)
      return stride(from: lower, to: upper, by: step)
    }
    let upper = min(max(start.map(normalized) ?? count - 1, -1), count - 1)
    let lower = min(max(end.map(normalized) ?? -1, -1), count - 1)
    return stride(from: upper, to: lower, by: step)
  }
}
