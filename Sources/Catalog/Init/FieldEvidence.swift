/// The values that the items of a response have at one path, as evidence for the meaning of that path.
///
/// For example, the values at `$.price` of all items could be 7, 8.5 and 9. The path within an item is a place
/// (``FieldPlace``). `larder catalog init` gathers the evidence of every place, and then decides which place is the
/// price, which the title, and so on.
struct FieldEvidence {
  var place: FieldPlace
  /// The likelihood that the place leads to the field for which it is ranked, from 0 (certainly not) to 1.
  var confidence = 0.0
  /// The number of examined items, with and without a value.
  var total = 0
  /// The number of items that have a value, not counting empty values such as `""`.
  var held = 0
  /// The number of values, which is above ``held`` if an item has several.
  var values = 0
  var texts = 0
  var reals = 0
  /// A sample of the values; numbers are written as text.
  var samples: [String] = []
  /// The first value of each item, or nil for an item without a value.
  ///
  /// A long value is replaced by its beginning and a hash.
  var firsts: [String?] = []
  /// The number of items that have a value at the path ``FieldPlace/first``, such as `$.variants[0].price`.
  var leads = 0
  /// The different values among ``firsts``.
  var distinct: Set<String> = []
  /// One of every `stride` values becomes a sample.
  fileprivate var stride = 1
  /// Texts that items without a picture or a price have instead of it, for example `no_selection`.
  fileprivate(set) var placeholders: Set<String> = []
  /// Whether a text is a list of several URLs, such as `["/a.jpg", "/b.jpg"]`.
  ///
  /// Each URL is a value.
  fileprivate(set) var hasTextLists = false
  /// The usual width of the picture, if the object around the URL states it, as `{"url": "/a.jpg", "width": 600}` does.
  fileprivate(set) var width: Int?

  init(place: FieldPlace) { self.place = place }

  /// The evidence of one text in each item.
  init(_ texts: [String], at place: FieldPlace) {
    self.place = place
    for text in texts { add(text, .string) }
    (firsts, distinct) = (texts, Set(texts))
    (total, held, leads) = (texts.count, texts.count, texts.count)
  }

  /// The share of items that have a value, from 0 to 1.
  var share: Double { total == 0 ? 0 : Double(held) / Double(total) }
  /// The share of items that have a value at the path ``FieldPlace/first``, from 0 to 1.
  var leading: Double { total == 0 ? 0 : Double(leads) / Double(total) }
  /// The number of different values, divided by the number of items with a value; 1 if no two items have the same.
  var variety: Double { held == 0 ? 0 : Double(distinct.count) / Double(held) }
  var isText: Bool { values > 0 && texts == values }
  /// Whether all items have the same value, which therefore says nothing about one of them.
  ///
  /// Three items or fewer can have the same value by chance.
  var isConstant: Bool { held > 3 && distinct.count == 1 }

  /// The share of samples that satisfy a condition, from 0 to 1.
  func share(_ isSo: (String) -> Bool) -> Double {
    samples.isEmpty ? 0 : Double(samples.count(where: isSo)) / Double(samples.count)
  }

  /// Compares the values here with the values at another place, item by item.
  ///
  /// - Returns: The share of items whose two values satisfy the condition, from 0 to 1. Items that lack one of the
  ///   values do not count; if no item has both, the share is 1.
  func share(with other: FieldEvidence, _ holds: (String, String) -> Bool) -> Double {
    let pairs = pairs(with: other)
    return pairs.isEmpty ? 1 : Double(pairs.count { holds($0.0, $0.1) }) / Double(pairs.count)
  }

  /// The values of each item here and at another place; items that lack one of the values are left out.
  func pairs(with other: FieldEvidence) -> [(String, String)] {
    zip(firsts, other.firsts).compactMap { one, other in
      one.flatMap { one in other.map { (one, $0) } }
    }
  }

  /// Whether items with the same value here differ in `titles`, so that the value does not identify an item.
  func isShared(by titles: FieldEvidence) -> Bool {
    var known: [String: String] = [:]
    let pairs = pairs(with: titles)
    let conflicts = pairs.count { id, title in
      known.updateValue(known[id] ?? title, forKey: id).map { $0 != title } ?? false
    }
    return conflicts * 20 > pairs.count
  }

