/// Reads the format file at a path, which is relative to the folder of the catalog file.
public typealias FormatFileReading = @Sendable (_ path: String) throws(CatalogError) -> [UInt8]

/// A format file: it says how to read the responses of one shop system, such as Shopify.
///
/// It can have the keys of a catalog file except `name`, `sections`, `token` and `format`. It can also have `about`,
/// `links` and `signature`, by which `larder catalog init` recognizes the system's responses.
struct Format {
  /// The name of a built-in format, or the path of a user's format file.
  let name: String
  /// The text of the file.
  let text: String
  /// The keys of the file with their values.
  let root: YAMLMapping

  /// Reads a format file.
  ///
  /// - Parameters:
  ///   - bytes: YAML in UTF-8.
  ///   - name: The format's name, or the file's path.
  /// - Throws: ``CatalogError`` with file, line and key.
  init(parsing bytes: [UInt8], name: String) throws(CatalogError) {
    let isFile = Self.isPath(name)
    let file = YAMLFile(
      name: isFile ? name : "format \(name)",
      subject: isFile ? "format file \(name)" : "built-in format \(name)"
    )
    self.name = name
    text = String(decoding: bytes, as: UTF8.self)
    root = try file.mapping(of: bytes)
    try root.checkKeys(.format)
  }

  /// Reads the built-in format with a given name.
  ///
  /// - Throws: ``CatalogError`` when there is no such format. The error suggests the most similar name.
  init(named name: String) throws(CatalogError) {
    guard let file = FormatFiles.all.first(where: { $0.name == name }) else {
      throw Self.unknown(name)
    }
    try self.init(parsing: file.bytes, name: name)
  }

  /// Reads the format that the value of `format:` names: a built-in format, or a format file by its path.
  init(_ node: YAMLNode) throws(CatalogError) {
    let name = try node.text()
    if Self.isPath(name) {
      guard let read = node.file.formatFile else {
        throw node.error(
          "format files are not read here",
          remedy: "write the keys of \(name) into the catalog file"
        )
      }
      let bytes: [UInt8]
      do throws(CatalogError) { bytes = try read(name) } catch {
        throw node.error("cannot read \(name): \(error.reason)")
      }
      try self.init(parsing: bytes, name: name)
      return
    }
    try self.init(named: node.known("format", in: FormatFiles.names))
  }

  /// Whether the value of `format:` is a path: it has a slash, or ends in `.yaml` or `.yml`.
  private static func isPath(_ name: String) -> Bool {
    name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml")
  }

  /// The summary of the format, in one line.
  var about: String { (try? root["about"]?.text()) ?? "" }

  /// The paths to the items and their fields in a response.
  func mapping() throws(CatalogError) -> Mapping { try MappingParser.parse(format: root) }

  /// The notation of the responses, for example JSON Lines.
  func notation() throws(CatalogError) -> BodyFormat { try MappingParser.notation(of: root) }

  /// How a list of items continues on further pages, or nil if the list is one response.
  func paging() throws(CatalogError) -> PagingRule? { try root["paging"].map(PagingParser.parse) }

  /// How a list of items is requested; nil means a plain GET.
  func request() throws(CatalogError) -> RequestRule? { try RequestParser.sections(root) }

  private static func unknown(_ name: String) -> CatalogError {
    let nearest = nearest(to: name, in: FormatFiles.names)
    return CatalogError(
      .catalogFile,
      subject: "format \(PlainText.line(String(name.prefix(40))))",
      reason: "there is no such format",
      remedy: nearest.map { "the nearest is \"\($0)\"; larder catalog formats lists them all" }
    )
  }
}

/// The built-in formats, which `larder catalog formats` lists.
package enum FormatCatalog {
  /// A format with its summary.
  package struct Entry: Sendable, Encodable {
    /// The format's name, as `format:` takes it.
    package let name: String
    /// The summary in one line.
    package let summary: String
  }

  /// The formats in the order in which the help lists them.
  package static var entries: [Entry] {
    FormatFiles.all.map { name, bytes in
      Entry(name: name, summary: (try? Format(parsing: bytes, name: name))?.about ?? "")
    }
  }

  /// The names of the formats in the order in which the help lists them.
  package static var names: [String] { FormatFiles.names }

  /// The text of a format's file.
  ///
  /// - Parameter name: The format's name.
  /// - Returns: YAML.
  /// - Throws: ``CatalogError`` when there is no such format. The error suggests the most similar name.
  package static func file(of name: String) throws(CatalogError) -> String {
    try Format(named: name).text
  }
}
