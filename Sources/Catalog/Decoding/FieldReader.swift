import Base

/// Reads the fields of an item or a detail from a JSON object.
///
/// A field has one or more paths. They are tried in order, and the first path that leads to a value counts. `null`, `""`
/// and `[]` are empty, so they do not count as values.
///
/// A value that cannot be used, such as a price in words, is recorded in ``faults``. The field then counts as absent.
struct FieldReader {
  /// The object to read.
  ///
  /// In the paths, `$` stands for it.
  let node: JSONNode
  /// The catalog's currency, for example "KRW".
  let currency: String
  /// Rules for the values of all fields, for example that "N/A" means that there is no value.
  var values = Mapping.Values()
  /// The fields that could not be used so far.
  ///
  /// Each is listed once.
  private(set) var faults: [LostField] = []

  /// The maximum number of badges, pictures or prices of an item.
  ///
  /// Further ones are left out.
  static let mostValues = 1000

  /// The value as a title, or nil if there is no value.
  ///
  /// It must be a text or a number, which becomes text. If the catalog file says that texts are HTML, tags and entities
  /// are removed, and the title is put on one line.
  mutating func title(_ paths: [JSONPath]) -> String? {
    guard let title = identifier(paths) else { return nil }
    guard values.isHTML else { return title }
    let plain = PlainText.line(PageText.plain(title))
    return plain.isEmpty ? nil : plain
  }

  /// The value as text, or nil if there is no value.
  ///
  /// It must be a text or a number.
  mutating func identifier(_ paths: [JSONPath]) -> String? {
    guard let (path, value) = first(paths) else { return nil }
    guard let text = Self.plainText(value) else {
      return fail(path, "expected text or a number, found \(value.kind.phrase)")
    }
    return text
  }

  /// The values of several fields, each a text or a number, by the names of the fields.
  ///
  /// Fields without a value are left out.
  mutating func notes(_ rules: [Mapping.NoteRule]) -> [String: String] {
    var notes: [String: String] = [:]
    for rule in rules { notes[rule.name] = identifier(rule.paths) }
    return notes
  }

  /// The value, or nil if there is no value.
  ///
  /// The value must be a text.
  mutating func text(_ paths: [JSONPath]) -> String? {
    guard let (path, value) = first(paths) else { return nil }
    guard let text = value.text else {
      return fail(path, "expected text, found \(value.kind.phrase)")
    }
    return plain(text)
  }

  /// A text without tags and entities, if texts are HTML.
  func plain(_ text: String) -> String { values.isHTML ? PageText.plain(text) : text }

  /// The values that are texts.
  ///
  /// The path can lead to one text, to a list of texts, or to several texts. A text such as `["new", "sale"]` is a list.
  mutating func texts(_ paths: [JSONPath]) -> [String] {
    guard let (path, values) = all(paths) else { return [] }
    let texts = texts(of: values.map { (path, $0) }, \.text).flatMap {
      ListText.parts(of: $0.text) ?? [$0.text]
    }
    return limited(texts.map(plain), path)
  }

  /// The texts of values, each with the path to it.
  ///
  /// A value without a text is recorded as a fault. If `mayBeObjects` is true, objects beside texts are no fault.
  private mutating func texts(
    of values: [(path: JSONPath, value: JSONNode)],
    mayBeObjects: Bool = false,
    _ text: (JSONNode) -> String?
  ) -> [(path: JSONPath, text: String)] {
    let texts = values.compactMap { path, value in text(value).map { (path, $0) } }
    if texts.count == values.count { return texts }
    let odd = values.filter { text($0.value) == nil }
    if let first = odd.first,
      !mayBeObjects || texts.isEmpty || odd.contains(where: { $0.value.kind != .object })
    {
      let share = values.count > 1 ? " in \(odd.count) of \(values.count)" : ""
      note(first.path, "expected text, found \(first.value.kind.phrase)\(share)")
    }
    return texts
  }

  /// The price, or nil if there is none.
  ///
  /// The first rule that has a value at its path gives the price.
  mutating func price(_ rules: [Mapping.PriceRule]) -> Price? {
    guard let (rule, value) = first(rules) else { return nil }
    do throws(CatalogError) {
      return try price(value, rule)
    } catch {
      return fail(rule.path, error.reason)
    }
  }