  /// Whether some item has a value here but no value in `other`.
  func fills(_ other: FieldEvidence) -> Bool {
    firsts.indices.contains { place in
      firsts[place] != nil && !(other.firsts.indices.contains(place) && other.firsts[place] != nil)
    }
  }

  /// Whether most pictures at another place are among the pictures here.
  func hasPictures(of other: FieldEvidence) -> Bool { other.share(Set(samples).contains) > 0.5 }

  /// Adds a value to the sample.
  ///
  /// When the sample is full, every second value is dropped to make room for later ones.
  fileprivate mutating func add(_ text: String, _ kind: JSONNode.Kind) {
    values += 1
    if kind == .string { texts += 1 }
    if kind == .real { reals += 1 }
    if values % stride == 0 { samples.append(String(text.prefix(2000))) }
    guard samples.count == Self.sampleLimit else { return }
    samples = samples.indices.filter { $0 % 2 == 1 }.map { samples[$0] }
    stride *= 2
  }

  private static let sampleLimit = 800

  /// Removes texts such as `N/A` and `no_selection`, which shops write for an item without a picture or a price.
  ///
  /// Does so only if more than 30 % of the texts are URLs of pictures, and all others mean "none". Beside amounts of
  /// money, words that several items have, such as "Sold out", mean "none" too. At least half of the texts must be
  /// amounts, or one if the name means a price: few items have a list price.
  fileprivate mutating func dropPlaceholders() {
    guard isText, !place.isMany else { return }
    let arePictures = share(PictureText.isLink) > 0.3
    let isPrice = isCalledPrice
    let amounts = samples.count(where: PriceText.isPrice)
    let areAmounts =
      amounts > 0 && (isPrice || amounts * 2 >= samples.count && share(PriceText.hasUnit) >= 0.5)
    guard arePictures || areAmounts else { return }
    let texts = samples.filter {
      arePictures ? !PictureText.isLink($0) && !PictureText.isData($0) : !PriceText.isPrice($0)
    }
    // A few other texts beside these words, such as "SR 50/4 pack", are no amounts and stay.
    let counts = Dictionary(grouping: texts, by: \.self).mapValues(\.count)
    let isOne = counts.count == 1
    let odd = Set(counts.keys).filter { text in
      let isWord = isOne || !text.contains(where: \.isWholeNumber)
      return FieldRules.isNamed("nothing", text.lowercased())
        || !arePictures && isWord && counts[text] ?? 0 > 1 && text.utf8.count <= 60
    }
    guard !odd.isEmpty, !arePictures || odd.count == counts.count else { return }
    placeholders = odd
    samples.removeAll(where: odd.contains)
    distinct.subtract(odd)
    for place in firsts.indices where firsts[place].map(odd.contains) == true {
      firsts[place] = nil
      held -= 1
      leads -= 1
    }
  }

  /// Whether the place has one value in each item: its path has no list, or every list on it has one element.
  ///
  /// A list of one text in several languages counts as one value too. A list at the end of the path can be absent.
  var isOne: Bool {
    !place.isMany || place.isTextList || values == (place.entersList ? total : held)
  }

  /// Whether the values are URLs of pages or folders, according to their name or a `/` at their end.
  ///
  /// Such names are `DetailPageUrl` and `image_base_url`.
  var isPage: Bool {
    let name = place.plainName
    guard share(PictureText.hasEnding) <= 0.5 else { return false }
    let ending = name.split(separator: " ").suffix(2)
    let isBase = [ending.joined(separator: " "), String(ending.last ?? "")].contains {
      FieldRules.isNamed("baseURL", $0)
    }
    return isBase || share { $0.hasSuffix("/") } > 0.5 || FieldRules.has("webPage", in: name)
  }

  /// Whether the values number the items: 0, 1, 2, … or 1, 2, 3, ….
  var isCount: Bool {
    let numbers = firsts.prefix(20).map { $0.flatMap { Int($0) } }
    guard let first = numbers.first ?? nil, numbers.count > 2, (0...1).contains(first) else {
      return false
    }
    return numbers.enumerated().allSatisfy { $0.element == first + $0.offset }
  }

