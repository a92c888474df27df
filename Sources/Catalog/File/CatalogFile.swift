import Base

/// A catalog file: the URLs of a shop's sections, and how to read the responses.
///
/// A section is one list of items, such as "cups". Each section has a URL, or one response has many sections. The URLs
/// are the sources of the catalog. A detail is a document about one item, which has more fields than the item has in
/// the list.
///
/// In every URL of the file, `${NAME}` stands for an environment variable; see `resolvedURLVariables(environment:)`.
public struct CatalogFile: Hashable, Sendable {
  /// The name of the catalog in the cache and on the command line.
  ///
  /// It must be a valid file name.
  public var name: String
  /// The ISO 4217 code of all prices that have no currency of their own, such as "EUR".
  public var currency: String
  /// The base of relative URLs, such as `https://shop.example/api/`; nil if all URLs are absolute or file paths.
  public var base: String?
  /// The sources of the sections.
  public var sections: [SectionSource]
  /// How the details of items are requested; nil if the shop has none.
  public var detail: DetailRule?
  /// The paths to the items and their fields in a response.
  public var mapping: Mapping
  /// Request headers, before environment variables are expanded.
  public var headers: [HeaderTemplate] = []
  /// How a section continues on further pages; nil if each section is one response.
  public var paging: PagingRule?
  /// How sections are requested; nil means a plain GET.
  public var request: RequestRule?
  /// How to get a new token after a response with status 401; nil if there is no way.
  public var token: TokenRule?
  /// How pictures are requested and identified.
  public var pictures = PicturesRule()
  /// The position of each URL that names environment variables, by the path of its key, such as `sections[2].url`.
  ///
  /// It is an error without a reason.
  var places: [String: CatalogError] = [:]
}

extension CatalogFile {
  /// Reads a catalog file.
  ///
  /// - Parameters:
  ///   - bytes: YAML or JSON in UTF-8, at most 1 MiB.
  ///   - file: The file's name, for messages.
  ///   - formatFile: Reads a format file if the key `format` has a path, such as `shops/mine.yaml`. If it is nil, such
  ///     a path is an error.
  /// - Throws: ``CatalogError`` with file, line, column, key and the expected value.
  public init(
    parsing bytes: [UInt8],
    file: String,
    formatFile: FormatFileReading? = nil
  ) throws(CatalogError) {
    let yaml = YAMLFile(name: file, subject: "catalog file \(file)", formatFile: formatFile)
    self = try CatalogFileParser.parse(yaml.mapping(of: bytes))
  }

  /// The paths to the items and their fields in the response of the source at an index.
  public func mapping(ofSource position: Int) -> Mapping {
    sections[position].mapping ?? mapping
  }

  /// Whether the response of the source at an index has many sections.
  ///
  /// Only the response has their names.
  package func isMany(source position: Int) -> Bool { sections[position].parts != nil }

  /// The paging of the source at an index, or nil if it has only one page.
  public func paging(ofSource position: Int) -> PagingRule? {
    sections[position].isOnePage ? nil : sections[position].paging ?? paging
  }

  /// How to request the source at an index.
  public func request(ofSource position: Int) -> RequestRule {
    sections[position].request ?? request ?? RequestRule()
  }
}

/// Makes a ``CatalogFile`` of parsed YAML.
struct CatalogFileParser {
  static func parse(_ root: YAMLMapping) throws(CatalogError) -> CatalogFile {
    try root.checkKeys(.root)
    let format = try root["format"].map { node throws(CatalogError) in try Format(node) }
    /// The value of a key in the file. If the file does not have the key, the value of the key in the file's format.
    func value(_ name: String) -> YAMLNode? {
      root.member(name) == nil ? format?.root[name] : root[name]
    }
    var mapping = try MappingParser.parse(catalog: root)
    var details = value("detail")
    // If the `detail` of a format has no URL, it only says how details are read. The file alone decides whether the
    // shop has details.
    if root.member("detail") == nil, try details?.mapping()["url"] == nil { details = nil }
    let detail = try details.map { node throws(CatalogError) in
      try DetailParser.parse(node, mapping: mapping)
    }
    mapping.item.placeValues = detail?.values ?? []
    let code: YAMLNode
    if let given = value("currency") { code = given } else { code = try root.required("currency") }
    var file = CatalogFile(
      name: try fileName(root.required("name")),
      currency: try code.known("ISO 4217 currency code", in: Currency.codes),
      base: try value("base").map(base),
      sections: try sections(of: root, mapping: mapping),
      detail: detail?.rule,
      mapping: mapping,
      headers: try headers(value("headers")),
      paging: try root["paging"].map(PagingParser.parse),
      request: try RequestParser.sections(root),
      token: try root["token"].map(TokenParser.parse),
      pictures: try value("pictures").map(PicturesParser.parse) ?? PicturesRule()
    )
    try checkPlaces(of: file, root)
    file.places = try places(root)
    return file
  }

