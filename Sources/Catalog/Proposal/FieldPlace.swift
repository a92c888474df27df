/// A place in an item, by the names that lead to it from there.
struct FieldPlace: Hashable {
  /// A name on the way, and whether it leads to a list.
  struct Step: Hashable {
    let name: String
    var isList: Bool
  }

  /// The way from the item.
  var steps: [Step]

  /// The name that it ends in.
  var name: String { steps.last?.name ?? "" }

  /// The name before the last.
  var parent: String? { steps.dropLast().last?.name }

  /// Whether an item may have several values here.
  var isMany: Bool { steps.contains(where: \.isList) }

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

  private func path(_ choice: String, atEnd end: String? = nil) -> String {
    var path = "$"
    for (position, step) in steps.enumerated() {
      path += Self.segment(step.name)
      if step.isList { path += position == steps.count - 1 ? end ?? choice : choice }
    }
    return path
  }

  /// A name as a segment of a path, in brackets where it is no plain word. (RFC 9535, section 2.5.1)
  static func segment(_ name: String) -> String {
    let isWord =
      name.unicodeScalars.first.map { $0 == "_" || $0.properties.isAlphabetic } ?? false
      && name.unicodeScalars.allSatisfy {
        $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
    if isWord { return ".\(name)" }
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
    return "['\(quoted)']"
  }
}
