/// The microdata of a page as JSON-LD. (HTML, section 5)
///
/// An item becomes an object with `@type`, `@id` and its properties. The values of each property are a list.
struct Microdata {
  /// The limit on elements with an item, a property or an id.
  private static let mostElements = 100_000
  /// The limit on items nested within each other.
  private static let mostDepth = 32

  /// An element with an item, a property, or an id that `itemref` may name.
  private struct Element {
    /// The names of the properties whose value it is.
    var properties: [String]
    /// The item that begins with it; nil without `itemscope`.
    var item: Item?
    /// Its value; nil if the value is an item, or the element's text.
    var value: String?
    /// The place of its text in ``Microdata/text``.
    var text: Range<Int>
    /// The index after its last descendant.
    var end: Int
  }

  private struct Item {
    var types: [String]
    var id: String?
    var references: [String]
  }

  /// In the order of the page.
  private var elements: [Element] = []
  /// The first element with each id.
  private var ids: [String: Int] = [:]
  /// The elements that are open.
  private var open: [Int] = []
  /// The number of open elements whose value is their text.
  private var texts = 0
  /// The text of all elements that need it.
  private var text: [UInt8] = []
  private var isTooMuch = false

  /// Whether the page has an item.
  private(set) var hasItems = false

  /// Takes in the start of an element.
  ///
  /// - Parameters:
  ///   - name: Its name in lower case.
  ///   - attributes: Its attributes.
  /// - Returns: Whether ``end()`` is to be called at its end.
  mutating func start(_ name: String, _ attributes: HTMLAttributes) -> Bool {
    let (property, id) = (attributes["itemprop"], attributes["id"])
    let item = attributes["itemscope"].map { _ in
      Item(
        types: words(attributes["itemtype"]),
        id: attributes["itemid"],
        references: words(attributes["itemref"])
      )
    }
    guard property != nil || item != nil || id != nil else { return false }
    guard elements.count < Self.mostElements else {
      isTooMuch = true
      return false
    }
    let properties = words(property)
    let value = properties.isEmpty || item != nil ? nil : Self.value(of: name, attributes)
    if let id, ids[id] == nil { ids[id] = elements.count }
    if item != nil { hasItems = true }
    if !properties.isEmpty, item == nil, value == nil { texts += 1 }
    open.append(elements.count)
    elements.append(
      Element(
        properties: properties,
        item: item,
        value: value,
        text: text.count..<text.count,
        end: 0
      )
    )
    return true
  }

  /// Takes in the end of the element that ``start(_:_:)`` took in last and that is still open.
  mutating func end() {
    guard let place = open.popLast() else { return }
    elements[place].end = elements.count
    elements[place].text = elements[place].text.lowerBound..<text.count
    let element = elements[place]
    if !element.properties.isEmpty, element.item == nil, element.value == nil { texts -= 1 }
  }

  /// Ends the elements that the page leaves open: libxml2 does not end one whose tag is cut off.
  mutating func finish() {
    while !open.isEmpty { end() }
  }

  /// Takes in characters.
  mutating func add(text piece: [UInt8]) {
    if texts > 0 { text += piece }
  }

  private func words(_ text: String?) -> [String] {
    text.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) } ?? []
  }

  /// The value that an element's attributes give; nil when it is its text. (HTML, section 5.2.4)
  ///
  /// `content` counts on every element, as search engines read it.
  private static func value(of name: String, _ attributes: HTMLAttributes) -> String? {
    if let content = attributes["content"] { return content }
    switch name {
    case "meta": return ""
    case "img":
      let source = attributes["src"] ?? ""
      // Before it is scrolled to, a picture may be a placeholder within the page.
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

  /// The items that are not a property of another item, as one JSON document.
  ///
  /// - Parameters:
  ///   - count: The size of the page in bytes; references may expand it up to 16 times.
  ///   - subject: The name of the page, for messages.
  /// - Returns: JSON in UTF-8.
  /// - Throws: ``CatalogError`` when the page has too many elements of microdata, or they make too much.
  func json(of count: Int, _ subject: String) throws(CatalogError) -> [UInt8] {
    guard !isTooMuch else {
      throw Self.refusal(
        "has more than \(Self.mostElements) elements with microdata or an id",
        subject
      )
    }
    var writer = Writing(elements: elements, ids: ids, text: text, rest: 1 << 20 + 16 * count)
    writer.json.open("[")
    for place in elements.indices
    where elements[place].item != nil && elements[place].properties.isEmpty {
      writer.write(place)
    }
    writer.json.close("]")
    guard writer.rest >= 0 else {
      throw Self.refusal(
        "has microdata whose references make more than 16 times its size",
        subject
      )
    }
    return writer.json.bytes
  }

  private static func refusal(_ what: String, _ subject: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      reason: "the page \(what)",
      remedy: "try another page, or the shop's JSON"
    )
  }

  private struct Writing {
    let elements: [Element]
    let ids: [String: Int]
    let text: [UInt8]
    /// The remaining budget for work and output, in bytes.
    var rest: Int
    var json = StoredFormWriter()
    /// The items that are being written, from the outermost to the innermost.
    private var within: [Int] = []

    init(elements: [Element], ids: [String: Int], text: [UInt8], rest: Int) {
      (self.elements, self.ids, self.text, self.rest) = (elements, ids, text, rest)
    }

    mutating func write(_ place: Int) {
      guard rest >= 0, let item = elements[place].item else { return }
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
      let words = item.types + [item.id ?? ""] + names
      rest -= words.reduce(16) { $0 + $1.utf8.count + 16 }
      within.append(place)
      json.open("{")
      json.member("@type", item.types)
      if let id = item.id { json.member("@id", id) }
      // Names with `@` are keywords in JSON-LD.
      for name in names where !name.hasPrefix("@") {
        json.name(escaping: name)
        json.open("[")
        for value in values[name] ?? [] where isWritten(value) { write(value: value) }
        json.close("]")
      }
      json.close("}")
      within.removeLast()
    }

    private func subtree(_ id: String) -> Range<Int>? { ids[id].map { $0..<elements[$0].end } }

    /// The elements with a property of an item, among those in a part of the page.
    private mutating func properties(in part: Range<Int>) -> [Int] {
      var found: [Int] = []
      var place = part.lowerBound
      while place < part.upperBound, rest >= 0 {
        // Looking at an element costs more than writing a byte.
        rest -= 8
        if !elements[place].properties.isEmpty { found.append(place) }
        place = elements[place].item == nil ? place + 1 : elements[place].end
      }
      return found
    }

    /// Whether a value may be written here: an item is not a part of itself.
    private func isWritten(_ value: Int) -> Bool {
      elements[value].item == nil || within.count < Microdata.mostDepth && !within.contains(value)
    }

    private mutating func write(value place: Int) {
      let element = elements[place]
      guard element.item == nil else { return write(place) }
      let value = element.value ?? String(decoding: text[element.text], as: UTF8.self)
      rest -= value.utf8.count + 16
      // A longer text stays out: `rest` says so in the end.
      if rest >= 0 { json.value(PlainText.line(value)) }
    }
  }
}
