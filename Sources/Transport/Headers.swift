/// One header line: a name in any case and a value without surrounding white space.
package struct HeaderField: Hashable, Sendable {
  /// The field name as it was written.
  package let name: String
  /// The field value.
  package let value: String

  /// Makes a field from a name and a value.
  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// Header fields in their order, looked up without regard to case. (RFC 9110, section 5)
///
/// Kept as the bytes that came from the wire, and read only when asked: most fields of most responses are
/// never looked at.
package struct Headers: Hashable, Sendable {
  /// `Name: value` lines, each ended by a line feed; no carriage returns.
  package private(set) var lines: [UInt8]

  /// Makes an empty list.
  package init() {
    lines = []
  }

  /// Makes a list from fields; see ``append(_:_:)`` for what becomes of malformed ones.
  package init(_ fields: [HeaderField]) {
    lines = []
    for field in fields { append(field.name, field.value) }
  }

  /// Takes lines as a transport collected them: each ended by a line feed, names before the first colon.
  package init(lines: [UInt8]) {
    self.lines = lines
  }

  /// Whether there is no field at all.
  package var isEmpty: Bool { lines.isEmpty }

  /// Adds a field at the end.
  ///
  /// A name that is no token (RFC 9110, section 5.6.2) is left out; line breaks and NUL in a value become
  /// spaces, so that no value can smuggle in a header of its own.
  package mutating func append(_ name: String, _ value: String) {
    append(name, of: value.utf8)
  }

  /// Adds a field whose value is bytes, not necessarily text; see ``append(_:_:)``.
  package mutating func append(_ name: String, bytes: [UInt8]) {
    append(name, of: bytes)
  }

  private mutating func append(_ name: String, of value: some Collection<UInt8>) {
    guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else { return }
    let room = lines.count + name.utf8.count + value.count + 3
    if room > lines.capacity { lines.reserveCapacity(max(room, 2 * lines.capacity)) }
    lines.append(contentsOf: name.utf8)
    lines.append(UInt8(ascii: ":"))
    lines.append(UInt8(ascii: " "))
    let start = lines.count
    lines.append(contentsOf: value)
    for place in start..<lines.count
    where lines[place] == 10 || lines[place] == 13 || lines[place] == 0 {
      lines[place] = UInt8(ascii: " ")
    }
    lines.append(10)
  }

  /// Adds all fields of `other` at the end.
  package mutating func append(_ other: Headers) {
    lines.append(contentsOf: other.lines)
  }

  /// Removes every field of that name.
  package mutating func remove(_ name: String) {
    guard contains(name) else { return }
    let kept = fields.filter { !$0.name.equalsIgnoringCase(name) }
    self = Headers(kept)
  }

  /// The value of the first field of that name; setting replaces all of them, nil removes them.
  package subscript(name: String) -> String? {
    get { first(name).map { String(decoding: lines[$0], as: UTF8.self) } }
    set {
      remove(name)
      if let newValue { append(name, newValue) }
    }
  }

  /// The bytes of the first field of that name: a value is not always text. (RFC 9110, section 5.5)
  package func bytes(_ name: String) -> [UInt8]? {
    first(name).map { Array(lines[$0]) }
  }

  /// The bytes that all fields of that name have; nil where there is none, or two of them differ.
  func agreedBytes(_ name: String) -> [UInt8]? {
    var agreed: Range<Int>?
    var differ = false
    forEach(name) { value in
      differ = agreed.map { lines[$0] != lines[value] } ?? false
      agreed = value
      return !differ
    }
    return differ ? nil : agreed.map { Array(lines[$0]) }
  }

  /// The bytes of every field of that name, in order.
  package func allBytes(_ name: String) -> [[UInt8]] {
    var found: [Range<Int>] = []
    forEach(name) {
      found.append($0)
      return true
    }
    return found.map { Array(lines[$0]) }
  }

  /// Whether there is a field of that name.
  package func contains(_ name: String) -> Bool {
    first(name) != nil
  }

  /// The values of every field of that name, in order.
  package func all(_ name: String) -> [String] {
    allBytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Calls `body` with the value of every field of that name, in order.
  func forEachValue(_ name: String, _ body: (String) -> Void) {
    forEach(name) {
      body(String(decoding: lines[$0], as: UTF8.self))
      return true
    }
  }

  /// The values of a list-based field, joined by commas as RFC 9110, section 5.3, allows; nil without any.
  package func combined(_ name: String) -> String? {
    // Most responses have the field once, or not at all.
    var count = 0
    var only: Range<Int>?
    forEach(name) {
      count += 1
      only = $0
      return count < 2
    }
    guard count < 2 else { return all(name).joined(separator: ", ") }
    return only.map { String(decoding: lines[$0], as: UTF8.self) }
  }

  /// Every field in order.
  package var fields: [HeaderField] {
    lines.withUnsafeBufferPointer { bytes in
      HeaderLines(bytes).map { line in
        HeaderField(
          name: String(decoding: bytes[line.name], as: UTF8.self),
          value: String(decoding: bytes[line.value], as: UTF8.self)
        )
      }
    }
  }

  private func first(_ name: String) -> Range<Int>? {
    var found: Range<Int>?
    forEach(name) {
      found = $0
      return false
    }
    return found
  }

  /// Calls `body` with where each value of the fields of that name stands, until it returns false.
  private func forEach(_ name: String, _ body: (Range<Int>) -> Bool) {
    guard !lines.isEmpty else { return }
    var name = name
    name.withUTF8 { wanted in
      lines.withUnsafeBufferPointer { lines in
        for line in HeaderLines(lines) where line.isNamed(wanted) {
          guard body(line.value) else { return }
        }
      }
    }
  }
}

extension Headers: ExpressibleByDictionaryLiteral {
  /// Makes a list from a literal, in its order.
  package init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { HeaderField(name: $0.0, value: $0.1) })
  }
}
