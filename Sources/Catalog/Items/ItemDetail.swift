/// The detail of one item: a store's information beyond its listing.
public struct ItemDetail: Hashable, Sendable, Codable {
  /// The id of the item.
  public var id: String
  /// The description, which may differ from the listing's.
  public var description: String?
  /// The prices as the detail lists them, one or two; they may disagree with the listing's.
  public var prices: [Price]
  /// Its pictures: top, gallery, section, each in the feed's order; one URL may occur twice.
  public var images: [ImageReference]
  /// Further texts by name: `point`, `delivery_info`, `delivery_fee`.
  public var notes: [String: String]
  /// The fields that are present but could not be read; nil when there are none.
  public var lost: [LostField]?
  /// The fields that the catalog file names and that are empty lists here, by their names in the file; nil when there
  /// are none.
  ///
  /// An empty list is not a value, but it shows that the path is right.
  public var empty: [String]?

  /// Makes a detail; optional fields of a feed may be left out.
  public init(
    id: String,
    description: String? = nil,
    prices: [Price] = [],
    images: [ImageReference] = [],
    notes: [String: String] = [:],
    lost: [LostField]? = nil
  ) {
    self.id = id
    self.description = description
    self.prices = prices
    self.images = images
    self.notes = notes
    self.lost = lost
  }
}

/// A field that is present but could not be read; its item or detail is kept without it.
public struct LostField: Hashable, Sendable, Codable {
  /// The field as the feed calls it; nil when its path ends in no name.
  public var field: String?
  /// Why it could not be used.
  public var reason: String

  /// Makes a record.
  public init(field: String?, reason: String) {
    self.field = field
    self.reason = reason
  }
}

extension ItemDetail {
  /// The detail as compact JSON: the same detail always gives the same bytes.
  public func encoded() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("id", id)
      if let description {
        $0.member("description", description)
      }
      $0.name("prices")
      $0.array { for price in prices { $0.value(price) } }
      $0.name("images")
      $0.value(images)
      $0.name("notes")
      $0.object {
        for (name, text) in notes.sorted(by: { $0.key < $1.key }) {
          $0.name(escaping: name)
          $0.value(text)
        }
      }
      if let empty { $0.member("empty", empty) }
      if let lost {
        $0.name("lost")
        $0.value(lost)
      }
    }
    return writer.bytes
  }

  /// Reads the output of ``encoded()`` or any other JSON coder.
  ///
  /// - Parameter bytes: One JSON object.
  /// - Throws: ``CatalogError`` when the bytes are anything else.
  public init(decoding bytes: [UInt8]) throws(CatalogError) {
    let reader = try StoredFormReader(bytes, subject: "stored detail")
    self.init(
      id: try reader.text("id"),
      description: try reader.optionalText("description"),
      prices: try reader.prices("prices"),
      images: try reader.images("images"),
      notes: try reader.dictionary("notes"),
      lost: try reader.optionalLostFields("lost")
    )
    empty = try reader.optionalTexts("empty")
  }

  /// The fields that a stored detail lost; a detail that lost none is not parsed.
  ///
  /// - Parameter bytes: The output of ``encoded()``.
  /// - Returns: The fields, in the order in which they were read.
  public static func lostFields(in bytes: [UInt8]) -> [LostField] {
    // A detail ends in the object of its notes or the names of empty fields, unless the list of lost fields follows.
    guard bytes.suffix(3).elementsEqual("}]}".utf8) else { return [] }
    return (try? ItemDetail(decoding: bytes))?.lost ?? []
  }
}
