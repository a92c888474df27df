/// The microdata of a page, which is converted to JSON-LD. (HTML, section 5)
///
/// In microdata, an element with the attribute `itemscope` is an item, and an element with `itemprop` is a property of
/// the item around it. For example, `<div itemscope itemtype="Product"><b itemprop="name">Cup</b></div>` becomes
/// `{"@type": ["Product"], "name": ["Cup"]}`. The attribute `itemref`, which adds properties from elsewhere in the page,
/// is not read.
struct Microdata {
  /// The maximum depth of nested items.
  private static let mostDepth = 32

  /// An open element that is an item or a property.
  private struct Element {
    /// The names of the properties that have this element as their value.
    var properties: [String]
    /// The item, if the element is one.
    var item: Item?
    /// The value that the element's attributes give, or nil if they give none, so that the value is the element's text.
    var value: String?
    /// The index in ``Microdata/text`` where the element's text begins.
    var start: Int
    /// The number of elements that are an item or a property and began before.
    var number: Int
  }

  private struct Item {
    /// The `@type` and, if the item has one, the `@id`.
    var head: [(name: String, value: RecordValue)]
    /// The index in ``Microdata/items`` if the item is not a property of another item.
    var place: Int?
    /// The properties, in the order in which their elements end, each with the number of its element.
    var properties: [(number: Int, name: String, value: RecordValue)] = []
    /// The approximate size of the item as JSON.
    var size = 0

    /// The item with its properties in the order of the page, in which an element comes before those inside it.
    var value: RecordValue {
      var names: [String] = []
      var values: [String: [RecordValue]] = [:]
      for (_, name, value) in properties.sorted(by: { $0.number < $1.number }) {
        if values[name] == nil { names.append(name) }
        values[name, default: []].append(value)
      }
      return .object(head + names.map { ($0, .list(values[$0] ?? [])) })
    }
  }

  /// The items that are not a property of another item.
  private var items: [RecordValue] = []
  /// The open elements, with nil for those that are neither an item nor a property.
  ///
  /// The innermost is last.
  private var open: [Element?] = []
  /// The number of elements so far that are an item or a property.
  private var count = 0
  /// The text of the page that a browser shows.
  private var text: [UInt8] = []
  /// The number of bytes that the items can still take.
  private var room: Int

  /// Whether the page has an item.
  private(set) var hasItems = false

  /// Makes a reader of a page.
  ///
  /// - Parameter count: The size of the page in bytes. The items can take up to 16 times as much, because an element can
  ///   be the value of several properties, and a text can be in several elements.
  init(ofPage count: Int) { room = 1 << 20 + 16 * count }

  /// Begins an element of the page.
  ///
  /// - Parameters:
  ///   - name: The name of the element in lower case.
  ///   - attributes: The attributes of the element.
  mutating func start(_ name: String, _ attributes: [String: String]) {
    let names = words(attributes["itemprop"])
    // In JSON-LD, names that begin with `@` are keywords.
    let properties = names.filter { !$0.hasPrefix("@") }
    var item: Item?
    if attributes["itemscope"] != nil {
      let types = words(attributes["itemtype"]).map(RecordValue.text)
      let id = attributes["itemid"].map { ("@id", RecordValue.text($0)) }
      item = Item(head: [("@type", .list(types)), id].compactMap(\.self))
      item?.size =
        (attributes["itemtype"] ?? "").utf8.count + (attributes["itemid"] ?? "").utf8.count
      hasItems = true
      if names.isEmpty {
        item?.place = items.count
        items.append(.object([]))
      }
    }
    guard item != nil || !properties.isEmpty else { return open.append(nil) }
    let value = Self.value(of: name, attributes)
    open.append(
      Element(
        properties: properties,
        item: item,
        value: value,
        start: text.count,
        number: count
      )
    )
    count += 1
  }

  /// Ends the innermost open element.
  mutating func end() {
    guard let last = open.popLast(), let element = last else { return }
    if let item = element.item, let place = item.place { items[place] = item.value }
    let depth = open.count { $0?.item != nil }
    guard room >= 0, element.item == nil || depth < Self.mostDepth,
      let parent = open.lastIndex(where: { $0?.item != nil })
    else { return }
    let value: RecordValue
    let size: Int
    if let item = element.item {
      (value, size) = (item.value, item.size)
    } else {
      let own = element.value ?? String(decoding: text[element.start...], as: UTF8.self)
      (value, size) = (.text(PlainText.line(own)), own.utf8.count)
    }
    for name in element.properties where room >= 0 {
      let size = size + name.utf8.count + 8
      room -= size
      open[parent]?.item?.size += size
      open[parent]?.item?.properties.append((element.number, name, value))
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

  private func words(_ text: String?) -> [String] {
    text.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) } ?? []
  }

  /// The value that an element's attributes give, such as `href` of a link, or nil if the value is the element's text.
  /// (HTML, section 5.2.4)
  ///
  /// Unlike in the standard, `content` counts for every element, because search engines do the same.
  private static func value(of name: String, _ attributes: [String: String]) -> String? {
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

  /// Converts the items to one array in JSON-LD.
  ///
  /// - Parameter subject: The name of the page in error messages, for example "section main".
  /// - Returns: The array, in UTF-8.
  /// - Throws: ``CatalogError`` if the items would take too much.
  func json(_ subject: String) throws(CatalogError) -> [UInt8] {
    guard room >= 0 else {
      throw HTMLPage.refusal("has microdata that makes more than 16 times its size", subject)
    }
    var writer = StoredFormWriter()
    RecordValue.list(items).write(to: &writer)
    return writer.bytes
  }
}