  /// The text that ``price(_:)`` reads, such as "1.299 €", and the price's currency.
  ///
  /// The result is nil if there is no price, or if the value is not a text.
  mutating func priceText(_ rules: [Mapping.PriceRule]) -> (text: String, currency: String)? {
    guard let (rule, value) = first(rules), rule.scale == nil, value.kind == .string,
      let text = value.text, let currency = try? currency(of: rule)
    else { return nil }
    return (plain(text), currency)
  }

  /// The value that ``price(_:)`` reads, if it is a whole number such as 1999 or "1999".
  ///
  /// The result is nil if there is no price, or if the value is not a whole number.
  mutating func wholePrice(_ rules: [Mapping.PriceRule]) -> Int? {
    guard let (_, value) = first(rules), value.kind != .real, let text = Self.plainText(value),
      PriceText.isWhole(text)
    else { return nil }
    return Int(text)
  }

  /// The first rule whose path leads to a value, together with this value.
  private mutating func first(
    _ rules: [Mapping.PriceRule]
  ) -> (rule: Mapping.PriceRule, value: JSONNode)? {
    for rule in rules {
      guard let value = first(rule.path) ?? nanos(rule),
        !Self.isBlank(value),
        !Self.isNone(value, rule.none, isPrice: true)
      else { continue }
      return (rule, value)
    }
    return nil
  }

  /// The billionths of a price whose whole units are 0 and absent; nil if they are 0 too, because that is no price.
  private mutating func nanos(_ rule: Mapping.PriceRule) -> JSONNode? {
    guard let path = rule.nanos, let value = first(path), Self.plainText(value) != "0" else {
      return nil
    }
    return value
  }

  /// All prices according to the first rule whose path leads to a value.
  ///
  /// The path can lead to one price, to a list of prices, or to several prices. The meaning of a price depends on its
  /// position in the list. Therefore, if one price cannot be read, the result is empty.
  mutating func prices(_ rules: [Mapping.PriceRule]) -> [Price] {
    for rule in rules {
      let values = all(rule.path).filter {
        !Self.isBlank($0) && !Self.isNone($0, rule.none, isPrice: true)
      }
      guard !values.isEmpty else { continue }
      var prices: [Price] = []
      do throws(CatalogError) {
        for value in values { prices.append(try price(value, rule)) }
        return prices
      } catch {
        note(rule.path, error.reason)
        return []
      }
    }
    return []
  }

  /// The pictures of the item, sorted by role: first the thumbnail, then the top pictures, and so on.
  mutating func images(_ rules: Mapping.ImageRules) -> [ImageReference] {
    var images: [ImageReference] = []
    for role in ImageReference.Role.allCases {
      for url in pictures(rules[rules: role]) {
        images.append(ImageReference(role: role, url: url))
      }
    }
    return images
  }

  /// The URLs of the pictures of one role, according to the first rule that finds any.
  ///
  /// A list in the response can contain both texts and objects, so a rule can have one path to the texts and another
  /// path into the objects. Therefore, if a rule with several paths finds texts, it is no fault that it also finds
  /// objects.
  private mutating func pictures(_ rules: [Mapping.TextsRule]) -> [String] {
    for rule in rules {
      var values: [(path: JSONPath, value: JSONNode)] = []
      for path in rule.paths {
        values += (rule.largest == nil ? all(path) : largest(rule, path)).map { (path, $0) }
      }
      let texts = texts(of: values, mayBeObjects: rule.paths.count > 1) {
        rule.template == nil ? $0.text : Self.plainText($0)
      }
      var urls: [String] = []
      for (path, text) in texts {
        if PictureText.isData(text) {
          note(path, "a data: URL contains the picture itself, so there is nothing to fetch")
        } else {
          urls += addresses(of: text, rule)
        }
      }
      if !urls.isEmpty || texts.count < values.count { return limited(urls, rule.paths.first) }
    }
    return []
  }

  /// The largest size of each picture, if the shop sends every picture in several sizes.
  ///
  /// Each value at the path is a group with the sizes of one picture.
  private mutating func largest(_ rule: Mapping.TextsRule, _ path: JSONPath) -> [JSONNode] {
    do throws(CatalogError) {
      var found: [JSONNode] = []
      for sizes in try path.values(in: node).prefix(Self.mostValues) {
        if let text = try rule.largest(of: sizes) { found.append(text) }
      }
      return found.filter { !Self.isNone($0, values.none) }
    } catch {
      note(path, error.reason)
      return []
    }
  }

