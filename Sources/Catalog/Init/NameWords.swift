/// Splits names into lower-case words: `compareAtPrice` and `compare_at_price` are both `compare at price`.
///
/// Used by `larder catalog init` to recognize fields, and by ``ListingDecoder`` to recognize totals and signs of
/// further pages.
enum NameWords {
  /// The words of a name, in order.
  static func words(of name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var wasLower = false
    for scalar in name.unicodeScalars {
      let properties = scalar.properties
      guard properties.isAlphabetic || properties.numericType != nil else {
        if !word.isEmpty { words.append(word) }
        (word, wasLower) = ("", false)
        continue
      }
      if properties.isUppercase, wasLower {
        words.append(word)
        word = ""
      }
      word += properties.lowercaseMapping
      wasLower = properties.isLowercase || properties.numericType != nil
    }
    return (word.isEmpty ? words : words + [word]).flatMap(parts(of:))
  }

  /// The last part of words that are written together: `einkaufspreis`, `saleprice`, `hauptbild`.
  private static let heads = [
    "preis", "prijs", "hinta", "price", "prices", "bild", "bilder", "image", "images", "foto",
    "photo",
    "url",
  ]

  /// A word that is written together, apart.
  private static func parts(of word: String) -> [String] {
    let head = heads.first { word.hasSuffix($0) && word.utf8.count > $0.utf8.count + 2 }
    return head.map { [String(word.dropLast($0.count)), $0] } ?? [word]
  }

  /// The name with its words joined by spaces; different spellings of one name become equal.
  static func plain(_ name: String) -> String {
    words(of: name).joined(separator: " ")
  }
}
