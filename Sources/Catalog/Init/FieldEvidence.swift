/// The values that all items have at one place (a path in the item).
///
/// They are the evidence for a proposed field.
struct FieldEvidence {
  /// The place of the values in an item.
  var place: FieldPlace
  /// How many items were examined.
  var total = 0
  /// How many items have a value at the place that is not empty.
  var held = 0
  /// How many values there are; an item may have several.
  var values = 0
  var texts = 0
  var integers = 0
  var reals = 0
  /// A sample of the texts, and of the numbers as text.
  var samples: [String] = []
  /// The first value of each item; nil for an item without a value.
  ///
  /// A long value is replaced by its beginning and a hash.
  var firsts: [String?] = []
  /// How many items have a value in the first element of each list on the path.
  var leads = 0
  /// The different values among ``firsts``.
  ///
  /// If all items have different values, there are as many as items.
  var distinct: Set<String> = []
  /// One of every `stride` values becomes a sample.
  fileprivate var stride = 1
  /// Texts that items without a picture have instead of a URL, for example `no_selection`.
  fileprivate(set) var placeholders: Set<String> = []
  /// Whether a currency code is beside the values, in an object that is not the item itself.
  var isBesideCurrency = false

  /// The share of items that have a value, 0 to 1.
  var share: Double { total == 0 ? 0 : Double(held) / Double(total) }
  /// The share of items that have a value on the path ``FieldPlace/first``.
  var leading: Double { total == 0 ? 0 : Double(leads) / Double(total) }
  /// The number of different values, divided by the number of items with a value.
  var variety: Double { held == 0 ? 0 : Double(distinct.count) / Double(held) }
  var isText: Bool { values > 0 && texts == values }
  var isNumber: Bool { values > 0 && integers + reals == values }

  /// The share of samples that satisfy a condition.
  func share(_ isSo: (String) -> Bool) -> Double {
    samples.isEmpty ? 0 : Double(samples.count(where: isSo)) / Double(samples.count)
  }

  /// The same evidence, assigned to another place.
  func at(_ place: FieldPlace) -> Self {
    var evidence = self
    evidence.place = place
    return evidence
  }

  /// The share of items for which the values here and in `other` satisfy a condition.
  ///
  /// Only items with both values count; 1 if there are none.
  func share(with other: FieldEvidence, _ holds: (String, String) -> Bool) -> Double {
    let pairs = zip(firsts, other.firsts).compactMap { one, other in
      one.flatMap { one in other.map { (one, $0) } }
    }
    return pairs.isEmpty ? 1 : Double(pairs.count { holds($0.0, $0.1) }) / Double(pairs.count)
  }

  /// Whether some items have a value here and none in `other`.
  func fills(_ other: FieldEvidence) -> Bool {
    firsts.indices.contains { place in
      firsts[place] != nil && !(other.firsts.indices.contains(place) && other.firsts[place] != nil)
    }
  }

  /// Removes the texts that mean "none", if more than 30 % of the texts are picture URLs.
  fileprivate mutating func dropPlaceholders() {
    guard isText, !place.isMany, share(PictureText.isLink) > 0.3 else { return }
    let odd = Set(samples.filter { !PictureText.isLink($0) && !PictureText.isData($0) })
    guard !odd.isEmpty, odd.allSatisfy({ Self.saysNothing.contains($0.lowercased()) }) else {
      return
    }
    placeholders = odd
    samples.removeAll(where: odd.contains)
    distinct.subtract(odd)
    for place in firsts.indices where firsts[place].map(odd.contains) == true {
      firsts[place] = nil
      held -= 1
      leads -= 1
    }
  }

  private static let saysNothing: Set<String> = [
    "n/a", "na", "none", "null", "nil", "-", "no_selection", "undefined", "false", "no image",
  ]

  /// Whether a path to a single value finds every value: the path has no list, or only lists with one element.
  var isOne: Bool { !place.isMany || place.isTextList || place.entersList && values == total }

  /// Whether the values count the items, from 0 or 1 on.
  var isCount: Bool {
    let numbers = firsts.prefix(20).map { $0.flatMap { Int($0) } }
    guard let first = numbers.first ?? nil, numbers.count > 2, (0...1).contains(first) else {
      return false
    }
    return numbers.enumerated().allSatisfy { $0.element == first + $0.offset }
  }

  /// The type of the values, for comments in the file: "text", "a number".
  var phrase: String {
    if isText { return place.isMany ? "texts" : "text" }
    if isNumber { return place.isMany ? "numbers" : "a number" }
    return "text or a number"
  }
}

