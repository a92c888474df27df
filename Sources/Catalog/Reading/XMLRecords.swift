/// Converts an XML document to JSON. (XML 1.0; Namespaces in XML 1.0)
///
/// An element without attributes and children becomes its text. Another element becomes an object. For example,
/// `<a n="1">x<b>y</b><b>z</b></a>` becomes `{"@n": "1", "b": ["y", "z"], "#text": "x"}`. Names keep the prefixes that
/// they have in the document, such as `g:price`.
///
/// Some elements are records, such as each `<item>` of a feed. The records become the list `items`, and the elements
/// around them become a tree under `around`.
struct XMLRecords {
  /// A rule that says which elements are records, and how elements are named.
  struct Rule: Hashable, Sendable {
    /// The names of the elements that are records.
    ///
    /// If there are none, the document becomes one tree.
    var records: [String] = []
    /// The names that the outermost element is allowed to have.
    ///
    /// If there are none, every name is allowed.
    var roots: [String] = []
    /// The URLs of namespaces whose elements are named without a prefix.
    ///
    /// If an element of such a namespace and another element have the same name, the other element is left out.
    var plain: [String] = []
  }

  /// The maximum depth of nested elements.
  private static let mostDepth = 64
  /// The maximum number of elements in a record.
  private static let mostElements = 10_000
  /// The maximum number of elements outside of records.
  private static let mostAround = 200_000

  /// An element whose end has not been read yet.
  private struct Element {
    var name: String
    var isPlain: Bool
    var text = ""
    /// The attributes and children, as lists of values by name.
    private var members: [(name: String, values: [RecordValue])] = []
    private var places: [String: (place: Int, isPlain: Bool)] = [:]

    init(name: String, isPlain: Bool) {
      (self.name, self.isPlain) = (name, isPlain)
    }

    /// The value that the element becomes.
    ///
    /// If a name occurs several times, its value is a list.
    var value: RecordValue {
      let own = Self.unwrapped(text.trimmed)
      guard !members.isEmpty else { return .text(own) }
      let all = own.isEmpty ? members : members + [("#text", [.text(own)])]
      return .object(all.map { ($0.name, $0.values.count == 1 ? $0.values[0] : .list($0.values)) })
    }

    /// A text without the marks of a CDATA section around it.
    ///
    /// Such marks are in the text itself if a shop escapes a section that it has made: `&lt;![CDATA[Cup]]&gt;`.
    private static func unwrapped(_ text: String) -> String {
      guard text.hasPrefix("<![CDATA["), text.hasSuffix("]]>") else { return text }
      return text.dropFirst(9).dropLast(3).trimmed
    }

    mutating func add(_ value: RecordValue, _ name: String, isPlain: Bool) {
      guard let known = places[name] else {
        if places.isEmpty { places.reserveCapacity(16) }
        places[name] = (members.count, isPlain)
        return members.append((name, [value]))
      }
      if known.isPlain == isPlain {
        members[known.place].values.append(value)
      } else if isPlain {
        places[name] = (known.place, true)
        members[known.place].values = [value]
      }
    }
  }

  private let rule: Rule
  private let subject: String
  private let limits: DecodingLimits
  /// The open elements.
  ///
  /// The innermost is last.
  private var open: [Element] = []
  /// The number of open elements when the current record began, including the record.
  ///
  /// It is nil outside of records.
  private var recordDepth: Int?
  /// The number of elements in the current record.
  private var elements = 0
  /// The number of elements outside of records.
  private var around = 0
  private var records = 0
  /// The outermost element, without its records.
  private var tree: (name: String, value: RecordValue)?
  private var writer = StoredFormWriter()

