import Base

/// How a document is requested: by a plain GET, or by a POST with a body, as GraphQL needs it.
public struct RequestRule: Hashable, Sendable {
  /// The HTTP method.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// A request without a body.
    case get = "GET"
    /// A request with a query in its body. It changes nothing on the server, so it can be repeated.
    case post = "POST"
  }

  /// The HTTP method.
  public var method: Method
  /// The media type of the body, such as `application/json`.
  public var type: String
  /// The body to send, with placeholders such as `{cursor}`.
  public var body: String

  /// Makes a rule.
  ///
  /// By default, it is a plain GET.
  public init(method: Method = .get, type: String = "application/json", body: String = "") {
    self.method = method
    self.type = type
    self.body = body
  }

  /// The body with values instead of its placeholders, escaped as the media type requires.
  ///
  /// In JSON, a placeholder outside strings becomes a whole value: `{page}` becomes 2, `{cursor}` becomes a string, or
  /// `null` if there is no cursor yet. A placeholder inside a string is replaced by escaped text. (RFC 8259, section 7)
  ///
  /// Braces inside a string can also be GraphQL, as in `product {title}`. There, the name of an item's field is a
  /// placeholder only directly after a mark such as a quote, a slash or `=`.
  ///
  /// - Parameter values: The values by placeholder.
  /// - Returns: The body in UTF-8.
  public func body(filling values: [Placeholder: String]) -> [UInt8] {
    let filled = Placeholder.fill(body) { place, before in
      guard let value = values[place] else { return nil }
      return switch notation {
      case .json: Self.json(value, place, behind: before)
      case .form: PercentEncoding.escaped(value)
      case .plain: value
      }
    }
    return Array(filled.utf8)
  }

  /// A text that changes whenever the rule changes.
  public var fingerprint: String { "\(method.rawValue) \(type) \(body.debugDescription)" }

  /// How values are written in a body.
  private enum Notation { case json, form, plain }

  private var notation: Notation {
    let essence = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    if essence == "application/json" || essence.hasSuffix("+json") { return .json }
    return essence == "application/x-www-form-urlencoded" ? .form : .plain
  }

  /// Whether the media type is JSON.
  var isJSON: Bool { notation == .json }

  /// The placeholders in the body, if the values of an item are allowed in it: `{id}` and names of the item's fields.
  var itemPlaces: Set<Placeholder> {
    var places: Set<Placeholder> = []
    _ = Placeholder.fill(body) { place, before in
      if !isJSON || Self.json("", place, behind: before) != nil { places.insert(place) }
      return nil
    }
    return places
  }

  /// Writes a value instead of a placeholder into JSON; nil if the braces at this place are no placeholder.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - place: The name in the braces.
  ///   - before: The part of the body before the braces.
  /// - Returns: JSON, or a part of a string in JSON.
  private static func json(
    _ value: String,
    _ place: Placeholder,
    behind before: Substring
  ) -> String? {
    if endsInText(before) {
      let isPlace = place.hasMeaning || before.last.map { "\"/:=,-|#&?.".contains($0) } ?? false
      // Drop the quotes as bytes: as characters, they could take a combining mark with them.
      let quoted = StoredFormWriter.quoted(value).utf8
      return isPlace ? String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self) : nil
    }
    if place.isNumber { return value }
    return value.isEmpty ? "null" : StoredFormWriter.quoted(value)
  }

  /// Whether the end of an incomplete JSON document is inside a string.
  private static func endsInText(_ json: Substring) -> Bool {
    var isInText = false
    var isEscaped = false
    for byte in json.utf8 {
      if byte == UInt8(ascii: "\""), !isEscaped { isInText.toggle() }
      isEscaped = byte == UInt8(ascii: "\\") && isInText && !isEscaped
    }
    return isInText
  }
}

/// Reads `request:` of a catalog file.
enum RequestParser {
  /// Reads how sections are requested.
  ///
  /// - Parameter members: The YAML mapping that can have the key `request`: a file, a section or a format.
  /// - Returns: The rule, or nil if there is no key `request`.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func sections(_ members: YAMLMapping) throws(CatalogError) -> RequestRule? {
    try members.member("request").map { node throws(CatalogError) in
      try parse(node, filling: Placeholder.ofSections)
    }
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - node: The value of `request`; `null` means a plain GET.
  ///   - places: The placeholders that are allowed in the body; nil allows fields of items too.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(
    _ node: YAMLNode,
    filling places: Set<Placeholder>? = nil
  ) throws(CatalogError) -> RequestRule {
    if node.isNull { return RequestRule() }
    let mapping = try node.mapping(.request)
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
      throw node.error("expected GET or POST, found \"\(text.prefix(40))\"")
    }
    return method
  }

  private static func type(_ node: YAMLNode) throws(CatalogError) -> String {
    let text = try node.filledText()
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.contains("/") else {
      throw node.error("\"\(text.prefix(40))\" is not a media type")
    }
    return text
  }

  /// Refuses a body that is not JSON once values have replaced its placeholders.
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
        remedy: "correct it, or give its media type with type"
      )
    }
  }
}
