/// Writes compact JSON.
///
/// Equal values give the same bytes in every run.
///
/// Items are stored in this form. Codable's encoder needs ten times as many instructions for the same output.
package struct StoredFormWriter {
  /// The output so far.
  package private(set) var bytes: [UInt8] = []
  /// Whether a comma must precede the next member or element.
  private var needsComma = false

  /// Makes a writer without output.
  package init() {
    bytes.reserveCapacity(512)
  }

  /// A text as a JSON string, with its quotes. (RFC 8259, section 7)
  static func quoted(_ text: String) -> String {
    var writer = StoredFormWriter()
    writer.value(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Writes `{…}` around the output of `members`.
  package mutating func object(_ members: (inout Self) -> Void) {
    open("{")
    members(&self)
    close("}")
  }

  /// Writes `[…]` around the output of `elements`.
  package mutating func array(_ elements: (inout Self) -> Void) {
    open("[")
    elements(&self)
    close("]")
  }

  /// Begins an object or an array.
  ///
  /// Write its content, and then call ``close(_:)``.
  mutating func open(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  /// Ends the object or the array that ``open(_:)`` began.
  mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Writes the name of a member.
  ///
  /// The name must consist of characters that JSON does not escape. Write the value next.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    endName()
  }

  /// Writes the name of a member, escaping its characters where necessary.
  ///
  /// Write the value next.
  mutating func name(escaping name: String) {
    separate()
    quote(name)
    endName()
  }

  private mutating func endName() {
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a value.
  package mutating func value(_ value: some StoredValue) {
    value.write(to: &self)
  }

  /// Writes a member.
  package mutating func member(_ name: StaticString, _ value: some StoredValue) {
    self.name(name)
    value.write(to: &self)
  }

  /// Writes a member, unless the value is nil.
  package mutating func member(_ name: StaticString, ifPresent value: (some StoredValue)?) {
    if let value { member(name, value) }
  }

  /// Writes a number, `true`, `false` or `null`.
  fileprivate mutating func plain(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  fileprivate mutating func string(_ text: String) {
    separate()
    quote(text)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func quote(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { text in
      let mustEscape = text.contains {
        $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
      }
      guard mustEscape else { return bytes.append(contentsOf: text) }
      for byte in text {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
        default: bytes.append(byte)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

/// A value that is written as JSON.
package protocol StoredValue {
  /// Writes the value.
  func write(to writer: inout StoredFormWriter)
}

extension String: StoredValue {
  package func write(to writer: inout StoredFormWriter) { writer.string(self) }
}

extension StoredValue where Self: BinaryInteger {
  package func write(to writer: inout StoredFormWriter) { writer.plain(String(self)) }
}

extension Int: StoredValue {}
extension Int64: StoredValue {}

extension Bool: StoredValue {
  package func write(to writer: inout StoredFormWriter) { writer.plain(self ? "true" : "false") }
}

/// The number must be finite.
extension Double: StoredValue {
  package func write(to writer: inout StoredFormWriter) { writer.plain(description) }
}

/// Nil is `null`.
extension Optional: StoredValue where Wrapped: StoredValue {
  package func write(to writer: inout StoredFormWriter) {
    if let self { self.write(to: &writer) } else { writer.plain("null") }
  }
}

extension Array: StoredValue where Element: StoredValue {
  package func write(to writer: inout StoredFormWriter) {
    writer.array { for element in self { element.write(to: &$0) } }
  }
}

/// The members are in the order of their names: `{"fee":"…","point":"…"}`.
extension Dictionary: StoredValue where Key == String, Value: StoredValue {
  package func write(to writer: inout StoredFormWriter) {
    writer.object {
      for (name, value) in sorted(by: { $0.key < $1.key }) {
        $0.name(escaping: name)
        $0.value(value)
      }
    }
  }
}

/// Reads the members of a stored item or detail, which ``StoredFormWriter`` has written.
extension JSONNode {
  /// Parses stored bytes.
  ///
  /// - Parameters:
  ///   - bytes: One JSON object.
  ///   - subject: The name of the object for messages, such as "stored item".
  /// - Throws: ``CatalogError`` if the bytes are not JSON.
  init(stored bytes: [UInt8], subject: String) throws(CatalogError) {
    self = try JSONDocument(parsing: bytes, of: subject, depthLimit: 8).root
  }

  /// Reads a member.
  ///
  /// - Throws: ``CatalogError`` if the member is absent, or if `read` returns nil.
  func stored<Value>(
    _ name: String,
    _ read: (JSONNode) -> Value?
  ) throws(CatalogError) -> Value {
    guard let value = self[name].flatMap(read) else {
      throw CatalogError(
        .storedForm,
        subject: document.subject,
        reason: "\(name) is absent or damaged"
      )
    }
    return value
  }

  /// Reads a member, or returns nil if the object does not have it.
  func optional<Value>(
    _ name: String,
    _ read: (JSONNode) -> Value?
  ) throws(CatalogError) -> Value? {
    self[name] == nil ? nil : try stored(name, read)
  }

  /// The elements of an array, or nil if the value is not an array or one of them cannot be read.
  func list<Value>(_ read: (JSONNode) -> Value?) -> [Value]? {
    let values = elements.compactMap(read)
    return kind == .array && values.count == count ? values : nil
  }

  /// The members of an object, or nil if the value is not an object or one of them is not a text.
  var texts: [String: String]? {
    let texts = members.compactMap { name, value in value.text.map { (name, $0) } }
    return kind == .object && texts.count == count ? Dictionary(texts) { $1 } : nil
  }
}

/// A price is stored as `{"minorUnits":7000,"currency":"KRW"}`.
extension Price: StoredValue {
  package func write(to writer: inout StoredFormWriter) {
    writer.object {
      $0.member("minorUnits", minorUnits)
      $0.member("currency", currency)
    }
  }

  init?(stored node: JSONNode) {
    guard let units = node["minorUnits"]?.integer, let currency = node["currency"]?.text else {
      return nil
    }
    self.init(minorUnits: units, currency: currency)
  }
}

/// A picture is stored as `{"role":"top","url":"…"}`.
extension ImageReference: StoredValue {
  package func write(to writer: inout StoredFormWriter) {
    writer.object {
      $0.member("role", role.rawValue)
      $0.member("url", url)
    }
  }

  init?(stored node: JSONNode) {
    guard let role = node["role"]?.text.flatMap(Role.init), let url = node["url"]?.text else {
      return nil
    }
    self.init(role: role, url: url)
  }
}

/// A field that could not be read is stored as `{"field":"prices","reason":"…"}`.
extension LostField: StoredValue {
  package func write(to writer: inout StoredFormWriter) {
    writer.object {
      $0.member("field", ifPresent: field)
      $0.member("reason", reason)
    }
  }

  init?(stored node: JSONNode) {
    guard let reason = node["reason"]?.text else { return nil }
    self.init(field: node["field"]?.text, reason: reason)
  }
}
