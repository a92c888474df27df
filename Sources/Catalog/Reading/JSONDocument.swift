import CSimdjson
import Synchronization

/// A JSON text that simdjson has parsed into a tree. (RFC 8259)
///
/// The tree takes about as much memory as the text. It is freed exactly once, when neither the document nor one of its
/// nodes is used any more.
///
/// Some mistakes of shops are tolerated, because they lose no data:
/// - A byte order mark is skipped.
/// - If a name occurs twice in an object, the last value counts.
/// - A number that fits neither `Int` nor `Double` becomes a text with the same digits.
/// - Half a surrogate pair becomes U+FFFD, and so does U+0000.
public final class JSONDocument: @unchecked Sendable {
  // SAFETY: the tree never changes after `init`, and reading simdjson's values touches no shared state. Nodes hold the
  // document, so no value outlives it.
  private let tree: OpaquePointer
  let subject: String
  /// The maximum number of steps that the filters and the `..` of all paths together are allowed to take through the
  /// tree.
  private let stepLimit: Int
  private let stepsTaken = Atomic(0)
  private let limits: DecodingLimits

  /// Parses a text that holds exactly one value.
  ///
  /// - Parameters:
  ///   - bytes: The text in UTF-8.
  ///   - subject: The name of the text in error messages, for example "section main".
  ///   - depthLimit: The maximum depth of nested arrays and objects.
  ///   - limits: The limits for decoding, such as a deadline. They are checked while paths are evaluated.
  /// - Throws: ``CatalogError`` with the line and column of the first fault, and the token that was expected there.
  package init(
    parsing bytes: [UInt8],
    of subject: String = "JSON",
    depthLimit: Int = 128,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) {
    self.subject = subject
    self.limits = limits
    // A filter looks at each item a few times. If it takes more than eight steps for each byte of the text, it is a
    // mistake or an attack.
    stepLimit = 1_000_000 + 8 * bytes.count
    let text = JSONText(bytes)
    let hasNUL = text.bytes.withUnsafeBytes {
      larder_json_has_nul($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
    var tree = hasNUL ? nil : Self.parse(text.bytes, depthLimit: depthLimit)
    if tree == nil {
      let repair = try JSONRepair(text, of: subject, depthLimit: depthLimit)
      tree = Self.parse(repair.bytes, depthLimit: depthLimit)
    }
    guard let tree else {
      let expected = "valid JSON (too large for this machine)"
      throw text.fault(expected, at: text.bytes.startIndex, of: subject)
    }
    self.tree = tree
  }

  deinit { larder_json_free(tree) }

  /// The outermost value of the text.
  public var root: JSONNode { JSONNode(value: larder_json_root(tree), document: self) }

  /// Adds to the number of steps that paths have taken through the document.
  ///
  /// - Throws: ``CatalogError`` if the sum exceeds the limit, which depends on the size of the text, or if decoding was
  ///   stopped, for example at a deadline.
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

/// A value inside a ``JSONDocument``.
///
/// It keeps the document alive.
public struct JSONNode: Sendable {
  private let value: larder_json_value
  let document: JSONDocument

  fileprivate init(value: larder_json_value, document: JSONDocument) {
    self.value = value
    self.document = document
  }

  /// The kind of a JSON value.
  public enum Kind: String, Sendable {
    /// A collection of values with names, which are the object's members.
    case object
    /// An ordered list of values, which are the array's elements.
    case array
    /// A text.
    case string
    /// A number that has neither a fraction nor an exponent, and fits `Int`.
    case integer
    /// A number that has a fraction or an exponent.
    case real
    /// `true` or `false`.
    case boolean
    /// `null`.
    case null
  }

  /// The kind of this value.
  public var kind: Kind {
    switch larder_json_read(value).kind {
    case LARDER_JSON_OBJECT: .object
    case LARDER_JSON_ARRAY: .array
    case LARDER_JSON_STRING, LARDER_JSON_UNSIGNED: .string
    case LARDER_JSON_INTEGER: .integer
    case LARDER_JSON_REAL: .real
    case LARDER_JSON_BOOLEAN: .boolean
    default: .null
    }
  }

  /// The text if the value is a string, otherwise nil.
  public var text: String? {
    let content = larder_json_read(value)
    // A whole number that fits `UInt64` but not `Int` is read as a text, as larger numbers are.
    if content.kind == LARDER_JSON_UNSIGNED { return String(content.whole) }
    guard content.kind == LARDER_JSON_STRING else { return nil }
    let bytes = UnsafeRawBufferPointer(start: content.text, count: content.count)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The content of the value if it is of a kind, otherwise nil.
  private func ifKind<Content>(
    _ kind: larder_json_kind,
    _ read: (larder_json_content) -> Content
  ) -> Content? {
    let content = larder_json_read(value)
    return content.kind == kind ? read(content) : nil
  }

  /// Whether the value is a string, and all bytes of its text satisfy a condition.
  ///
  /// This is faster than ``text``, because it makes no `String`.
  func isString(of condition: (UInt8) -> Bool) -> Bool {
    ifKind(LARDER_JSON_STRING) {
      UnsafeRawBufferPointer(start: $0.text, count: $0.count).allSatisfy(condition)
    } ?? false
  }

  /// The number if its kind is ``Kind/integer``, otherwise nil.
  public var integer: Int? { ifKind(LARDER_JSON_INTEGER) { Int($0.integer) } }

  /// The number if its kind is ``Kind/real``, otherwise nil.
  public var real: Double? { ifKind(LARDER_JSON_REAL) { $0.real } }

  /// The number if it is a whole number that fits `UInt64` but not `Int`, otherwise nil.
  ///
  /// Its kind is ``Kind/string``.
  var unsigned: UInt64? { ifKind(LARDER_JSON_UNSIGNED) { $0.whole } }

  /// The value if it is `true` or `false`, otherwise nil.
  public var boolean: Bool? { ifKind(LARDER_JSON_BOOLEAN) { $0.boolean } }

  /// Counts the steps for looking through this value: one step, and one more for each element or member.
  func countLook() throws(CatalogError) {
    try document.count(steps: 1 + larder_json_count(value))
  }

  /// The number of elements of an array or of members of an object.
  ///
  /// It is 0 for other values.
  public var count: Int {
    kind == .object ? members.count : larder_json_count(value)
  }

  /// The member with the given name, or nil if there is none, or if the value is not an object.
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

  /// The element at an index, or nil if there is no such element, or if the value is not an array.
  ///
  /// The index counts from 0.
  ///
  /// The elements before it are skipped one by one, so use ``elements`` to visit all elements.
  public subscript(index: Int) -> JSONNode? {
    guard kind == .array, index >= 0, index < larder_json_count(value) else { return nil }
    return firstElements(index + 1).last
  }

  /// The elements of an array.
  ///
  /// There are none for other values.
  public var elements: [JSONNode] {
    kind == .array ? firstElements(larder_json_count(value)) : []
  }

  /// The first `most` elements of an array.
  private func firstElements(_ most: Int) -> [JSONNode] {
    // All empty arrays share one memory block. `unsafeUninitializedCapacity: 0` would write the count into it, which is
    // a data race.
    guard most > 0 else { return [] }
    return withUnsafeTemporaryAllocation(of: larder_json_value.self, capacity: most) { values in
      let found = larder_json_elements(value, values.baseAddress, most)
      return values[..<found].map { JSONNode(value: $0, document: document) }
    }
  }

  /// The members of an object, in the order of the text.
  ///
  /// There are none for other values. If a name is repeated, its last value is at the position where the name is first.
  public var members: [(name: String, value: JSONNode)] {
    // Names are compared by bytes, because names that are only canonically equivalent in Unicode are different names in
    // JSON. (RFC 8259, section 8.3)
    var places: [[UInt8]: Int] = [:]
    var members: [(name: String, value: JSONNode)] = []
    for member in firstMembers(larder_json_count(value)) {
      let bytes = Array(member.name.utf8)
      if let place = places.updateValue(members.count, forKey: bytes) {
        places[bytes] = place
        members[place].value = member.value
      } else {
        members.append(member)
      }
    }
    return members
  }

  /// The first `most` members of an object, including repeated names.
  ///
  /// The result is empty for other values.
  func firstMembers(_ most: Int) -> [(name: String, value: JSONNode)] {
    guard kind == .object, most > 0 else { return [] }
    let found = [larder_json_member](unsafeUninitializedCapacity: most) { buffer, written in
      written = larder_json_members(value, buffer.baseAddress, most)
    }
    return found.map { member in
      let bytes = UnsafeRawBufferPointer(start: member.name, count: member.count)
      let value = JSONNode(value: member.value, document: document)
      return (String(decoding: bytes, as: UTF8.self), value)
    }
  }

  /// The elements of an array, or the values of an object's members.
  ///
  /// There are none for other values.
  public var children: [JSONNode] {
    kind == .object ? members.map(\.value) : elements
  }
}

extension JSONNode: Equatable {
  /// Whether both nodes are at the same position of the same document.
  public static func == (one: JSONNode, other: JSONNode) -> Bool {
    one.document === other.document && one.value.words.0 == other.value.words.0
      && one.value.words.1 == other.value.words.1
  }
}

extension JSONNode: StoredValue {
  /// The text of an XML element that has attributes too, such as "7" for `{"@unit": "kg", "#text": "7"}`.
  ///
  /// Any other value is returned as it is.
  var content: JSONNode { kind == .object ? self["#text"] ?? self : self }

  /// The value as JSON, which is the same for equal values with the same order of members.
  var stored: [UInt8] {
    var writer = StoredFormWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Writes the value as JSON.
  package func write(to writer: inout StoredFormWriter) {
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
