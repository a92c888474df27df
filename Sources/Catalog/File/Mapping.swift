/// The paths to the items and their fields in a shop's JSON.
///
/// A field can have several paths, for example `$.sale_price` and `$.price`. Its value is at the first path that leads
/// to something other than `null`.
public struct Mapping: Hashable, Sendable {
  /// The paths to the arrays of items, from the root of a response.
  ///
  /// If a response has many sections, they begin at the section.
  public var items: [JSONPath]
  /// The paths to values outside the items, for example to the section's title.
  public var envelope = Envelope()
  /// The paths from an item to its fields.
  public var item: Item
  /// The paths from a detail (a document about one item) to its fields; nil if the mapping reads no details.
  public var detail: Detail?
  /// A jq program that rewrites a response before items are read from it; nil if there is none.
  public var transform: Transform?
  /// A jq program that rewrites each item before its fields are read; nil if there is none.
  ///
  /// It is compiled so that it runs on the whole array of items.
  public var records: Transform?
  /// The notation of the responses, for example XML.
  ///
  /// A detail is always JSON.
  public var notation = BodyFormat.json

  /// Whether the responses are HTML pages, so that relative URLs in them are relative to the page, as in a browser.
  package var readsPages: Bool { notation.kind == .html }
  /// Rules for the values of every field, for example that `N/A` means "none".
  public var values = Values()
  /// The keys of the format and of the catalog file that the mapping was read from, with their values.
  var written = ""

  /// Rules for the values of every field.
  public struct Values: Hashable, Sendable {
    /// Texts and numbers that mean "none", such as `N/A`.
    public var none: Set<String> = []
    /// Whether texts are HTML.
    ///
    /// If so, tags are removed and entities such as `&amp;` are decoded.
    public var isHTML = false
  }

  /// The paths to values of a response that are outside its items.
  public struct Envelope: Hashable, Sendable {
    /// The section's title.
    public var title: [JSONPath] = []
    /// The section's subtitle.
    public var subtitle: [JSONPath] = []
    /// A number such as an HTTP status.
    ///
    /// If it is 400 or more, the request has failed.
    public var status: [JSONPath] = []
  }

  /// The fields of an item in a list of items.
  public struct Item: Hashable, Sendable {
    /// Text or a whole number.
    ///
    /// An item without it is skipped.
    public var id: [JSONPath] = []
    /// Text.
    ///
    /// An item without it is skipped.
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
    /// The latitude of the item in degrees north.
    ///
    /// It is read only together with ``longitude``.
    public var latitude: [JSONPath] = []
    /// The longitude of the item in degrees east.
    ///
    /// It is read only together with ``latitude``.
    public var longitude: [JSONPath] = []
    /// The address of the item, as text.
    public var address: [JSONPath] = []
    /// The pictures of each role.
    public var images: ImageRules = ImageRules()
    /// The values of placeholders in the request for the item's detail, such as `{slug}`, by the placeholders' names.
    ///
    /// `{id}` is not among them.
    public var placeValues: [NoteRule] = []
    /// The fields whose paths are in the catalog file itself, and not only in a built-in format.
    ///
    /// If no item of a section has such a field, the path is reported as wrong. A path of a format is not reported,
    /// because not every shop has all the fields of its format.
    public var given: Set<ItemField> = []
  }

  /// The fields of a detail.
  public struct Detail: Hashable, Sendable {
    /// The paths from a response to the details.
    ///
    /// One response can have the details of many items.
    public var entries: [JSONPath] = []
    /// The paths from a detail to the item's id.
    public var id: [JSONPath] = []
    /// The paths from a detail to the object that has the fields below.
    public var root: [JSONPath] = []
    /// The text about the item.
    public var description: [JSONPath] = []
    /// A price or a list of prices.
    public var prices: [PriceRule] = []
    /// The pictures of each role.
    public var images: ImageRules = ImageRules()
    /// Further texts, in the order of the catalog file.
    public var notes: [NoteRule] = []
    /// Rules for the values of every field, for example that `N/A` means "none".
    public var values = Values()
    /// The fields whose paths are in the catalog file itself, and not only in a built-in format.
    ///
    /// If no detail has such a field, the path is reported as wrong.
    public var given: Set<DetailField> = []
  }

