/// The paths to items and their fields in a shop's JSON.
///
/// Every field has alternative paths in order. The first path that leads to something other than `null` counts.
public struct Mapping: Hashable, Sendable {
  /// The paths to the arrays of items, from the root of a body or, in a combined response, from a section.
  public var items: [JSONPath]
  /// The paths to values outside the items, for example the section's title.
  public var envelope: Envelope
  /// The paths from an item to its fields.
  public var item: Item
  /// The paths from a detail to its fields; nil when the mapping reads no details.
  public var detail: Detail?
  /// A jq program that rewrites a section's response before items are read from it; nil for none.
  public var transform: Transform?
  /// A jq program that rewrites each item before its fields are read; nil for none.
  ///
  /// It is compiled to run on the whole array of items.
  public var records: Transform?
  /// The notation of the bodies of sections, for example XML.
  public var notation = BodyFormat.json
  /// The meaning of values in every field, for example which of them mean "none".
  public var values = Values()

  /// Makes a mapping.
  public init(
    items: [JSONPath],
    envelope: Envelope = Envelope(),
    item: Item,
    detail: Detail? = nil,
    transform: Transform? = nil
  ) {
    self.items = items
    self.envelope = envelope
    self.item = item
    self.detail = detail
    self.transform = transform
  }

  /// The meaning of values in any field, for example `N/A` for none.
  public struct Values: Hashable, Sendable {
    /// Texts and numbers that stand for "none", such as `N/A`.
    public var none: Set<String> = []
    /// Whether texts are HTML: tags are removed and entities decoded.
    public var isHTML = false

    /// Makes the default, in which every value means itself.
    public init() {}

    /// A line that identifies these settings; nil for the default.
    ///
    /// Different lines mean that decoded items may differ.
    var fingerprint: String? {
      guard self != Values() else { return nil }
      return "values\t\(isHTML ? "html" : "plain") \(none.sorted().map(\.debugDescription))"
    }
  }

  /// The paths to values of a body that are outside its items, such as title and status.
  public struct Envelope: Hashable, Sendable {
    /// The section's title.
    public var title: [JSONPath] = []
    /// The section's subtitle.
    public var subtitle: [JSONPath] = []
    /// A number such as an HTTP status; 400 and above mean that the request failed.
    public var status: [JSONPath] = []

    /// Makes an envelope without paths.
    public init() {}
  }

  /// The fields of an item in a listing.
  public struct Item: Hashable, Sendable {
    /// Text or a whole number; an item without it is skipped.
    public var id: [JSONPath] = []
    /// Text; an item without it is skipped.
    public var title: [JSONPath] = []
    /// Text.
    public var description: [JSONPath] = []
    /// Text or a list of texts.
    public var badges: [JSONPath] = []
    /// Text or a list of texts.
    public var deliveryTypes: [JSONPath] = []
    /// The price before a reduction.
    public var normalPrice: [PriceRule] = []
    /// The price to pay.
    public var salePrice: [PriceRule] = []
    /// The latitude of the item, in degrees north; needs ``longitude``.
    public var latitude: [JSONPath] = []
    /// The longitude of the item, in degrees east; needs ``latitude``.
    public var longitude: [JSONPath] = []
    /// The item's address, as text.
    public var address: [JSONPath] = []
    /// Pictures by role.
    public var images: ImageRules = ImageRules()
    /// The paths to the values, other than the id, that fill the placeholders in the request for the item's detail.
    public var placeValues: [NoteRule] = []
    /// The fields whose paths the catalog file itself spells out.
    ///
    /// If no item of a listing has one of these fields, the field's path is reported as wrong.
    ///
    /// The paths of a built-in format do not count, because not every shop has all the fields of its format.
    public var given: Set<ItemField> = []

    /// Makes an item without paths.
    public init() {}
  }