  /// The picture URLs of a text, as the rule's template says.
  ///
  /// Placeholders such as `{category}` stand for the item's fields. The result is empty if the item lacks one of them.
  private mutating func addresses(of text: String, _ rule: Mapping.TextsRule) -> [String] {
    let text = values.isHTML ? text.replacing("&amp;", with: "&") : text
    let texts = rule.texts(of: text)
    guard let template = rule.template else { return texts }
    var fields: [String: String] = [:]
    for field in rule.fields {
      guard let value = identifier(field.paths) else { return [] }
      fields[field.name] = PercentEncoding.escaped(value, keeping: "/")
    }
    return texts.map { text in
      Placeholder.fill(template, joinedBy: ".") { place, _ in
        place.rawValue == "value" ? text : fields[place.rawValue]
      }
    }
  }

  /// Whether a value is one of those that mean "no value", such as `N/A`.
  ///
  /// Numbers are compared by value, so -1 and -1.0 are the same. A text is compared as a number only if it is a price: the
  /// id "00" is not 0.
  private static func isNone(
    _ value: JSONNode,
    _ none: Set<String>,
    isPrice: Bool = false
  ) -> Bool {
    guard !none.isEmpty, let text = plainText(value) else { return false }
    if none.contains(text) { return true }
    var number = isPrice || value.kind != .string ? Double(text) : nil
    if number == nil, isPrice, PriceText.isPrice(text) { number = PriceText.number(text) }
    guard let number, number.isFinite else { return false }
    return none.contains { other in
      if let whole = Int(text), let other = Int(other) { return whole == other }
      return Double(other) == number
    }
  }

  /// The first path that leads to a value, together with this value.
  mutating func first(_ paths: [JSONPath]) -> (path: JSONPath, value: JSONNode)? {
    for path in paths {
      if let value = first(path) { return (path, value) }
    }
    return nil
  }

  /// A text as it is, a number as text, or nil if the value is neither.
  static func plainText(_ value: JSONNode) -> String? {
    if let text = value.text { return text }
    if let integer = value.integer { return String(integer) }
    guard let real = value.real else { return nil }
    return Int(exactly: real).map(String.init) ?? real.description
  }

  /// Records that a field cannot be used, unless the same fault is recorded already.
  mutating func note(_ path: JSONPath?, _ reason: String) {
    let fault = LostField(field: path?.lastName, reason: reason)
    if !faults.contains(fault) { faults.append(fault) }
  }

  /// Records that a field cannot be used, and returns nil as its value.
  mutating func fail<Value>(_ path: JSONPath?, _ reason: String) -> Value? {
    note(path, reason)
    return nil
  }

  private mutating func first(_ path: JSONPath) -> JSONNode? {
    do throws(CatalogError) {
      if path.isSingular {
        guard let value = try path.firstContent(in: node), !isEmpty(value) else {
          return nil
        }
        return value
      }
      return try path.values(in: node).lazy.map(\.content).first { !isEmpty($0) }
    } catch {
      return fail(path, error.reason)
    }
  }

  /// The first path that leads to a value, together with all values at this path.
  ///
  /// The elements of a list count as values.
  private mutating func all(_ paths: [JSONPath]) -> (path: JSONPath, values: [JSONNode])? {
    for path in paths {
      let values = all(path)
      if !values.isEmpty { return (path, values) }
    }
    return nil
  }

  private mutating func all(_ path: JSONPath) -> [JSONNode] {
    var values: [JSONNode] = []
    do throws(CatalogError) {
      values = try path.values(in: node)
    } catch {
      note(path, error.reason)
    }
    if values.contains(where: { $0.kind == .array }) {
      values = values.flatMap { $0.kind == .array ? $0.elements : [$0] }
    }
    return limited(values.map(\.content).filter { !isEmpty($0) }, path)
  }

  /// The first values, and a fault if there are too many.
  private mutating func limited<Value>(_ values: [Value], _ path: JSONPath?) -> [Value] {
    guard values.count > Self.mostValues else { return values }
    note(path, "only the first \(Self.mostValues) of \(values.count) values are read")
    return Array(values.prefix(Self.mostValues))
  }

  private func isEmpty(_ value: JSONNode) -> Bool {
    value.isEmpty || Self.isNone(value, values.none) || values.isHTML && Self.isMarkup(value)
  }

