/// The expected shape of a transform's output when the catalog file has no paths to read it.
enum OwnShape {
  /// Where the sections are in the transformed response that holds all of them.
  static func sections(at url: String) throws(CatalogError) -> CombinedSections {
    CombinedSections(
      url: url,
      each: try JSONPath(parsing: "$.sections[*]"),
      key: try JSONPath(parsing: "$.key"),
      title: try JSONPath(parsing: "$.title"),
      subtitle: try JSONPath(parsing: "$.subtitle")
    )
  }

  /// The fields of an item, each under larder's own name.
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
