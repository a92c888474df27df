/// The microdata of a page, which can be converted to JSON-LD. (HTML, section 5)
///
/// In microdata, an element with the attribute `itemscope` is an item, and an element with `itemprop` is a property of
/// the item around it. For example, `<div itemscope itemtype="Product"><b itemprop="name">Cup</b></div>` becomes
/// `{"@type": ["Product"], "name": ["Cup"]}`. The attribute `itemref` adds the properties inside another element, which
/// it names by its id.
struct Microdata {
  /// The maximum number of elements that are an item or a property, or that have an id.
  private static let mostElements = 100_000
  /// The maximum depth of nested items.
  private static let mostDepth = 32

  /// An element that is an item, is a property, or has an id for `itemref`.
  private struct Element {
    /// The names of the properties that have this element as their value.
    ///
    /// The list is empty if the element is no property.
    var properties: [String]
    /// The item, if the element is one.
    var item: Item?
    /// The value that the element's attributes give, or nil if they give none, so that the value is the element's text.
    var value: String?
    /// The range of the element's text in ``Microdata/text``.
    var text: Range<Int>
    /// The index in ``Microdata/elements`` after the element's last descendant.
    var end: Int
  }

  private struct Item {
    var types: [String]
    var id: String?
    /// The ids in the attribute `itemref`.
    var references: [String]
  }

  /// The elements, in the order of the page.
  private var elements: [Element] = []
  /// For each id, the index of the first element that has it.
  private var ids: [String: Int] = [:]
  /// The index of each open element, or nil if the element is not in ``elements``.
  ///
  /// The innermost is last.
  private var open: [Int?] = []
  /// The text of the page that a browser shows.
  private var text: [UInt8] = []
  private var isTooMuch = false

  /// Whether the page has an item.
  var hasItems: Bool { elements.contains { $0.item != nil } }

  /// Begins an element of the page.
  ///
  /// - Parameters:
  ///   - name: The name of the element in lower case.
  ///   - attributes: The attributes of the element.
  mutating func start(_ name: String, _ attributes: MarkupAttributes) {
    let (property, id) = (attributes["itemprop"], attributes["id"])
    let item = attributes["itemscope"].map { _ in
      Item(
        types: words(attributes["itemtype"]),
        id: attributes["itemid"],
        references: words(attributes["itemref"])
      )
    }
    let isTaken = property != nil || item != nil || id != nil
    guard isTaken, elements.count < Self.mostElements else {
      isTooMuch = isTooMuch || isTaken
      return open.append(nil)
    }
    if let id, ids[id] == nil { ids[id] = elements.count }
    open.append(elements.count)
    elements.append(
      Element(
        properties: words(property),
        item: item,
        value: Self.value(of: name, attributes),
        text: text.count..<text.count,
        end: 0
      )
    )
  }

  /// Ends the innermost open element.
  mutating func end() {
    guard let last = open.popLast(), let place = last else { return }
    elements[place].end = elements.count
    elements[place].text = elements[place].text.lowerBound..<text.count
  }

  /// Ends all open elements.
  ///
  /// Call this at the end of the page, because libxml2 does not end an element whose tag is cut off.
  mutating func finish() {
    while !open.isEmpty { end() }
  }

  /// Adds text of the innermost open element.
  mutating func add(text piece: [UInt8]) { text += piece }

