import Base

/// A placeholder such as `{cursor}` in a URL or a request body of the catalog file.
///
/// Each request replaces it by a value. Five names have a fixed meaning. Any other name, as in
/// `https://shop.example/products/{slug}`, is a field of the item whose detail is requested.
public struct Placeholder: RawRepresentable, Hashable, Sendable {
  /// The name between the braces.
  public let rawValue: String

  /// Makes a placeholder with a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The cursor for the page, from the response with the previous page; empty if the page is the first one.
  public static let cursor = Placeholder(rawValue: "cursor")
  /// The number of the page.
  public static let page = Placeholder(rawValue: "page")
  /// The number of elements on all earlier pages.
  public static let offset = Placeholder(rawValue: "offset")
  /// The number of elements that each page should have.
  public static let size = Placeholder(rawValue: "size")
  /// The id of the item whose detail is requested.
  public static let id = Placeholder(rawValue: "id")

  /// The placeholders that are allowed in the request for a section.
  static let ofSections: Set<Placeholder> = [.cursor, .page, .offset, .size]

  /// Whether the value is always a number.
  var isNumber: Bool { self == .page || self == .offset || self == .size }

  /// Whether the name has a fixed meaning, so that the placeholder is recognized anywhere in a body.
  var hasMeaning: Bool { self == .id || Self.ofSections.contains(self) }

  /// The placeholder with its braces, such as `{cursor}`.
  public var written: String { "{\(rawValue)}" }

  /// Whether a text contains this placeholder.
  ///
  /// `${id}` is not one, because `$` makes it an environment variable.
  func isIn(_ text: String) -> Bool { Self.all(in: text).contains(self) }

  /// The placeholders with any name in a text, each once, in their order.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - marks: Further characters that are allowed in a name, besides ASCII letters, digits, `_` and `-`.
  /// - Returns: The placeholders.
  package static func all(in text: String, joinedBy marks: String = "") -> [Placeholder] {
    var places: [Placeholder] = []
    _ = fill(text, joinedBy: marks) { place, _ in
      if !places.contains(place) { places.append(place) }
      return nil
    }
    return places
  }

  /// Replaces placeholders by their values.
  ///
  /// - Parameters:
  ///   - text: The text that contains placeholders.
  ///   - marks: Further characters that are allowed in a name; see ``all(in:joinedBy:)``.
  ///   - value: Returns the value of a placeholder, given the part of `text` before the placeholder. If it returns nil,
  ///     the placeholder stays as it is.
  /// - Returns: The text with the values.
  static func fill(
    _ text: String,
    joinedBy marks: String = "",
    _ value: (Placeholder, Substring) -> String?
  ) -> String {
    var filled = ""
    var done = text.startIndex
    var index = text.startIndex
    let bytes = text.utf8
    while let open = bytes[index...].firstIndex(of: UInt8(ascii: "{")) {
      index = bytes.index(after: open)
      let name = bytes[index...].prefix { $0.isNameCharacter || marks.utf8.contains($0) }
      guard !name.isEmpty, bytes[name.endIndex...].first == UInt8(ascii: "}"),
        bytes[..<open].last != UInt8(ascii: "$"),
        let value = value(Placeholder(rawValue: String(Substring(name))), text[..<open])
      else { continue }
      filled += text[done..<open]
      filled += value
      index = bytes.index(after: name.endIndex)
      done = index
    }
    return filled + text[done...]
  }

  /// Replaces the placeholders of a URL by percent-encoded values. (RFC 3986, section 2.3)
  public static func fill(url: String, with values: [Placeholder: String]) -> String {
    URLTemplate(url).filled(with: values)
  }

  /// Percent-encodes the braces of placeholders in a URL, so that it can be parsed: `{id}` becomes `%7Bid%7D`.
  public static func closed(_ url: String, _ places: some Sequence<Placeholder>) -> String {
    fill(url) { place, _ in places.contains(place) ? place.closed : nil }
  }

  /// Restores the placeholders in a parsed URL that ``closed(_:_:)`` has percent-encoded.
  public static func reopened(_ url: String, _ places: some Sequence<Placeholder>) -> String {
    places.reduce(url) { $0.replacing($1.closed, with: $1.written) }
  }

  private var closed: String { "%7B\(rawValue)%7D" }
}

/// A URL that was cut at its placeholders.
///
/// Searching the placeholders again for each item took a tenth of the instructions of a sync with unchanged details.
public struct URLTemplate: Sendable {
  private var parts: [(text: String, place: Placeholder)] = []
  private var rest = ""
  /// The number of bytes of most URLs.
  private let size: Int

  /// Cuts a URL.
  public init(_ url: String) {
    size = url.utf8.count + 32
    var start = url.startIndex
    _ = Placeholder.fill(url) { place, before in
      parts.append((String(url[start..<before.endIndex]), place))
      start = url.utf8.index(before.endIndex, offsetBy: place.written.utf8.count)
      return nil
    }
    rest = String(url[start...])
  }

  /// The URL with percent-encoded values. (RFC 3986, section 2.3)
  ///
  /// A placeholder without a value stays as it is.
  public func filled(with values: [Placeholder: String]) -> String {
    var url = ""
    url.reserveCapacity(size)
    for (text, place) in parts {
      url += text
      url += values[place].map { PercentEncoding.escaped($0) } ?? place.written
    }
    url += rest
    return url
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII letter, a digit, `_` or `-`.
  var isNameCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-")
  }
}
