/// A catalog file for a response, whatever that is written in.
package enum ProposedFile {
  /// Looks at a response and writes a catalog file for it.
  ///
  /// Of JSON-LD, alone or in an HTML page, the file says `format: json-ld`; of other JSON it is what
  /// ``MappingProposal`` finds.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8, or HTML.
  ///   - source: Where it came from.
  ///   - currency: The ISO 4217 code that the user gave; nil to judge.
  ///   - hasNextLink: Whether its `Link` header names a next page.
  /// - Returns: YAML.
  /// - Throws: ``CatalogError`` when nothing in it looks like items.
  package static func text(
    for body: [UInt8],
    from source: ProposedSource,
    currency: String? = nil,
    hasNextLink: Bool = false
  ) throws(CatalogError) -> String {
    if LinkedData.isMeant(by: body) {
      let products = try LinkedData.products(in: body, "the response")
      if !products.items.isEmpty {
        return text(for: products, from: source, currency, hasNextLink: hasNextLink)
      }
      // A page can be read in no other way.
      if LinkedData.isPage(body) { throw products.nothingFound("the response") }
    }
    do throws(CatalogError) {
      return try MappingProposal(
        of: body,
        from: source,
        currency: currency,
        hasNextLink: hasNextLink
      ).catalogFile(for: source)
    } catch {
      throw error.quoting(body)
    }
  }

  private static func text(
    for products: LinkedProducts,
    from source: ProposedSource,
    _ currency: String?,
    hasNextLink: Bool
  ) -> String {
    let count = products.items.count
    let named = products.texts("priceCurrency").filter { Currency.codes.contains($0) }
    let counts = Dictionary(grouping: named, by: \.self).mapValues(\.count)
    let usual = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    let reason =
      currency != nil
      ? "given"
      : usual.map { "priceCurrency of \($0.value) of \(count)" } ?? "assumed; none is named"
    var lines = [
      "# yaml-language-server: $schema=larder.schema.json",
      "# Proposed by larder catalog init from \(count) \(count == 1 ? "product" : "products") of "
        + "schema.org in JSON-LD.",
      "# What the format reads, to be changed: larder catalog show json-ld",
    ]
    if !source.variables.isEmpty {
      lines.append(
        "# Set in the environment before a run: " + source.variables.joined(separator: ", ")
      )
    }
    lines.append("name: \(YAMLText.scalar(source.name))")
    lines.append("currency: \(currency ?? usual?.key ?? "USD")   # \(reason)")
    if let base = source.base { lines.append("base: \(YAMLText.quoted(base))") }
    let url = YAMLText.quoted(source.url)
    lines.append("sections:")
    lines.append("  - {key: \(YAMLText.scalar(source.key)), url: \(url)}")
    lines.append("format: json-ld")
    if hasNextLink { lines.append("paging: {link: true}") }
    return lines.joined(separator: "\n") + "\n"
  }
}
