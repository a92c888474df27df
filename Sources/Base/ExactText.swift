/// A text that equals another only if both have the same bytes in UTF-8.
///
/// Swift also takes texts for equal if they are canonically equivalent: "é" as one scalar and "e" with a combining accent
/// are one key of a dictionary. (UAX 15) Shops, URLs and SQLite tell them apart. So compare the ids of items, and look them
/// up, in this form.
package struct ExactText: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The text as a `String`.
  package let text: String

  /// Makes an exact text of a `String`.
  package init(_ text: String) { self.text = text }

  package init(stringLiteral text: String) { self.text = text }

  /// Whether the bytes are the same.
  ///
  /// The hash is that of the `String`: texts with the same bytes have the same hash.
  package static func == (one: ExactText, other: ExactText) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }
}

extension String {
  /// The text in the form that is compared byte by byte.
  package var exact: ExactText { ExactText(self) }
}

extension String {
  /// Decodes bytes that are mostly UTF-8.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - isText: Whether a character stays as it is. If not, its bytes are replaced too.
  ///   - replace: Makes the text for a byte that is not UTF-8.
  package init(
    _ bytes: [UInt8],
    isText: (Unicode.Scalar) -> Bool = { _ in true },
    replacing replace: (UInt8) -> String
  ) {
    self = ""
    var rest = bytes[...]
    while let byte = rest.first {
      // The encoding of a character has one to four bytes.
      let text = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }
        .first { $0.unicodeScalars.allSatisfy(isText) }
      self += text ?? replace(byte)
      rest = rest.dropFirst(text?.utf8.count ?? 1)
    }
  }
}
