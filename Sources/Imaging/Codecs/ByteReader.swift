/// The bytes of a whole file, or of a part of it, in memory.
typealias FileBytes = UnsafeBufferPointer<UInt8>

/// Reads numbers from bytes; every offset is checked.
///
/// The result is nil if a number would extend beyond the bytes.
struct ByteReader {
  let bytes: FileBytes
  var isLittleEndian = false

  func byte(_ offset: Int) -> Int? {
    bytes.indices.contains(offset) ? Int(bytes[offset]) : nil
  }

  func short(_ offset: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - 2 else { return nil }
    let (first, second) = (Int(bytes[offset]), Int(bytes[offset + 1]))
    return isLittleEndian ? second << 8 | first : first << 8 | second
  }

  func long(_ offset: Int) -> Int? {
    guard let first = short(offset), let second = short(offset + 2) else { return nil }
    return isLittleEndian ? second << 16 | first : first << 16 | second
  }

  /// Whether the bytes at `offset` are `text`.
  func matches(_ text: String, at offset: Int) -> Bool {
    guard offset >= 0, text.utf8.count <= bytes.count - offset else { return false }
    return bytes[offset..<offset + text.utf8.count].elementsEqual(text.utf8)
  }
}
