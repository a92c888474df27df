/// Where the details of items are.
public struct DetailRule: Hashable, Sendable {
  /// The URL with `{id}` where the item's id belongs; without it, one file holds all details.
  public var urlTemplate: String
  /// How it is asked for; nil for a plain GET.
  public var request: RequestRule?

  /// Makes a rule.
  public init(urlTemplate: String, request: RequestRule? = nil) {
    self.urlTemplate = urlTemplate
    self.request = request
  }

  /// Whether one document holds the details of all items.
  public var isShared: Bool {
    fixedParts.count == 1 && !(request.map { Placeholder.id.isIn($0.body) } ?? false)
  }

  /// What stands around the places for the id; the variable `${id}` is none.
  var fixedParts: [String] { Self.fixedParts(of: urlTemplate) }

  private static func fixedParts(of template: String) -> [String] {
    var parts: [String] = [""]
    for part in template.split(separator: "{id}", omittingEmptySubsequences: false) {
      if parts.last?.hasSuffix("$") == true {
        parts[parts.count - 1] += "{id}" + part
      } else {
        parts.append(String(part))
      }
    }
    return Array(parts.dropFirst())
  }

  /// The URL of an item's detail: the id is one segment of the path, or a part of one, whatever it holds.
  ///
  /// Its bytes are escaped but for those that are unreserved. (RFC 3986, section 2.3)
  ///
  /// - Returns: The URL as text; nil when a segment would be `.` or `..`, which no escape keeps a server
  ///   from reading as a folder. (RFC 3986, section 6.2.2.2)
  public func url(for id: String) -> String? {
    let escaped = Self.escaped(id)
    if makesDotSegment(of: escaped) { return nil }
    return Self.put(escaped, into: urlTemplate)
  }

  /// A text as a segment of a path or a value in a query: all but its unreserved bytes escaped. (RFC 3986,
  /// section 2.3)
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
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
    return escaped
  }

  /// Whether a segment of the path that holds the id would be dots alone.
  private func makesDotSegment(of id: String) -> Bool {
    let path = urlTemplate.prefix { $0 != "?" && $0 != "#" }
    return path.split(separator: "/").contains { segment in
      segment.contains("{id}") && [".", ".."].contains(Self.put(id, into: String(segment)))
    }
  }

  private static func put(_ id: String, into template: String) -> String {
    fixedParts(of: template).joined(separator: id)
  }
}
