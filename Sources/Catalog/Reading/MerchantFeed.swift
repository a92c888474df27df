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

/// Google's product feed as text: tab-separated, a line of names, then a line for each item.
enum TabbedTable {
  /// The columns that hold several values, parted by commas.
  private static let lists: Set<String> = ["additional_image_link", "product_highlight"]

  /// How many columns a table may have.
  private static let mostColumns = 1000

  /// A table as the JSON that the XML forms become, line by line.
  static func json(
    of bytes: ArraySlice<UInt8>,
    _ subject: String,
    within limits: DecodingLimits
  ) throws(CatalogError) -> [UInt8] {
    var rows = Rows(bytes)
    let head = rows.next(most: mostColumns + 1)?.map(name) ?? []
    guard head.contains("id"), head.count > 1 else {
      throw shapeError(
        subject,
        "expected XML, or a first line of tab-separated column names with \"id\" among them"
      )
    }
    guard head.count <= mostColumns else {
      throw shapeError(subject, "it has more than \(mostColumns) columns")
    }
    var writer = StoredFormWriter()
    writer.open("{")
    writer.member("title", nil as String?)
    writer.name("items")
    writer.open("[")
    var count = 0
    while let row = rows.next(most: head.count) {
      count += 1
      if count % 1024 == 0 { try limits.demandTime(subject) }
      let cells = zip(head, row).filter { !$1.isEmpty }.map { name, cell in
        (name: name, values: (lists.contains(name) ? parts(cell) : [cell]).map(MerchantValue.text))
      }
      MerchantValue.object(cells).write(to: &writer)
    }
    writer.close("]")
    writer.close("}")
    return writer.bytes
  }

  private static func shapeError(_ subject: String, _ reason: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      expected: "a feed in XML, or tab-separated text",
      reason: reason,
      remedy: "check the URL"
    )
  }

  /// `image link` and `g:image_link` are `image_link`.
  private static func name(_ cell: String) -> String {
    let name = cell.lowercased().replacing(" ", with: "_")
    return name.hasPrefix("g:") ? String(name.dropFirst(2)) : name
  }

  private static func parts(_ cell: String) -> [String] {
    cell.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// The lines that are not empty, cell by cell.
  ///
  /// In quotes, a cell may hold tabs and line ends, and a doubled quote is one. (RFC 4180, section 2)
  private struct Rows {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) {
      self.bytes = bytes
      place = bytes.startIndex
    }

    /// The cells of the next line that is not empty, the first so many of them; nil at the end.
    mutating func next(most: Int) -> [String]? {
      while place < bytes.endIndex {
        let row = line(most)
        if row != [""] { return row }
      }
      return nil
    }

    private mutating func line(_ most: Int) -> [String] {
      var row: [String] = []
      var cell: [UInt8] = []
      var isQuoted = false
      var afterQuote = false
      func end(_ cell: [UInt8]) {
        if row.count < most { row.append(String(decoding: cell, as: UTF8.self).trimmed) }
      }
      while place < bytes.endIndex {
        let byte = bytes[place]
        place += 1
        if isQuoted {
          if byte == UInt8(ascii: "\"") {
            isQuoted = false
            afterQuote = true
          } else {
            cell.append(byte)
          }
        } else if byte == UInt8(ascii: "\""), cell.isEmpty || afterQuote {
          if afterQuote { cell.append(byte) }
          isQuoted = true
          afterQuote = false
        } else if byte == 0x0A || byte == 0x0D {
          break
        } else if byte == 0x09 {
          end(cell)
          cell.removeAll(keepingCapacity: true)
          afterQuote = false
        } else {
          cell.append(byte)
          afterQuote = false
        }
      }
      end(cell)
      return row
    }
  }
}