  /// The path to a price, and the form of the price there.
  public struct PriceRule: Hashable, Sendable {
    /// The path to the price.
    public var path: JSONPath
    /// The number of decimals, for shops that write whole numbers such as 599 for 5.99.
    ///
    /// Nil if the price is text such as "5.99 €", or a number in major units.
    public var scale: Scale?
    /// The price's currency; nil if it is the catalog's currency.
    public var currency: Unit?
    /// The path to the billionths, if ``path`` leads to the whole units: `{"units": 5, "nanos": 990000000}`.
    ///
    /// Nil if the price is one number.
    public var nanos: JSONPath?
    /// Texts and numbers which mean that the item has no such price, such as `0`.
    public var none: Set<String> = []

    /// The source of a price's currency.
    public enum Unit: Hashable, Sendable {
      /// The same ISO 4217 code for every item.
      case code(String)
      /// The code that the item has at a path. If the item has none there, the catalog's currency.
      case path(JSONPath)
    }

    /// The number of decimals in a whole number.
    public enum Scale: Hashable, Sendable {
      /// The same number of decimals for every item.
      case fixed(Int)
      /// The number of decimals that the currency has, because the price is in minor units such as cents.
      case currency
      /// The number that the item has at a path.
      case path(JSONPath)
      /// The number of zeros in a power of ten that the item has at a path: 100 means two decimals.
      case divisor(JSONPath)
    }
  }

  /// A text, with the name that the catalog file gives it and the paths to it.
  public struct NoteRule: Hashable, Sendable {
    /// The name of the text.
    public var name: String
    /// The paths to the text.
    ///
    /// The text is at the first path that leads to a value. The value can also be a number.
    public var paths: [JSONPath]
  }

  /// The paths to the pictures of each role, such as the thumbnail.
  ///
  /// A path leads to a URL or a list of URLs.
  public struct ImageRules: Hashable, Sendable {
    private var rules: [ImageReference.Role: [TextsRule]] = [:]

    /// All paths to the pictures of a role.
    subscript(role: ImageReference.Role) -> [JSONPath] { self[rules: role].flatMap(\.paths) }

    /// The rules for the pictures of a role.
    ///
    /// The first rule that gives a picture counts.
    public subscript(rules role: ImageReference.Role) -> [TextsRule] {
      get { rules[role] ?? [] }
      set { rules[role] = newValue.isEmpty ? nil : newValue }
    }
  }
}

