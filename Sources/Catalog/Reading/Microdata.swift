/// The microdata of a page, which can be converted to JSON-LD. (HTML, section 5)
///
/// In microdata, an element with the attribute `itemscope` is an item, and an element with `itemprop` is a property of
/// the item around it. For example, `<div itemscope itemtype="Product"><b itemprop="name">Cup</b></div>` becomes
/// `{"@type": ["Product"], "name": ["Cup"]}`. The attribute `itemref`, which few pages have, is ignored.
struct Microdata {
  /// The maximum number of properties.
  private static let mostProperties = 100_000
  /// The maximum depth of nested items.
  private static let mostDepth = 32

  private struct Item {
    /// The types, the id and the properties.
    var members = RecordMembers()
    /// The index in ``Microdata/roots`` if the item is not a property of another one.
    var root: Int?
    /// The number of bytes of the values.
    var size = 0

    var value: RecordValue { .object(members.all.map { ($0.name, .list($0.values)) }) }
  }

  /// An open element.
  private struct Element {
    /// The names of the properties that will have this element's text, or the item, as their value.
    var properties: [String]
    /// The item, if the element is one.
    var item: Item?
    /// The offset in ``Microdata/text`` where the element's text begins.
    var text: Int
  }

  /// The open elements.
  ///
  /// The innermost is last.
  private var open: [Element] = []
  /// The indices in ``open`` of the items.
  private var items: [Int] = []
  /// The items that are not a property of another item, in the order of the page.
  private var roots: [RecordValue] = []
  /// The text of the page that a browser shows.
  private var text: [UInt8] = []
  private var properties = 0
  /// The number of bytes of all values.
  private var size = 0
  /// The maximum of ``size``.
  private let limit: Int

  /// Begins a page, which has a number of bytes.
  ///
  /// The values can be up to 16 times as large, because a text can be the value of several properties.
  init(ofPage count: Int) { limit = 1 << 20 + 16 * count }

  private var isTooMuch: Bool { properties > Self.mostProperties || size > limit }

  /// Whether the page has an item.
  var hasItems: Bool { !roots.isEmpty }

  /// Begins an element of the page.
  ///
  /// - Parameters:
  ///   - name: The name of the element in lower case.
  ///   - attributes: The attributes of the element.
  mutating func start(_ name: String, _ attributes: MarkupAttributes) {
    var element = Element(properties: words(attributes["itemprop"]), text: text.count)
    if attributes["itemscope"] != nil {
      let root = element.properties.isEmpty ? roots.count : nil
      if root != nil { roots.append(.object([])) }
      let types = words(attributes["itemtype"]).map(RecordValue.text)
      let id = attributes["itemid"].map { [("@id", [RecordValue.text($0)])] } ?? []
      element.item = Item(root: root)
      element.item?.members.all = [("@type", types)] + id
      items.append(open.count)
    } else if let value = Self.value(of: name, attributes) {
      add(value, to: element.properties)
      element.properties = []
    }
    open.append(element)
  }

  /// Ends the innermost open element.
  mutating func end() {
    guard let element = open.popLast() else { return }
    guard let item = element.item else {
      guard !element.properties.isEmpty else { return }
      return add(String(decoding: text[element.text...], as: UTF8.self), to: element.properties)
    }
    items.removeLast()
    if let root = item.root {
      roots[root] = item.value
    } else if items.count < Self.mostDepth {
      add(item.value, size: item.size, to: element.properties)
    }
  }

  /// Ends all open elements.
  ///
  /// Call this at the end of the page, because libxml2 does not end an element whose tag is cut off.
  mutating func finish() {
    while !open.isEmpty { end() }
  }

  /// Adds text of the innermost open element.
  mutating func add(text piece: [UInt8]) { text += piece }

  private mutating func add(_ text: String, to names: [String]) {
    add(.text(PlainText.line(text)), size: text.utf8.count, to: names)
  }

  /// Gives properties of the innermost open item a value.
  private mutating func add(_ value: RecordValue, size: Int, to names: [String]) {
    guard let place = items.last else { return }
    // In JSON-LD, names that begin with `@` are keywords.
    for name in names where !name.hasPrefix("@") {
      properties += 1
      self.size += size + name.utf8.count
      guard !isTooMuch else { return }
      open[place].item?.size += size + name.utf8.count
      open[place].item?.members.add(value, name)
    }
  }

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

  /// Converts the items that are not a property of another item to one array in JSON-LD.
  ///
  /// - Parameter subject: The name of the page in error messages, for example "section main".
  /// - Returns: The array, in UTF-8.
  /// - Throws: ``CatalogError`` if the page has too many properties, or if an item is too large.
  func json(_ subject: String) throws(CatalogError) -> [UInt8] {
    guard !isTooMuch else {
      throw .page(
        subject,
        "has microdata of more than \(Self.mostProperties) properties, or of more than 16 times its size"
      )
    }
    var writer = StoredFormWriter()
    RecordValue.list(roots).write(to: &writer)
    return writer.bytes
  }
}