  /// The type of the values for a comment in the proposed file, such as "text" or "a number".
  var phrase: String {
    if values > 0, texts == 0 { return place.isMany ? "numbers" : "a number" }
    return isText ? place.isMany ? "texts" : "text" : "text or a number"
  }
}

/// Collects the evidence of every place in the items of a response.
struct EvidenceCollection {
  /// The evidence of each place, in the order in which the places first appear.
  private(set) var all: [FieldEvidence] = []
  private var positions: [FieldPlace: Int] = [:]
  /// The number of items that have been examined so far.
  private var count = 0
  /// The positions in ``all`` of the values that the current item has had so far.
  private var seen: Set<Int> = []
  /// Whether the current value is in the first element of every list on its path.
  private var isLeading = true

  static let itemLimit = 5000
  private static let placeLimit = 400
  private static let depthLimit = 7
  private static let elementLimit = 10

  /// Collects the values of the items.
  ///
  /// If there are more than 5,000 items, only every second, third, … item is examined.
  init(_ items: [JSONNode]) {
    let chosen = Self.chosen(items)
    for item in chosen {
      seen = []
      visit(item, FieldPlace(steps: []))
      count += 1
    }
    // If a list has pictures alone, their type tells nothing apart.
    let values = Dictionary(uniqueKeysWithValues: all.map { ($0.place, $0.values) })
    all.removeAll { evidence in
      var place = evidence.place
      guard let step = place.steps.firstIndex(where: { $0.meaning == "image" }) else {
        return false
      }
      place.steps[step] = FieldPlace.Step(name: place.steps[step].name, isList: true)
      return values[place] == evidence.values
    }
    for position in all.indices {
      all[position].dropPlaceholders()
      all[position].total = chosen.count
    }
    addWidths()
  }

  /// The items to examine, evenly spread over all of them.
  static func chosen<Item>(_ items: [Item]) -> [Item] {
    let step = max(1, (items.count + itemLimit - 1) / itemLimit)
    return stride(from: 0, to: items.count, by: step).map { items[$0] }
  }

  /// Adds to each place the width beside it.
  private mutating func addWidths() {
    var widths: [ArraySlice<FieldPlace.Step>: Int] = [:]
    for evidence in all where evidence.place.steps.count > 1 && evidence.texts == 0 {
      guard FieldRules.isNamed("width", evidence.place.plainName) else { continue }
      let numbers = evidence.samples.compactMap(Double.init).sorted()
      let usual = numbers.isEmpty ? 0 : numbers[numbers.count / 2]
      if (16..<100_000).contains(usual) { widths[evidence.place.steps.dropLast()] = Int(usual) }
    }
    for position in all.indices {
      all[position].width = widths[all[position].place.steps.dropLast()]
    }
  }

  private mutating func visit(_ node: JSONNode, _ place: FieldPlace) {
    switch node.kind {
    case .object:
      guard place.steps.count < Self.depthLimit else { return }
      for (name, value) in node.members { visit(value, place.adding(name)) }
    case .array:
      guard let last = place.steps.last, last.choice == nil, last.name != FieldPlace.everyElement
      else { return }
      if last.isList {
        // A list in a list, as in `{"images": [["/a.jpg", "/b.jpg"]]}`.
        for element in node.elements.prefix(Self.elementLimit) {
          visit(element, place.adding(FieldPlace.everyElement))
        }
        return
      }
      let elements = node.elements
      let position = position(elements, last.name)
      let apart = position.isEmpty ? sizes(elements) : position
      let some = elements.prefix(40)
      for choice in apart.isEmpty ? pictures(some, place) + pairs(some) : apart {
        let chosen = place.choosing(choice.selector, choice.meaning)
        visit(choice.value, choice.member.map(chosen.adding) ?? chosen)
      }
      guard apart.isEmpty else { return }
      let wasLeading = isLeading
      defer { isLeading = wasLeading }
      for (position, element) in elements.prefix(Self.elementLimit).enumerated() {
        isLeading = wasLeading && position == 0
        visit(element, place.ofElements)
      }
    case .string, .integer, .real: record(node, place)
    case .boolean, .null: break
    }
  }

