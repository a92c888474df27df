/// One thing on sale, as a section lists it.
public struct StoreItem: Hashable, Sendable, Codable {
  /// The store's own name for it; the same item in two sections has one id.
  public var id: String
  /// What it is called.
  public var title: String
  /// A line about it.
  public var description: String?
  /// Why it stands out ("이벤트특가"), in the feed's order.
  public var badges: [String]
  /// How it can be delivered, in the feed's order.
  public var deliveryTypes: [String]
  /// The price before a reduction; nil when the feed names none.
  public var normalPrice: Price?
  /// The price to pay; may be above `normalPrice`, for feeds disagree with themselves.
  public var salePrice: Price?
  /// Where it is, when the catalog says.
  public var coordinate: Coordinate?
  /// Where it is in words, when the catalog says.
  public var address: String?
  /// Its pictures, thumbnails first, else in the feed's order.
  public var images: [ImageReference]
  /// What fills the places of the catalog file that ask for the item's detail, by their names; nil when none
  /// asks for more than the id.
  public var placeValues: [String: String]?

  /// Makes an item; what a feed may leave out may be left out here.
  public init(
    id: String,
    title: String,
    description: String? = nil,
    badges: [String] = [],
    deliveryTypes: [String] = [],
    normalPrice: Price? = nil,
    salePrice: Price? = nil,
    coordinate: Coordinate? = nil,
    address: String? = nil,
    images: [ImageReference] = [],
    placeValues: [String: String]? = nil
  ) {
    self.id = id
    self.title = title
    self.description = description
    self.badges = badges
    self.deliveryTypes = deliveryTypes
    self.normalPrice = normalPrice
    self.salePrice = salePrice
    self.coordinate = coordinate
    self.address = address
    self.images = images
    self.placeValues = placeValues
  }
}
