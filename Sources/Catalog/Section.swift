/// A named part of a catalog with its items in the feed's order.
public struct Section: Hashable, Sendable, Codable {
  /// Its name in the cache and on the command line.
  public var key: String
  /// Its name for people.
  public var title: String
  /// A line under the title.
  public var subtitle: String?
  /// The listings; one id may come more than once.
  public var items: [StoreItem]

  /// Makes a section.
  public init(key: String, title: String, subtitle: String? = nil, items: [StoreItem] = []) {
    self.key = key
    self.title = title
    self.subtitle = subtitle
    self.items = items
  }
}
