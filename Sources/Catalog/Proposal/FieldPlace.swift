/// A place in an item, by the names that lead to it from there.
struct FieldPlace: Hashable {
  /// A name on the way, and whether it leads to a list.
  struct Step: Hashable {
    let name: String
    var isList = false
    /// The one element of the list that is meant, as a segment of a path: `[1]`, `[?@.code == 'price']`.
    var choice: String?
    /// What that element is called.
    var meaning: String?
  }

  /// The way from the item.
  var steps: [Step]

  /// The name that it ends in.
  var name: String { names.last ?? "" }

  /// The name before the last.
  var parent: String? { names.dropLast().last }

  /// What stands on the way, as it is called: of `{"code": "price", "value": 7}` in a list, `price`.
  var names: [String] {
    var names: [String] = []
    var isChosen = false
    for step in steps {
      // What a chosen element holds is called as that element is; what a language holds, as the text is.
      let isSilent = isChosen || names.last.map { Self.isVeil(step.name, $0) } ?? false
      isChosen = step.choice != nil
      if !isSilent { names.append(step.meaning ?? step.name) }
    }
    return names
  }

  /// Whether a name says nothing, because what stands before it is the name of the text: `{"name": {"en": …}}`.
  private static func isVeil(_ name: String, _ parent: String) -> Bool {
    let words = NameWords.words(of: name)
    if ["rendered", "html", "plain", "default", "#text", "_text", "$t"].contains(name.lowercased())
    {
      return true
    }
    guard FieldVocabulary.isText(parent) else { return false }
    if ["value", "text", "_", "#cdata-section", "displayvalue"].contains(name.lowercased()) {
      return true
    }
    guard let first = words.first, words.count <= 2 else {
      return false
    }
    return languages.contains(first)
  }

  private static let languages: Set<String> = [
    "ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "he", "hi", "hr", "hu", "id",
    "it",
    "ja", "ko", "kr", "lt", "lv", "ms", "nb", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr",
    "sv",
    "th", "tr", "uk", "vi", "zh",
  ]

  /// Whether an item may have several values here.
  var isMany: Bool { steps.contains(where: \.isList) }

  /// Whether its only lists are those of one text in several languages: `{"name": [{"id": 1, "value": …}]}`.
  var isTextList: Bool {
    entersList && steps.allSatisfy { !$0.isList || FieldVocabulary.isText($0.name) }
      && steps.last?.name == "value"
  }

  /// Whether it leads through a list of objects, of which it takes a field.
  var entersList: Bool { steps.dropLast().contains(where: \.isList) }

  /// Whether it leads into a list of things, other than pictures, that may be items by themselves.
  var isBorrowed: Bool {
    guard entersList, let list = steps.firstIndex(where: \.isList) else { return false }
    return !steps[...list].contains { FieldVocabulary.isPicture($0.name) }
  }

  /// The path to the first value.
  var first: String { path("[0]") }

  /// The path to all values; a list at its end is taken apart by whoever reads it.
  var all: String { path("[*]", atEnd: "") }

  /// The elements of the lists that it leads to; choices are not heeded.
  func nodes(in node: JSONNode) -> [JSONNode] {
    var nodes = [node]
    for step in steps {
      nodes = nodes.flatMap { node -> [JSONNode] in
        guard let value = node[step.name] else { return [] }
        return step.isList ? value.elements : [value]
      }
    }
    return nodes
  }

  private func path(_ choice: String, atEnd end: String? = nil) -> String {
    var path = "$"
    for (position, step) in steps.enumerated() {
      path += Self.segment(step.name)
      if let choice = step.choice {
        path += choice
        continue
      }
      if step.isList { path += position == steps.count - 1 ? end ?? choice : choice }
    }
    return path
  }

  /// What stands among names for all elements of a list.
  static let everyElement = "[*]"

  /// A name as a segment of a path, in brackets where it is no plain word. (RFC 9535, section 2.5.1)
  static func segment(_ name: String) -> String {
    if name == everyElement { return name }
    let isWord =
      name.unicodeScalars.first.map { $0 == "_" || $0.properties.isAlphabetic } ?? false
      && name.unicodeScalars.allSatisfy {
        $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
    return isWord ? ".\(name)" : "[\(quoted(name))]"
  }

  /// A text as a string of a path. (RFC 9535, section 2.3.1)
  static func quoted(_ name: String) -> String {
    var quoted = ""
    for scalar in name.unicodeScalars {
      if scalar == "'" || scalar == "\\" { quoted += "\\" }
      if scalar.value < 0x20 {
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        quoted.unicodeScalars.append(scalar)
      }
    }
    return "'\(quoted)'"
  }
}
