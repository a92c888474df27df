/// The bytes of a JSON text without byte order mark, able to say where something stands.
struct JSONText {
  /// The text in UTF-8.
  let bytes: ArraySlice<UInt8>

  /// Takes a text, skipping its byte order mark. (RFC 8259, section 8.1)
  init(_ bytes: [UInt8]) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
  }

  /// The offset of the first bracket that opens one level too many.
  func offset(deeperThan limit: Int) -> Int? {
    bytes.withUnsafeBufferPointer { bytes in
      var depth = 0
      var index = 0
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "\""):
          index += 1
          while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
          }
        case UInt8(ascii: "["), UInt8(ascii: "{"):
          depth += 1
          if depth > limit { return index }
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
        index += 1
      }
      return nil
    }
  }

  /// Why the text cannot be read, with the place of what is wrong first.
  func error(subject: String) -> CatalogError {
    // A text without fault is one that simdjson had no memory for.
    let fault =
      JSONFault(in: bytes)
      ?? JSONFault(offset: 0, expected: "valid JSON (too large for this machine)", found: nil)
    return error(
      .malformedJSON,
      at: fault.offset,
      subject: subject,
      expected: fault.expected,
      found: fault.found
    )
  }

  /// Makes an error that names the line and column of an offset, both counted from 1.
  func error(
    _ code: CatalogError.Code,
    at offset: Int,
    subject: String,
    expected: String,
    found: String? = nil
  ) -> CatalogError {
    let before = bytes.prefix(offset)
    let lineStart = before.lastIndex(of: 0x0A).map { before.index(after: $0) } ?? before.startIndex
    return CatalogError(
      code,
      subject: subject,
      line: before.count { $0 == 0x0A } + 1,
      column: before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1,
      expected: expected,
      reason: "expected \(expected)" + (found.map { ", found \($0)" } ?? "")
    )
  }
}
