import Cache
import Catalog
import FoundationEssentials

/// A whole catalog for other programs: what an export writes as `catalog.json`.
struct CatalogDocument: Encodable {
  private let catalog: CatalogEntry
  private let sections: [RunSection]
  private let items: [ShownItem]

  private enum Key: String, CodingKey {
    case catalog, currency, sections, items, key, title, subtitle
  }

  /// A catalog from its parts, in the catalog's order.
  init(_ catalog: CatalogEntry, sections: [RunSection], items: [ShownItem]) {
    (self.catalog, self.sections, self.items) = (catalog, sections, items)
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(catalog.name, forKey: .catalog)
    try body.encode(catalog.currency, forKey: .currency)
    var list = body.nestedUnkeyedContainer(forKey: .sections)
    for section in sections {
      var entry = list.nestedContainer(keyedBy: Key.self)
      try entry.encode(section.key, forKey: .key)
      try entry.encode(section.title, forKey: .title)
      try entry.encode(section.subtitle, forKey: .subtitle)
    }
    try body.encode(items.map(ItemDocument.Listing.init), forKey: .items)
  }
}
