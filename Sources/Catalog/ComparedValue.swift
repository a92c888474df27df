/// A value as filters compare it. (RFC 9535, section 2.3.5.2.2)
enum ComparedValue {
  /// No value, which is another thing than `null`.
  case nothing
  /// A value that is no array and no object.
  case literal(JSONFilter.Literal)
  /// An array or an object.
  case structure(JSONNode)

  /// What a node is; nothing for none.
  init(_ node: JSONNode?) {
    guard let node else {
      self = .nothing
      return
    }
    switch node.kind {
    case .array, .object: self = .structure(node)
    case .string:
      self = .literal(node.unsigned.map { .real(Double($0)) } ?? .text(node.text ?? ""))
    case .integer: self = .literal(.integer(node.integer ?? 0))
    case .real: self = .literal(.real(node.real ?? 0))
    case .boolean: self = .literal(.boolean(node.boolean ?? false))
    case .null: self = .literal(.null)
    }
  }

  /// The text; nil for anything else.
  var text: String? {
    if case .literal(.text(let text)) = self { text } else { nil }
  }

  /// Whether both are the same JSON value: numbers by their value, texts by their scalars.
  func equals(_ other: ComparedValue) throws(CatalogError) -> Bool {
    switch (self, other) {
    case (.nothing, .nothing): true
    case (.literal(let one), .literal(let two)): one.equals(two)
    case (.structure(let one), .structure(let two)): try one.equals(two)
    default: false
    }
  }

  /// Whether this comes before another number or text; nothing else is ordered.
  func precedes(_ other: ComparedValue) -> Bool {
    switch (self, other) {
    case (.literal(.integer(let one)), .literal(.integer(let two))): one < two
    case (.literal(.text(let one)), .literal(.text(let two))):
      // The order of UTF-8 is that of Unicode scalars; Swift's own ignores how accents are composed.
      one.utf8.lexicographicallyPrecedes(two.utf8)
    case (.literal(let one), .literal(let two)):
      if let one = one.number, let two = two.number { one < two } else { false }
    default: false
    }
  }
}

extension JSONFilter.Literal {
  /// The number; nil for anything else.
  var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }

  /// Whether both are the same JSON value.
  func equals(_ other: Self) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.boolean(let one), .boolean(let two)): one == two
    case (.integer(let one), .integer(let two)): one == two
    case (.text(let one), .text(let two)): one.utf8.elementsEqual(two.utf8)
    default: if let one = number, let two = other.number { one == two } else { false }
    }
  }
}

extension JSONNode {
  /// Whether two arrays or objects hold the same.
  fileprivate func equals(_ other: JSONNode) throws(CatalogError) -> Bool {
    if isSamePlace(as: other) { return true }
    try countLook()
    guard kind == other.kind, count == other.count else { return false }
    if kind == .array {
      for (one, two) in zip(elements, other.elements) {
        guard try ComparedValue(one).equals(ComparedValue(two)) else { return false }
      }
      return true
    }
    for member in members {
      try other.countLook()
      guard let two = other[member.name] else { return false }
      guard try ComparedValue(member.value).equals(ComparedValue(two)) else { return false }
    }
    return true
  }
}
