/// The paths that read the output of a transform if the catalog file has no paths of its own.
///
/// A transform is a jq program in the catalog file. Its output is `{"items": […]}` or `{"sections": […]}`, in which the
/// members of an item have the names of larder's own fields. The paths are in `Embedded/own-shape.yaml`.
enum OwnShape {
  /// The paths to the sections in `{"sections": […]}`.
  static func sections() throws(CatalogError) -> CombinedSections {
    CombinedSections(
      each: try JSONPath(parsing: "$.sections[*]"),
      key: try JSONPath(parsing: "$.key"),
      title: try JSONPath(parsing: "$.title"),
      subtitle: try JSONPath(parsing: "$.subtitle")
    )
  }

  /// The paths to the items and their fields.
  static func mapping() throws(CatalogError) -> Mapping {
    let file = YAMLFile(name: "larder's own shape", subject: "larder's own shape")
    return try MappingParser.parse(format: file.mapping(of: PackageResources.own_shape_yaml))
  }
}
