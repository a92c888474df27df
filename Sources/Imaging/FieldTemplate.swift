/// A text with fields in braces, `{stem}.{ext}`, taken apart piece by piece.
struct FieldTemplate {
  enum Piece {
    case text(Substring)
    /// The name between braces.
    case field(Substring)
  }

  private let template: String
  private let purpose: String
  private var rest: Substring

  /// Starts at the beginning; `purpose` is what the text is for, as errors say it: `name pictures`.
  init(_ template: String, for purpose: String) {
    (self.template, self.purpose) = (template, purpose)
    rest = template[...]
  }

  /// The error that says why the text is of no use.
  func refusal(_ reason: String) -> ImagingError {
    ImagingError(.usage, "cannot \(purpose) \(template): \(reason)")
  }

  /// The next piece, never an empty text; nil at the end.
  ///
  /// - Throws: ``ImagingError`` of code `usage` for a brace that nothing closes.
  mutating func next() throws(ImagingError) -> Piece? {
    guard rest.first == "{" else {
      let text = rest.prefix { $0 != "{" }
      rest = rest.dropFirst(text.count)
      return text.isEmpty ? nil : .text(text)
    }
    guard let close = rest.firstIndex(of: "}") else {
      throw refusal("a brace is open; close it")
    }
    defer { rest = rest[rest.index(after: close)...] }
    return .field(rest[rest.index(after: rest.startIndex)..<close])
  }
}
