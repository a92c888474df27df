/// Bytes as a gzip member of stored blocks: valid gzip, but not smaller.
enum Gzip {
  /// Wraps bytes in header, stored blocks and trailer. (RFC 1952, section 2.3; RFC 1951, 3.2.4)
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      out.append(rest.isEmpty ? 1 : 0)
      out += littleEndian(count) + littleEndian(~count) + block
    } while !rest.isEmpty
    let size = UInt32(truncatingIfNeeded: bytes.count)
    return out + littleEndian(CRC32.of(bytes)) + littleEndian(size)
  }

  private static func littleEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
