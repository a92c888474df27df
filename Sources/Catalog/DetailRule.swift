/// Where the details of items are.
public struct DetailRule: Hashable, Sendable {
  /// The URL with `{id}` where the item's id belongs; without it, one file holds all details.
  public var urlTemplate: String

  /// Makes a rule.
  public init(urlTemplate: String) {
    self.urlTemplate = urlTemplate
  }

  /// Whether one file holds the details of all items.
  public var isShared: Bool { !urlTemplate.contains("{id}") }

  /// The URL of an item's detail; the id's bytes that no URL may hold are escaped.
  /// (RFC 3986, section 2.3)
  public func url(for id: String) -> String {
    var escaped = ""
    for byte in id.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    // A segment of dots alone would climb out of the folder that the template names.
    if escaped == "." { escaped = "%2E" }
    if escaped == ".." { escaped = "%2E%2E" }
    return urlTemplate.split(separator: "{id}", omittingEmptySubsequences: false)
      .joined(separator: escaped)
  }
}
