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
  static func json(
    of body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> [UInt8] {
    let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    // UTF-16 begins with a mark, which the parser knows.
    let isXML =
      start.first { $0 > 0x20 } == UInt8(ascii: "<") || body.starts(with: [0xFF, 0xFE])
      || body.starts(with: [0xFE, 0xFF])
    return isXML
      ? try XMLForm(subject, limits).json(of: body)
      : try TabbedTable.json(of: start, subject, within: limits)
  }

  /// The XML forms, element by element: each item becomes JSON as soon as it ends.
  private struct XMLForm {
    /// An element that is open.
    private struct Element {
      var name: String
      var isGoogle: Bool
      var text = ""
      var members = Members()

      /// Its text, or its members.
      var value: MerchantValue {
        members.isEmpty ? .text(text.trimmed) : .object(members.all)
      }
    }

    /// How many elements may enclose one another; Google's feeds have five.
    private static let mostDepth = 64
    /// How many elements one item may have.
    private static let mostElements = 10_000

    private let subject: String
    private let limits: DecodingLimits
    private var open: [Element] = []
    private var itemDepth: Int?
    private var elements = 0
    private var title: String?
    private var writer = StoredFormWriter()

    init(_ subject: String, _ limits: DecodingLimits) {
      self.subject = subject
      self.limits = limits
    }

    func json(of body: [UInt8]) throws(CatalogError) -> [UInt8] {
      var form = self
      return try form.read(body)
    }

    private mutating func read(_ body: [UInt8]) throws(CatalogError) -> [UInt8] {
      let reader = try XMLReader(body, of: subject)
      var root: String?
      var events = 0
      writer.open("{")
      writer.name("items")
      writer.open("[")
      while let event = try reader.next() {
        events += 1
        if events % 1024 == 0 { try limits.demandTime(subject) }
        switch event {
        case .start(let name, let space, let isEmpty):
          root = root ?? name
          var element = Element(name: name, isGoogle: space == MerchantFeed.namespace)
          if itemDepth != nil, let link = reader.attribute("href") { element.text = link }
          guard open.count < Self.mostDepth else {
            throw reader.fault("has more than \(Self.mostDepth) elements in one another")
          }
          open.append(element)
          if itemDepth == nil, name == "item" || name == "entry" {
            itemDepth = open.count
            elements = 0
          }
          elements += 1
          guard itemDepth == nil || elements <= Self.mostElements else {
            throw reader.fault("is in an item of more than \(Self.mostElements) elements")
          }
          if isEmpty { close() }
        case .text(let text):
          if !open.isEmpty { open[open.count - 1].text += text }
        case .end: close()
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
      writer.close("]")
      writer.member("title", title)
      writer.close("}")
      return writer.bytes
    }

    /// Closes the innermost element: it becomes a member of the one around it, or an item of the feed.
    private mutating func close() {
      guard let element = open.popLast() else { return }
      if let depth = itemDepth {
        if open.count + 1 == depth {
          element.value.write(to: &writer)
          itemDepth = nil
        } else {
          open[open.count - 1].members.add(element.value, element.name, element.isGoogle)
        }
      } else if element.name == "title", title == nil, case .text(let text) = element.value {
        title = text
      }
    }
  }

  /// The members of an element, found by their names: of two that share a name, Google's own.
  private struct Members {
    private(set) var all: [(name: String, values: [MerchantValue])] = []
    private var places: [String: (place: Int, isGoogle: Bool)] = [:]

    var isEmpty: Bool { all.isEmpty }

    mutating func add(_ value: MerchantValue, _ name: String, _ isGoogle: Bool) {
      guard let known = places[name] else {
        places[name] = (all.count, isGoogle)
        return all.append((name, [value]))
      }
      if known.isGoogle == isGoogle {
        all[known.place].values.append(value)
      } else if isGoogle {
        places[name] = (known.place, true)
        all[known.place].values = [value]
      }
    }
  }
}

/// A value of a feed on its way to JSON.
enum MerchantValue {
  case text(String)
  case object([(name: String, values: [MerchantValue])])

  /// Writes the value as JSON.
  func write(to writer: inout StoredFormWriter) {
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
