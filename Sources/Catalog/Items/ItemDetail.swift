/// The detail of one item: information from the store that is not in the listing.
public struct ItemDetail: Hashable, Sendable, Codable {
  /// The id of the item.
  public var id: String
  /// The description, which may differ from the listing's.
  public var description: String?
  /// The prices in the detail, one or two; they may differ from the prices in the listing.
  public var prices: [Price]
  /// The pictures by role: top, gallery, section.
  ///
  /// The pictures of a role are in the feed's order, and a URL may occur twice.
  public var images: [ImageReference]
  /// Further texts by name: `point`, `delivery_info`, `delivery_fee`.
  public var notes: [String: String]
  /// The fields that are present but could not be read; nil when there are none.
  public var lost: [LostField]?
  /// The names of the mapped fields that are empty lists in this detail; nil when there are none.
  ///
  /// An empty list is not a value, but it shows that the mapped path is right.
  public var empty: [String]?

  /// Makes a detail; parameters for fields that the feed lacks may be left out.
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

/// A field that is present but could not be read; the item or detail is kept without the field.
public struct LostField: Hashable, Sendable, Codable {
  /// The field as the feed calls it; nil when the field's path does not end in a name.
  public var field: String?
  /// Why the field could not be used.
  public var reason: String

  /// Makes a record.
  public init(field: String?, reason: String) {
    self.field = field
    self.reason = reason
  }
}

extension ItemDetail {
  /// The detail as compact JSON; equal details give the same bytes.
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

  /// Reads the output of ``encoded()``, or the same JSON written by another encoder.
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

  /// The fields that could not be read when this stored detail was decoded from the shop's response.
  ///
  /// Stored bytes without such fields are recognized by their end, and are not parsed.
  ///
  /// - Parameter bytes: The output of ``encoded()``.
  /// - Returns: The fields, in the order in which they were read.
  public static func lostFields(in bytes: [UInt8]) -> [LostField] {
    // The list of lost fields is last. Without it, the bytes end in the notes or in the names of empty fields.
    guard bytes.suffix(3).elementsEqual("}]}".utf8) else { return [] }
    return (try? ItemDetail(decoding: bytes))?.lost ?? []
  }
}
