import CSimdjson
import Synchronization

/// One parsed JSON text (RFC 8259), freed exactly once, when its last node is gone.
///
/// simdjson parses it. The tree takes about as much memory as the text.
///
/// It tolerates careless feeds where nothing is lost by that. A byte order mark is skipped, the last of duplicate names
/// wins, and NUL escapes are kept. A number that fits neither `Int` nor `Double` becomes text with the same digits;
/// half a surrogate pair becomes U+FFFD.
public final class JSONDocument: @unchecked Sendable {
  // SAFETY: the tree is never changed after `init`, reading simdjson's values touches no shared
  // state, and nodes hold the document, so no value outlives it.
  private let tree: OpaquePointer
  /// The name of the text, for messages.
  private let subject: String
  /// How many steps the filters and descendants of paths may take in all.
  private let stepLimit: Int
  private let stepsTaken = Atomic(0)
  /// The run's limits, checked every few thousand steps.
  private let limits: DecodingLimits

  /// Parses a text that holds exactly one value.
  ///
  /// - Parameters:
  ///   - bytes: The text in UTF-8.
  ///   - subject: The name of the text, for messages: "section main".
  ///   - depthLimit: How many arrays and objects may be nested.
  /// - Throws: ``CatalogError`` with line, column and the expected token.
  public convenience init(
    parsing bytes: [UInt8],
    of subject: String = "JSON",
    depthLimit: Int = 128
  ) throws(CatalogError) {
    try self.init(parsing: bytes, of: subject, depthLimit: depthLimit, within: DecodingLimits())
  }

  /// Parses a text; the evaluation of paths in it stops once the run ends.
  init(
    parsing bytes: [UInt8],
    of subject: String,
    depthLimit: Int = 128,
    within limits: DecodingLimits
  ) throws(CatalogError) {
    self.subject = subject
    self.limits = limits
    // A filter looks at every item a few times. More steps than eight for each byte are an attack or a mistake.
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

  /// Counts steps that paths take through this document.
  ///
  /// - Throws: ``CatalogError`` once there are more than a document of this size needs.
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
    /// Members by name.
    case object
    /// Elements in order.
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

  /// The text of a string; nil for anything else.
  public var text: String? {
    var count = 0
    guard let start = larder_json_string(value, &count) else {
      // A number that fits only `UInt64` is text with the same digits, like larger ones.
      let isUnsigned = larder_json_kind_of(value) == LARDER_JSON_UNSIGNED
      return isUnsigned ? String(larder_json_unsigned(value)) : nil
    }
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Whether this is a string whose bytes all satisfy a condition; it makes no `String` of them.
  func isString(of condition: (UInt8) -> Bool) -> Bool {
    var count = 0
    guard let start = larder_json_string(value, &count) else { return false }
    return UnsafeRawBufferPointer(start: start, count: count).allSatisfy(condition)
  }

  /// The value of an integer; nil for anything else.
  public var integer: Int? {
    kind == .integer ? Int(larder_json_integer(value)) : nil
  }

  /// The value of a number with fraction or exponent; nil for anything else.
  public var real: Double? {
    kind == .real ? larder_json_real(value) : nil
  }

  /// The value of a whole number that fits `UInt64` only; nil for anything else.
  var unsigned: UInt64? {
    larder_json_kind_of(value) == LARDER_JSON_UNSIGNED ? larder_json_unsigned(value) : nil
  }

  /// `true` or `false`; nil for anything else.
  public var boolean: Bool? {
    kind == .boolean ? larder_json_boolean(value) : nil
  }

  /// Whether both are the same place of the same document.
  func isSamePlace(as other: JSONNode) -> Bool {
    document === other.document && value.words.0 == other.value.words.0
      && value.words.1 == other.value.words.1
  }

  /// Counts a look at this value: one step, and one more for each element or member.
  func countLook() throws(CatalogError) {
    try document.count(steps: 1 + larder_json_count(value))
  }

  /// How many elements or members there are; 0 for anything but an array or object.
  public var count: Int {
    kind == .object ? members.count : larder_json_count(value)
  }

  /// The member with that name; nil when absent, and for anything but an object.
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

  /// The element at an index that counts from 0; nil when there is none.
  ///
  /// It walks from the first element; use ``elements`` to visit all of them.
  public subscript(index: Int) -> JSONNode? {
    var element = larder_json_value()
    guard index >= 0, larder_json_element(value, index, &element) else { return nil }
    return JSONNode(value: element, document: document)
  }

  /// The elements of an array; empty for anything else.
  public var elements: [JSONNode] {
    guard kind == .array else { return [] }
    let count = larder_json_count(value)
    // An array of capacity 0 would write its count into the empty array that all threads share.
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

  /// The members of an object in the text's order; empty for anything else.
  ///
  /// If a name is repeated, its last value counts, at the position of the first.
  public var members: [(name: String, value: JSONNode)] {
    guard kind == .object else { return [] }
    let count = larder_json_count(value)
    guard count > 0 else { return [] }
    let found = [larder_json_member](unsafeUninitializedCapacity: count) { buffer, written in
      written = larder_json_members(value, buffer.baseAddress, count)
    }
    var members: [(name: String, value: JSONNode)] = []
    // By bytes: names in JSON are not equal merely because they are equivalent in Unicode. (RFC 8259, section 8.3)
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

  /// The first members of an object, repeated names included.
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

  /// The elements of an array or the values of an object; empty for anything else.
  public var children: [JSONNode] {
    kind == .object ? members.map(\.value) : elements
  }
}

extension JSONNode {
  /// The value, or the `#text` of an XML element that has attributes too.
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
