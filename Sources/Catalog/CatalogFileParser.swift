/// Reads the root of a catalog file.
struct CatalogFileParser {
  static func parse(_ root: YAMLMapping) throws(CatalogError) -> CatalogFile {
    try root.checkKeys(.root)
    var mapping = try MappingParser.parse(catalog: root)
    let detail = try root["detail"].map { node throws(CatalogError) in
      try DetailParser.parse(node, mapping: mapping)
    }
    mapping.item.placeValues = detail?.values ?? []
    var file = CatalogFile(
      name: try fileName(root.required("name")),
      currency: try currency(root.required("currency")),
      base: try root["base"].map(base),
      sections: try sections(of: root, mapping: mapping),
      detail: detail?.rule,
      mapping: mapping,
      headers: try headers(root["headers"]),
      paging: try root["paging"].map(PagingParser.parse),
      request: try RequestParser.sections(root),
      token: try root["token"].map(TokenParser.parse),
      pictures: try root["pictures"].map(PicturesParser.parse) ?? PicturesRule()
    )
    try checkPlaces(of: file, root)
    file.variables = try variables(root)
    return file
  }

  /// Refuses places that no paging fills, and paging by a place that is nowhere.
  private static func checkPlaces(
    of file: CatalogFile,
    _ root: YAMLMapping
  ) throws(CatalogError) {
    guard let node = root["sections"] else { return }
    let nodes = node.isList ? try node.list() : [node]
    for (position, node) in nodes.enumerated() {
      let url = try node.mapping().required("url")
      let request = file.request(ofSource: position)
      let paging = file.paging(ofSource: position)
      let filled = paging.map { [$0.place, .size] } ?? []
      let urlText = try url.text()
      let texts = [(url, urlText), (node, request.body)]
      for (place, text) in texts {
        for unfilled in Placeholder.ofSections.subtracting(filled.compactMap(\.self))
        where unfilled.isIn(text) {
          throw place.error(
            "nothing fills \(unfilled.written)",
            expected: "paging",
            remedy: "say under paging how the listing goes on"
          )
        }
      }
      if let paging, case .cursor(nil, _) = paging.step,
        !texts.contains(where: { Placeholder.cursor.isIn($0.1) })
      {
        throw node.error(
          "paging has no place for the cursor",
          expected: "{cursor}",
          remedy: "write {cursor} into the URL or body, or name a parameter by cursor"
        )
      }
    }
  }

  /// Where URLs name variables, so that one that is not set can be placed.
  private static func variables(_ root: YAMLMapping) throws(CatalogError) -> [URLVariable] {
    var nodes = [root["base"], try root["detail"]?.mapping()["url"]]
    if let sections = root["sections"] {
      if sections.isMapping {
        nodes.append(try sections.mapping()["url"])
      } else {
        for section in try sections.list() { nodes.append(try section.mapping()["url"]) }
      }
    }
    var variables: [URLVariable] = []
    for node in nodes.compactMap(\.self) {
      let names = (try? VariableText(node.text()))?.variables ?? []
      variables += names.map { URLVariable(name: $0, place: node.error("")) }
    }
    return variables
  }

  /// A text that could be a file's name.
  static func fileName(_ node: YAMLNode) throws(CatalogError) -> String {
    let name = try node.filledText()
    guard isFileName(name) else {
      throw node.error(
        "\"\(name.prefix(40))\" could not be a file name",
        expected: "a file name",
        remedy: "leave out slashes and control characters, at most 200 bytes"
      )
    }
    return name
  }

  private static func currency(_ node: YAMLNode) throws(CatalogError) -> String {
    let code = try node.text()
    guard Currency.codes.contains(code) else {
      let nearest = nearest(to: code, in: Currency.codes)
      throw node.error(
        "\"\(code.prefix(40))\" is not an ISO 4217 currency code",
        expected: "an ISO 4217 currency code",
        nearestKey: nearest,
        remedy: nearest.map { "the nearest code is \"\($0)\"" }
      )
    }
    return code
  }