/// Gathers the values of items by place, in the order in which the places first appear.
struct EvidenceCollection {
  /// The evidence.
  private(set) var all: [FieldEvidence] = []
  private var positions: [FieldPlace: Int] = [:]
  /// How many items were examined.
  private var count = 0
  /// Whether the current value is in the first element of every list on its path.
  private var isLeading = true

  /// The maximum number of items that are examined.
  static let itemLimit = 5000
  private static let placeLimit = 400
  private static let depthLimit = 7
  private static let sampleLimit = 800
  private static let elementLimit = 10

  /// Collects the values of items; if there are too many items, of an evenly spread sample.
  init(_ items: [JSONNode]) {
    let step = max(1, (items.count + Self.itemLimit - 1) / Self.itemLimit)
    let chosen = stride(from: 0, to: items.count, by: step).map { items[$0] }
    for item in chosen {
      var seen: Set<Int> = []
      visit(item, FieldPlace(steps: []), &seen)
      count += 1
    }
    let amounts = Set(
      all.filter { $0.place.steps.count > 1 && CurrencyProposal.isNamed(by: $0) }
        .map { $0.place.steps.dropLast() }
    )
    for position in all.indices {
      all[position].dropPlaceholders()
      all[position].total = chosen.count
      all[position].isBesideCurrency = amounts.contains(all[position].place.steps.dropLast())
    }
  }

  private mutating func visit(_ node: JSONNode, _ place: FieldPlace, _ seen: inout Set<Int>) {
    switch node.kind {
    case .object:
      guard place.steps.count < Self.depthLimit else { return }
      for (name, value) in node.members {
        var next = place
        next.steps.append(FieldPlace.Step(name: name))
        visit(value, next, &seen)
      }
    case .array:
      guard let last = place.steps.indices.last, !place.steps[last].isList,
        place.steps[last].choice == nil
      else { return }
      let isPair = visitPosition(node, place, &seen)
      visitPairs(node, place, &seen)
      if isPair { return }
      var next = place
      next.steps[last].isList = true
      let wasLeading = isLeading
      defer { isLeading = wasLeading }
      for (position, element) in node.elements.prefix(Self.elementLimit).enumerated() {
        isLeading = wasLeading && position == 0
        visit(element, next, &seen)
      }
    case .string, .integer, .real: record(node, place, &seen)
    case .boolean, .null: break
    }
  }

  /// Records a pair of coordinates: `[longitude, latitude]` as in GeoJSON, or the reverse.
  private mutating func visitPosition(
    _ node: JSONNode,
    _ place: FieldPlace,
    _ seen: inout Set<Int>
  ) -> Bool {
    guard let last = place.steps.last, let order = Self.position(NameWords.plain(last.name)) else {
      return false
    }
    let numbers = node.elements
    guard (2...3).contains(numbers.count),
      numbers.allSatisfy({ $0.kind == .integer || $0.kind == .real })
    else { return false }
    for (index, meaning) in order.enumerated() {
      var next = place
      next.steps[next.steps.count - 1].choice = "[\(index)]"
      next.steps[next.steps.count - 1].meaning = meaning
      record(numbers[index], next, &seen)
    }
    return true
  }

  /// The meanings of the two numbers in a list of this name, in order. (RFC 7946, section 3.1.1)
  private static func position(_ name: String) -> [String]? {
    switch name {
    case "coordinates", "coords", "lnglat", "lonlat", "lng lat", "lon lat":
      ["longitude", "latitude"]
    case "latlng", "latlon", "lat lng", "lat lon": ["latitude", "longitude"]
    default: nil
    }
  }

  /// Records a list of name-value pairs, such as `[{"code": "price", "value": 7}]`, as values under these names.
  private mutating func visitPairs(
    _ node: JSONNode,
    _ place: FieldPlace,
    _ seen: inout Set<Int>
  ) {
    let elements = node.elements.prefix(40)
    guard let first = elements.first, first.kind == .object,
      let value = ["value", "values", "val"].first(where: { first[$0] != nil }),
      let key = ["attribute_code", "code", "key", "name", "slug"].first(where: {
        first[$0]?.text?.isEmpty == false
      })
    else { return }
    for element in elements {
      guard let name = element[key]?.text, !name.isEmpty, name.utf8.count <= 60,
        let held = element[value]
      else {
        continue
      }
      var next = place
      next.steps[next.steps.count - 1].choice =
        "[?@\(FieldPlace.segment(key)) == \(FieldPlace.quoted(name))]"
      next.steps[next.steps.count - 1].meaning = name
      next.steps.append(FieldPlace.Step(name: value))
      visit(held, next, &seen)
    }
  }