  /// Whether a text is tags and entities alone, such as `<p></p>`.
  private static func isMarkup(_ value: JSONNode) -> Bool {
    guard let text = value.text else { return false }
    // Most texts have a letter outside of their tags.
    var isTag = false
    for byte in text.utf8 where byte > 0x20 {
      if byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") {
        isTag = byte == UInt8(ascii: "<")
      } else if !isTag {
        guard byte == UInt8(ascii: "&") else { return false }
        break
      }
    }
    return text.utf8.contains { $0 > 0x20 } && PageText.plain(text).trimmed.isEmpty
  }

  /// Whether a price is blank.
  ///
  /// Some shops write spaces if there is no price.
  private static func isBlank(_ value: JSONNode) -> Bool {
    value.isString { $0 <= 0x20 }
  }

  private func price(_ value: JSONNode, _ rule: Mapping.PriceRule) throws(CatalogError) -> Price {
    let currency = try currency(of: rule)
    if let nanos = rule.nanos {
      let hasUnits = try rule.path.firstContent(in: node).map { !isEmpty($0) } ?? false
      return try price(hasUnits ? value : nil, nanos, in: currency)
    }
    if let scale = rule.scale { return try scaledPrice(value, scale, in: currency) }
    switch value.kind {
    case .integer: return try Price(value.integer ?? 0, currency: currency)
    case .real: return try Price(value.real ?? 0, currency: currency)
    case .string: return try Price(parsing: plain(value.text ?? ""), currency: currency)
    default: throw priceError("expected a price, found \(value.kind.phrase)")
    }
  }

  private func currency(of rule: Mapping.PriceRule) throws(CatalogError) -> String {
    switch rule.currency {
    case nil: return currency
    case .code(let code): return code
    case .path(let path):
      guard let value = try path.firstContent(in: node), !value.isEmpty else { return currency }
      guard let code = Self.plainText(value).flatMap(Currency.code) else {
        throw priceError("\(path) is not an ISO 4217 currency code")
      }
      return code
    }
  }

  /// A price in the form of `google.type.Money`, which has whole units and billionths of a unit.
  ///
  /// For example, `{"units": 5, "nanos": 990000000}` is 5.99. A member that is 0 can be absent.
  private func price(
    _ units: JSONNode?,
    _ nanos: JSONPath,
    in currency: String
  ) throws(CatalogError) -> Price {
    func number(_ value: JSONNode?) -> Int? {
      guard let value, !value.isEmpty else { return 0 }
      return Self.plainText(value).flatMap { Int($0) }
    }
    guard let whole = number(units), let rest = number(try nanos.firstContent(in: node)) else {
      throw priceError("units and nanos are not whole numbers")
    }
    let (product, overflows) = whole.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflows, (0..<1_000_000_000).contains(rest), product <= Int.max - rest else {
      throw priceError("units and nanos do not make a price")
    }
    return try Price(product + rest, scale: 9, currency: currency)
  }

  private func scaledPrice(
    _ value: JSONNode,
    _ scale: Mapping.PriceRule.Scale,
    in currency: String
  ) throws(CatalogError) -> Price {
    guard let text = Self.plainText(value) else {
      throw priceError("expected a whole number, found \(value.kind.phrase)")
    }
    guard let number = Int(text) else {
      throw priceError("\"\(text.prefix(40))\" is not a whole number")
    }
    switch scale {
    case .fixed(let scale): return try Price(number, scale: scale, currency: currency)
    case .currency:
      guard number >= 0 else { throw priceError("\(number) is negative") }
      return Price(minorUnits: number, currency: currency)
    case .path(let path):
      guard
        let scale = try path.firstContent(in: node).flatMap(Self.plainText).flatMap({ Int($0) })
      else { throw priceError("\(path) does not say how many digits are decimals") }
      return try Price(number, scale: scale, currency: currency)
    case .divisor(let path):
      let divisor = try path.firstContent(in: node).flatMap(Self.plainText) ?? ""
      let zeros = divisor.dropFirst()
      guard divisor.hasPrefix("1"), zeros.count <= 9, zeros.allSatisfy({ $0 == "0" }) else {
        throw priceError("\(path) is not a power of ten")
      }
      return try Price(number, scale: zeros.count, currency: currency)
    }
  }
}

extension JSONNode {
  /// Whether the value is empty: `null`, `""` or `[]`.
  var isEmpty: Bool {
    switch kind {
    case .null: true
    case .string: isString { _ in false }
    case .array: count == 0
    default: false
    }
  }
}

extension JSONNode.Kind {
  /// The kind with its article, for messages: "expected text, found an object".
  var phrase: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .string: "text"
    case .integer, .real: "a number"
    case .boolean: "true or false"
    case .null: "null"
    }
  }
}
