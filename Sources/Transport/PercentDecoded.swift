/// The bytes that percent-encoded text stands for. (RFC 3986, section 2.1)
///
/// What is no escape stands for itself.
package func percentDecoded(_ text: String) -> [UInt8] {
  let bytes = Array(text.utf8)
  var result: [UInt8] = []
  var index = 0
  while index < bytes.count {
    if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
      let high = Hexadecimal.value(of: bytes[index + 1]),
      let low = Hexadecimal.value(of: bytes[index + 2])
    {
      result.append(high << 4 | low)
      index += 3
    } else {
      result.append(bytes[index])
      index += 1
    }
  }
  return result
}