  /// An element of a list, or a member of it, that a selector of its own such as `[0]` leads to.
  private typealias Choice = (selector: String, meaning: String, member: String?, value: JSONNode)

  /// The elements of a list of two coordinates, the longitude first. (RFC 7946, section 3.1.1)
  ///
  /// The result is empty if the list is no such position.
  private func position(_ numbers: [JSONNode], _ name: String) -> [Choice] {
    let name = NameWords.plain(name).replacing(" ", with: "")
    guard ["coordinates", "coords", "lnglat", "lonlat"].contains(name),
      (2...3).contains(numbers.count),
      numbers.allSatisfy({ $0.kind == .integer || $0.kind == .real })
    else { return [] }
    return ["longitude", "latitude"].enumerated().map { ("[\($0)]", $1, nil, numbers[$0]) }
  }

  /// The values of a list of names with values, such as `[{"code": "price", "value": 7}]`.
  ///
  /// Each value is recorded as if `price` were the name of a member.
  private func pairs(_ elements: ArraySlice<JSONNode>) -> [Choice] {
    guard let first = elements.first, first.kind == .object,
      let value = ["value", "values", "val"].first(where: { first[$0] != nil }),
      let key = ["attribute_code", "code", "key", "name", "slug"].first(where: {
        first[$0]?.text?.isEmpty == false
      })
    else { return [] }
    return elements.compactMap { element in
      guard let name = element[key]?.text, !name.isEmpty, name.utf8.count <= 60,
        let held = element[value]
      else { return nil }
      return (FieldPlace.selector(key, name), name, value, held)
    }
  }

  /// The sizes of one picture in a list that names them: `[{"size": "small", "url": …}, {"size": "large", "url": …}]`.
  ///
  /// The forms of an item can have such names too, but they have ids or prices.
  private func sizes(_ elements: [JSONNode]) -> [Choice] {
    guard (2...12).contains(elements.count),
      !elements.contains(where: { element in
        element.members.contains { name, _ in
          ["id", "uuid", "sku"].contains(NameWords.words(of: name).last ?? "")
            || PriceMeaning.isPriceMember(name)
        }
      }),
      elements[0].members.contains(where: { $0.value.text.map(PictureText.isLink) ?? false })
    else { return [] }
    for (key, _) in elements[0].members.prefix(40) {
      let names = elements.compactMap { $0[key]?.text }
      guard Set(names).count == elements.count,
        names.allSatisfy({ $0.utf8.count <= 30 && !PictureText.isLink($0) }),
        names.count(where: FieldRules.isPictureSize) * 2 > names.count
      else { continue }
      return zip(names, elements).map { (FieldPlace.selector(key, $0), $0, nil, $1) }
    }
    return []
  }

  /// The pictures in a list that has videos too: `[{"type": "image", "url": …}, {"type": "video", "url": …}]`.
  private func pictures(_ elements: ArraySlice<JSONNode>, _ place: FieldPlace) -> [Choice] {
    // Lists inside such a picture are not searched again, because the time would grow exponentially with the depth.
    guard !place.steps.contains(where: { $0.meaning == "image" }) else { return [] }
    let keys = ["type", "media_type", "mediaType", "kind", "media_content_type"]
    return keys.flatMap { key in
      elements.compactMap { element in
        guard let type = element[key]?.text,
          ["image", "photo", "picture"].contains(type.lowercased())
        else { return nil }
        return (FieldPlace.selector(key, type), "image", nil, element)
      }
    }
  }

  private mutating func record(_ node: JSONNode, _ place: FieldPlace) {
    guard !node.isEmpty, let plain = FieldReader.plainText(node),
      all.count < Self.placeLimit || positions[place] != nil
    else { return }
    let parts = ListText.parts(of: plain).flatMap { $0.allSatisfy(PictureText.isLink) ? $0 : nil }
    let texts = parts ?? [plain]
    guard let text = texts.first else { return }
    let position = positions[place] ?? all.count
    if position == all.count {
      positions[place] = position
      all.append(FieldEvidence(place: place))
    }
    for text in texts { all[position].add(text, node.kind) }
    if texts.count > 1 { all[position].hasTextLists = true }
    guard seen.insert(position).inserted else { return }
    let short = text.utf8.count <= 64 ? text : "\(text.prefix(40)) \(text.hashValue)"
    all[position].held += 1
    if isLeading { all[position].leads += 1 }
    all[position].distinct.insert(short)
    all[position].firsts += repeatElement(nil, count: count - all[position].firsts.count) + [short]
  }
}

