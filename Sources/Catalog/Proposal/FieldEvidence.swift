/// What items have at one place: the ground on which a proposal stands.
struct FieldEvidence {
  /// Where it is.
  var place: FieldPlace
  /// How many items were looked at.
  var total = 0
  /// How many of them have a value here that is not empty.
  var held = 0
  /// How many values there are, several of one item included.
  var values = 0
  var texts = 0
  var integers = 0
  var reals = 0
  /// The texts, and numbers as text, up to a bound.
  var samples: [String] = []
  /// The values of the first of each item: as many as items when all differ.
  var distinct: Set<String> = []
  /// Whether a currency's code stands beside it, in an object that is not the item itself.
  var isBesideCurrency = false

  /// The share of items that have it, 0 to 1.
  var share: Double { total == 0 ? 0 : Double(held) / Double(total) }
  /// The share of items that differ in it, among those that have it.
  var variety: Double { held == 0 ? 0 : Double(distinct.count) / Double(held) }
  var isText: Bool { values > 0 && texts == values }
  var isNumber: Bool { values > 0 && integers + reals == values }

  /// The share of samples that satisfy a condition.
  func share(_ isSo: (String) -> Bool) -> Double {
    samples.isEmpty ? 0 : Double(samples.count(where: isSo)) / Double(samples.count)
  }

  /// The same at another place.
  func at(_ place: FieldPlace) -> Self {
    var evidence = self
    evidence.place = place
    return evidence
  }

  /// What the values are, for people: "text", "a number".
  var phrase: String {
    if isText { return place.isMany ? "texts" : "text" }
    if isNumber { return place.isMany ? "numbers" : "a number" }
    return "text or a number"
  }
}

/// Gathers what items have, place by place, in the order in which the places appear.
struct EvidenceCollection {
  /// The evidence.
  private(set) var all: [FieldEvidence] = []
  private var positions: [FieldPlace: Int] = [:]

  /// How many items are looked at, and how many places.
  static let itemLimit = 200
  private static let placeLimit = 400
  private static let depthLimit = 7
  private static let sampleLimit = 400
  private static let elementLimit = 10

  /// Looks at items, evenly spread over a long list.
  init(_ items: [JSONNode]) {
    let step = max(1, (items.count + Self.itemLimit - 1) / Self.itemLimit)
    let chosen = stride(from: 0, to: items.count, by: step).map { items[$0] }
    for item in chosen {
      var seen: Set<Int> = []
      visit(item, FieldPlace(steps: []), &seen)
    }
    let amounts = Set(
      all.filter { $0.place.steps.count > 1 && CurrencyProposal.isNamed(by: $0) }
        .map { $0.place.steps.dropLast() }
    )
    for position in all.indices {
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
      for element in node.elements.prefix(Self.elementLimit) { visit(element, next, &seen) }
    case .string, .integer, .real: record(node, place, &seen)
    case .boolean, .null: break
    }
  }

  /// Looks at two numbers that are a place on earth, in the order of GeoJSON or of people.
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

  /// What two numbers under a name are, in their order. (RFC 7946, section 3.1.1)
  private static func position(_ name: String) -> [String]? {
    switch name {
    case "coordinates", "coords", "lnglat", "lonlat", "lng lat", "lon lat":
      ["longitude", "latitude"]
    case "latlng", "latlon", "lat lng", "lat lon": ["latitude", "longitude"]
    default: nil
    }
  }

  /// Looks at a list of names with values, such as `{"code": "price", "value": 7}`, by these names.
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
    if all[position].samples.count < Self.sampleLimit {
      all[position].samples.append(String(text.prefix(2000)))
    }
    if seen.insert(position).inserted {
      all[position].held += 1
      all[position].distinct.insert(text)
    }
  }
}
