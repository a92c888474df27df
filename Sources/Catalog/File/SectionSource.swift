/// A source of a catalog: the URL of a section, or of a response with many sections.
///
/// A section is a list of items, such as "cups". The key `sections:` of a catalog file has a list of sources, or the
/// only source.
public struct SectionSource: Hashable, Sendable {
  /// The section's name in the cache and on the command line.
  ///
  /// If the response has many sections, it also has their names. The key then only distinguishes this source from
  /// others. It is empty if `sections:` has no list, so that there are no others.
  public var key: String
  /// The section's title for display.
  ///
  /// If it is nil, the section has the title in the response, or else its key as title.
  public var title: String?
  /// A line of text under the title.
  ///
  /// If it is nil, the section has the subtitle in the response.
  public var subtitle: String?
  /// The URL of the response, absolute or relative to the catalog's base.
  public var url: String
  /// How to read the response.
  ///
  /// If it is nil, the catalog's mapping reads it.
  public var mapping: Mapping?
  /// How the section continues on further pages.
  ///
  /// If it is nil, the catalog's paging is used.
  public var paging: PagingRule?
  /// Whether the catalog file says `paging: null`, so that the section has one page even if the catalog has paging.
  public var isOnePage = false
  /// How the response is requested.
  ///
  /// If it is nil, ``CatalogFile/request`` is used.
  public var request: RequestRule?
  /// The paths to the sections if the response has many; nil if the response is a single section.
  public var parts: CombinedSections?
}

/// The paths to many sections in one response.
///
/// For example, `each` is `$.groups[*]` and `key` is `$.code` for `{"groups": [{"code": "cups", "items": […]}]}`.
public struct CombinedSections: Hashable, Sendable {
  /// The path from the response to its sections.
  public var each: JSONPath
  /// The path from a section to its key.
  public var key: JSONPath
  /// The path from a section to its title.
  public var title: JSONPath?
  /// The path from a section to its subtitle.
  public var subtitle: JSONPath?
}

extension SectionSource {
  /// A text that changes whenever the source, its titles or its URL change; see ``Mapping/fingerprint``.
  public var fingerprint: String {
    let texts = "\([key, title, subtitle, url])"
    return parts.map { "\(texts) \($0)" } ?? texts
  }

  /// The values that distinguish a source from the other sources of its file.
  var identity: [String?] {
    parts == nil ? [key] : [nil, key, request?.fingerprint]
  }
}

/// Reads an element of `sections:` in a catalog file.
enum SectionParser {
  /// Reads a section.
  ///
  /// - Parameters:
  ///   - node: The section.
  ///   - root: The top level of the catalog file.
  ///   - mapping: The mapping at the top level of the file.
  /// - Returns: The section. It has the paging and request of its format, unless the file has others.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(
    _ node: YAMLNode,
    of root: YAMLMapping,
    mapping: Mapping
  ) throws(CatalogError) -> SectionSource {
    let members = try node.mapping(.section)
    var source = try members["each"] == nil ? one(members) : many(members)
    source.mapping = try MappingParser.parse(section: members, of: root, mapping: mapping)
    source.paging = try members["paging"].map(PagingParser.parse)
    source.isOnePage = members.member("paging")?.isNull ?? false
    source.request = try RequestParser.sections(members)
    guard let format = try format(of: members, root) else { return source }
    try take(from: format, into: &source, members, root)
    return source
  }

  private static func one(_ members: YAMLMapping) throws(CatalogError) -> SectionSource {
    SectionSource(
      key: try CatalogFileParser.fileName(members.required("key")),
      title: try members["title"]?.text(),
      subtitle: try members["subtitle"]?.text(),
      url: try CatalogFileParser.url(members.required("url"))
    )
  }

  /// Reads a source whose response has many sections.
  private static func many(_ members: YAMLMapping) throws(CatalogError) -> SectionSource {
    let url = try CatalogFileParser.url(members.required("url"))
    let parts = try parts(members)
    return SectionSource(key: "\(url) \(parts.each)", url: url, parts: parts)
  }

  /// Reads the value of `sections:` if it is the only source.
  ///
  /// If a transform makes the sections, their paths are known, and the file need only have the URL.
  static func only(_ node: YAMLNode, isMade: Bool) throws(CatalogError) -> SectionSource {
    let members = try node.mapping(.sections)
    let url = try CatalogFileParser.url(members.required("url"))
    let isOwn = isMade && members["each"] == nil && members["key"] == nil
    return SectionSource(
      key: "",
      url: url,
      parts: try isOwn ? OwnShape.sections() : parts(members)
    )
  }

  /// Reads the paths to the sections in one response.
  private static func parts(_ members: YAMLMapping) throws(CatalogError) -> CombinedSections {
    CombinedSections(
      each: try members.required("each").path(),
      key: try members.required("key").path(),
      title: try members["title"]?.path(),
      subtitle: try members["subtitle"]?.path()
    )
  }

  /// The format that reads a section, or nil if the catalog file itself has the paths.
  private static func format(
    of section: YAMLMapping,
    _ root: YAMLMapping
  ) throws(CatalogError) -> Format? {
    if let own = section["format"] { return try Format(own) }
    if section["transform"] != nil { return nil }
    return try root["format"].map { node throws(CatalogError) in try Format(node) }
  }

  /// Gives a section the request and the paging of its format, if the catalog file has none.
  ///
  /// The paging of the format is used only if the request is a GET or contains the placeholder of the paging, such as
  /// `{page}`. It is not used if the URL already has a parameter that the paging would set.
  private static func take(
    from format: Format,
    into source: inout SectionSource,
    _ section: YAMLMapping,
    _ root: YAMLMapping
  ) throws(CatalogError) {
    var request = source.request
    if request == nil { request = try RequestParser.sections(root) }
    if request == nil { source.request = try format.request() }
    let pagesOtherwise = section.member("paging") != nil || root.member("paging") != nil
    guard !pagesOtherwise, let paging = try format.paging() else { return }
    let isOpen = request.map { $0.method == .get || paging.usesPlace(in: source.url, $0) } ?? true
    guard isOpen, !paging.hasParameter(in: source.url) else { return }
    source.paging = paging
  }
}
