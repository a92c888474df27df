import CSimdjson
import Synchronization

/// One parsed JSON text (RFC 8259).
///
/// Its memory is freed exactly once, when its last node is gone.
///
/// simdjson parses it. The tree takes about as much memory as the text.
///
/// It tolerates errors of feeds as long as no data is lost. A byte order mark is skipped, the last of duplicate names
/// counts, and NUL escapes are kept. A number that fits neither `Int` nor `Double` becomes text with the same digits.
/// Half a surrogate pair becomes U+FFFD.
public final class JSONDocument: @unchecked Sendable {
  // SAFETY: the tree never changes after `init`, and reading simdjson's values touches no shared state. Nodes hold the
  // document, so no value outlives it.
  private let tree: OpaquePointer
  /// The name of the text, for messages.
  private let subject: String
  /// The maximum number of steps that all filters and descendants of paths may take together.
  private let stepLimit: Int
  private let stepsTaken = Atomic(0)
  /// The run's limits, checked every few thousand steps.
  private let limits: DecodingLimits

  /// Parses a text that holds exactly one value.
  ///
  /// - Parameters:
  ///   - bytes: The text in UTF-8.
  ///   - subject: The name of the text, for messages: "section main".
  ///   - depthLimit: The maximum depth of nested arrays and objects.
  /// - Throws: ``CatalogError`` with line, column and the expected token.
  public convenience init(
    parsing bytes: [UInt8],
    of subject: String = "JSON",
    depthLimit: Int = 128
  ) throws(CatalogError) {
    try self.init(parsing: bytes, of: subject, depthLimit: depthLimit, within: DecodingLimits())
  }

  /// Parses a text; paths stop being evaluated in it when the run ends.
  init(
    parsing bytes: [UInt8],
    of subject: String,
    depthLimit: Int = 128,
    within limits: DecodingLimits
  ) throws(CatalogError) {
    self.subject = subject
    self.limits = limits
    // A filter looks at every item a few times. More than eight steps for each byte are an attack or a mistake.
    stepLimit = 1_000_000 + 8 * bytes.count
    let text = JSONText(bytes)
    if let tree = Self.parse(text.bytes, depthLimit: depthLimit) {
      self.tree = tree
      return
    }
    if let offset = text.offset(deeperThan: depthLimit) {
      throw text.error(
        .tooDeep,
        at: offset,
        subject: subject,
        expected: "at most \(depthLimit) levels"
      )
    }
    if let repair = JSONRepair(text.bytes),
      let tree = Self.parse(repair.bytes, depthLimit: depthLimit)
    {
      self.tree = tree
      return
    }
    throw text.error(subject: subject)
  }

  deinit { larder_json_free(tree) }

  /// The outermost value.
  public var root: JSONNode { JSONNode(value: larder_json_root(tree), document: self) }

  /// Counts the steps that paths take through this document.
  ///
  /// - Throws: ``CatalogError`` when there are more steps than a document of this size can need.
  func count(steps: Int) throws(CatalogError) {
    let taken = stepsTaken.wrappingAdd(steps, ordering: .relaxed).newValue
    if taken >> 14 != (taken - steps) >> 14 { try limits.demandTime(subject) }
    guard taken > stepLimit else { return }
    throw CatalogError(
      .pathWork,
      subject: subject,
      reason: "filters and \"..\" take more than \(stepLimit) steps through it",
      remedy: "write paths that look at fewer values"
    )
  }

  private static func parse(_ bytes: ArraySlice<UInt8>, depthLimit: Int) -> OpaquePointer? {
    bytes.withUnsafeBytes {
      larder_json_parse($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, depthLimit)
    }
  }
}

/// A value inside a ``JSONDocument``, which it keeps alive.
public struct JSONNode: Sendable {
  private let value: larder_json_value
  let document: JSONDocument

  fileprivate init(value: larder_json_value, document: JSONDocument) {
    self.value = value
    self.document = document
  }

  /// The kind of a JSON value.
  public enum Kind: String, Sendable {
    /// Named members.
    case object
    /// An ordered list of elements.
    case array
    /// Text.
    case string
    /// A number without fraction that fits `Int`.
    case integer
    /// Any other number.
    case real
    /// `true` or `false`.
    case boolean
    /// `null`.
    case null
  }

  /// The kind of this value.
  public var kind: Kind {
    switch larder_json_kind_of(value) {
    case LARDER_JSON_OBJECT: .object
    case LARDER_JSON_ARRAY: .array
    case LARDER_JSON_STRING, LARDER_JSON_UNSIGNED: .string
    case LARDER_JSON_INTEGER: .integer
    case LARDER_JSON_REAL: .real
    case LARDER_JSON_BOOLEAN: .boolean
    default: .null
    }
  }

