/// Splits the names of JSON members into lower-case words.
///
/// For example, `compareAtPrice` and `compare_at_price` both become `compare at price`. `larder catalog init`
/// recognizes fields by these words. ``ListingDecoder`` recognizes by them the members that state a total or a further
/// page.
enum NameWords {
  /// The words of a name, in order.
  static func words(of name: String) -> [String] {
    // A space is put between the words.
    var spaced = ""
    var wasLower = false
    for scalar in name.unicodeScalars {
      let properties = scalar.properties
      // A vowel sign or a tone mark, as in "मूल्य" and "ชื่อ", belongs to its letter.
      let isMark = [.nonspacingMark, .spacingMark].contains(properties.generalCategory)
      let isPart = properties.isAlphabetic || properties.numericType != nil || isMark
      if !isPart || properties.isUppercase && wasLower { spaced += " " }
      if isPart { spaced += properties.lowercaseMapping }
      wasLower = isPart && (properties.isLowercase || properties.numericType != nil)
    }
    return spaced.unicodeScalars.split(separator: " ").flatMap { parts(of: String($0)) }
  }

  /// The last parts of compound words, such as `preis` in `einkaufspreis` and `price` in `saleprice`.
  private static let heads = WordTable.names.words(of: "head")

  /// Splits a compound word: `saleprice` becomes `sale` and `price`, and `priceold` becomes `price` and `old`.
  private static func parts(of word: String) -> [String] {
    let head = heads.first { word.hasSuffix($0) && word.utf8.count > $0.utf8.count + 2 }
    if let head { return [String(word.dropLast(head.count)), head] }
    let isPrice = word.hasPrefix("price") && word.utf8.count > 7
    return isPrice ? ["price", String(word.dropFirst(5))] : [word]
  }

  /// The words of a name, joined by spaces; different spellings of one name become equal.
  static func plain(_ name: String) -> String {
    words(of: name).joined(separator: " ")
  }
}

extension Array {
  /// The elements with the greatest value first; elements with equal values keep their order.
  func ranked<Value: Comparable>(by value: (Element) -> Value) -> [Element] {
    // Swift's sort is stable.
    sorted { value($0) > value($1) }
  }

  /// The elements without those whose key an earlier element has.
  package func unique<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
    var seen: Set<Key> = []
    return filter { seen.insert(key($0)).inserted }
  }
}

extension [String] {
  /// The most frequent text with its count; of texts that are equally frequent, the first in alphabetical order.
  var mostFrequent: (element: String, count: Int)? {
    let counts = Dictionary(grouping: self, by: \.self).mapValues(\.count)
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { ($0.key, $0.value) }
  }
}