/// A path from an item to a value, such as `$.variants[0].price`, as the member names that lead to it.
struct FieldPlace: Hashable {
  /// A member on the path.
  struct Step: Hashable {
    let name: String
    /// Whether the member is a list; the path then continues in its elements, or ends at them.
    var isList = false
    /// The selector of a single element if the path continues only there: `[1]`, `[?@.code == 'price']`.
    var choice: String?
    /// The meaning of the element that ``choice`` selects, such as `price`.
    var meaning: String?
    /// The name that tells what the value is: that of the selected element, or else that of the member.
    var said: String { meaning ?? name }
  }

  /// The steps from the item to the value.
  var steps: [Step]

  /// The place of a member of the value.
  func adding(_ name: String) -> FieldPlace { FieldPlace(steps: steps + [Step(name: name)]) }

  /// The place of the elements of the value, which is a list.
  var ofElements: FieldPlace {
    var place = self
    place.steps[steps.count - 1].isList = true
    return place
  }

  /// The place of one element of the value, which is a list.
  fileprivate func choosing(_ choice: String, _ meaning: String) -> FieldPlace {
    var place = self
    place.steps[steps.count - 1].choice = choice
    place.steps[steps.count - 1].meaning = meaning
    return place
  }

  /// The last of ``names``.
  var name: String { names.last ?? "" }

  /// The last of ``names`` in the form of ``NameWords/plain(_:)``.
  var plainName: String { NameWords.plain(name) }

  /// The ``names`` in the form of ``NameWords/plain(_:)``.
  var plainNames: [String] { names.map(NameWords.plain) }

  /// The names on the path that say something about the value.
  ///
  /// The name of the value in `[{"code": "price", "value": 7}]` is `price`. The last name of the text in
  /// `{"title": {"en": "Cup"}}` is `title`, because `en` only names a language.
  var names: [String] {
    var names: [String] = []
    var isChosen = false
    for step in steps {
      let isSilent =
        isChosen || step.name == Self.everyElement
        || names.last.map { Self.addsNothing(step.name, $0) } ?? false
      isChosen = step.choice != nil
      if !isSilent { names.append(step.said) }
    }
    return names
  }

  /// Whether a name adds no meaning to the name before it, such as `en` or `value` after `title`.
  private static func addsNothing(_ name: String, _ parent: String) -> Bool {
    let lower = name.lowercased()
    if FieldRules.isNamed("form", lower) { return true }
    // An attribute `id` is no text in Indonesian.
    guard FieldRules.isText(parent), name != "@id" else { return false }
    let words = NameWords.words(of: name)
    return FieldRules.isNamed("textForm", lower)
      || words.count <= 2 && FieldRules.isNamed("language", words.first ?? "")
  }

  /// Whether another path has the same names, so that a list on one of the paths can be a single value on the other.
  func isForm(of other: FieldPlace) -> Bool {
    steps.count == other.steps.count
      && zip(steps, other.steps).allSatisfy { $0.name == $1.name && $0.choice == $1.choice }
  }

  /// Whether two members of an item are pictures side by side, such as `image1` and `image2`, or `image` and `otherImage1`.
  func isColumn(beside other: FieldPlace) -> Bool {
    let stems = [self, other].map { place in
      NameWords.words(of: place.name).map { $0.filter { !$0.isNumber } }
        .filter { !$0.isEmpty && !FieldRules.isNamed("ordinal", $0) }
    }
    return stems[0] == stems[1]
      && [self, other].allSatisfy {
        $0.steps.count == 1 && !$0.isMany
          && FieldRules.pictureSize($0.name) == FieldRules.usualSize
      }
  }

  /// Whether the value is beside a name in a list of names with values, such as `[{"name": "price", "value": 7}]`.
  var isChosen: Bool { steps.contains { $0.choice != nil } }

