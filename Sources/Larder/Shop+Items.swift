import Catalog
import FoundationEssentials
import Pipeline

extension Shop {
  /// An item as a section lists it, with its detail and its pictures.
  public struct Item: Sendable, Hashable, Identifiable {
    /// The shop's own name for it; the same item in two sections has one id.
    public let id: String
    /// The keys of the sections that list it: one from ``Shop/items(in:)``, all from ``Shop/item(_:)``.
    public let sections: [String]
    /// What it is called.
    public let title: String
    /// A line about it.
    public let description: String?
    /// Why it stands out, in the feed's order.
    public let badges: [String]
    /// How it can be delivered, in the feed's order.
    public let deliveryTypes: [String]
    /// The price before a reduction; nil when the feed names none.
    public let normalPrice: Price?
    /// The price to pay; nil when the feed names none.
    public let salePrice: Price?
    /// Where it is, when the catalog says.
    public let coordinate: Coordinate?
    /// Where it is in words, when the catalog says.
    public let address: String?
    /// Whether its section could not be refreshed, so that this is from an earlier run.
    public let isStale: Bool
    /// What its detail adds; nil when none is held.
    public let detail: ItemDetail?
    /// Since when the shop has that detail no more; nil while it has.
    public let detailMissingSince: Date?
    /// Its pictures: the list's, then the detail's.
    public let pictures: [Picture]

    /// The small picture of the list.
    public var thumbnail: Picture? { pictures.first { $0.role == .thumbnail } }
  }

  /// A picture of an item.
  public struct Picture: Sendable, Hashable {
    /// Whether there are bytes to show.
    public enum State: String, Sendable, Hashable {
      /// The file is here, perhaps from before a refresh that failed.
      case held
      /// It could not be had.
      case failed
      /// Nobody asked for it yet.
      case missing
    }

    /// The part it plays.
    public let role: ImageReference.Role
    /// Its URL, as it is sent.
    public let url: String
    /// The path of its file, the cache's folder included; nil while nothing is held.
    public let file: String?
    /// The SHA-256 of its bytes, 64 hexadecimal digits.
    public let sha256: String?
    /// Its size in bytes.
    public let bytes: Int64?
    /// What its bytes are, as a media type such as `image/jpeg`.
    public let type: String?
    /// Whether there are bytes to show.
    public let state: State
  }

  /// A section as last synced.
  public struct Section: Sendable, Hashable {
    /// Its name on the command line and in ``Shop/items(in:)``.
    public let key: String
    /// Its name for people.
    public let title: String
    /// A line under the title.
    public let subtitle: String?
    /// Whether it could not be refreshed, so that what it shows is from an earlier run.
    public let isStale: Bool
  }

  /// The sections as last synced, in the catalog's order.
  ///
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func sections() throws(LarderError) -> [Section] {
    try LarderError.translating {
      try reader().sections().map { section in
        Section(
          key: section.key,
          title: section.title,
          subtitle: section.subtitle,
          isStale: section.isStale
        )
      }
    }
  }

  /// The items of all sections or of one, as last synced, in the catalog's order.
  ///
  /// - Parameter section: The section's key; nil for all of them.
  /// - Returns: The items; one that two sections list comes twice.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet, or there is no such
  ///   section.
  public func items(in section: String? = nil) throws(LarderError) -> [Item] {
    try LarderError.translating {
      try reader().list(section: section).map { Item($0, cache: cache) }
    }
  }

  /// One item with all its sections; nil when no section lists it.
  ///
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func item(_ id: String) throws(LarderError) -> Item? {
    try LarderError.translating { try reader().show(id).map { Item($0, cache: cache) } }
  }

  /// The catalog as last synced.
  func reader() throws -> CatalogReader { try CatalogReader(cache: cache, catalog: catalog.name) }

  /// A path in the cache with the cache's folder before it.
  static func file(_ path: String, in cache: String) -> String {
    cache.hasSuffix("/") ? cache + path : "\(cache)/\(path)"
  }
}

extension Shop.Item {
  fileprivate init(_ shown: ShownItem, cache: String) {
    let item = shown.item
    id = item.id
    sections = shown.sections
    title = item.title
    description = item.description
    badges = item.badges
    deliveryTypes = item.deliveryTypes
    normalPrice = item.normalPrice
    salePrice = item.salePrice
    coordinate = item.coordinate
    address = item.address
    isStale = shown.isStale
    detail = shown.detail
    detailMissingSince = shown.detailSince.map(Date.init)
    pictures = shown.images.map { Shop.Picture($0, cache: cache) }
  }
}

extension Shop.Picture {
  fileprivate init(_ image: ShownImage, cache: String) {
    role = image.role
    url = image.url
    file = image.path.map { Shop.file($0, in: cache) }
    sha256 = image.sha256
    bytes = image.bytes?.count
    type = image.type
    state =
      switch image.state {
      case .held: .held
      case .failed: .failed
      case .missing: .missing
      }
  }
}