  /// Checks that the placeholders of URLs and bodies match the paging.
  ///
  /// Refuses a placeholder such as `{page}` without a paging that replaces it, and a paging by a cursor if the
  /// placeholder `{cursor}` is in neither the URL nor the body.
  private static func checkPlaces(
    of file: CatalogFile,
    _ root: YAMLMapping
  ) throws(CatalogError) {
    let nodes = try root.required("sections").each { node throws(CatalogError) in node }
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
            remedy: "describe the further pages under paging"
          )
        }
      }
      if let paging, paging.step == .cursor, paging.parameter == nil,
        !texts.contains(where: { Placeholder.cursor.isIn($0.1) })
      {
        throw node.error(
          "paging has no place for the cursor",
          remedy: "write {cursor} into the URL or body, or set cursor to the name of a parameter"
        )
      }
    }
  }

  /// The positions of the URLs that name environment variables; see ``CatalogFile/places``.
  private static func places(_ root: YAMLMapping) throws(CatalogError) -> [String: CatalogError] {
    let sections = try root.required("sections").each { node throws(CatalogError) in
      try node.mapping()["url"]
    }
    let urls = [root["base"], try root["detail"]?.mapping()["url"]] + sections
    var places: [String: CatalogError] = [:]
    for url in urls.compactMap(\.self) where try url.text().contains("${") {
      places[url.keyPath] = url.error("")
    }
    return places
  }

  /// Reads a text that must be a valid file name.
  static func fileName(_ node: YAMLNode) throws(CatalogError) -> String {
    let name = try node.filledText()
    guard isFileName(name) else {
      throw node.error(
        "\"\(name.prefix(40))\" cannot be used as a file name",
        remedy: "leave out slashes and control characters, at most 200 bytes"
      )
    }
    return name
  }

  private static func base(_ node: YAMLNode) throws(CatalogError) -> String {
    let url = try self.url(node)
    let host = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? ""
    // A URL that begins with a variable can be checked only when the value of the variable is known.
    if url.hasPrefix("${") { return url }
    let isFile = url.lowercased().hasPrefix("file:///")
    guard isFile || scheme(of: url) != "file", let first = host.first,
      isFile || !["/", "?", "#", ":"].contains(first)
    else {
      throw node.error("\"\(url.prefix(80))\" is not the start of an http, https or file URL")
    }
    return url
  }

  private static func sections(
    of root: YAMLMapping,
    mapping catalog: Mapping
  ) throws(CatalogError) -> [SectionSource] {
    let node = try root.required("sections")
    if node.isMapping { return [try SectionParser.only(node, isMade: catalog.transform != nil)] }
    guard node.isList else {
      throw node.error("expected a list of sections, or a mapping with url, each and key")
    }
    var sources: [SectionSource] = []
    for element in try node.list() {
      let source = try SectionParser.parse(element, of: root, mapping: catalog)
      guard !sources.contains(where: { $0.identity == source.identity }) else {
        let key = try element.mapping().required("key")
        throw source.parts == nil
          ? key.error("a second section with the key \"\(source.key)\"")
          : key.error("the same sections of one response twice")
      }
      sources.append(source)
    }
    guard !sources.isEmpty else {
      throw node.error("expected at least one section, found none")
    }
    return sources
  }

  /// Reads a mapping from header names to values; nil means no headers.
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

  /// Reads a URL of a catalog file, absolute or relative.
  static func url(_ node: YAMLNode) throws(CatalogError) -> String {
    let url = try node.filledText()
    guard url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
      throw node.error("a URL cannot contain white space", remedy: "write %20")
    }
    do throws(CatalogError) {
      _ = try TemplateText.fill(url) { _ in "" }
    } catch {
      throw node.error("the URL \(error.reason)")
    }
    if let scheme = scheme(of: url), !["http", "https", "file"].contains(scheme) {
      throw node.error("expected an http, https or file URL, found \(scheme)")
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

/// Whether a text is a valid file name on Linux and has at most 200 bytes and no control characters.
func isFileName(_ text: String) -> Bool {
  !text.isEmpty && text != "." && text != ".." && text.utf8.count <= 200
    && text.unicodeScalars.allSatisfy {
      $0 != "/" && $0.properties.generalCategory != .control
    }
}

extension CatalogFile {
  /// The environment variables that the file's URLs name, with their values.
  ///
  /// The variables that its headers name are among them, if they are set: a response can repeat their values in URLs.
  ///
  /// - Parameter environment: The values of the environment variables by name.
  /// - Returns: The values by name; empty if the file names no variable.
  /// - Throws: ``CatalogError`` when a variable is not set, or its value is not allowed in a URL. The error has the
  ///   file, the line, the key and the name of the variable, but not its value.
  public func resolvedURLVariables(
    environment: [String: String]
  ) throws(CatalogError) -> [String: String] {
    var values: [String: String] = [:]
    for (key, text) in urls {
      for name in TemplateText.variables(in: text) {
        let value = environment[name] ?? ""
        guard !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
          let why =
            value.isEmpty
            ? "which is not set" : "which holds a line break or control character"
          var error =
            places[key] ?? CatalogError(.environment, subject: "catalog \(self.name)", reason: "")
          error.code = .environment
          error.keyPath = key
          error.reason = "it needs the environment variable \(name), \(why)"
          error.remedy = value.isEmpty ? "set \(name)" : nil
          throw error
        }
        values[name] = value
      }
    }
    for name in variableNames where values[name] == nil {
      guard let value = environment[name], !value.isEmpty, HeaderTemplate.isFieldValue(value)
      else { continue }
      values[name] = value
    }
    return values
  }

  /// The environment variables that the file's URLs and headers name, in the order of the file.
  package var variableNames: [String] {
    urls.flatMap { TemplateText.variables(in: $0.text) }
      + (headers + pictures.hosts.flatMap(\.headers)).flatMap(\.variableNames)
  }

  /// Every URL of the file, with the path of its key, such as `sections[2].url`.
  private var urls: [(key: String, text: String)] {
    var urls = base.map { [("base", $0)] } ?? []
    for (position, source) in sections.enumerated() {
      urls.append((source.key.isEmpty ? "sections.url" : "sections[\(position)].url", source.url))
    }
    if let detail { urls.append(("detail.url", detail.urlTemplate)) }
    return urls
  }
}

