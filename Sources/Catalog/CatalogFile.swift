/// A catalog file: which sections a store has, where they are, and how to read them.
public struct CatalogFile: Hashable, Sendable {
  /// The catalog's name, also in the cache; fit to be a file name.
  public var name: String
  /// The ISO 4217 code that all prices are in.
  public var currency: String
  /// What relative URLs are relative to: http, https or file.
  ///
  /// In every URL of the file, `${NAME}` stands for an environment variable; see
  /// ``resolvedURLVariables(environment:)``.
  public var base: String?
  /// The sections.
  public var sections: SectionPlan
  /// Where details are; nil when the listings are all there is.
  public var detail: DetailRule?
  /// How to read the store's JSON.
  public var mapping: Mapping
  /// Request headers, unresolved.
  public var headers: [HeaderTemplate]
  /// The paging of listings; nil when one response is all of it.
  public var paging: PagingRule?
  /// How sections are asked for; nil for a plain GET.
  public var request: RequestRule?
  /// How new credentials are had when an origin refuses these; nil when they are not.
  public var token: TokenRule?
  /// How pictures are asked for and told apart.
  public var pictures: PicturesRule
  /// Where the file's URLs name variables.
  var variables: [URLVariable] = []

  /// Makes a catalog without a file.
  public init(
    name: String,
    currency: String,
    base: String? = nil,
    sections: SectionPlan,
    detail: DetailRule? = nil,
    mapping: Mapping,
    headers: [HeaderTemplate] = [],
    paging: PagingRule? = nil,
    request: RequestRule? = nil,
    token: TokenRule? = nil,
    pictures: PicturesRule = PicturesRule()
  ) {
    self.name = name
    self.currency = currency
    self.base = base
    self.sections = sections
    self.detail = detail
    self.mapping = mapping
    self.headers = headers
    self.paging = paging
    self.request = request
    self.token = token
    self.pictures = pictures
  }

  /// Reads a catalog file.
  ///
  /// - Parameters:
  ///   - bytes: YAML or JSON in UTF-8, 1 MiB at most.
  ///   - file: The file's name, for messages.
  /// - Throws: ``CatalogError`` with file, line, column, key and what was expected.
  public init(parsing bytes: [UInt8], file: String) throws(CatalogError) {
    let yaml = YAMLFile(name: file, subject: "catalog file \(file)")
    self = try CatalogFileParser.parse(yaml.mapping(of: bytes))
  }

  /// How to read the source at a position: a listed section, or the one response that holds them all.
  public func mapping(ofSource position: Int) -> Mapping {
    guard case .listed(let sources) = sections else { return mapping }
    return sources[position].mapping ?? mapping
  }

  /// Whether the source at a position is many sections, which only its response names.
  package func isMany(source position: Int) -> Bool { sections.parts(ofSource: position) != nil }

  /// The paging of the source at a position; nil when one response is all of it.
  public func paging(ofSource position: Int) -> PagingRule? {
    guard case .listed(let sources) = sections else { return paging }
    return paging(of: sources[position])
  }

  /// Whether the catalog file says that a source has one page: `paging: null`.
  package func isOnePage(source position: Int) -> Bool {
    guard case .listed(let sources) = sections else { return false }
    return sources[position].isOnePage
  }

  /// The paging of a listed section; nil when one response is all of it.
  func paging(of source: SectionSource) -> PagingRule? {
    source.isOnePage ? nil : source.paging ?? paging
  }

  /// How the source at a position is asked for.
  public func request(ofSource position: Int) -> RequestRule {
    guard case .listed(let sources) = sections else { return request ?? RequestRule() }
    return sources[position].request ?? request ?? RequestRule()
  }

  /// The headers to send, with the environment's values in them.
  ///
  /// - Parameter environment: Variables by name.
  /// - Returns: Names and values in the file's order.
  /// - Throws: ``CatalogError`` that names an unset variable, and shows no value.
  public func resolvedHeaders(
    environment: [String: String]
  ) throws(CatalogError) -> [(name: String, value: String)] {
    try Self.resolved(headers, environment)
  }

  /// The headers for pictures by host, with the environment's values in them.
  ///
  /// - Parameter environment: Variables by name.
  /// - Returns: Hosts, and names and values, in the file's order.
  /// - Throws: ``CatalogError`` that names an unset variable, and shows no value.
  package func resolvedPictureHeaders(
    environment: [String: String]
  ) throws(CatalogError) -> [(host: PicturesRule.Host, headers: [(name: String, value: String)])] {
    var resolved: [(host: PicturesRule.Host, headers: [(name: String, value: String)])] = []
    for host in pictures.hosts {
      resolved.append((host, try Self.resolved(host.headers, environment)))
    }
    return resolved
  }

  private static func resolved(
    _ headers: [HeaderTemplate],
    _ environment: [String: String]
  ) throws(CatalogError) -> [(name: String, value: String)] {
    var resolved: [(name: String, value: String)] = []
    for header in headers {
      resolved.append((header.name, try header.resolved(environment: environment)))
    }
    return resolved
  }
}
