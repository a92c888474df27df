/// Splits names into lower-case words: `compareAtPrice` and `compare_at_price` are both `compare at price`.
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
    return word.isEmpty ? words : words + [word]
  }

  /// The name with its words joined by spaces, which makes spellings of one name equal.
  static func plain(_ name: String) -> String {
    words(of: name).joined(separator: " ")
  }
}
