import CJansson

/// One parsed JSON text (RFC 8259), freed exactly once when the last node of it is gone.
///
/// Tolerant where feeds are careless and nothing is lost by it: a byte order mark is skipped, the
/// last of duplicate names wins, NUL escapes are kept in strings, a number that fits neither `Int`
/// nor `Double` becomes text with the same digits, half a surrogate pair becomes U+FFFD.
public final class JSONDocument: @unchecked Sendable {
  // SAFETY: the tree is never changed after `init`, reading jansson values touches no shared state,
  // and nodes hold the document, so no pointer outlives it.
  private let tree: UnsafeMutablePointer<json_t>

  /// Parses a text that holds exactly one value.
  ///
  /// - Parameters:
  ///   - bytes: The text in UTF-8.
  ///   - subject: What it is, for messages: "section main".
  ///   - depthLimit: How many arrays and objects may enclose one another.
  /// - Throws: ``CatalogError`` with line, column and what was expected there.
  public init(
    parsing bytes: [UInt8],
    of subject: String = "JSON",
    depthLimit: Int = 128
  ) throws(CatalogError) {
    let text = JSONText(bytes)
    if let offset = text.offset(deeperThan: depthLimit) {
      throw text.error(
        .tooDeep,
        at: offset,
        subject: subject,
        expected: "at most \(depthLimit) levels"
      )
    }
    switch Self.load(text.bytes) {
    case .success(let tree): self.tree = tree
    case .failure(let complaint):
      guard let repair = JSONRepair(text.bytes) else {
        throw text.error(complaint, subject: subject)
      }
      switch Self.load(repair.bytes) {
      case .success(let tree): self.tree = tree
      case .failure(var complaint):
        complaint.offset = repair.originalOffset(of: complaint.offset)
        throw text.error(complaint, subject: subject)
      }
    }
  }

  deinit { json_decref(tree) }

  /// The outermost value.
  public var root: JSONNode { JSONNode(value: tree, document: self) }

  private static func load(
    _ bytes: ArraySlice<UInt8>
  ) -> Result<UnsafeMutablePointer<json_t>, JSONComplaint> {
    var error = json_error_t()
    // An empty array has no address, and jansson refuses a null one without saying where.
    let text = bytes.isEmpty ? [UInt8(ascii: " ")] : bytes
    let tree = text.withUnsafeBytes {
      json_loadb(
        $0.baseAddress?.assumingMemoryBound(to: CChar.self),
        $0.count,
        Int(JSON_DECODE_ANY | JSON_ALLOW_NUL),
        &error
      )
    }
    if let tree { return .success(tree) }
    let words = withUnsafeBytes(of: &error.text) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return .failure(JSONComplaint(words: words, offset: Int(error.position)))
  }
}

/// A value inside a ``JSONDocument``, which it keeps alive.
public struct JSONNode: Sendable {
  // SAFETY: `document` owns what `value` points to and never changes it.
  private nonisolated(unsafe) let value: UnsafeMutablePointer<json_t>
  let document: JSONDocument

  fileprivate init(value: UnsafeMutablePointer<json_t>, document: JSONDocument) {
    self.value = value
    self.document = document
  }

  /// What a JSON value can be.
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

  /// What this value is.
  public var kind: Kind {
    switch value.pointee.type {
    case JSON_OBJECT: .object
    case JSON_ARRAY: .array
    case JSON_STRING: .string
    case JSON_INTEGER: .integer
    case JSON_REAL: .real
    case JSON_TRUE, JSON_FALSE: .boolean
    default: .null
    }
  }

  /// The text of a string; nil for anything else.
  public var text: String? {
    guard let start = json_string_value(value) else { return nil }
    let bytes = UnsafeRawBufferPointer(start: start, count: json_string_length(value))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The value of an integer; nil for anything else.
  public var integer: Int? {
    value.pointee.type == JSON_INTEGER ? Int(json_integer_value(value)) : nil
  }

  /// The value of a number with fraction or exponent; nil for anything else.
  public var real: Double? {
    value.pointee.type == JSON_REAL ? json_real_value(value) : nil
  }

  /// How many elements or members there are; 0 for anything but an array or object.
  public var count: Int {
    value.pointee.type == JSON_OBJECT ? json_object_size(value) : json_array_size(value)
  }

  /// The member with that name; nil when absent, and for anything but an object.
  public subscript(name: String) -> JSONNode? {
    var name = name
    let member = name.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        $0.isEmpty
          ? json_object_get(value, "") : json_object_getn(value, $0.baseAddress, $0.count)
      }
    }
    return member.map { JSONNode(value: $0, document: document) }
  }

  /// The element at an index that counts from 0; nil when there is none.
  public subscript(index: Int) -> JSONNode? {
    guard index >= 0 else { return nil }
    return json_array_get(value, index).map { JSONNode(value: $0, document: document) }
  }

  /// The elements of an array; empty for anything else.
  public var elements: Elements { Elements(array: self) }

  /// The members of an object in the text's order; empty for anything else.
  public var members: [(name: String, value: JSONNode)] {
    var members: [(name: String, value: JSONNode)] = []
    var cursor = json_object_iter(value)
    while let member = cursor {
      let key = UnsafeRawBufferPointer(
        start: json_object_iter_key(member),
        count: json_object_iter_key_len(member)
      )
      if let value = json_object_iter_value(member) {
        members.append(
          (String(decoding: key, as: UTF8.self), JSONNode(value: value, document: document))
        )
      }
      cursor = json_object_iter_next(value, member)
    }
    return members
  }

  /// The elements of an array or the values of an object; empty for anything else.
  public var children: [JSONNode] {
    kind == .object ? members.map(\.value) : Array(elements)
  }
}

extension JSONNode {
  /// The elements of an array, made one by one as they are asked for.
  public struct Elements: RandomAccessCollection, Sendable {
    private let array: JSONNode

    fileprivate init(array: JSONNode) {
      self.array = array
      endIndex = json_array_size(array.value)
    }

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position past the last element.
    public let endIndex: Int

    /// The element at a position, which must be one of the collection's.
    public subscript(position: Int) -> JSONNode {
      guard let element = array[position] else {
        preconditionFailure("no element at \(position) of \(endIndex)")
      }
      return element
    }
  }
}
