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

  /// Reads what ``encoded()`` or any other JSON coder wrote.
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

  /// The fields that a stored detail lost, found without reading the detail where it lost none.
  ///
  /// - Parameter bytes: What ``encoded()`` wrote.
  /// - Returns: The fields, in the order in which they were read.
  public static func lostFields(in bytes: [UInt8]) -> [LostField] {
    // A detail ends in the object of its notes or the names of empty fields, unless the list of lost fields follows.
    guard bytes.suffix(3).elementsEqual("}]}".utf8) else { return [] }
    return (try? ItemDetail(decoding: bytes))?.lost ?? []
  }
}
