/// The expected shape of a transform's output, if the catalog file has no paths for reading the output.
enum OwnShape {
  /// The paths to the sections in the output of a transform, for a response that holds all sections.
  static func sections(at url: String) throws(CatalogError) -> CombinedSections {
    CombinedSections(
      url: url,
      each: try JSONPath(parsing: "$.sections[*]"),
      key: try JSONPath(parsing: "$.key"),
      title: try JSONPath(parsing: "$.title"),
      subtitle: try JSONPath(parsing: "$.subtitle")
    )
  }

  /// The paths to an item's fields in the output, each under larder's own name.
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
