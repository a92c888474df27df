extension Mapping {
  /// One alternative for a field that is a list of texts.
  public struct TextsRule: Hashable, Sendable {
    /// Where the texts are; what all of them lead to counts, in their order.
    public var paths: [JSONPath]
    /// What parts one text into several; nil takes each as it is.
    public var split: String?
    /// What each text becomes, with `{value}` where it belongs; nil leaves it as it is.
    public var template: String?

    /// Makes a rule.
    public init(paths: [JSONPath], split: String? = nil, template: String? = nil) {
      self.paths = paths
      self.split = split
      self.template = template
    }

    /// The texts that one value of the feed stands for.
    func texts(of text: String) -> [String] {
      var texts = [text]
      if let split {
        texts = text.split(separator: split).map { $0.trimmed }.filter { !$0.isEmpty }
      }
      guard let template else { return texts }
      return texts.map { template.replacing("{value}", with: $0) }
    }

    /// The rule as text that changes when, and only when, the rule does.
    var fingerprint: String {
      var words = paths.map(\.description).joined(separator: " + ")
      if let split { words += " split \(split.debugDescription)" }
      if let template { words += " template \(template.debugDescription)" }
      return words
    }
  }
}

extension YAMLNode {
  /// Alternatives for a list of texts; nothing for `null`.
  func textsRules() throws(CatalogError) -> [Mapping.TextsRule] {
    if isNull { return [] }
    guard isList else { return [try textsRule()] }
    var rules: [Mapping.TextsRule] = []
    for element in try list() { rules.append(try element.textsRule()) }
    return rules
  }

  /// A path alone, or `{path: P, split: ",", template: T}`, or `{all: [P, Q]}`.
  private func textsRule() throws(CatalogError) -> Mapping.TextsRule {
    guard isMapping else { return Mapping.TextsRule(paths: [try path()]) }
    let mapping = try mapping()
    try mapping.checkKeys(.texts)
    if let all = mapping["all"], mapping["path"] != nil {
      throw all.error("expected one of path and all", expected: "path or all")
    }
    let paths: [JSONPath]
    if let all = mapping["all"] {
      paths = try all.paths()
    } else {
      paths = [try mapping.required("path").path()]
    }
    guard !paths.isEmpty else { throw error("expected a path, found none", expected: "a path") }
    let split = try mapping["split"]?.text()
    if split == "" {
      throw (mapping["split"] ?? self).error("expected what parts the text", expected: "text")
    }
    let template = try mapping["template"]?.filledText()
    if let template, !template.contains("{value}") {
      throw (mapping["template"] ?? self).error(
        "expected {value} in \"\(template.prefix(80))\"",
        expected: "{value}"
      )
    }
    return Mapping.TextsRule(paths: paths, split: split, template: template)
  }
}