  /// Whether an item can have several values at this place.
  var isMany: Bool { steps.contains(where: \.isList) }

  /// Whether each list on the path holds one text in several languages.
  ///
  /// For example, in `{"name": [{"id": 1, "value": "Cup"}, {"id": 2, "value": "Tasse"}]}`.
  var isTextList: Bool {
    let last = steps.last?.name ?? ""
    let isForm = ["value", "#text", "data"].contains(last)
    return entersList
      && steps.allSatisfy { step in
        !step.isList || isForm && FieldRules.isText(step.name)
          || ["names", "titles"].contains(step.name) && (isForm || FieldRules.isText(last))
      }
  }

  /// Whether the value is a member of the objects in a list, such as `$.variants[0].price`.
  var entersList: Bool { steps.dropLast().contains(where: \.isList) }

  /// Whether the value is a member of the objects in a list that can themselves be items.
  ///
  /// The objects in a list of pictures cannot be items.
  var isBorrowed: Bool {
    guard entersList, let list = steps.firstIndex(where: \.isList) else { return false }
    return !steps[...list].contains { FieldRules.isPicture($0.name) }
  }

  /// The JSONPath to the first value, such as `$.images[0].url`.
  var first: String { path("[0]") }

  /// The JSONPath to all values, such as `$.images[*].url`.
  ///
  /// A list at the end of the path is not followed by `[*]`, because the reader of texts takes whole lists.
  var all: String { path("[*]", atEnd: "") }

  /// The JSONPath to the first list, such as `$.images[0].sizes`.
  var firstList: String { path("[0]", atEnd: "") }

  /// The JSONPath to all values.
  ///
  /// If the path ends at a list, `[*]` is appended.
  var elements: String { path("[*]") }

  /// The values at this place in an item; ``Step/choice`` is ignored.
  func nodes(in node: JSONNode) -> [JSONNode] {
    var nodes = [node]
    for step in steps {
      nodes = nodes.flatMap { node -> [JSONNode] in
        if step.name == Self.everyElement { return node.entries }
        guard let value = node[step.name] else { return [] }
        return step.isList ? value.elements : [value]
      }
    }
    return nodes
  }

  private func path(_ choice: String, atEnd end: String? = nil) -> String {
    let parts = steps.enumerated().map { position, step in
      let isLast = position == steps.count - 1
      let element = isLast ? end ?? choice : choice
      return Self.segment(step.name) + (step.choice ?? (step.isList ? element : ""))
    }
    return "$" + parts.joined()
  }

  /// Whether the path leads to the values at another place too, because it leads to all members of an object.
  func holds(_ other: FieldPlace) -> Bool {
    steps.count == other.steps.count
      && zip(steps, other.steps).allSatisfy { $0 == $1 || $0.name == Self.everyElement }
  }

  /// The name of a step that stands for all members of an object, or all elements of a list.
  static let everyElement = "[*]"

  /// The JSONPath with some names, such as `$.data.products`.
  static func path(_ names: some Sequence<String>) -> String { "$" + names.map(segment).joined() }

  /// A name as a segment of a JSONPath, such as `.price` or `['list price']`. (RFC 9535, section 2.5.1)
  static func segment(_ name: String) -> String {
    if name == everyElement { return name }
    let isWord =
      name.unicodeScalars.first.map { $0 == "_" || $0.properties.isAlphabetic } ?? false
      && name.unicodeScalars.allSatisfy {
        $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
    return isWord ? ".\(name)" : "[\(quoted(name))]"
  }

  /// The selector of the elements of a list that have a text as a member, such as `[?@.code == 'price']`.
  static func selector(_ name: String, _ text: String) -> String {
    "[?@\(segment(name)) == \(quoted(text))]"
  }

  /// A text as a string literal in a JSONPath, such as `'list price'`. (RFC 9535, section 2.3.1)
  static func quoted(_ name: String) -> String {
    let inner = escaped(name) { scalar in
      if scalar.value < 0x20 { return unicodeEscape(scalar) }
      return scalar == "'" || scalar == "\\" ? "\\\(scalar)" : nil
    }
    return "'\(inner)'"
  }
}