  private static func base(_ node: YAMLNode) throws(CatalogError) -> String {
    let url = try self.url(node)
    let host = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? ""
    // What a variable begins is judged once its value is known.
    if url.hasPrefix("${") { return url }
    let isFile = url.lowercased().hasPrefix("file:///")
    guard isFile || scheme(of: url) != "file", let first = host.first,
      isFile || !["/", "?", "#", ":"].contains(first)
    else {
      throw node.error(
        "\"\(url.prefix(80))\" is not the start of an http, https or file URL",
        expected: "an http, https or file URL"
      )
    }
    return url
  }

  private static func sections(
    of root: YAMLMapping,
    mapping catalog: Mapping
  ) throws(CatalogError) -> SectionPlan {
    let node = try root.required("sections")
    if node.isMapping {
      return .combined(try combined(node.mapping(), isMade: catalog.transform != nil))
    }
    guard node.isList else {
      throw node.error(
        "expected a list of sections, or a mapping with url, each and key",
        expected: "a list of sections"
      )
    }
    var sources: [SectionSource] = []
    for element in try node.list() {
      let source = try SectionParser.parse(element, of: root, mapping: catalog)
      guard !sources.contains(where: { $0.isTheSame(as: source) }) else {
        let key = try element.mapping().required("key")
        throw source.parts == nil
          ? key.error("a second section with the key \"\(source.key)\"", expected: "another key")
          : key.error("the same sections of one response twice", expected: "another url or each")
      }
      sources.append(source)
    }
    guard !sources.isEmpty else {
      throw node.error("expected at least one section, found none", expected: "a section")
    }
    return .listed(sources)
  }

  /// Reads one response with all sections.
  ///
  /// A transform's output has a known shape, so that its URL is enough.
  private static func combined(
    _ mapping: YAMLMapping,
    isMade: Bool
  ) throws(CatalogError) -> CombinedSections {
    try mapping.checkKeys(.sections)
    if isMade, mapping["each"] == nil, mapping["key"] == nil {
      return try OwnShape.sections(at: url(mapping.required("url")))
    }
    return try SectionParser.parts(mapping)
  }

  static func headers(_ node: YAMLNode?) throws(CatalogError) -> [HeaderTemplate] {
    guard let node else { return [] }
    var headers: [HeaderTemplate] = []
    for member in try node.mapping().members {
      do throws(CatalogError) {
        var header = try HeaderTemplate(name: member.name, rawValue: try member.value.text())
        header.place = member.value.error("")
        headers.append(header)
      } catch {
        throw error.line == nil ? member.value.error(error.reason) : error
      }
      let name = member.name.lowercased()
      guard headers.count(where: { $0.name.lowercased() == name }) == 1 else {
        throw member.key.error("header \(member.name) more than once")
      }
    }
    return headers
  }

  /// A URL as a catalog file may have it, absolute or not.
  static func url(_ node: YAMLNode) throws(CatalogError) -> String {
    let url = try node.filledText()
    guard url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
      throw node.error("a URL holds no white space", expected: "a URL", remedy: "write %20")
    }
    do throws(VariableText.Fault) {
      _ = try VariableText(url)
    } catch {
      throw node.error("the URL \(error.reason)", expected: "${NAME}")
    }
    if let scheme = scheme(of: url), !["http", "https", "file"].contains(scheme) {
      throw node.error(
        "expected an http, https or file URL, found \(scheme)",
        expected: "http, https or file"
      )
    }
    return url
  }

  /// The scheme of an absolute URL, lower case. (RFC 3986, section 3.1)
  private static func scheme(of url: String) -> String? {
    let scheme = url.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    guard url.dropFirst(scheme.count).hasPrefix(":"), scheme.first?.isLetter == true else {
      return nil
    }
    return scheme.lowercased()
  }
}

/// Whether a text can be the name of one file on every file system that larder runs on.
func isFileName(_ text: String) -> Bool {
  !text.isEmpty && text != "." && text != ".." && text.utf8.count <= 200
    && text.unicodeScalars.allSatisfy {
      $0 != "/" && $0.properties.generalCategory != .control
    }
}