  /// The fields of a detail.
  public struct Detail: Hashable, Sendable {
    /// The paths to the objects that are details; a body may hold the details of many items.
    public var entries: [JSONPath] = []
    /// The paths from an entry to the item's id.
    public var id: [JSONPath] = []
    /// The paths from an entry to the object that has the fields below.
    public var root: [JSONPath] = []
    /// The text about the item.
    public var description: [JSONPath] = []
    /// Prices or a list of them.
    public var prices: [PriceRule] = []
    /// Pictures by role.
    public var images: ImageRules = ImageRules()
    /// Further texts by name, in the order of the file.
    public var notes: [NoteRule] = []
    /// The meaning of values in every field, for example which of them mean "none".
    public var values = Values()
    /// The fields whose paths the catalog file itself spells out.
    ///
    /// If no detail has one of these fields, the field's path is reported as wrong.
    public var given: Set<DetailField> = []

    /// Makes a detail without paths.
    public init() {}
  }

  /// The path to a price, and how the price is written.
  public struct PriceRule: Hashable, Sendable {
    /// The path to the price itself.
    public var path: JSONPath
    /// How many digits are decimals, for feeds that write whole numbers such as 599 for 5.99; nil for text and numbers
    /// in major units.
    public var scale: Scale?
    /// The price's currency; nil for the catalog's currency.
    public var currency: Unit?
    /// Texts and numbers that mean that the item has no such price.
    public var none: Set<String> = []
    /// The path to the billionths beside the whole units at `path`, as in `{units, nanos}`; nil when the price is one
    /// number.
    public var nanos: JSONPath?

    /// Makes a rule.
    public init(path: JSONPath, scale: Scale? = nil, currency: Unit? = nil) {
      self.path = path
      self.scale = scale
      self.currency = currency
    }

    /// The source of a price's currency.
    public enum Unit: Hashable, Sendable {
      /// Always this ISO 4217 code.
      case code(String)
      /// The code that the item has at this path; if the item has none, the catalog's currency.
      case path(JSONPath)
    }

    /// How many digits of a whole number are decimals.
    public enum Scale: Hashable, Sendable {
      /// Always this many.
      case fixed(Int)
      /// As many as the currency has: the number counts minor units.
      case currency
      /// As many as the item says at this path.
      case path(JSONPath)
      /// The number at this path is a power of ten, and the number of its zeros counts: 100 means two digits.
      case divisor(JSONPath)
    }
  }

  /// A text with a name chosen by the catalog file, and the paths to the text.
  public struct NoteRule: Hashable, Sendable {
    /// The name of the text.
    public var name: String
    /// The alternative paths to the text, which may also be a number.
    public var paths: [JSONPath]

    /// Makes a rule.
    public init(name: String, paths: [JSONPath]) {
      self.name = name
      self.paths = paths
    }
  }

  /// The paths to the pictures of each role; each path leads to a URL or a list of URLs.
  public struct ImageRules: Hashable, Sendable {
    private var rules: [[TextsRule]] = ImageReference.Role.allCases.map { _ in [] }

    /// Makes rules without paths.
    public init() {}

    /// The paths of a role's alternatives.
    public subscript(role: ImageReference.Role) -> [JSONPath] {
      get { self[rules: role].flatMap(\.paths) }
      set { self[rules: role] = newValue.map { TextsRule(paths: [$0]) } }
    }

    /// The alternatives of a role.
    public subscript(rules role: ImageReference.Role) -> [TextsRule] {
      get { rules[Self.position(of: role)] }
      set { rules[Self.position(of: role)] = newValue }
    }

    private static func position(of role: ImageReference.Role) -> Int {
      switch role {
      case .thumbnail: 0
      case .top: 1
      case .gallery: 2
      case .section: 3
      }
    }
  }
}

extension Mapping.Envelope {
  /// Refuses a body whose status means failure, even if the HTTP status was a success.
  func checkStatus(of root: JSONNode, subject: String) throws(CatalogError) {
    for path in status {
      guard let value = try path.firstValue(in: root), let text = FieldReader.plainText(value),
        let number = Int(text), number >= 400
      else { continue }
      throw CatalogError(
        .reportedFailure,
        subject: subject,
        reason: "the body reports a failure: \(path.lastName ?? path.description) is \(number)",
        remedy: "try again later"
      )
    }
  }
}