extension Mapping.Envelope {
  /// Refuses a response that has a status of 400 or more among its values, even if its HTTP status means success.
  func checkStatus(of root: JSONNode, subject: String) throws(CatalogError) {
    for path in status {
      guard let value = try path.firstContent(in: root), let text = FieldReader.plainText(value),
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
  /// A rule for a field that is a list of texts, such as the URLs of pictures.
  ///
  /// For example, `{path: $.files, template: "https://cdn.example/{value}"}` makes URLs of file names.
  public struct TextsRule: Hashable, Sendable {
    /// The paths to the texts.
    ///
    /// The texts at all paths count, in the order of the paths.
    public var paths: [JSONPath]
    /// The separator, if one text consists of several; otherwise nil.
    public var split: String?
    /// The form of each result, such as `https://cdn.example/{value}`; nil if the result is the text.
    ///
    /// `{value}` stands for the text.
    public var template: String?
    /// The paths to the fields of the item that are placeholders in the template, by the placeholders' names.
    public var fields: [NoteRule] = []
    /// If the shop has each picture in several sizes, the path to the width of a size.
    public var largest: JSONPath?
    /// If the shop has each picture in several sizes, the path to the URL of a size.
    public var url: JSONPath?

    /// The values in one text of the response.
    ///
    /// A text such as `["/a.jpg", "/b.jpg"]` is a list, and needs no ``split``.
    func texts(of text: String) -> [String] {
      if let parts = ListText.parts(of: text) { return parts }
      guard let split else { return [text] }
      return text.split(separator: split).map { $0.trimmed }.filter { !$0.isEmpty }
    }

    /// The URL of the largest size of a picture.
    ///
    /// The sizes are the elements of a list, or the members of an object.
    func largest(of sizes: JSONNode) throws(CatalogError) -> JSONNode? {
      guard let largest, let url else { return nil }
      var best: (size: Double, text: JSONNode)?
      for node in sizes.kind == .array ? sizes.elements : sizes.members.map(\.value) {
        guard let text = try url.firstContent(in: node), !text.isEmpty,
          let size = try largest.firstContent(in: node).flatMap(FieldReader.plainText)
            .flatMap({ Double($0) }), size > best?.size ?? -1
        else { continue }
        best = (size, text)
      }
      return best?.text
    }
  }
}

extension YAMLNode {
  /// Reads a rule for a list of texts, or a list of such rules.
  ///
  /// `null` means no rule.
  func textsRules() throws(CatalogError) -> [Mapping.TextsRule] {
    try each { node throws(CatalogError) in try node.textsRule() }
  }

  /// Reads a path, or a rule such as `{path: P, split: ",", template: T}` or `{all: [P, Q]}`.
  private func textsRule() throws(CatalogError) -> Mapping.TextsRule {
    guard isMapping else { return Mapping.TextsRule(paths: [try path()]) }
    let mapping = try mapping(.texts)
    let template = try mapping["template"]?.filledText()
    var fields: [Mapping.NoteRule] = []
    for place in Placeholder.all(in: template ?? "", joinedBy: ".") where place.rawValue != "value"
    {
      let names = place.rawValue.split(separator: ".").map { FieldPlace.segment(String($0)) }
      let path = try JSONPath(parsing: "$" + names.joined())
      fields.append(Mapping.NoteRule(name: place.rawValue, paths: [path]))
    }
    if let all = mapping["all"], mapping["path"] != nil {
      throw all.error("expected one of path and all")
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
    guard !paths.isEmpty else { throw error("expected a path, found none") }
    let split = try mapping["split"]?.text()
    if split == "" {
      throw (mapping["split"] ?? self).error("expected a separator")
    }
    if let template, !hasValue, fields.isEmpty || mapping["path"] != nil || mapping["all"] != nil {
      throw (mapping["template"] ?? self).error("expected {value} in \"\(template.prefix(80))\"")
    }
    let rule = Mapping.TextsRule(
      paths: paths,
      split: split,
      template: template,
      fields: fields,
      largest: try mapping["largest"]?.path(),
      url: try mapping["url"]?.path()
    )
    guard (rule.largest == nil) == (rule.url == nil) else {
      throw error("expected largest and url together")
    }
    return rule
  }
}

extension Mapping {
  /// A text that changes whenever the mapping changes.
  ///
  /// The text is the same on every machine and in every run. Therefore the cache can store its digest with a decoded
  /// response, and decode the response again when the digest differs.
  public var fingerprint: String {
    // Raise this number if a change of larder decodes responses differently. Cached responses are then decoded again.
    var lines = ["mapping 4", written]
    lines += item.placeValues.map { "item.placeValues.\($0.name)\t\($0.paths)" }
    if let notation = notation.fingerprint { lines.append("notation\t\(notation)") }
    if let records { lines.append("records\t\(records.program.debugDescription)") }
    if let transform { lines.append("transform\t\(transform.program.debugDescription)") }
    return lines.joined(separator: "\n")
  }
}
