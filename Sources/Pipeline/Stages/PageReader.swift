import Cache
import Catalog
import Transport

/// Decodes the pages of sections.
struct PageReader {
  let context: RunContext
  let writer: PageWriter

  /// Decodes a page: a large one window by window, each kept while the next is decoded.
  ///
  /// A window that cannot be decoded leaves it to the whole body to say why.
  ///
  /// - Parameters:
  ///   - body: the page.
  ///   - base: what references in it are relative to.
  ///   - reading: the source that it belongs to.
  /// - Returns: What it was decoded to, or why it cannot be.
  /// - Throws: ``CacheError`` when the index cannot be written.
  func read(
    _ body: DocumentBody,
    base: WebURL?,
    _ reading: SectionReading
  ) throws(CacheError) -> Result<PageDraft, CatalogError> {
    let limits = limits(at: reading.position)
    guard let windows = windows(of: body, at: reading.position, using: context.catalog) else {
      return decode(body, reading, limits)
    }
    var draft = PageDraft()
    let isMany = context.catalog.isMany(source: reading.position)
    var elements = 0
    var lost = 0
    let lane = ItemLane(context.index)
    for window in windows {
      if isMany, !window.isContinuation { elements = 0 }
      let part: DecodedListing
      do throws(CatalogError) {
        part = try decodeWindow(
          window,
          at: reading.position,
          using: context.catalog,
          after: draft.listing,
          elements: elements,
          within: limits
        )
      } catch {
        _ = try lane.finish()
        if error.code == .stopped { return .failure(error) }
        return decode(body, reading, limits)
      }
      elements += part.elementCount
      lost += part.lost
      try writer.keep(part, base: base, after: reading, in: &draft, on: lane)
      // An element and its comma are two bytes at least.
      let most = elements + window.bytesAfter / 2
      if !isMany, lost > SkipTally.mostRows,
        limits.maxSkipped?.isPassed(by: lost, of: most) == true
      {
        draft.giveUp()
        break
      }
    }
    draft.kept = try lane.finish()
    if isMany { draft.settleSections() }
    try draft.dropRepeats(in: context.index)
    // Of sections that cannot be used, only the whole body says it of all.
    return draft.listing.sections.isEmpty ? decode(body, reading, limits) : .success(draft)
  }

  /// Limits of decoding.
  ///
  /// Of a listing in pages, none says how much there is.
  private func limits(at position: Int) -> DecodingLimits {
    let isPaged = context.catalog.paging(ofSource: position) != nil
    return DecodingLimits(
      maxSkipped: isPaged ? nil : context.options.maxSkipped,
      isStopped: context.isOver
    )
  }

  /// Decodes a page whole.
  private func decode(
    _ body: DocumentBody,
    _ reading: SectionReading,
    _ limits: DecodingLimits
  ) -> Result<PageDraft, CatalogError> {
    do throws(CatalogError) {
      let listing = try body.decoded { body throws(CatalogError) in
        try decodeSource(body, at: reading.position, using: context.catalog, within: limits)
      }
      return .success(PageDraft(listing))
    } catch {
      return .failure(error)
    }
  }
}