  /// Converts a document.
  ///
  /// Only one record at a time is in memory as a tree.
  ///
  /// - Parameters:
  ///   - body: The document.
  ///   - rule: The rule that says which elements are records.
  ///   - subject: The name of the document in error messages, for example "section main".
  ///   - limits: The limits for decoding, such as a deadline.
  /// - Returns: JSON in UTF-8.
  /// - Throws: ``CatalogError`` if the document is not well-formed, exceeds the limits, or does not fit the rule.
  static func json(
    of body: [UInt8],
    by rule: Rule,
    _ subject: String,
    within limits: DecodingLimits
  ) throws(CatalogError) -> [UInt8] {
    var records = XMLRecords(rule: rule, subject: subject, limits: limits)
    return try records.read(body)
  }

  private mutating func read(_ body: [UInt8]) throws(CatalogError) -> [UInt8] {
    let reader = try XMLReader(body, of: subject)
    var root: String?
    var events = 0
    writer.open("{")
    if !rule.records.isEmpty {
      writer.name("items")
      writer.open("[")
    }
    while let event = try reader.next() {
      events += 1
      if events % 1024 == 0 { try limits.demandTime(subject) }
      switch event {
      case .start:
        if root == nil {
          let name = reader.localName
          guard rule.roots.isEmpty || rule.roots.contains(name) else {
            throw otherDocument(rule.roots, "expected XML of", "found", root: name)
          }
          root = name
        }
        let isEmpty = reader.isEmptyElement
        try start(reader)
        if isEmpty { close() }
      case .text(let text):
        if !open.isEmpty { open[open.count - 1].text += text }
      case .end: close()
      }
    }
    // If the rule names the outermost element, the document is known to be of the right kind, and can have no records.
    if let root, records == 0, !rule.records.isEmpty, rule.roots.isEmpty {
      var error = otherDocument(rule.records, "expected elements", "found none in", root: root)
      let name = root.lowercased()
      if !["error", "fault", "html"].contains(where: name.contains) { error.code = .absentItems }
      throw error
    }
    if !rule.records.isEmpty {
      writer.close("]")
      writer.name("around")
      writer.open("{")
    }
    if let tree {
      writer.name(escaping: tree.name)
      tree.value.write(to: &writer)
    }
    if !rule.records.isEmpty { writer.close("}") }
    writer.close("}")
    return writer.bytes
  }

  private mutating func start(_ reader: borrowing XMLReader) throws(CatalogError) {
    guard open.count < Self.mostDepth else {
      throw reader.fault("is nested more than \(Self.mostDepth) elements deep")
    }
    var isPlain = false
    for namespace in rule.plain where reader.isElement(in: namespace) { isPlain = true }
    var element = Element(name: isPlain ? reader.localName : reader.name, isPlain: isPlain)
    for (name, value) in reader.attributes() {
      element.add(.text(value), "@\(name)", isPlain: false)
    }
    open.append(element)
    if recordDepth == nil,
      [reader.localName, element.name].contains(where: rule.records.contains)
    {
      recordDepth = open.count
      elements = 0
    }
    elements += 1
    if recordDepth == nil { around += 1 }
    guard recordDepth == nil || elements <= Self.mostElements else {
      throw reader.fault("is in an item of more than \(Self.mostElements) elements")
    }
    guard around <= Self.mostAround else {
      throw reader.fault("exceeds the limit of \(Self.mostAround) elements outside of records")
    }
  }

  /// Ends the innermost element.
  ///
  /// It becomes a record, or a member of its parent.
  private mutating func close() {
    guard let element = open.popLast() else { return }
    if let depth = recordDepth, open.count + 1 == depth {
      let value = element.value
      let isText = if case .text = value { true } else { false }
      (isText ? .object([("#text", value)]) : value).write(to: &writer)
      records += 1
      recordDepth = nil
    } else if open.isEmpty {
      tree = (element.name, element.value)
    } else {
      open[open.count - 1].add(element.value, element.name, isPlain: element.isPlain)
    }
  }

  private func otherDocument(
    _ names: [String],
    _ expected: String,
    _ found: String,
    root: String
  ) -> CatalogError {
    let names = names.map { "<\($0)>" }.joined(separator: " or ")
    let reason = "\(expected) \(names), \(found) XML that begins with <\(root)>"
    return .shape(subject, reason, remedy: "check the URL")
  }
}
