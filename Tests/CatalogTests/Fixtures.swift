import Catalog

/// The bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A catalog of one section with further lines in its file.
func catalog(
  _ lines: String = "",
  currency: String = "KRW",
  sections: String = "[{key: main, title: Main, url: main}]"
) throws(CatalogError) -> CatalogFile {
  try CatalogFile(
    parsing: bytes(
      """
      name: shop
      currency: \(currency)
      sections: \(sections)
      \(lines)
      """
    ),
    file: "shop.yaml"
  )
}

/// A listing of one body for the section `main`, without a title of its own.
func decode(_ body: String, _ lines: String = "", currency: String = "KRW") throws(CatalogError)
  -> DecodedListing
{
  try decodeSection(
    bytes(body),
    source: SectionSource(key: "main", url: "main"),
    using: catalog(lines, currency: currency)
  )
}

/// The error that a body throws; nil when it throws none.
func decodingError(_ body: String, _ lines: String = "") -> CatalogError? {
  do throws(CatalogError) {
    _ = try decode(body, lines)
    return nil
  } catch {
    return error
  }
}

/// The error that a file throws; nil when it throws none.
func parsingError(_ yaml: String) -> CatalogError? {
  do throws(CatalogError) {
    _ = try CatalogFile(parsing: bytes(yaml), file: "shop.yaml")
    return nil
  } catch {
    return error
  }
}

/// Items that have an id and nothing else to tell them apart.
func items(_ ids: some Sequence<String>) -> [StoreItem] {
  ids.map { StoreItem(id: $0, title: "T") }
}
