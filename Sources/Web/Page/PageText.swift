import Mustache

/// Escapes text for HTML, for example `&lt;` for `<`.
///
/// It compares bytes and not characters. To Swift, a quotation mark followed by a combining accent is one `Character`,
/// which differs from a quotation mark. A comparison of characters would leave it unescaped, and it would end an
/// attribute.
struct PageText: MustacheContentType {
  /// The name by which templates refer to this content type.
  static let name = "PAGE"

  /// Escapes a text for use between tags and within quoted attributes.
  func escapeText(_ text: String) -> String { Self.escaped(text) }

  /// Escapes a text for use between tags and within quoted attributes.
  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { reference(of: $0) != nil }) else { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      if let reference = reference(of: byte) {
        bytes.append(contentsOf: reference.utf8)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func reference(of byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    default: nil
    }
  }

  /// Checks whether a page is allowed to link to a URL.
  ///
  /// Only http and https URLs are allowed, because the URLs come from shops and can be hostile, such as `javascript:…`.
  ///
  /// - Returns: The URL unchanged; nil if the page must show it as text without a link.
  static func link(_ url: String) -> String? {
    let isPlain = url.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    let start = url.prefix(8).lowercased()
    return isPlain && (start.hasPrefix("https://") || start.hasPrefix("http://")) ? url : nil
  }
}

/// Writes JSON for a `script` element of a page.
///
/// It escapes `<`, so that no text can open or close a tag.
enum PageData {
  /// A text as a JSON string.
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

  /// A JSON array of values that are already JSON.
  static func list(_ values: some Sequence<String>) -> String {
    "[\(values.joined(separator: ","))]"
  }

  /// A JSON object of values that are already JSON.
  static func object(_ members: KeyValuePairs<String, String>) -> String {
    "{\(members.map { "\(text($0.key)):\($0.value)" }.joined(separator: ","))}"
  }
}
