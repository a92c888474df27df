import Cache
import Catalog
import Transport

extension SectionStage {
  /// Keeps what a page was decoded to, while its pictures are already on their way.
  func keep(
    _ listing: DecodedListing,
    document: inout DocumentEntry,
    base: WebURL?,
    _ reading: Reading
  ) throws(CacheError) -> Page {
    let pictures = listing.sections.map { section in
      section.items.flatMap { context.references(to: $0.images, base: base) }
    }
    document.next = nextPage(after: reading, listing: listing)?.name
    // A page of several may yet fail with the next one, and then none of it is shown.
    if reading.pages.isEmpty, document.next == nil { pictures.forEach(ahead) }
    var references: [String: [PictureReference]] = [:]
    var sections: [DecodedSection] = []
    for (section, pictures) in zip(listing.sections, pictures) {
      references[section.key] = pictures
      let skipped = listing.skipped.filter { $0.section == section.key }
        .map(SyncReport.Skipped.init)
      sections.append(
        DecodedSection(
          key: section.key,
          title: section.title,
          subtitle: section.subtitle,
          listing: try context.index.keepListing(records(of: section, pictures)),
          skipped: SkippedText.write(skipped)
        )
      )
    }
    try context.index.keep(document, decoded: sections)
    return Page(document: document, sections: sections, references: references)
  }

  /// A section's items with their pictures, which stand one item after the other in `pictures`.
  private func records(of section: Section, _ pictures: [PictureReference]) -> [ItemRecord] {
    var rest = pictures[...]
    return section.items.map { item in
      var item = item
      let own = rest.prefix(item.images.count)
      rest = rest.dropFirst(own.count)
      item.images.resolve(own)
      return ItemRecord(key: item.id, body: item.encoded(), pictures: own.map(\.id))
    }
  }
}
