/// A place in a URL or body of the catalog file that each request fills anew: `{cursor}`.
public enum Placeholder: String, Hashable, Sendable, CaseIterable {
  /// What the last page named as the next one's beginning; empty at first.
  case cursor
  /// The number of the page.
  case page
  /// How many elements stand before the page.
  case offset
  /// How many elements a page is asked to have.
  case size
  /// The id of the item whose detail is asked for.
  case id

  /// Those that a request for a section fills.
  static let ofSections: Set<Placeholder> = [.cursor, .page, .offset, .size]

  /// Whether its value is a number.
  var isNumber: Bool { self == .page || self == .offset || self == .size }

  /// The place as it is written.
  public var written: String { "{\(rawValue)}" }

  /// Whether a text has this place; `${id}` is a variable and no place.
  func isIn(_ text: String) -> Bool {
    var found = false
    _ = Self.fill(text, [self]) { _, _ in
      found = true
      return ""
    }
    return found
  }

  /// Puts values into places.
  ///
  /// - Parameters:
  ///   - text: The text with places in it.
  ///   - places: Those to fill; others stay as they are.
  ///   - value: What to put into a place, told what of `text` stands before it.
  /// - Returns: The text filled.
  static func fill(
    _ text: String,
    _ places: Set<Placeholder>,
    _ value: (Placeholder, Substring) -> String
  ) -> String {
    var filled = ""
    var done = text.startIndex
    var index = text.startIndex
    while let open = text[index...].firstIndex(of: "{") {
      index = text.index(after: open)
      let isVariable = text[..<open].last == "$"
      guard !isVariable,
        let place = places.first(where: { text[open...].hasPrefix($0.written) })
      else { continue }
      filled += text[done..<open]
      filled += value(place, text[..<open])
      done = text.index(open, offsetBy: place.written.count)
      index = done
    }
    return filled + text[done...]
  }

  /// A URL of the catalog file with values in its places, each escaped as a part of a segment or of the
  /// query. (RFC 3986, section 2.3)
  static func fill(url: String, with values: [Placeholder: String]) -> String {
    fill(url, Set(values.keys)) { place, _ in DetailRule.escaped(values[place] ?? "") }
  }
}