  private func words(_ text: String?) -> [String] {
    text.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) } ?? []
  }

  /// The value that an element's attributes give, such as `href` of a link, or nil if the value is the element's text.
  /// (HTML, section 5.2.4)
  ///
  /// Unlike in the standard, `content` counts for every element, because search engines do the same.
  private static func value(of name: String, _ attributes: MarkupAttributes) -> String? {
    if let content = attributes["content"] { return content }
    switch name {
    case "meta": return ""
    case "img":
      let source = attributes["src"] ?? ""
      // Some pages have a placeholder in `src` until the picture is scrolled into view, and its URL in `data-src`.
      let isPlaceholder = source.isEmpty || source.hasPrefix("data:")
      return isPlaceholder ? attributes["data-src"] ?? source : source
    case "audio", "embed", "iframe", "source", "track", "video": return attributes["src"] ?? ""
    case "a", "area", "link": return attributes["href"] ?? ""
    case "object": return attributes["data"] ?? ""
    case "data", "meter": return attributes["value"] ?? ""
    case "time": return attributes["datetime"]
    default: return nil
    }
  }

  // MARK: - As JSON

  /// Converts the items that are not a property of another item to one array in JSON-LD.
  ///
  /// - Parameters:
  ///   - count: The size of the page in bytes. The array can be up to 16 times as large, because several items can
  ///     refer to the same element.
  ///   - subject: The name of the page in error messages, for example "section main".
  /// - Returns: The array, in UTF-8.
  /// - Throws: ``CatalogError`` if the page has too many elements of microdata, or if the array would be too large.
  func json(of count: Int, _ subject: String) throws(CatalogError) -> [UInt8] {
    guard !isTooMuch else {
      throw CatalogError.page(
        subject,
        "has more than \(Self.mostElements) elements with microdata or an id"
      )
    }
    var writer = Writing(elements: elements, ids: ids, text: text, limit: 1 << 20 + 16 * count)
    writer.json.open("[")
    for place in elements.indices
    where elements[place].item != nil && elements[place].properties.isEmpty {
      writer.write(place)
    }
    writer.json.close("]")
    guard writer.isWithinLimit else {
      throw CatalogError.page(
        subject,
        "has microdata whose references make more than 16 times its size"
      )
    }
    return writer.json.bytes
  }

  private struct Writing {
    let elements: [Element]
    let ids: [String: Int]
    let text: [UInt8]
    /// The maximum number of bytes of JSON.
    let limit: Int
    /// The number of elements that were looked at, and of the properties that they are.
    var looks = 0
    var json = StoredFormWriter()
    /// The indices of the items that are being written.
    ///
    /// The innermost is last.
    var within: [Int] = []

    /// Whether nothing exceeds the limit so far.
    ///
    /// A look counts as eight bytes, because it costs more than writing one. White space that is left out counts too.
    var isWithinLimit: Bool { json.bytes.count + 8 * looks <= limit }

    mutating func write(_ place: Int) {
      guard isWithinLimit, let item = elements[place].item else { return }
      var names: [String] = []
      var values: [String: [Int]] = [:]
      for part in [place + 1..<elements[place].end] + item.references.compactMap({ subtree($0) }) {
        for value in properties(in: part) {
          for name in elements[value].properties {
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(value)
          }
        }
      }
      within.append(place)
      json.open("{")
      json.member("@type", item.types)
      if let id = item.id { json.member("@id", id) }
      // In JSON-LD, names that begin with `@` are keywords.
      for name in names where !name.hasPrefix("@") {
        json.name(escaping: name)
        json.open("[")
        for value in values[name] ?? [] where isWritten(value) && isWithinLimit {
          write(value: value)
        }
        json.close("]")
      }
      json.close("}")
      within.removeLast()
    }

    private func subtree(_ id: String) -> Range<Int>? { ids[id].map { $0..<elements[$0].end } }

    /// The elements in a part of the page that are properties of the item around this part.
    private mutating func properties(in part: Range<Int>) -> [Int] {
      var found: [Int] = []
      var place = part.lowerBound
      while place < part.upperBound, isWithinLimit {
        looks += 1 + elements[place].properties.count
        if !elements[place].properties.isEmpty { found.append(place) }
        place = elements[place].item == nil ? place + 1 : elements[place].end
      }
      return found
    }

    /// Whether a value is allowed here.
    ///
    /// An item must not be a part of itself, or nested too deeply.
    private func isWritten(_ value: Int) -> Bool {
      elements[value].item == nil || within.count < Microdata.mostDepth && !within.contains(value)
    }

    private mutating func write(value place: Int) {
      let element = elements[place]
      guard element.item == nil else { return write(place) }
      let value = element.value ?? String(decoding: text[element.text], as: UTF8.self)
      let line = PlainText.line(value)
      looks += max(0, value.utf8.count - line.utf8.count) / 8
      json.value(line)
    }
  }
}
