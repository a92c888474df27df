import Base
import Glibc

/// One header field: a name in upper or lower case, and a value without surrounding white space.
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

/// Header fields in their order; a look-up ignores the case of names. (RFC 9110, section 5)
///
/// The fields are kept as the bytes from the wire and parsed only when needed, because most fields are never read.
package struct Headers: Hashable, Sendable {
  /// `Name: value` lines, each ended by a line feed; no carriage returns.
  package private(set) var lines: [UInt8]

  /// Makes an empty list.
  package init() {
    lines = []
  }

  /// Makes a list from fields; see ``append(_:_:)`` for the treatment of malformed ones.
  package init(_ fields: [HeaderField]) {
    lines = []
    for field in fields { append(field.name, field.value) }
  }

  /// Takes lines as a transport collected them: each line ends with a line feed, and its name ends before the first
  /// colon.
  package init(lines: [UInt8]) {
    self.lines = lines
  }

  /// Whether there is no field at all.
  package var isEmpty: Bool { lines.isEmpty }

  /// Adds a field at the end.
  ///
  /// A name that is not a token (RFC 9110, section 5.6.2) is left out. Line breaks and NUL in a value become spaces, so
  /// that a value cannot inject another header.
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

  /// The value of the first field of that name.
  ///
  /// Setting a value replaces all fields of that name; setting nil removes them.
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

  /// The value that all fields of that name share, as bytes; nil if there is no such field, or if two values differ.
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

  /// The values of a list-based field, joined by commas as RFC 9110, section 5.3, allows; nil if there is no such
  /// field.
  package func combined(_ name: String) -> String? {
    // Check for the usual case first: the field occurs once, or not at all.
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

  /// Calls `body` with the range in ``lines`` of each value of that name, until `body` returns false.
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

extension Headers {
  /// The fields as text, one `Name: value` on each line.
  ///
  /// Each byte is one character, because a value need not be UTF-8.
  ///
  /// ``init(text:)`` reads back the same fields.
  package var text: String {
    guard lines.contains(where: { $0 >= 0x80 }) else {
      return String(decoding: lines, as: UTF8.self)
    }
    return String(String.UnicodeScalarView(lines.map { Unicode.Scalar($0) }))
  }

  /// Parses UTF-8 that ``text`` wrote; only for text that larder wrote itself.
  package init(text: UnsafeBufferPointer<UInt8>) {
    guard text.contains(where: { $0 >= 0x80 }) else {
      self.init(lines: Array(text))
      return
    }
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    self.init(lines: scalars.map { UInt8(exactly: $0.value) ?? UInt8(ascii: "?") })
  }

  /// The fields except those that `Connection` names, which are only for one connection. (RFC 9111, section 3.1)
  package var endToEnd: Headers {
    guard let value = combined("Connection"), !value.equalsIgnoringCase("keep-alive") else {
      return self
    }
    let named = value.split(separator: ",").map { name in name.filter { $0 != " " && $0 != "\t" } }
      .filter { !$0.equalsIgnoringCase("close") && !$0.equalsIgnoringCase("keep-alive") }
    guard !named.isEmpty else { return self }
    return Headers(fields: { line in !named.contains { line.isNamed(text: $0) } }, of: self)
  }

  /// The lines of `headers` that satisfy a condition.
  private init(fields isKept: (HeaderLines.Line) -> Bool, of headers: Headers) {
    let kept = headers.lines.withUnsafeBufferPointer { bytes in
      var kept: [UInt8] = []
      for line in HeaderLines(bytes) where isKept(line) { line.append(to: &kept) }
      return kept
    }
    self.init(lines: kept)
  }

  /// The fields with these names, in their order; the case of names is ignored.
  ///
  /// This is one pass over the raw lines, because a cache calls it for many thousand responses.
  package func only(_ names: [StaticString]) -> Headers {
    // Most lines begin with a letter that none of the names begins with.
    let initials = names.reduce(UInt32(0)) { $0 | 1 << ($1.utf8Start[0] & 31) }
    let kept = lines.withUnsafeBufferPointer { bytes in
      var kept: [UInt8] = []
      kept.reserveCapacity(bytes.count)
      for line in HeaderLines(bytes) where initials >> (bytes[line.whole.lowerBound] & 31) & 1 == 1
      {
        let isKept = names.contains { line.isNamed($0) }
        if isKept { line.append(to: &kept) }
      }
      return kept
    }
    return Headers(lines: kept)
  }
}

extension Headers {
  /// The target of the first link to the next page, exactly as the server wrote it. (RFC 8288, section 3)
  package var nextLink: String? {
    for value in all("Link") {
      if let target = Self.nextLink(in: value) { return target }
    }
    return nil
  }

  /// Finds `<target>; rel="next"` among the links of one field.
  private static func nextLink(in value: String) -> String? {
    var rest = value[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      let target = rest[rest.index(after: open)..<close]
      rest = rest[rest.index(after: close)...]
      let (parameters, end) = parameters(of: rest)
      rest = rest[end...]
      let relation = parameters.first { $0.name == "rel" }?.value ?? ""
      let relations = relation.lowercased().split(separator: " ")
      if relations.contains("next"), !target.isEmpty { return String(target) }
    }
    return nil
  }

  /// The parameters after a link's target, and the start of the next link; a comma in quotes does not end a link.
  private static func parameters(
    of text: Substring
  ) -> (parameters: [(name: String, value: String)], end: String.Index) {
    var parts: [String] = [""]
    var isQuoted = false
    var end = text.startIndex
    while end < text.endIndex {
      let character = text[end]
      if character == "\"" {
        isQuoted.toggle()
      } else if character == ",", !isQuoted {
        break
      } else if character == ";", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
      end = text.index(after: end)
    }
    let parameters = parts.compactMap { part -> (name: String, value: String)? in
      let halves = part.split(separator: "=", maxSplits: 1)
      guard halves.count == 2 else { return nil }
      let name = halves[0].filter { $0 != " " && $0 != "\t" }.lowercased()
      return (name, String(halves[1]))
    }
    return (parameters, end)
  }
}

/// Iterates over the fields in raw header lines, without copying them.
///
/// A sync looks at the fields of many thousand responses, and spends most of that time here.
package struct HeaderLines: Sequence, IteratorProtocol {
  /// The ranges of a field's parts in the lines.
  package struct Line {
    /// The name, up to the colon.
    package let name: Range<Int>
    /// The value after the colon, without surrounding white space. (RFC 9110, section 5.5)
    package let value: Range<Int>
    /// The whole line, with its line feed if it has one.
    package let whole: Range<Int>
    fileprivate let bytes: UnsafeBufferPointer<UInt8>

    /// Whether the field has this name; the case of ASCII letters is ignored.
    package func isNamed(_ wanted: StaticString) -> Bool {
      name.count == wanted.utf8CodeUnitCount && wanted.withUTF8Buffer { isNamed($0) }
    }

    /// Whether the field has this name; the case of ASCII letters is ignored.
    package func isNamed(text wanted: String) -> Bool {
      var wanted = wanted
      return wanted.withUTF8 { isNamed($0) }
    }

    /// Whether the field has this name; the case of ASCII letters is ignored.
    package func isNamed(_ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
      UnsafeBufferPointer(rebasing: bytes[name]).equalsIgnoringCase(wanted)
    }

    /// Appends the whole line to other lines.
    func append(to lines: inout [UInt8]) {
      lines.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[whole]))
      if lines.last != 10 { lines.append(10) }
    }
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var start = 0

  /// Iterates over lines, each ended by a line feed; lines without a colon are skipped.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  package mutating func next() -> Line? {
    while start < bytes.count {
      let first = start
      let end = find(10, first..<bytes.count) ?? bytes.count
      start = end + 1
      guard let colon = find(UInt8(ascii: ":"), first..<end) else { continue }
      var low = colon + 1
      var high = end
      while low < high, bytes[low].isBlank { low += 1 }
      while high > low, bytes[high - 1].isBlank { high -= 1 }
      return Line(
        name: first..<colon,
        value: low..<high,
        whole: first..<Swift.min(start, bytes.count),
        bytes: bytes
      )
    }
    return nil
  }

  private func find(_ byte: UInt8, _ range: Range<Int>) -> Int? {
    guard let base = bytes.baseAddress, !range.isEmpty,
      let found = memchr(base + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }
}