extension Mapping {
  /// One alternative for a field that is a list of texts.
  public struct TextsRule: Hashable, Sendable {
    /// The paths to the texts.
    ///
    /// The values of all paths count, in the order of the paths.
    public var paths: [JSONPath]
    /// The separator that splits one text into several; nil takes each text as it is.
    public var split: String?
    /// The pattern of each result, with `{value}` for the text; nil leaves the text as it is.
    public var template: String?
    /// The paths to the item's fields that replace the template's placeholders, by placeholder name.
    public var fields: [NoteRule] = []
    /// The path to the size of each version of a picture, for example its width; nil when there is only one version.
    public var largest: JSONPath?
    /// The path to the URL of each version, if a picture has several versions.
    public var url: JSONPath?

    /// Makes a rule.
    public init(paths: [JSONPath], split: String? = nil, template: String? = nil) {
      self.paths = paths
      self.split = split
      self.template = template
    }

    /// The texts that one value of the feed is turned into.
    func texts(of text: String) -> [String] {
      var texts = [text]
      if let split {
        texts = text.split(separator: split).map { $0.trimmed }.filter { !$0.isEmpty }
      }
      guard let template else { return texts }
      return texts.map { template.replacing("{value}", with: $0) }
    }

    /// The text of the largest version of a picture.
    ///
    /// The versions are elements of a list, or members of an object.
    func largest(of sizes: JSONNode) throws(CatalogError) -> JSONNode? {
      guard let largest, let url else { return nil }
      var best: (size: Double, text: JSONNode)?
      for node in sizes.kind == .array ? sizes.elements : sizes.members.map(\.value) {
        guard let text = try url.firstValue(in: node), !text.isEmpty,
          let size = try largest.firstValue(in: node).flatMap(FieldReader.plainText)
            .flatMap({ Double($0) }), size > best?.size ?? -1
        else { continue }
        best = (size, text)
      }
      return best?.text
    }

    /// The rule as text that changes when, and only when, the rule does.
    var fingerprint: String {
      var words = paths.map(\.description).joined(separator: " + ")
      if let split { words += " split \(split.debugDescription)" }
      if let template { words += " template \(template.debugDescription)" }
      if let largest, let url { words += " largest \(largest) \(url)" }
      return words
    }
  }
}

extension YAMLNode {
  /// Reads the alternatives for a list of texts; `null` means none.
  func textsRules() throws(CatalogError) -> [Mapping.TextsRule] {
    if isNull { return [] }
    guard isList else { return [try textsRule()] }
    var rules: [Mapping.TextsRule] = []
    for element in try list() { rules.append(try element.textsRule()) }
    return rules
  }

  /// Reads a path alone, or `{path: P, split: ",", template: T}`, or `{all: [P, Q]}`.
  private func textsRule() throws(CatalogError) -> Mapping.TextsRule {
    guard isMapping else { return Mapping.TextsRule(paths: [try path()]) }
    let mapping = try mapping()
    try mapping.checkKeys(.texts)
    let template = try mapping["template"]?.filledText()
    var fields: [Mapping.NoteRule] = []
    for place in Placeholder.all(in: template ?? "", joinedBy: ".") where place.rawValue != "value"
    {
      let names = place.rawValue.split(separator: ".").map { FieldPlace.segment(String($0)) }
      let path = try JSONPath(parsing: "$" + names.joined())
      fields.append(Mapping.NoteRule(name: place.rawValue, paths: [path]))
    }
    if let all = mapping["all"], mapping["path"] != nil {
      throw all.error("expected one of path and all", expected: "path or all")
    }
    let paths: [JSONPath]
    let hasValue = template?.contains("{value}") ?? true
    if let all = mapping["all"] {
      paths = try all.paths()
    } else if mapping["path"] == nil, let first = fields.first, !hasValue {
      paths = first.paths
    } else {
      paths = [try mapping.required("path").path()]
    }
    guard !paths.isEmpty else { throw error("expected a path, found none", expected: "a path") }
    let split = try mapping["split"]?.text()
    if split == "" {
      throw (mapping["split"] ?? self).error("expected a separator", expected: "text")
    }
    if let template, !hasValue, fields.isEmpty || mapping["path"] != nil || mapping["all"] != nil {
      throw (mapping["template"] ?? self).error(
        "expected {value} in \"\(template.prefix(80))\"",
        expected: "{value}"
      )
    }
    var rule = Mapping.TextsRule(paths: paths, split: split, template: template)
    rule.fields = fields
    rule.largest = try mapping["largest"]?.path()
    rule.url = try mapping["url"]?.path()
    guard (rule.largest == nil) == (rule.url == nil) else {
      throw error("expected largest and url together", expected: "largest and url")
    }
    return rule
  }
}

