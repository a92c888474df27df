/// The detail of one item: the fields that the shop sends in a document about this item alone.
///
/// A list of items usually has a title, a price and a thumbnail of each item. The detail adds, for example, the long
/// description and more pictures.
public struct ItemDetail: Hashable, Sendable, Codable {
  /// The id of the item.
  public var id: String
  /// The description.
  ///
  /// It can differ from the item's description in the list.
  public var description: String?
  /// The prices in the detail, one or two.
  ///
  /// They can differ from the prices in the list.
  public var prices: [Price] = []
  /// The pictures, grouped by role: top, gallery, section.
  ///
  /// The pictures of one role are in the order of the shop's response. A URL can occur twice.
  public var images: [ImageReference] = []
  /// Further texts, by names that the catalog file chooses, such as `delivery_fee`.
  public var notes: [String: String] = [:]
  /// The fields that the response has but that could not be read; nil if there are none.
  public var lost: [LostField]?
  /// The names of the fields that are empty lists in the response; nil if there are none.
  ///
  /// An empty list gives no value, but it shows that the path of the field is right.
  public var empty: [String]?
}

/// A field that could not be read, for example because a price is not a number.
///
/// The item or the detail is kept without the field.
public struct LostField: Hashable, Sendable, Codable {
  /// The name that the field has in the shop's response; nil if the path to the field does not end in a name.
  public var field: String?
  /// The reason, in words for a message.
  public var reason: String
}

extension ItemDetail {
  /// The detail as compact JSON.
  ///
  /// Equal details give the same bytes, and fields without a value are left out.
  public func encoded() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("id", id)
      $0.member("description", ifPresent: description)
      $0.member("prices", prices)
      $0.member("images", images)
      $0.member("notes", notes)
      $0.member("empty", ifPresent: empty)
      $0.member("lost", ifPresent: lost)
    }
    return writer.bytes
  }

  /// Reads the output of ``encoded()``, or the same JSON written by another encoder.
  ///
  /// - Parameter bytes: One JSON object.
  /// - Throws: ``CatalogError`` when the bytes are not such an object.
  public init(decoding bytes: [UInt8]) throws(CatalogError) {
    let node = try JSONNode(stored: bytes, subject: "stored detail")
    self.init(
      id: try node.stored("id", \.text),
      description: try node.optional("description", \.text),
      prices: try node.stored("prices") { $0.list(Price.init(stored:)) },
      images: try node.stored("images") { $0.list(ImageReference.init(stored:)) },
      notes: try node.stored("notes", \.texts),
      lost: try node.optional("lost") { $0.list(LostField.init(stored:)) },
      empty: try node.optional("empty") { $0.list(\.text) }
    )
  }

  /// The fields of a stored detail that could not be read in the shop's response; see ``lost``.
  ///
  /// The bytes are parsed only if their end shows that there are such fields.
  ///
  /// - Parameter bytes: The output of ``encoded()``.
  /// - Returns: The fields in the order of reading.
  public static func lostFields(in bytes: [UInt8]) -> [LostField] {
    // The list `lost` is the last member. Without this list, the bytes end in `notes` or `empty`, and never in "}]}".
    guard bytes.suffix(3).elementsEqual("}]}".utf8) else { return [] }
    return (try? ItemDetail(decoding: bytes))?.lost ?? []
  }
}
