@testable import Catalog

/// The UTF-8 bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Proposes a catalog file for one response.
func proposal(of body: String) throws(CatalogError) -> ProposedFile {
  let page = ProposedPage(body: bytes(body), source: ProposedSource(url: "https://s.example/x"))
  return try ProposedFile(of: [page], name: "x.yaml")
}

/// The lines of a proposed file without the comments that explain them.
func linesWithoutComments(of yaml: String) -> [String] {
  yaml.split(separator: "\n").map { line in
    line.firstRange(of: "   # ").map { String(line[..<$0.lowerBound]) } ?? String(line)
  }
}

/// Parses a catalog file that has one section and the given lines.
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

/// Decodes a body as the section `main`, which has no title of its own.
func decode(_ body: String, _ lines: String = "", currency: String = "KRW") throws(CatalogError)
  -> DecodedListing
{
  let sections = "[{key: main, url: main}]"
  return try decodeSource(
    bytes(body),
    at: 0,
    using: catalog(lines, currency: currency, sections: sections)
  )
}

/// The error that decoding a body throws, or nil if it throws none.
func decodingError(_ body: String, _ lines: String = "") -> CatalogError? {
  do throws(CatalogError) {
    _ = try decode(body, lines)
    return nil
  } catch {
    return error
  }
}

/// The error that parsing a catalog file throws, or nil if it throws none.
func parsingError(_ yaml: String) -> CatalogError? {
  do throws(CatalogError) {
    _ = try CatalogFile(parsing: bytes(yaml), file: "shop.yaml")
    return nil
  } catch {
    return error
  }
}

/// Items that differ only in their ids.
func items(_ ids: some Sequence<String>) -> [StoreItem] {
  ids.map { StoreItem(id: $0, title: "T") }
}
