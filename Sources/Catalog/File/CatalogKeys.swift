/// The JSON Schema of catalog files, for editors that complete and check them. (JSON Schema, draft-07)
///
/// It is `Embedded/catalog.schema.json`, with one key of a catalog file on each line. The parsers allow exactly the keys
/// that it describes.
package enum CatalogSchema {
  /// The schema as JSON text.
  ///
  /// In the file, `["FORMAT"]` stands for the names of all formats, and `["CURRENCY"]` for the codes of all currencies.
  package static var text: String {
    String(decoding: PackageResources.catalog_schema_json, as: UTF8.self)
      .replacing("[\"FORMAT\"]", with: list(FormatFiles.names))
      .replacing("[\"CURRENCY\"]", with: list(Currency.codes))
  }

  private static func list(_ words: [String]) -> String {
    "[\(words.map(StoredFormWriter.quoted).joined(separator: ", "))]"
  }

  /// The names of the keys that each mapping of the schema allows, in their order there.
  ///
  /// The mapping at the top level of a catalog file is `root`. The others have the names of their definitions.
  fileprivate static let keys: [String: [String]] = {
    guard
      let root = try? JSONDocument(parsing: PackageResources.catalog_schema_json, of: "schema")
        .root
    else { return [:] }
    var keys = ["root": names(root)]
    for definition in root["definitions"]?.members ?? [] {
      keys[definition.name] = names(definition.value)
    }
    return keys
  }()

  private static func names(_ mapping: JSONNode) -> [String] {
    mapping["properties"]?.members.map(\.name) ?? []
  }
}

/// The mappings of catalog files with a fixed set of keys, such as `item:` or `paging:`.
enum CatalogKeys: String, CaseIterable, Sendable {
  case root, format, section, sections, envelope, item, images, price, detail, paging, size
  case request, texts, token, pictures, identity, xml, table

  /// The names of the keys that ``CatalogSchema`` has for this mapping, in their usual order.
  var names: [String] { CatalogSchema.keys[rawValue] ?? [] }
}
