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

/// One section with a URL of its own, or many of one response.
public struct SectionSource: Hashable, Sendable {
  /// Its name in the cache and on the command line.
  public var key: String
  /// Its name for people; nil takes what the body says, else the key.
  public var title: String?
  /// A line under the title; nil takes what the body says.
  public var subtitle: String?
  /// Where it is; relative to the catalog's base or absolute.
  public var url: String
  /// How to read it; nil for the catalog's mapping.
  public var mapping: Mapping?
  /// Its paging; nil for the catalog's.
  public var paging: PagingRule?
  /// Whether one response is all of it, whatever the catalog says.
  public var isOnePage: Bool
  /// How it is asked for; nil as the catalog says.
  public var request: RequestRule?
  /// Where its sections are when the response holds many; nil when it is one section.
  ///
  /// The body then names them, and ``key`` only tells the source from others.
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