  /// The text of a string; nil for any other value.
  public var text: String? {
    var count = 0
    guard let start = larder_json_string(value, &count) else {
      // A number that fits only `UInt64` is read as text with the same digits, like even larger numbers.
      let isUnsigned = larder_json_kind_of(value) == LARDER_JSON_UNSIGNED
      return isUnsigned ? String(larder_json_unsigned(value)) : nil
    }
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Whether this is a string whose bytes all satisfy a condition.
  ///
  /// No `String` is made.
  func isString(of condition: (UInt8) -> Bool) -> Bool {
    var count = 0
    guard let start = larder_json_string(value, &count) else { return false }
    return UnsafeRawBufferPointer(start: start, count: count).allSatisfy(condition)
  }

  /// The value of an integer; nil for any other value.
  public var integer: Int? {
    kind == .integer ? Int(larder_json_integer(value)) : nil
  }

  /// The value of a number with fraction or exponent; nil for any other value.
  public var real: Double? {
    kind == .real ? larder_json_real(value) : nil
  }

  /// The value of a whole number that fits `UInt64` but not `Int`; nil for any other value.
  var unsigned: UInt64? {
    larder_json_kind_of(value) == LARDER_JSON_UNSIGNED ? larder_json_unsigned(value) : nil
  }

  /// `true` or `false`; nil for any other value.
  public var boolean: Bool? {
    kind == .boolean ? larder_json_boolean(value) : nil
  }

  /// Whether both nodes are the same value at the same position of the same document.
  func isSamePlace(as other: JSONNode) -> Bool {
    document === other.document && value.words.0 == other.value.words.0
      && value.words.1 == other.value.words.1
  }

  /// Counts one reading of this value: one step, and one more for each element or member.
  func countLook() throws(CatalogError) {
    try document.count(steps: 1 + larder_json_count(value))
  }

  /// The number of elements or members; 0 for a value that is neither an array nor an object.
  public var count: Int {
    kind == .object ? members.count : larder_json_count(value)
  }

  /// The member with a name; nil when it is absent, or when this is not an object.
  public subscript(name: String) -> JSONNode? {
    var name = name
    var member = larder_json_value()
    let isFound = name.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        larder_json_find(value, $0.baseAddress, $0.count, &member)
      }
    }
    return isFound ? JSONNode(value: member, document: document) : nil
  }

  /// The element at an index that counts from 0; nil when there is no such element.
  ///
  /// It counts from the first element every time; use ``elements`` to visit all elements.
  public subscript(index: Int) -> JSONNode? {
    var element = larder_json_value()
    guard index >= 0, larder_json_element(value, index, &element) else { return nil }
    return JSONNode(value: element, document: document)
  }

  /// The elements of an array; empty for any other value.
  public var elements: [JSONNode] {
    guard kind == .array else { return [] }
    let count = larder_json_count(value)
    // Writing the count into an array of capacity 0 would change the empty array that all threads share.
    guard count > 0 else { return [] }
    return withUnsafeTemporaryAllocation(of: larder_json_value.self, capacity: count) { values in
      let found = larder_json_elements(value, values.baseAddress, count)
      return [JSONNode](unsafeUninitializedCapacity: found) { nodes, written in
        for place in 0..<found {
          nodes.initializeElement(
            at: place,
            to: JSONNode(value: values[place], document: document)
          )
        }
        written = found
      }
    }
  }

  /// The members of an object in the text's order; empty for any other value.
  ///
  /// If a name is repeated, its last value counts, at the position of the name's first occurrence.
  public var members: [(name: String, value: JSONNode)] {
    guard kind == .object else { return [] }
    let count = larder_json_count(value)
    guard count > 0 else { return [] }
    let found = [larder_json_member](unsafeUninitializedCapacity: count) { buffer, written in
      written = larder_json_members(value, buffer.baseAddress, count)
    }
    var members: [(name: String, value: JSONNode)] = []
    // Names are compared by bytes: names that are equivalent in Unicode are not equal in JSON. (RFC 8259, section 8.3)
    var places: [[UInt8]: Int] = [:]
    members.reserveCapacity(count)
    for member in found {
      let bytes = UnsafeRawBufferPointer(start: member.name, count: member.count)
      let name = String(decoding: bytes, as: UTF8.self)
      let value = JSONNode(value: member.value, document: document)
      if let place = places.updateValue(members.count, forKey: Array(bytes)) {
        places[Array(bytes)] = place
        members[place].value = value
      } else {
        members.append((name, value))
      }
    }
    return members
  }

  /// The first members of an object, including repeated names.
  func firstMembers(_ most: Int) -> [(name: String, value: JSONNode)] {
    guard kind == .object else { return [] }
    let found = [larder_json_member](unsafeUninitializedCapacity: most) { buffer, written in
      written = larder_json_members(value, buffer.baseAddress, most)
    }
    return found.map { member in
      let bytes = UnsafeRawBufferPointer(start: member.name, count: member.count)
      let value = JSONNode(value: member.value, document: document)
      return (String(decoding: bytes, as: UTF8.self), value)
    }
  }

  /// The elements of an array or the values of an object; empty for any other value.
  public var children: [JSONNode] {
    kind == .object ? members.map(\.value) : elements
  }
}

extension JSONNode {
  /// The text (`#text`) of an XML element that also has attributes; any other value itself.
  var content: JSONNode { kind == .object ? self["#text"] ?? self : self }

  /// Writes the value as JSON.
  func write(to writer: inout StoredFormWriter) {
    switch kind {
    case .object:
      let members = self.members
      writer.object {
        for (name, value) in members {
          $0.name(escaping: name)
          value.write(to: &$0)
        }
      }
    case .array:
      let elements = self.elements
      writer.array { for element in elements { element.write(to: &$0) } }
    case .string: writer.value(text ?? "")
    case .integer: writer.value(integer)
    case .real: writer.value(real ?? 0)
    case .boolean: writer.value(boolean ?? false)
    case .null: writer.value(nil as String?)
    }
  }
}