extension Mapping {
  /// The whole mapping as text that changes when, and only when, the mapping does.
  ///
  /// The text is the same on every machine and in every run. A cache may therefore keep it or its digest, and decode
  /// its bodies again when the text differs.
  public var fingerprint: String {
    // Raise this number when larder starts to decode bodies differently, so that cached bodies are decoded again.
    var lines = ["mapping 2", line("items", items)]
    lines.append(line("envelope.title", envelope.title))
    lines.append(line("envelope.subtitle", envelope.subtitle))
    lines.append(line("envelope.status", envelope.status))
    lines.append(line("item.id", item.id))
    lines.append(line("item.title", item.title))
    lines.append(line("item.description", item.description))
    lines.append(line("item.badges", item.badges))
    lines.append(line("item.deliveryTypes", item.deliveryTypes))
    lines.append(line("item.normalPrice", item.normalPrice))
    lines.append(line("item.salePrice", item.salePrice))
    // Unused fields are left out, so that the digests of older mappings stay as they are.
    if !item.latitude.isEmpty { lines.append(line("item.latitude", item.latitude)) }
    if !item.longitude.isEmpty { lines.append(line("item.longitude", item.longitude)) }
    if !item.address.isEmpty { lines.append(line("item.address", item.address)) }
    lines += self.lines("item.images", item.images)
    if !item.given.isEmpty {
      lines.append((["item.given"] + item.given.map(\.rawValue).sorted()).joined(separator: "\t"))
    }
    lines += item.placeValues.map { line("item.placeValues.\($0.name)", $0.paths) }
    if let notation = notation.fingerprint { lines.append("notation\t\(notation)") }
    if let values = values.fingerprint { lines.append(values) }
    if let records { lines.append("records\t\(records.program.debugDescription)") }
    if let transform { lines.append("transform\t\(transform.program.debugDescription)") }
    guard let detail else { return lines.joined(separator: "\n") }
    lines.append(line("detail.entries", detail.entries))
    lines.append(line("detail.id", detail.id))
    lines.append(line("detail.root", detail.root))
    lines.append(line("detail.description", detail.description))
    lines.append(line("detail.prices", detail.prices))
    lines += self.lines("detail.images", detail.images)
    lines += detail.notes.map { line("detail.notes.\($0.name)", $0.paths) }
    if !detail.given.isEmpty {
      lines.append((["detail.given"] + detail.given.map(\.name).sorted()).joined(separator: "\t"))
    }
    return lines.joined(separator: "\n")
  }

  private func line(_ name: String, _ paths: [JSONPath]) -> String {
    ([name] + paths.map(\.description)).joined(separator: "\t")
  }

  private func line(_ name: String, _ rules: [PriceRule]) -> String {
    let texts = rules.map { rule in
      var text = rule.path.description
      switch rule.scale {
      case nil: break
      case .fixed(let scale): text += " scale \(scale)"
      case .path(let scale): text += " scale \(scale)"
      case .divisor(let divisor): text += " divisor \(divisor)"
      case .currency: text += " minorUnits"
      }
      switch rule.currency {
      case nil: break
      case .code(let code): text += " currency \(code)"
      case .path(let path): text += " currency \(path)"
      }
      if let nanos = rule.nanos { text += " nanos \(nanos)" }
      if !rule.none.isEmpty { text += " none \(rule.none.sorted())" }
      return text
    }
    return ([name] + texts).joined(separator: "\t")
  }

  private func lines(_ name: String, _ rules: ImageRules) -> [String] {
    ImageReference.Role.allCases.map { role in
      (["\(name).\(role.rawValue)"] + rules[rules: role].map(\.fingerprint))
        .joined(separator: "\t")
    }
  }
}
