/// Google's product feed as `{"title": …, "items": [{"id": …, "price": "19.90 EUR", …}]}`.
///
/// (Google Merchant Center: product data specification, and its RSS 2.0, Atom 1.0 and text formats)
enum MerchantFeed {
  /// The namespace of the `g:` prefix.
  private static let namespace = "http://base.google.com/ns/1.0"

  /// Whether a body looks like a feed, whether or not it holds items: RSS or Atom, or columns parted by tabs.
  static func isMeant(by body: [UInt8]) -> Bool {
    let start = String(decoding: body.prefix(2000), as: UTF8.self)
    let text = start.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    if text.hasPrefix("<") {
      return ["<rss", "<feed", "<rdf:RDF", "<channel"].contains { text.contains($0) }
        && !text.lowercased().contains("<html")
    }
    let head = text.prefix { !$0.isNewline }
    let names = head.split(separator: "\t").map { $0.trimmed.lowercased() }
    return names.count > 2 && names.contains { ["id", "g:id"].contains($0) }
  }

  /// A feed as JSON: XML when it begins with `<`, else tab-separated text.
  static func json(of body: [UInt8], _ subject: String) throws(CatalogError) -> [UInt8] {
    let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    // UTF-16 begins with a mark, which the parser knows.
    let isXML =
      start.first { $0 > 0x20 } == UInt8(ascii: "<") || body.starts(with: [0xFF, 0xFE])
      || body.starts(with: [0xFE, 0xFF])
    return isXML
      ? try XMLForm(subject).json(of: body) : try TabbedTable.json(of: Array(start), subject)
  }

  /// The XML forms, element by element.
  private struct XMLForm {
    /// An element that is open.
    private struct Element {
      var name: String
      var isGoogle: Bool
      var text = ""
      var children: [(element: Element, value: MerchantValue)] = []
    }

    private let subject: String
    private var open: [Element] = []
    private var itemDepth: Int?
    private var title: String?

    init(_ subject: String) {
      self.subject = subject
    }

    func json(of body: [UInt8]) throws(CatalogError) -> [UInt8] {
      var form = self
      let reader = try XMLReader(body, of: subject)
      var list: [MerchantValue] = []
      var root: String?
      while let event = try reader.next() {
        switch event {
        case .start(let name, let space, let isEmpty):
          root = root ?? name
          var element = Element(name: name, isGoogle: space == MerchantFeed.namespace)
          if form.itemDepth != nil, let link = reader.attribute("href") { element.text = link }
          form.open.append(element)
          if form.itemDepth == nil, name == "item" || name == "entry" {
            form.itemDepth = form.open.count
          }
          if isEmpty { form.close(into: &list) }
        case .text(let text):
          if !form.open.isEmpty { form.open[form.open.count - 1].text += text }
        case .end: form.close(into: &list)
        }
      }
      guard let root, ["rss", "RDF", "feed", "channel"].contains(root) else {
        throw CatalogError(
          .unexpectedShape,
          subject: subject,
          expected: "RSS 2.0 or Atom",
          reason: "expected a feed (RSS 2.0 or Atom), found XML that begins with <\(root ?? "")>",
          remedy: "check the URL"
        )
      }
      return MerchantValue.document(title: form.title, items: list)
    }

    /// Closes the innermost element: it becomes a member of the one around it, or an item of the feed.
    private mutating func close(into list: inout [MerchantValue]) {
      guard let element = open.popLast() else { return }
      let value = Self.value(of: element)
      if let depth = itemDepth {
        if open.count + 1 == depth {
          list.append(value)
          itemDepth = nil
        } else {
          open[open.count - 1].children.append((element, value))
        }
      } else if element.name == "title", title == nil, case .text(let text) = value {
        title = text
      }
    }

    /// An element's text, or its members; of two that share a name, Google's own.
    private static func value(of element: Element) -> MerchantValue {
      guard !element.children.isEmpty else { return .text(element.text.trimmed) }
      var members: [(name: String, values: [MerchantValue])] = []
      let google = Set(element.children.filter(\.element.isGoogle).map(\.element.name))
      for (child, value) in element.children where child.isGoogle || !google.contains(child.name) {
        if let place = members.firstIndex(where: { $0.name == child.name }) {
          members[place].values.append(value)
        } else {
          members.append((child.name, [value]))
        }
      }
      return .object(members)
    }
  }
}

/// A value of a feed on its way to JSON.
enum MerchantValue {
  case text(String)
  case object([(name: String, values: [MerchantValue])])

  /// A whole feed.
  static func document(title: String?, items: [MerchantValue]) -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("title", title)
      $0.name("items")
      $0.array { for item in items { item.write(to: &$0) } }
    }
    return writer.bytes
  }

  private func write(to writer: inout StoredFormWriter) {
    switch self {
    case .text(let text): writer.value(text)
    case .object(let members):
      writer.object {
        for (name, values) in members {
          $0.name(escaping: name)
          if values.count == 1 {
            values[0].write(to: &$0)
          } else {
            $0.array { for value in values { value.write(to: &$0) } }
          }
        }
      }
    }
  }
}
