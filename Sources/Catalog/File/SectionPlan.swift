/// How a catalog's sections are fetched.
public enum SectionPlan: Hashable, Sendable {
  /// Each section has a URL of its own.
  case listed([SectionSource])
  /// One response holds them all.
  case combined(CombinedSections)

  /// Where the sections are in the response of the source at a position; nil when it is one section.
  func parts(ofSource position: Int) -> CombinedSections? {
    switch self {
    case .listed(let sources): sources[position].parts
    case .combined(let plan): plan
    }
  }
}

/// One section with a URL of its own, or many sections in one response.
public struct SectionSource: Hashable, Sendable {
  /// Its name in the cache and on the command line.
  public var key: String
  /// Its name for display; nil for the body's title, or else the key.
  public var title: String?
  /// A line under the title; nil for the body's.
  public var subtitle: String?
  /// Where it is; relative to the catalog's base or absolute.
  public var url: String
  /// How to read it; nil for the catalog's mapping.
  public var mapping: Mapping?
  /// Its paging; nil for the catalog's.
  public var paging: PagingRule?
  /// Whether it is one response, even if the catalog has paging.
  public var isOnePage: Bool
  /// How it is requested; nil for the catalog's ``CatalogFile/request``.
  public var request: RequestRule?
  /// Where its sections are when the response holds many; nil when it is one section.
  ///
  /// The body then names them, and ``key`` only distinguishes the source from others.
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
  /// Where the response is; relative to the catalog's base or absolute.
  public var url: String
  /// The sections in the body.
  public var each: JSONPath
  /// The key, from a section.
  public var key: JSONPath
  /// The title, from a section.
  public var title: JSONPath?
  /// The subtitle, from a section.
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
  ///   - root: The file.
  ///   - mapping: How the file reads bodies.
  /// - Returns: The section, with its format's paging and request unless the file says otherwise.
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

  /// Where the sections are in one response.
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

  /// The format that a section is read by; nil when its mapping is spelled out.
  private static func format(
    of section: YAMLMapping,
    _ root: YAMLMapping
  ) throws(CatalogError) -> Format? {
    if let own = section["format"] { return try Format(own) }
    if section["transform"] != nil { return nil }
    return try root["format"].map { node throws(CatalogError) in try Format(node) }
  }

  /// Fills in the format's request and paging if the file leaves them out.
  ///
  /// A format's paging is taken only with the format's kind of request, and with a URL that has no paging parameter
  /// yet.
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
  /// The values that distinguish a source from the others of its file.
  fileprivate var identity: [String?] {
    parts == nil ? [key] : [nil, key, request?.fingerprint]
  }

  /// Whether this and another source describe the same sections.
  ///
  /// - Parameter other: Another source of the file.
  /// - Returns: Whether the file may not have both.
  func isTheSame(as other: SectionSource) -> Bool { identity == other.identity }
}
