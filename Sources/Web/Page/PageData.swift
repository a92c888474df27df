/// JSON that stands within a page's `script` element, where no `<` may open or close a tag.
enum PageData {
  /// A text.
  static func text(_ text: String) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    bytes.reserveCapacity(text.utf8.count + 2)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), 0x7F:
        let digits = String(byte, radix: 16)
        bytes.append(contentsOf: Array(("\\u" + (byte < 16 ? "000" : "00") + digits).utf8))
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A list of values that are JSON already.
  static func list(_ values: some Sequence<String>) -> String {
    "[\(values.joined(separator: ","))]"
  }

  /// An object of values that are JSON already.
  static func object(_ members: KeyValuePairs<String, String>) -> String {
    "{\(members.map { "\(text($0.key)):\($0.value)" }.joined(separator: ","))}"
  }
}
