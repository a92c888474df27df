/// A gzip stream that unpacks to `prefix` followed by `zeros` zero bytes, at about a thousandth of
/// the size.
///
/// The prefix is a stored block. The zeros are copies of 258 bytes at distance 1, in dynamic
/// Huffman codes of one bit for the length and one for the distance. (RFC 1951, sections 3.2.4 and
/// 3.2.7) The trailer is missing, because no reader should get that far.
package func gzipBomb(_ prefix: [UInt8], zeros: Int) -> [UInt8] {
  var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
  let size = UInt16(prefix.count)
  bytes += [0, UInt8(size & 0xFF), UInt8(size >> 8), UInt8(~size & 0xFF), UInt8(~size >> 8)]
  bytes += prefix
  var word: UInt8 = 0
  var filled: UInt8 = 0
  func put(_ bits: String) {
    for bit in bits.utf8 {
      word |= (bit == UInt8(ascii: "1") ? 1 : 0) << filled
      filled += 1
      if filled == 8 {
        bytes.append(word)
        word = 0
        filled = 0
      }
    }
  }
  func put(_ number: Int, width: Int) {
    put(String((0..<width).map { number >> $0 & 1 == 1 ? "1" : "0" }))
  }
  // The last block: 286 literal and length codes, one distance code, 18 code length codes.
  put("1" + "01")
  put(29, width: 5)
  put(0, width: 5)
  put(14, width: 4)
  for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { put(length, width: 3) }
  // Code 0 repeats a length of zero, 10 is a length of one, 11 of two.
  put("11" + "0")
  put(127, width: 7)
  put("0")
  put(106, width: 7)
  put("11" + "0")
  put(17, width: 7)
  put("10" + "10")
  // One zero, then its copies: two bits each, four copies in a byte.
  put("10")
  while filled != 0 { put("0") }
  bytes += [UInt8](repeating: 0, count: zeros / 258 / 4)
  return bytes
}
