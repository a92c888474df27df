/// How a catalog's sections are fetched.
public enum SectionPlan: Hashable, Sendable {
  /// Each section has a URL of its own.
  case listed([SectionSource])
  /// One response holds all sections.
  case combined(CombinedSections)

  /// The paths to the sections in the response of the source at an index; nil when the response is one section.
  func parts(ofSource position: Int) -> CombinedSections? {
    switch self {
    case .listed(let sources): sources[position].parts
    case .combined(let plan): plan
    }
  }
}

/// One section with a URL of its own, or many sections in one response.
public struct SectionSource: Hashable, Sendable {
  /// The section's name in the cache and on the command line.
  public var key: String
  /// The section's title for display; nil for the title in the body, or the key if the body has none.
  public var title: String?
  /// A line of text under the title; nil for the subtitle in the body.
  public var subtitle: String?
  /// The URL of the response; relative to the catalog's base or absolute.
  public var url: String
  /// How to read the response; nil for the catalog's mapping.
  public var mapping: Mapping?
  /// The paging of the response; nil for the catalog's paging.
  public var paging: PagingRule?
  /// Whether there is only one response, even if the catalog has paging: `paging: null`.
  public var isOnePage: Bool
  /// How the response is requested; nil for the catalog's ``CatalogFile/request``.
  public var request: RequestRule?
  /// The paths to the sections, if the response holds many; nil if the response is one section.
  ///
  /// The body with many sections names them; ``key`` only distinguishes this source from other sources.
  public var parts: CombinedSections?

  /// Makes a source.
  public init(
    key: String,
    title: String? = nil,
    subtitle: String? = nil,
    url: String,
    mapping: Mapping? = nil,
    paging: PagingRule? = nil,
    isOnePage: Bool = false,
    request: RequestRule? = nil,
    parts: CombinedSections? = nil
  ) {
    self.key = key
    self.title = title
    self.subtitle = subtitle
    self.url = url
    self.mapping = mapping
    self.paging = paging
    self.isOnePage = isOnePage
    self.request = request
    self.parts = parts
  }
}

/// Many sections in one response.
public struct CombinedSections: Hashable, Sendable {
  /// The URL of the response; relative to the catalog's base or absolute.
  public var url: String
  /// The path to the sections in the body.
  public var each: JSONPath
  /// The path from a section to its key.
  public var key: JSONPath
  /// The path from a section to its title.
  public var title: JSONPath?
  /// The path from a section to its subtitle.
  public var subtitle: JSONPath?

  /// Makes a plan.
  public init(
    url: String,
    each: JSONPath,
    key: JSONPath,
    title: JSONPath? = nil,
    subtitle: JSONPath? = nil
  ) {
    self.url = url
    self.each = each
    self.key = key
    self.title = title
    self.subtitle = subtitle
  }
}

extension SectionPlan {
  /// The whole plan as text that changes when, and only when, the plan does; see ``Mapping/fingerprint``.
  public var fingerprint: String {
    var writer = StoredFormWriter()
    writer.array {
      switch self {
      case .listed(let sources):
        $0.value("listed")
        for source in sources {
          $0.value(source.key)
          $0.value(source.title)
          $0.value(source.subtitle)
          $0.value(source.url)
          if let parts = source.parts { Self.write(parts, to: &$0) }
        }
      case .combined(let plan):
        Self.write(plan, to: &$0)
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func write(_ plan: CombinedSections, to writer: inout StoredFormWriter) {
    writer.value("combined")
    writer.value(plan.url)
    writer.value(plan.each.description)
    writer.value(plan.key.description)
    writer.value(plan.title?.description)
    writer.value(plan.subtitle?.description)
  }
}

/// Reads one of the listed sections of a catalog file.
enum SectionParser {
  /// Reads a section.
  ///
  /// - Parameters:
  ///   - node: The section.
  ///   - root: The catalog file.
  ///   - mapping: How the file reads bodies.
  /// - Returns: The section. It has its format's paging and request, unless the file says otherwise.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(
    _ node: YAMLNode,
    of root: YAMLMapping,
    mapping: Mapping
  ) throws(CatalogError) -> SectionSource {
    let members = try node.mapping()
    try members.checkKeys(.section)
    var source =
      try members["each"] == nil ? one(members) : many(members)
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
      title: try members["title"].map { node throws(CatalogError) in try node.text() },
      subtitle: try members["subtitle"].map { node throws(CatalogError) in try node.text() },
      url: try CatalogFileParser.url(members.required("url"))
    )
  }

  /// A source with many sections, whose names are in the body.
  private static func many(_ members: YAMLMapping) throws(CatalogError) -> SectionSource {
    let parts = try parts(members)
    return SectionSource(key: "\(parts.url) \(parts.each)", url: parts.url, parts: parts)
  }

  /// Reads the paths to the sections in one response.
  ///
  /// - Parameter members: The keys `url`, `each`, `key`, `title` and `subtitle`.
  /// - Returns: The paths.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parts(_ members: YAMLMapping) throws(CatalogError) -> CombinedSections {
    CombinedSections(
      url: try CatalogFileParser.url(members.required("url")),
      each: try members.required("each").path(),
      key: try members.required("key").path(),
      title: try members["title"].map { node throws(CatalogError) in try node.path() },
      subtitle: try members["subtitle"].map { node throws(CatalogError) in try node.path() }
    )
  }

  /// The format that reads a section; nil when the section's mapping is spelled out.
  private static func format(
    of section: YAMLMapping,
    _ root: YAMLMapping
  ) throws(CatalogError) -> Format? {
    if let own = section["format"] { return try Format(own) }
    if section["transform"] != nil { return nil }
    return try root["format"].map { node throws(CatalogError) in try Format(node) }
  }

  /// Uses the format's request and paging if the catalog file has none.
  ///
  /// The format's paging is used only if it fits the request, which is a GET or has the paging's placeholder. The URL
  /// must not have a paging parameter yet.
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

extension SectionSource {
  /// The values that distinguish a source from the other sources of its file.
  fileprivate var identity: [String?] {
    parts == nil ? [key] : [nil, key, request?.fingerprint]
  }

  /// Whether this and another source describe the same sections.
  ///
  /// - Parameter other: Another source of the file.
  /// - Returns: Whether the two sources must not be in one file.
  func isTheSame(as other: SectionSource) -> Bool { identity == other.identity }
}