/// Texts of the catalog file such as `Bearer ${TOKEN}`, in which `${NAME}` stands for an environment variable.
enum TemplateText {
  /// Replaces the variables of a text by their values.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - value: Returns the value of the variable with a name.
  /// - Returns: The text with the values.
  /// - Throws: The error of `value`, or a ``CatalogError`` whose reason follows the name of the text in a message.
  static func fill(
    _ text: String,
    _ value: (String) throws(CatalogError) -> String
  ) throws(CatalogError) -> String {
    var filled = ""
    var rest = Substring(text)
    while let start = rest.firstRange(of: "${") {
      filled += rest[..<start.lowerBound]
      let tail = rest[start.upperBound...]
      guard let end = tail.firstIndex(of: "}") else {
        throw fault("opens a \"${\" that no \"}\" closes")
      }
      let name = String(tail[..<end])
      guard isName(name) else {
        throw fault("names no environment variable between \"${\" and \"}\"")
      }
      filled += try value(name)
      rest = tail[tail.index(after: end)...]
    }
    return filled + rest
  }

  /// The names of the variables in a text, in their order, repeats included.
  ///
  /// If `${` is used wrongly in the text, they are the names before that place.
  static func variables(in text: String) -> [String] {
    var names: [String] = []
    _ = try? fill(text) { name in
      names.append(name)
      return ""
    }
    return names
  }

  private static func fault(_ reason: String) -> CatalogError {
    CatalogError(.catalogFile, subject: "a text", reason: reason)
  }

  /// Whether a text consists of ASCII letters, digits and `_`, and does not begin with a digit.
  static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, !first.isDigit else { return false }
    return text.utf8.allSatisfy { $0 != UInt8(ascii: "-") && $0.isNameCharacter }
  }
}
