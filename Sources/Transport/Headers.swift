import Base
import Glibc

/// The header fields of a message, in their order.
///
/// A search for a field ignores the case of names. (RFC 9110, section 5)
///
/// The fields are stored as the bytes of the message and parsed only when needed, because most fields are never read.
package struct Headers: Hashable, Sendable {
  /// The fields as lines such as `Accept: image/png`.
  ///
  /// Each line ends with a line feed, without a carriage return.
  package private(set) var lines: [UInt8]

  /// Makes an empty list.
  package init() {
    lines = []
  }

  /// Makes a list from fields, as ``append(_:_:)`` does.
  package init(_ fields: [(name: String, value: String)]) {
    lines = []
    for field in fields { append(field.name, field.value) }
  }

  /// Makes a list from lines such as `Accept: image/png`.
  ///
  /// Each line must end with a line feed.
  package init(lines: [UInt8]) {
    self.lines = lines
  }

  /// Whether there is no field at all.
  package var isEmpty: Bool { lines.isEmpty }

  /// Adds a field at the end.
  ///
  /// If the name is not a token (RFC 9110, section 5.6.2), the field is not added. Line breaks and NUL in the value
  /// become spaces, so that a value cannot inject another field.
  package mutating func append(_ name: String, _ value: String) {
    guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else { return }
    let room = lines.count + name.utf8.count + value.utf8.count + 3
    if room > lines.capacity { lines.reserveCapacity(max(room, 2 * lines.capacity)) }
    lines.append(contentsOf: name.utf8)
    lines.append(UInt8(ascii: ":"))
    lines.append(UInt8(ascii: " "))
    let start = lines.count
    lines.append(contentsOf: value.utf8)
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

  /// Removes every field with the given name.
  package mutating func remove(_ name: String) {
    self = Headers(fields: { !$0.isNamed(name) }, of: self)
  }

  /// The value of the first field with the given name.
  ///
  /// Setting a value replaces all fields with this name. Setting nil removes them.
  package subscript(name: String) -> String? {
    get { values(name, most: 1).first.map { String(decoding: lines[$0], as: UTF8.self) } }
    set {
      remove(name)
      if let newValue { append(name, newValue) }
    }
  }

  /// Whether there is a field with the given name.
  package func contains(_ name: String) -> Bool {
    !values(name, most: 1).isEmpty
  }

  /// The values of all fields with the given name, in order.
  package func all(_ name: String) -> [String] {
    values(name).map { String(decoding: lines[$0], as: UTF8.self) }
  }

  /// The values of all fields with the given name, joined with commas, or nil if there is no such field. (RFC 9110,
  /// section 5.3)
  package func combined(_ name: String) -> String? {
    let values = all(name)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// All fields, in order.
  ///
  /// Names have upper and lower case as in the message. Values have no surrounding white space.
  package var fields: [(name: String, value: String)] {
    lines.withUnsafeBufferPointer { bytes in
      HeaderLines(bytes).map { line in
        (
          String(decoding: bytes[line.name], as: UTF8.self),
          String(decoding: bytes[line.value], as: UTF8.self)
        )
      }
    }
  }

  /// The ranges of the values in ``lines`` of the first `most` fields with the given name, in order.
  private func values(_ name: String, most: Int = .max) -> [Range<Int>] {
    lines.withUnsafeBufferPointer { lines in
      var found: [Range<Int>] = []
      for line in HeaderLines(lines) where line.isNamed(name) {
        found.append(line.value)
        if found.count == most { break }
      }
      return found
    }
  }
}

extension Headers: ExpressibleByDictionaryLiteral {
  /// Makes a list from a literal such as `["Accept": "image/png"]`, in the literal's order.
  package init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { (name: $0.0, value: $0.1) })
  }
}

extension Headers {
  /// The fields as text, with one line such as `Accept: image/png` for each field.
  ///
  /// Bytes that are not UTF-8 become replacement characters. A server does not recognize such an `ETag`, and sends the
  /// whole body.
  package var text: String { String(decoding: lines, as: UTF8.self) }

