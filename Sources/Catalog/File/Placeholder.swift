import Base

/// A placeholder such as `{cursor}` in a URL or body of the catalog file; each request replaces it by a value.
///
/// Five names have a fixed meaning. Any other name is a field of the item whose detail is requested.
public struct Placeholder: RawRepresentable, Hashable, Sendable {
  /// The name between the braces.
  public let rawValue: String

  /// Makes a placeholder from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The cursor that the previous page named; empty for the first page.
  public static let cursor = Placeholder(rawValue: "cursor")
  /// The number of the page.
  public static let page = Placeholder(rawValue: "page")
  /// How many elements are before the page.
  public static let offset = Placeholder(rawValue: "offset")
  /// The number of elements that each page should have.
  public static let size = Placeholder(rawValue: "size")
  /// The id of the item whose detail is requested.
  public static let id = Placeholder(rawValue: "id")

  /// The placeholders that a request for a section replaces.
  static let ofSections: Set<Placeholder> = [.cursor, .page, .offset, .size]

  /// Whether the placeholder's value is a number.
  var isNumber: Bool { self == .page || self == .offset || self == .size }

  /// Whether the placeholder's name is enough to recognize it anywhere in a body.
  var hasMeaning: Bool { self == .id || Self.ofSections.contains(self) }

  /// The placeholder as it is written: `{cursor}`.
  public var written: String { "{\(closing)" }
  /// The placeholder as it is written, without the opening brace.
  private var closing: String { rawValue + "}" }

  /// Whether a text contains this placeholder; `${id}` is a variable, not a placeholder.
  func isIn(_ text: String) -> Bool {
    var found = false
    _ = Self.fill(text, [self]) { _, _ in
      found = true
      return ""
    }
    return found
  }

  /// All placeholders of a text, with any names, each once and in order.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - marks: The characters allowed between the parts of a name.
  /// - Returns: The placeholders.
  static func all(in text: String, joinedBy marks: String = "") -> [Placeholder] {
    var places: [Placeholder] = []
    for open in text.indices where text[open] == "{" && text[..<open].last != "$" {
      let name = text[text.index(after: open)...].prefix { isNameByte($0) || marks.contains($0) }
      guard !name.isEmpty, text[name.endIndex...].first == "}" else { continue }
      let place = Placeholder(rawValue: String(name))
      if !places.contains(place) { places.append(place) }
    }
    return places
  }

  private static func isNameByte(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "_-".contains(character))
  }

  /// Replaces placeholders by their values.
  ///
  /// - Parameters:
  ///   - text: The text that contains placeholders.
  ///   - places: The placeholders to replace; others stay as they are.
  ///   - value: Returns the value of a placeholder, given the part of `text` before it; nil leaves the placeholder as
  ///     it is.
  /// - Returns: The text with the values.
  static func fill(
    _ text: String,
    _ places: Set<Placeholder>,
    _ value: (Placeholder, Substring) -> String?
  ) -> String {
    var filled = ""
    var done = text.startIndex
    var index = text.startIndex
    let bytes = text.utf8
    while let open = bytes[index...].firstIndex(of: UInt8(ascii: "{")) {
      index = bytes.index(after: open)
      let isVariable = bytes[..<open].last == UInt8(ascii: "$")
      guard !isVariable,
        let place = places.first(where: { bytes[index...].starts(with: $0.closing.utf8) }),
        let value = value(place, text[..<open])
      else { continue }
      filled += text[done..<open]
      filled += value
      done = bytes.index(index, offsetBy: place.closing.utf8.count)
      index = done
    }
    return filled + text[done...]
  }

  /// A URL of the catalog file with its placeholders replaced by values, each escaped for a path segment or the query.
  /// (RFC 3986, section 2.3)
  public static func fill(url: String, with values: [Placeholder: String]) -> String {
    fill(url, Set(values.keys)) { place, _ in PercentEncoding.escaped(values[place] ?? "") }
  }

  /// A URL of the catalog file with these placeholders escaped, so that it can be parsed; see ``reopened(_:_:)``.
  public static func closed(_ url: String, _ places: some Sequence<Placeholder>) -> String {
    fill(url, Set(places)) { place, _ in place.closed }
  }

  /// A parsed URL with the placeholders that ``closed(_:_:)`` escaped.
  public static func reopened(_ url: String, _ places: some Sequence<Placeholder>) -> String {
    places.reduce(url) { $0.replacing($1.closed, with: $1.written) }
  }

  private var closed: String { "%7B\(rawValue)%7D" }
}
