import Base

/// How a document is requested if a plain GET is not enough, for example GraphQL by POST.
public struct RequestRule: Hashable, Sendable {
  /// The HTTP method.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// A plain read.
    case get = "GET"
    /// A query in a body; it changes nothing on the server, so it may be repeated.
    case post = "POST"
  }

  /// The HTTP method.
  public var method: Method
  /// The media type of the body.
  public var type: String
  /// The body to send, with placeholders such as `{cursor}`.
  public var body: String

  /// Makes a rule; by default a plain GET.
  public init(method: Method = .get, type: String = "application/json", body: String = "") {
    self.method = method
    self.type = type
    self.body = body
  }

  /// The body, with its placeholders replaced by values that are escaped as the media type requires.
  ///
  /// In JSON, a placeholder inside a string is replaced by the escaped value. (RFC 8259, section 7) Outside strings, it
  /// becomes a whole value: a number as it is, other text in quotes, `null` for empty text.
  ///
  /// Inside a string, the name of an item's field is a placeholder only after a mark such as a quote. For example,
  /// `{title}` in the GraphQL `product {title}` is no placeholder.
  ///
  /// - Parameter values: The values by placeholder.
  /// - Returns: The body in UTF-8.
  public func body(filling values: [Placeholder: String]) -> [UInt8] {
    let filled: String
    switch notation {
    case .json:
      filled = Placeholder.fill(body, Set(values.keys)) { place, before in
        Self.json(values[place] ?? "", place, behind: before)
      }
    case .form:
      filled = Placeholder.fill(body, Set(values.keys)) { place, _ in
        PercentEncoding.escaped(values[place] ?? "")
      }
    case .plain:
      filled = Placeholder.fill(body, Set(values.keys)) { place, _ in values[place] ?? "" }
    }
    return Array(filled.utf8)
  }

  /// The rule as text that changes when, and only when, another request would be sent.
  public var fingerprint: String { "\(method.rawValue) \(type) \(body.debugDescription)" }

  /// How values are written in a body.
  private enum Notation { case json, form, plain }

  private var notation: Notation {
    let essence = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    if essence == "application/json" || essence.hasSuffix("+json") { return .json }
    return essence == "application/x-www-form-urlencoded" ? .form : .plain
  }

  /// Whether the body is JSON, in which placeholders differ from other braces by their context.
  var isJSON: Bool { notation == .json }

  /// The placeholders that are replaced by values of an item: `{id}`, and those with the names of its fields.
  var itemPlaces: Set<Placeholder> {
    var places: Set<Placeholder> = []
    let named = Set(Placeholder.all(in: body))
    guard isJSON else { return named }
    _ = Placeholder.fill(body, named) { place, before in
      if Self.json("", place, behind: before) != nil { places.insert(place) }
      return nil
    }
    return places
  }

  /// A value as it is written in JSON; nil when the text in braces is not a placeholder.
  private static func json(
    _ value: String,
    _ place: Placeholder,
    behind before: Substring
  ) -> String? {
    if endsInText(before) {
      let isPlace = place.hasMeaning || before.last.map { "\"/:=,-|#&?.".contains($0) } ?? false
      return isPlace ? escaped(value) : nil
    }
    if place.isNumber { return value }
    return value.isEmpty ? "null" : "\"\(escaped(value))\""
  }

  /// A text as it is written between the quotes of a JSON string. (RFC 8259, section 7)
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": escaped += "\\\(scalar)"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Whether the beginning of a JSON document ends inside a string.
  private static func endsInText(_ json: Substring) -> Bool {
    var isInText = false
    var isEscaped = false
    for byte in json.utf8 {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = isInText
      } else if byte == UInt8(ascii: "\"") {
        isInText.toggle()
      }
    }
    return isInText
  }
}

/// Reads `request:` of a catalog file.
enum RequestParser {
  /// Reads how sections are requested; nil when there is no `request`.
  ///
  /// - Parameter members: The mapping that may have the key `request`: a file, a section or a format.
  /// - Returns: The rule; nil when there is no `request`.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func sections(_ members: YAMLMapping) throws(CatalogError) -> RequestRule? {
    try members.member("request").map { node throws(CatalogError) in
      try parse(node, filling: Placeholder.ofSections)
    }
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - node: The value of `request`; `null` is a plain GET.
  ///   - places: The placeholders that requests replace; nil allows every placeholder of the body.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(
    _ node: YAMLNode,
    filling places: Set<Placeholder>? = nil
  ) throws(CatalogError) -> RequestRule {
    if node.isNull { return RequestRule() }
    let mapping = try node.mapping()
    try mapping.checkKeys(.request)
    let method = try mapping["method"].map(method) ?? (mapping["body"] == nil ? .get : .post)
    guard method == .post else {
      for key in ["type", "body"] {
        if let value = mapping[key] { throw value.error("needs method: POST") }
      }
      return RequestRule()
    }
    let rule = RequestRule(
      method: .post,
      type: try mapping["type"].map(type) ?? "application/json",
      body: try mapping.required("body").text()
    )
    if rule.isJSON, let body = mapping["body"] { try check(rule, body, places ?? rule.itemPlaces) }
    return rule
  }

  private static func method(_ node: YAMLNode) throws(CatalogError) -> RequestRule.Method {
    let text = try node.text()
    guard let method = RequestRule.Method(rawValue: text.uppercased()) else {
      throw node.error(
        "expected GET or POST, found \"\(text.prefix(40))\"",
        expected: "GET or POST"
      )
    }
    return method
  }

  private static func type(_ node: YAMLNode) throws(CatalogError) -> String {
    let text = try node.filledText()
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.contains("/") else {
      throw node.error(
        "\"\(text.prefix(40))\" is not a media type",
        expected: "a media type such as application/json"
      )
    }
    return text
  }

  /// Refuses a body that would not be JSON after its placeholders are replaced.
  private static func check(
    _ rule: RequestRule,
    _ node: YAMLNode,
    _ places: Set<Placeholder>
  ) throws(CatalogError) {
    let samples = Dictionary(uniqueKeysWithValues: places.map { ($0, $0.isNumber ? "1" : "x") })
    do throws(CatalogError) {
      _ = try JSONDocument(parsing: rule.body(filling: samples), of: "the body")
    } catch {
      throw node.error(
        "the body is not JSON: \(error.reason)",
        expected: "JSON",
        remedy: "correct it, or give its media type with type"
      )
    }
  }
}