  /// The fields without those that the field `Connection` names, because these apply only to one connection. (RFC 9111,
  /// section 3.1)
  package var endToEnd: Headers {
    guard let value = combined("Connection"), !value.equalsIgnoringCase("keep-alive") else {
      return self
    }
    let named = value.split(separator: ",").map { name in name.filter { $0 != " " && $0 != "\t" } }
      .filter { !$0.equalsIgnoringCase("close") && !$0.equalsIgnoringCase("keep-alive") }
    guard !named.isEmpty else { return self }
    return Headers(fields: { line in !named.contains { line.isNamed($0) } }, of: self)
  }

  /// Makes a list of the fields in `headers` that satisfy a condition.
  private init(fields isKept: (HeaderLines.Line) -> Bool, of headers: Headers) {
    let kept = headers.lines.withUnsafeBufferPointer { bytes in
      var kept: [UInt8] = []
      kept.reserveCapacity(bytes.count)
      for line in HeaderLines(bytes) where isKept(line) { line.append(to: &kept) }
      return kept
    }
    self.init(lines: kept)
  }

  /// The fields that have one of the given names, in order.
  package func only(_ names: [String]) -> Headers {
    Headers(fields: { line in names.contains { line.isNamed($0) } }, of: self)
  }
}

extension Headers {
  /// The URL of the next page in a `Link` field, exactly as the server wrote it. (RFC 8288, section 3)
  ///
  /// For example, the result for `Link: </items?page=2>; rel="next"` is `/items?page=2`.
  package var nextLink: String? {
    for value in all("Link") {
      if let target = Self.nextLink(in: value) { return target }
    }
    return nil
  }

  private static func nextLink(in value: String) -> String? {
    var scanner = ByteScanner(value)
    while !scanner.isAtEnd {
      _ = scanner.take { $0 != UInt8(ascii: "<") }
      let target = scanner.take { $0 != UInt8(ascii: ">") }.dropFirst()
      _ = scanner.next()
      // Of several relations, the first one counts. Some servers forget a semicolon or quotation marks; further pages
      // must not be lost for that.
      var relation: ArraySlice<UInt8>?
      repeat {
        let (name, value) = scanner.parameter(until: ";,", ignoringRest: true)
        if name.equalsIgnoringCase("rel") { relation = relation ?? value }
      } while scanner.skip(UInt8(ascii: ";"))
      let relations = relation?.split(separator: 0x20) ?? []
      if !target.isEmpty, relations.contains(where: { $0.equalsIgnoringCase("next") }) {
        return String(decoding: target, as: UTF8.self)
      }
    }
    return nil
  }
}

/// Iterates over the fields in ``Headers/lines`` without copying them.
///
/// Copying would be too slow, because a sync reads the fields of many thousand responses.
package struct HeaderLines: Sequence, IteratorProtocol {
  /// A line with one field, for example `Accept: image/png`.
  ///
  /// The ranges are positions in the lines.
  package struct Line {
    /// The range of the name, without the colon.
    package let name: Range<Int>
    /// The range of the value, without surrounding white space. (RFC 9110, section 5.5)
    package let value: Range<Int>
    /// The range of the whole line, and of its line feed if there is one.
    package let whole: Range<Int>
    fileprivate let bytes: UnsafeBufferPointer<UInt8>

    /// Whether the field has this name.
    ///
    /// The case of ASCII letters is ignored.
    package func isNamed(_ wanted: String) -> Bool {
      name.count == wanted.utf8.count && bytes[name].equalsIgnoringCase(wanted)
    }

    /// Appends the whole line to `lines`, with a line feed.
    func append(to lines: inout [UInt8]) {
      lines.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[whole]))
      if lines.last != 10 { lines.append(10) }
    }
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var start = 0

  /// Makes an iterator over lines that end with a line feed.
  ///
  /// Lines without a colon are skipped.
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