  private mutating func record(_ node: JSONNode, _ place: FieldPlace, _ seen: inout Set<Int>) {
    guard !node.isEmpty, let text = FieldReader.plainText(node) else { return }
    let position: Int
    if let known = positions[place] {
      position = known
    } else {
      guard all.count < Self.placeLimit else { return }
      position = all.count
      positions[place] = position
      all.append(FieldEvidence(place: place))
    }
    all[position].values += 1
    switch node.kind {
    case .string: all[position].texts += 1
    case .integer: all[position].integers += 1
    default: all[position].reals += 1
    }
    if all[position].values % all[position].stride == 0 {
      all[position].samples.append(String(text.prefix(2000)))
    }
    if all[position].samples.count == Self.sampleLimit {
      // Drop every second sample, to make room for later ones.
      all[position].samples = stride(from: 1, to: Self.sampleLimit, by: 2).map {
        all[position].samples[$0]
      }
      all[position].stride *= 2
    }
    guard seen.insert(position).inserted else { return }
    let short = text.utf8.count <= 64 ? text : "\(text.prefix(40)) \(text.hashValue)"
    all[position].held += 1
    if isLeading { all[position].leads += 1 }
    all[position].distinct.insert(short)
    all[position].firsts += repeatElement(nil, count: count - all[position].firsts.count) + [short]
  }
}

/// A place in an item, given by the member names that lead to it.
struct FieldPlace: Hashable {
  /// A member name on the path, and whether the member is a list.
  struct Step: Hashable {
    let name: String
    var isList = false
    /// The selector of the single list element on the path, as a path segment: `[1]`, `[?@.code == 'price']`.
    var choice: String?
    /// The name that the selected element has, such as `price`.
    var meaning: String?
  }

  /// The steps from the item.
  var steps: [Step]

  /// The last name.
  var name: String { names.last ?? "" }

  /// The name before the last.
  var parent: String? { names.dropLast().last }

  /// The names on the path; for the value in `[{"code": "price", "value": 7}]`, the name is `price`.
  var names: [String] {
    var names: [String] = []
    var isChosen = false
    for step in steps {
      // The name of the step is left out for the value of a selected element, and for a text in one language.
      let isSilent = isChosen || names.last.map { Self.addsNothing(step.name, $0) } ?? false
      isChosen = step.choice != nil
      if !isSilent { names.append(step.meaning ?? step.name) }
    }
    return names
  }

  /// Whether a name adds no meaning, because the name before it already means a text: `{"name": {"en": …}}`.
  private static func addsNothing(_ name: String, _ parent: String) -> Bool {
    let words = NameWords.words(of: name)
    if ["rendered", "html", "plain", "default", "#text", "_text", "$t"].contains(name.lowercased())
    {
      return true
    }
    guard FieldRules.isText(parent) else { return false }
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

  /// Whether an item may have several values at this place.
  var isMany: Bool { steps.contains(where: \.isList) }

  /// Whether each list on the path holds one text in several languages: `{"name": [{"id": 1, "value": …}]}`.
  var isTextList: Bool {
    entersList && steps.allSatisfy { !$0.isList || FieldRules.isText($0.name) }
      && steps.last?.name == "value"
  }

  /// Whether the path leads to a field of each object in a list.
  var entersList: Bool { steps.dropLast().contains(where: \.isList) }

  /// Whether the path leads into a list of things, other than pictures, that may themselves be items.
  var isBorrowed: Bool {
    guard entersList, let list = steps.firstIndex(where: \.isList) else { return false }
    return !steps[...list].contains { FieldRules.isPicture($0.name) }
  }

  /// The path to the first value.
  var first: String { path("[0]") }

  /// The path to all values.
  ///
  /// It ends at a list as a whole, because the reader flattens lists.
  var all: String { path("[*]", atEnd: "") }

  /// The nodes at this place, with lists flattened; selectors of list elements are ignored.
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

  /// The name of a step that stands for all elements of a list.
  static let everyElement = "[*]"

  /// A name as a path segment, in brackets unless it is a plain word. (RFC 9535, section 2.5.1)
  static func segment(_ name: String) -> String {
    if name == everyElement { return name }
    let isWord =
      name.unicodeScalars.first.map { $0 == "_" || $0.properties.isAlphabetic } ?? false
      && name.unicodeScalars.allSatisfy {
        $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
    return isWord ? ".\(name)" : "[\(quoted(name))]"
  }

  /// A text as a string literal in a path. (RFC 9535, section 2.3.1)
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
