import Base
import Cache
import Catalog
import Transport

/// Compares the items of sections with those of the last run, and rejects changes that look like a fault of the shop.
///
/// A section is a list of items, such as all soups. A source is a URL or file from which one section or several
/// sections are read.
///
/// Each section is first judged by itself. Then all sections are judged together. The items of a section are stored in
/// the index as a listing.
struct SectionGuard: Sendable {
  let context: RunContext
  let last: PreviousSections

  /// Judges a section.
  ///
  /// The result shows its new items, or those of the last good run if the new ones are rejected.
  ///
  /// - Parameters:
  ///   - joined: The section with all its pages.
  ///   - isNamed: Whether the shop's response still names the section.
  ///   - reading: The state of reading its source.
  /// - Returns: The result; nil if the response no longer names the section, and no items of it are kept.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func result(
    of joined: JoinedSection,
    isNamed: Bool,
    _ reading: SectionReading
  ) throws(LarderError) -> SectionResult? {
    let (section, notes) = (joined.section, joined.notes)
    let shown = last[section.key]?.listing
    let readable = try context.index.itemCount(listing: section.listing)
    let lost = notes.lost
    let isLost = context.options.maxSkipped.refuses(lost: lost, of: readable + lost)
    if notes.isGivenUp || isLost {
      return try refusal(of: section, notes, readable: readable, reading)
    }
    let item = context.catalog.mapping(ofSource: reading.position).item
    var result = SectionResult(joined, of: reading)
    let findings = try compare(&result, with: shown, item)
    let isWithheld = result.source == .withheld
    if !isNamed, !isWithheld { return nil }
    // If the new items are rejected, they tell nothing about the paths in the catalog file.
    if !isWithheld, readable > 0 || lost > 0 { noteAbsent(notes, of: section.key, reading) }
    guard result.error == nil, let shown, isWithheld else { return result }
    let held = try context.index.itemCount(listing: shown)
    let words = GuardMessage(key: section.key, held: held)
    if !findings.isEmpty {
      result.note(words.suspicious(findings, item, listed: readable))
    } else if result.withheld.count < held {
      result.note(words.shrunk(by: result.withheld.count))
    } else {
      let finding =
        !isNamed ? words.dropped : readable == 0 ? words.emptied : words.replaced(by: readable)
      result.note(finding)
    }
    return result
  }

  /// Decides which listing to show for a section.
  ///
  /// If the new listing looks like a fault, the last good listing is shown instead. The two are never mixed: the new
  /// listing is either shown or withheld, together with its new items and prices. Only items that the shop lists, but
  /// in a form that cannot be read, keep their last good versions beside the new items.
  ///
  /// - Parameters:
  ///   - result: The result with the items that the shop lists now.
  ///   - shown: The listing of the last run.
  ///   - item: The catalog file's paths for the fields of items.
  /// - Returns: The fields that no item has any more, or that have the same value in all items. If there are any, the new
  ///   listing is withheld.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  private func compare(
    _ result: inout SectionResult,
    with shown: ListingID?,
    _ item: Mapping.Item
  ) throws(LarderError) -> [FieldGuard.Finding] {
    let index = context.index
    guard let shown, let listing = result.listing, shown != listing,
      !context.options.allowRemovals
    else { return [] }
    let unread = result.notes.unreadIDs
    let vanished = try index.vanished(from: shown, in: listing)
    let gone = vanished.filter { !unread.contains($0.exact) }
    let held = try index.itemCount(listing: shown)
    let isShrunk = ShrinkGuard.isSuspicious(section: held, vanished: gone.count)
    let findings = isShrunk ? [] : try findings(in: listing, item, shown: shown)
    guard !isShrunk, findings.isEmpty else {
      (result.listing, result.source, result.withheld) = (shown, .withheld, vanished)
      result.kept = findings.map(\.field)
      return findings
    }
    let kept = vanished.filter { unread.contains($0.exact) }
    if !kept.isEmpty {
      result.listing = try index.union(of: listing, and: shown, keeping: kept)
      result.unread = kept.sorted()
    }
    result.vanished = gone
    return []
  }

  /// Compares the fields of a listing's items with those of the last run.
  ///
  /// Returns the fields that all items lost, and the fields that now have the same value in all items.
  ///
  /// The comparison stops when it is certain that there are none. For a normal listing, the first few items are enough.
  private func findings(
    in listing: ListingID,
    _ item: Mapping.Item,
    shown: ListingID
  ) throws(LarderError) -> [FieldGuard.Finding] {
    let count = try context.index.itemCount(listing: listing)
    var fields = FieldGuard(held: try sample(of: shown), item, count: count)
    var (first, size) = (0, 8)
    while !fields.isSettled, first < count {
      let records = try context.index.items(listing: listing, from: first, count: size)
      fields.add(try records.storeItems())
      first += size
      size = min(512, 2 * size)
    }
    return fields.findings
  }

  /// Every n-th item of a listing.
  ///
  /// The number n is chosen so that there are 100 to 200 items. If the listing has fewer than 200 items, all of them
  /// are returned.
  private func sample(of listing: ListingID) throws(LarderError) -> [StoreItem] {
    let count = try context.index.itemCount(listing: listing)
    let places = stride(from: 0, to: count, by: max(1, count / 100))
    return try context.index.items(listing: listing, at: places).compactMap { try? $0.storeItem() }
  }

  /// The result for a section with too many unreadable items.
  ///
  /// It shows the items of the last good run. If there are none, the section is marked as failed.
  private func refusal(
    of section: DecodedSection,
    _ notes: SectionNotes,
    readable: Int,
    _ reading: SectionReading
  ) throws(LarderError) -> SectionResult {
    let shown = last[section.key]?.listing
    let finding = GuardMessage(key: section.key, held: 0)
      .unreadable(notes, of: readable + notes.lost, isHeld: shown != nil)
    var result = SectionResult(
      row: SyncReport.Section(
        key: section.key,
        title: section.title,
        source: shown == nil ? .failed : .withheld
      ),
      subtitle: section.subtitle,
      listing: shown,
      notes: notes
    )
    result.note(finding)
    if let shown, !notes.isGivenUp {
      result.withheld = try context.index.vanished(from: shown, in: section.listing)
    } else if shown == nil {
      context.failures.note(
        .section,
        id: section.key,
        reading.next.redacted,
        finding.problem,
        remedy: finding.remedy
      )
    }
    return result
  }

  /// Records a failure for each field that has a path in the catalog file, but no value in any item.
  private func noteAbsent(_ notes: SectionNotes, of key: String, _ reading: SectionReading) {
    for field in notes.absent {
      let item = context.catalog.mapping(ofSource: reading.position).item
      let paths = item.paths(of: field).map(\.description)
      context.failures.note(
        .section,
        id: key,
        reading.start.redacted,
        for: .fieldMissing,
        "cannot read item.\(field.rawValue) of section \(key): no item has a value at "
          + "\(paths.joined(separator: ", ")); correct the path in the catalog file, or remove it"
      )
    }
  }

  /// The result for a section that cannot be read, although other sections of the same response can.
  ///
  /// It shows the items of the last good run.
  ///
  /// - Returns: The result; nil if the section's key cannot be read, or another section has the same key.
  func result(
    of failed: (section: DecodedSection, position: Int),
    isKnown: Bool,
    _ reading: SectionReading
  ) -> SectionResult? {
    let section = failed.section
    let reason = SectionNotes(section.skipped).failure ?? ""
    let name = section.key.isEmpty ? "number \(failed.position + 1) of the response" : section.key
    let words = "cannot read section \(name): \(reason)"
    let id = section.key.isEmpty ? nil : section.key
    context.failures.note(.section, id: id, reading.start.redacted, words)
    guard id != nil, !isKnown else { return nil }
    return last.fallback(for: section.key, words)
  }

  /// Makes an empty section for a key that no response names any more.
  ///
  /// The removal of its items can then be judged as in any other section.
  ///
  /// The result is nil if the cache never had items of the section.
  func vanished(_ key: String) throws(LarderError) -> DecodedSection? {
    guard let held = last[key], held.listing != nil else { return nil }
    return DecodedSection(
      key: key,
      title: held.title,
      subtitle: held.subtitle,
      listing: try context.index.keepListing([]),
      skipped: ""
    )
  }

  /// Records a failure for a section whose key is already used by another source, that is, by another URL of the
  /// catalog file.
  func refuse(claimed key: String, _ reading: SectionReading) {
    context.failures.note(
      .section,
      id: key,
      reading.start.redacted,
      "cannot use section \(key) from this response: another source of the catalog file already "
        + "has a section with this key; correct \"key\" beside \"each\", or remove one of the sources"
    )
  }

  /// Judges all sections together, after each was judged by itself.
  ///
  /// - Parameter results: The results of all sections.
  /// - Returns: Whether the losses of the sections are small in each section but suspicious in total.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func isSuspicious(_ results: [SectionResult]) throws(LarderError) -> Bool {
    var held = 0
    for shown in results.compactMap({ last[$0.key]?.listing }) {
      held += try context.index.itemCount(listing: shown)
    }
    let vanished = results.flatMap(\.vanished)
    guard ShrinkGuard.isSuspicious(catalog: held, vanished: vanished.count) else { return false }
    // If another section lists an item now, the item was moved and is not lost.
    let listings = results.compactMap(\.listing)
    let gone = try context.index.unlistedCount(of: vanished, in: listings)
    return ShrinkGuard.isSuspicious(catalog: held, vanished: gone)
  }

  /// Rejects the new items of a section that lost items, so that those of the last good run are shown.
  ///
  /// - Parameter result: The section's result, which is changed.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func withhold(_ result: inout SectionResult) throws(LarderError) {
    guard let shown = last[result.key]?.listing else { return }
    (result.listing, result.source, result.unread) = (shown, .withheld, [])
    result.withheld = result.vanished
    guard result.error == nil else { return }
    let held = try context.index.itemCount(listing: shown)
    result.note(GuardMessage(key: result.key, held: held).shrunk(by: result.withheld.count))
  }
}
