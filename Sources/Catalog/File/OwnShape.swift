/// The shape that a transform makes when the catalog file has no paths to read it by.
enum OwnShape {
  /// Where a section is in the output of a transform of a response that holds them all.
  static func sections(at url: String) throws(CatalogError) -> CombinedSections {
    CombinedSections(
      url: url,
      each: try JSONPath(parsing: "$.sections[*]"),
      key: try JSONPath(parsing: "$.key"),
      title: try JSONPath(parsing: "$.title"),
      subtitle: try JSONPath(parsing: "$.subtitle")
    )
  }

  /// The fields of an item, each under larder's own name for it.
  static func mapping() throws(CatalogError) -> Mapping {
    let file = YAMLFile(name: "larder's own shape", subject: "larder's own shape")
    return try MappingParser.parse(format: file.mapping(of: Array(yaml.utf8)))
  }

  private static let yaml = """
    items: $.items
    envelope: {title: $.title, subtitle: $.subtitle}
    item:
      id: $.id
      title: $.title
      description: $.description
      badges: $.badges
      deliveryTypes: $.deliveryTypes
      normalPrice: $.normalPrice
      salePrice: $.salePrice
      latitude: $.latitude
      longitude: $.longitude
      address: $.address
      images:
        thumbnail: $.images.thumbnail
        top: $.images.top
        gallery: $.images.gallery
        section: $.images.section
    """
}
