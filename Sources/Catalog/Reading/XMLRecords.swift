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
    /// The prefixes of the namespaces in ``Rule/plain``.
    var plainPrefixes: Set<String>
    var text: [UInt8] = []
    /// The attributes and children.
    var members = RecordMembers()

    /// The value that the element becomes.
    ///
    /// If a name occurs several times, its value is a list.
    var value: RecordValue {
      let own = Self.unwrapped(String(decoding: text, as: UTF8.self).trimmed)
      guard !members.all.isEmpty else { return .text(own) }
      let all = own.isEmpty ? members.all : members.all + [("#text", [.text(own)])]
      return .object(all.map { ($0.name, $0.values.count == 1 ? $0.values[0] : .list($0.values)) })
    }

    /// A text without the marks of a CDATA section around it.
    ///
    /// Such marks are in the text itself if a shop escapes a section that it has made: `&lt;![CDATA[Cup]]&gt;`.
    private static func unwrapped(_ text: String) -> String {
      guard text.hasPrefix("<![CDATA["), text.hasSuffix("]]>") else { return text }
      return text.dropFirst(9).dropLast(3).trimmed
    }
  }

  private let rule: Rule
  private let subject: String
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
  /// The name of the outermost element.
  private var root: String?
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
    var records = XMLRecords(rule: rule, subject: subject)
    records.writer.open("{")
    if !rule.records.isEmpty {
      records.writer.name("items")
      records.writer.open("[")
    }
    try MarkupReader.read(body[...], as: .xml, subject, within: limits) {
      (event, reader) throws(CatalogError) in
      try records.take(event, reader)
    }
    return try records.json()
  }

  private mutating func take(
    _ event: MarkupEvent,
    _ reader: MarkupReader
  ) throws(CatalogError) {
    switch event {
    case .start(let name, let attributes):
      if root == nil {
        let local = Self.localName(name)
        guard rule.roots.isEmpty || rule.roots.contains(local) else {
          throw otherDocument(rule.roots, "expected XML of", "found", root: local)
        }
        root = local
      }
      try start(name, attributes, reader)
    case .text(let text, _): if !open.isEmpty { open[open.count - 1].text += text }
    case .end: close()
    }
  }

  /// Ends the JSON of the document.
  private mutating func json() throws(CatalogError) -> [UInt8] {
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

  private static func localName(_ name: String) -> String {
    guard let colon = name.utf8.lastIndex(of: UInt8(ascii: ":")) else { return name }
    return String(name[name.utf8.index(after: colon)...])
  }

  private mutating func start(
    _ name: String,
    _ attributes: MarkupAttributes,
    _ reader: MarkupReader
  ) throws(CatalogError) {
    guard open.count < Self.mostDepth else {
      throw reader.fault("is nested more than \(Self.mostDepth) elements deep")
    }
    var plainPrefixes = open.last?.plainPrefixes ?? []
    for (name, url) in attributes.pairs where name.hasPrefix("xmlns") {
      let prefix = String(name.dropFirst("xmlns:".count))
      if rule.plain.contains(url) {
        plainPrefixes.insert(prefix)
      } else {
        plainPrefixes.remove(prefix)
      }
    }
    let local = Self.localName(name)
    let isPlain =
      !plainPrefixes.isEmpty && plainPrefixes.contains(String(name.dropLast(local.count + 1)))
    var element = Element(
      name: isPlain ? local : name,
      isPlain: isPlain,
      plainPrefixes: plainPrefixes
    )
    for (name, value) in attributes.pairs where !name.hasPrefix("xmlns") {
      element.members.add(.text(value), "@\(name)")
    }
    open.append(element)
    if recordDepth == nil,
      [local, element.name].contains(where: rule.records.contains)
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
      open[open.count - 1].members.add(element.value, element.name, isPlain: element.isPlain)
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
