import Cache
import Catalog
import Transport

/// Judges what a feed lists against what the last run left: a section alone, and all of them together.
struct SectionGuard: Sendable {
  let context: RunContext
  let last: LastSections

  /// What a section came to: its items after the guards, or the last good ones when the listing cannot
  /// be taken.
  ///
  /// - Parameters:
  ///   - joined: the section with all its pages.
  ///   - isNamed: whether the feed names it; a combined response may have dropped it.
  ///   - reading: the source.
  /// - Returns: The result; nil for a section that is gone and held nothing.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  func result(
    of joined: JoinedSection,
    isNamed: Bool,
    _ reading: SectionReading
  ) throws(CacheError) -> SectionResult? {
    let section = joined.section
    let notes = SectionNotes(section.skipped)
    let shown = last[section.key]?.listing
    let readable = try context.index.itemCount(listing: section.listing)
    if notes.isGivenUp
      || context.options.maxSkipped.refuses(lost: notes.lost, of: readable + notes.lost)
    {
      return try refusal(of: section, notes, readable: readable, reading)
    }
    var guarded = try context.guardListing(
      section.listing,
      valueless: notes.valueless,
      shown: shown
    )
    if let shown, notes.lost > 0, guarded.withheld.isEmpty {
      let skips = last.skips(of: section.key)
      try context.keepUnread(notes, of: shown, last: skips, in: &guarded)
    }
    if !isNamed, guarded.withheld.isEmpty { return nil }
    var result = SectionResult(joined, notes, guarded, of: reading)
    if readable > 0 || notes.lost > 0 { noteAbsent(notes, of: section.key, reading) }
    guard result.error == nil else { return result }
    let held = try shown.map { id throws(CacheError) in try context.index.itemCount(listing: id) }
    let words = GuardWords(section.key, held: held ?? 0)
    if readable == 0, !guarded.withheld.isEmpty {
      result.source = .withheld
      result.note(isNamed ? words.emptied : words.dropped)
    } else if !guarded.withheld.isEmpty {
      result.note(words.shrunk(by: guarded.withheld.count))
    } else if !guarded.kept.isEmpty {
      let mapping = context.catalog.mapping(ofSource: reading.position)
      result.note(words.lost(guarded.kept, mapping.item))
    }
    return result
  }

  /// A listing of which too much cannot be read: the last good one stays, and when there is none the
  /// section has failed.
  private func refusal(
    of section: DecodedSection,
    _ notes: SectionNotes,
    readable: Int,
    _ reading: SectionReading
  ) throws(CacheError) -> SectionResult {
    let shown = last[section.key]?.listing
    let finding = GuardWords(section.key, held: 0)
      .unreadable(notes, of: readable + notes.lost, isHeld: shown != nil)
    var result = SectionResult(
      key: section.key,
      title: section.title,
      subtitle: section.subtitle,
      source: shown == nil ? .failed : .withheld,
      listing: shown,
      skipped: notes.skipped,
      omitted: notes.omitted,
      error: finding.problem,
      remedy: finding.remedy
    )
    if let shown, !notes.isGivenUp {
      let listed = Set(try context.index.itemKeys(listing: section.listing))
      result.withheld = try context.index.itemKeys(listing: shown).filter { !listed.contains($0) }
    } else if shown == nil {
      context.failures.note(
        undecodable: .section,
        id: section.key,
        reading.next,
        finding.problem,
        remedy: finding.remedy
      )
    }
    return result
  }

  /// Says which fields the catalog file names in vain: the run is then not complete.
  private func noteAbsent(_ notes: SectionNotes, of key: String, _ reading: SectionReading) {
    for field in ItemField.allCases where notes.absent.contains(field) {
      let item = context.catalog.mapping(ofSource: reading.position).item
      let paths = item.paths(of: field).map(\.description)
      context.failures.note(
        SyncReport.Failure(
          stage: .section,
          id: key,
          url: reading.start.redacted,
          reason: FailureReason.fieldMissing.rawValue,
          attempts: 1,
          detail: "cannot read item.\(field.rawValue) of section \(key): no item has a value at "
            + "\(paths.joined(separator: ", ")); correct the path in the catalog file, or leave it out"
        )
      )
    }
  }

  /// A section of a combined response that cannot be used: its last good one stands in for it.
  ///
  /// - Returns: The result; nil when nobody can say which section it is, or another has its key.
  func result(
    of failed: JoinedPages.Failed,
    isKnown: Bool,
    _ reading: SectionReading
  ) -> SectionResult? {
    let section = failed.section
    let reason = SectionNotes(section.skipped).failure ?? ""
    let name = section.key.isEmpty ? "number \(failed.position + 1) of the response" : section.key
    let words = "cannot read section \(name): \(reason)"
    let id = section.key.isEmpty ? nil : section.key
    context.failures.note(undecodable: .section, id: id, reading.start, words)
    guard id != nil, !isKnown else { return nil }
    let held = last[section.key]
    return SectionResult(
      key: section.key,
      title: held?.title ?? section.key,
      subtitle: held?.subtitle,
      source: held?.listing == nil ? .failed : .stale,
      listing: held?.listing,
      error: words
    )
  }

  /// A section that no response names any more, as an empty one: the shrink guard then judges it as it
  /// judges the others; nil when nothing of it was ever had.
  func vanished(_ key: String) throws(CacheError) -> DecodedSection? {
    guard let held = last[key], held.listing != nil else { return nil }
    return DecodedSection(
      key: key,
      title: held.title,
      subtitle: held.subtitle,
      listing: try context.index.keepListing([]),
      skipped: ""
    )
  }

  /// Refuses a section whose key the catalog file or an earlier source has given to another.
  func refuse(claimed key: String, _ reading: SectionReading) {
    context.failures.note(
      undecodable: .section,
      id: key,
      reading.start,
      "cannot take section \(key) from this response: another source of the catalog file has a "
        + "section with the same key; correct \"key\" beside \"each\", or leave one of them out"
    )
  }

  /// Judges all sections together, once each has been judged alone: of a catalog that lost too much in
  /// many small places, each section keeps what it held.
  ///
  /// - Parameter results: what the sections came to.
  /// - Returns: The results that change.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  func changes(to results: [SectionResult]) throws(CacheError) -> [SectionResult] {
    guard !context.options.allowRemovals else { return [] }
    var before = 0
    var after = 0
    var shrunk: [(result: SectionResult, listing: ListingID, shown: ListingID, held: Int)] = []
    for result in results {
      guard let listing = result.listing, let shown = last[result.key]?.listing else { continue }
      let held = try context.index.itemCount(listing: shown)
      let listed = try context.index.itemCount(listing: listing)
      before += held
      after += listed
      if listed < held { shrunk.append((result, listing, shown, held)) }
    }
    guard ShrinkGuard.isSuspicious(catalog: before, incoming: after) else { return [] }
    var changed: [SectionResult] = []
    for (result, listing, shown, held) in shrunk {
      let guarded = try context.restore(shown, beside: listing, shrinks: true)
      guard !guarded.withheld.isEmpty else { continue }
      var result = result
      result.listing = guarded.listing
      result.withheld = guarded.withheld
      if result.error == nil {
        result.note(GuardWords(result.key, held: held).shrunk(by: guarded.withheld.count))
      }
      changed.append(result)
    }
    return changed
  }
}

extension FailureReason {
  /// A field whose path the catalog file spells out, and that no item of a listing yields.
  static let fieldMissing = FailureReason(rawValue: "field-missing")
}
