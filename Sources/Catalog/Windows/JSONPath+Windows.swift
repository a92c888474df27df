extension JSONPath {
  /// The names that lead to an array, by taking one member after the other, and whether the path then chooses among
  /// its elements by what each of them says alone; nil of any other path.
  var namesOfArray: (names: [String], isChoice: Bool)? {
    var names: [String] = []
    for (place, segment) in segments.enumerated() {
      if let name = segment.plainName {
        names.append(name)
      } else if place == segments.count - 1, segment.choosesAlone {
        return (names, true)
      } else {
        return nil
      }
    }
    return (names, false)
  }

  /// Whether the path ends in all elements of an array.
  var isOfEvery: Bool { segments.last?.selectors == [.wildcard] }

  /// Whether the path never looks into what is at `names`, an array.
  func staysOutside(_ names: [String]) -> Bool {
    for (place, segment) in segments.enumerated() {
      guard !segment.isDescendant, segment.selectors.count == 1 else { return false }
      let isArray = place >= names.count
      switch segment.selectors[0] {
      case .name(let name) where isArray || name != names[place]: return true
      case .name: break
      // Past the members on the way, which are objects.
      case .wildcard where !isArray: break
      case .index, .slice: return !isArray
      case .wildcard, .filter: return false
      }
    }
    return segments.count < names.count
  }
}

extension JSONPath.Segment {
  /// The one name that the step takes; nil when it takes anything else.
  fileprivate var plainName: String? {
    guard !isDescendant, selectors.count == 1, case .name(let name) = selectors[0] else {
      return nil
    }
    return name
  }

  /// Whether the step takes elements, or leaves them, by what each of them says alone.
  fileprivate var choosesAlone: Bool {
    guard !isDescendant, selectors.count == 1 else { return false }
    return switch selectors[0] {
    case .wildcard: true
    case .filter(let filter): filter.isOfElementAlone
    case .name, .index, .slice: false
    }
  }
}

extension JSONFilter {
  /// Whether it looks at nothing but the element in question.
  fileprivate var isOfElementAlone: Bool {
    switch self {
    case .any(let filters), .all(let filters): filters.allSatisfy(\.isOfElementAlone)
    case .not(let filter): filter.isOfElementAlone
    case .exists(let query): query.isOfElementAlone
    case .compares(let left, _, let right): left.isOfElementAlone && right.isOfElementAlone
    case .finds(let operand, let pattern, _):
      if case .computed(let other) = pattern {
        operand.isOfElementAlone && other.isOfElementAlone
      } else {
        operand.isOfElementAlone
      }
    }
  }
}

extension JSONFilter.Query {
  fileprivate var isOfElementAlone: Bool {
    isRelative
      && segments.allSatisfy { segment in
        segment.selectors.allSatisfy { selector in
          if case .filter(let filter) = selector { filter.isOfElementAlone } else { true }
        }
      }
  }
}

extension JSONFilter.Operand {
  fileprivate var isOfElementAlone: Bool {
    switch self {
    case .literal: true
    case .only(let query), .count(let query), .value(let query): query.isOfElementAlone
    case .length(let operand): operand.isOfElementAlone
    }
  }
}
