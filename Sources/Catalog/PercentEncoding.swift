/// How values are put into URLs and forms.
package enum PercentEncoding {
  /// A text with every byte escaped that is not unreserved. (RFC 3986, section 2.3)
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - others: What stays as it is besides, such as `/` in a path.
  /// - Returns: A segment of a path, or a value in a query.
  package static func escaped(_ text: String, keeping others: String = "") -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      case _ where "-._~".utf8.contains(byte) || others.utf8.contains(byte): bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The pairs of a query, escaped: `q=%EA%B5%AD&page=2`.
  package static func query(_ pairs: [(name: String, value: String)]) -> String {
    pairs.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
  }
}
