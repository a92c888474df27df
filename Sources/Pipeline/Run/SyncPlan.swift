import Base
import Cache
import Catalog
import Transport

/// The plan of a sync, which `sync --dry-run` prints.
///
/// The plan is made from the cache alone. No request is sent, and nothing is changed. A section is a list of items. A
/// detail is the document about one item, with more data than the item has in a section.
///
/// Items and pictures that a section lists for the first time are missing in the plan, because they are unknown until
/// the section is fetched.
package struct SyncPlan: Sendable, Equatable, Codable {
  /// The planned action for one page of a section; a long section can have several pages.
  package struct Section: Sendable, Equatable, Codable {
    /// The page's URL or file, without secrets.
    package var url: String
    /// The action: `fetch`, `revalidate` (a conditional request), `read` (a local file), or `fresh` (no request).
    ///
    /// Only an unattended run plans `fresh`.
    package var action: String
    /// `GET` or `POST`.
    package var method = "GET"
  }

  /// The planned actions for details or pictures.
  package struct Work: Sendable, Equatable, Codable {
    /// URLs that would be fetched in full.
    package var fetch: [String] = []
    /// URLs that would be requested conditionally, so that the server need not send an unchanged body again.
    package var revalidate: [String] = []
    /// The number of URLs that need no request.
    package var fresh = 0

    mutating func add(_ url: String, _ need: Freshness, count: Int = 1) {
      switch need {
      case .fresh, .rest: fresh += count
      case .revalidate: revalidate.append(url)
      case .refetch: fetch.append(url)
      }
    }
  }

  /// The catalog's name.
  package var catalog: String
  /// The pages of sections that are known before the run.
  package var sections: [Section] = []
  /// The details of the items that are in the cache.
  package var details = Work()
  /// The pictures that these items and details show.
  package var images = Work()
  /// The paths of the files that the run would remove, relative to the cache.
  ///
  /// These are files in the folders of the pictures that no row of the index names.
  package var sweep: [String] = []

  /// Plans a run.
  ///
  /// Its cache need not exist. An object store with the pictures is not asked.
  package init(_ run: SyncRun) throws {
    catalog = run.catalog.name
    let (cache, transport) = (run.cache, run.transport)
    do {
      let request = try run.request()
      let index = try Index.existing(in: cache)
      let needs = RevalidationPolicy(request, over: transport)
      for position in request.sections.indices {
        try planPages(request, position, index, needs, transport)
      }
      guard let index, let entry = try index.catalogs().first(where: { $0.name == catalog })
      else { return }
      // These are the first steps of a run, in the same order.
      try needs.notePictures(in: index, inShadow: true)
      let layout = try CacheLayout(reading: cache, remote: run.remote)
      let strays = try Recovery.foresee(layout, index)
      try planItems(request, entry, index, layout, needs, transport)
      guard request.options.readsAll, !strays.isEmpty else { return }
      sweep = try strays.subtracting(index.keptStrays(among: strays)).sorted()
    } catch {
      throw LarderError.ending(error, "plan \(catalog)")
    }
  }

  /// Plans a section's first page, and each further page that the cache has.
  private mutating func planPages(
    _ request: RunRequest,
    _ position: Int,
    _ index: Index?,
    _ needs: RevalidationPolicy,
    _ transport: any URLParsing
  ) throws {
    let (catalog, first) = (request.catalog, request.sections[position])
    let mapping = catalog.listingDigest(at: position)
    let reading = SectionReading(
      position: position,
      key: catalog.sectionKey(at: position),
      start: first,
      next: first
    )
    while true {
      let source = reading.next
      let held = try index?.held(source, reader: catalog.reader(at: position), mapping: mapping)
      let action =
        if case .file = source {
          "read"
        } else {
          switch needs.need(ofListing: held, source, at: request.now()) {
          case .fresh, .rest: "fresh"
          case .revalidate: "revalidate"
          case .refetch: "fetch"
          }
        }
      sections.append(
        Section(url: source.redacted, action: action, method: source.method.rawValue)
      )
      guard let index, let held else { return }
      reading.add(SectionPage(document: held, sections: try index.decoded(held.id)))
      switch try reading.step(by: catalog.paging(ofSource: position), in: index, transport) {
      case .next(let next): reading.next = next
      case .invalid(let failure): throw failure
      case .complete, .repeats, .beyondLimit: return
      }
    }
  }

  /// The number of due details to take from the index at once.
  private static let detailsAtOnce = 128

  private mutating func planItems(
    _ request: RunRequest,
    _ entry: CatalogEntry,
    _ index: Index,
    _ layout: CacheLayout,
    _ needs: RevalidationPolicy,
    _ transport: any Fetching
  ) throws {
    let (options, now) = (request.options, request.now())
    guard let run = try index.lastRun(catalog: entry.id) else { return }
    let dueRule = DueRule(isChanged: false, now: now, shards: nil)
    var freshPictures = 0
    func count(_ seen: SeenPictures) { freshPictures += seen.total - (seen.due[""] ?? 0) }
    let due = try DuePictures(index) { _ in "" }
    let details = DetailNeeds(request, needs)
    let dueDetails = try details?.due(in: index, of: entry.id)
    var total = 0
    for listing in try index.sections(run: run.id).compactMap(\.listing) {
      count(try due.see(.listing(listing), by: dueRule))
      guard let details, let dueDetails else { continue }
      var fresh: [Int64] = []
      let seen = try dueDetails.see(listing) { detail in
        guard try details.due(detail, at: now) == nil else { return 0 }
        if let known = detail.known, known.isCurrent { fresh.append(known.row) }
        return nil
      }
      total += seen.total
      self.details.fresh += seen.total - seen.due
      if !options.thumbnailsOnly { count(try due.see(.details(fresh), by: dueRule)) }
    }
    if let details, let dueDetails {
      try planDetails(details, dueDetails, index, total, now) { row throws(LarderError) in
        if !options.thumbnailsOnly { count(try due.see(.details([row]), by: dueRule)) }
      }
    }
    images.fresh += freshPictures
    try index.forEachDue("") { entry in
      let url = try? transport.parse(entry.url, relativeTo: nil)
      let need =
        layout.isGone(entry)
        ? .refetch
        : entry.freshness(
          at: now,
          for: url.map { needs.traits(ofPicture: $0, entry.identity) },
          onlyDue: options.onlyDue
        )
      images.add(request.addresses.redacted(entry.url), need)
    }
    images.fetch.sort()
    images.revalidate.sort()
  }

  /// Plans the details that are due.
  ///
  /// `total` is the number of all details. `show` is called with the row of each that the shop still has.
  private mutating func planDetails(
    _ details: DetailNeeds,
    _ due: DueDetails,
    _ index: Index,
    _ total: Int,
    _ now: UnixTime,
    show: (Int64) throws(LarderError) -> Void
  ) throws(LarderError) {
    var hasAsked = false
    while case let batch = try due.take(Self.detailsAtOnce), !batch.isEmpty {
      for detail in batch {
        // If the URL of a detail cannot be formed, the detail is not requested.
        let source = try details.source(of: detail.item, detail.record)
        guard case .success(let source) = source else { continue }
        let state = detail.known?.state
        if !details.rule.isShared {
          let need = details.need(of: state, in: detail.document, source, at: now)
          self.details.add(source.redacted, need)
        } else if !hasAsked {
          // All details are in one document, which is requested once.
          hasAsked = true
          let held = try details.heldShared(detail.document, state, at: source, in: index)
          let need = details.policy.need(ofListing: held, source, at: now)
          self.details.add(source.redacted, need, count: total)
        }
        // If the shop no longer has the detail, its pictures are kept, but not requested.
        if let row = detail.row, detail.known?.since == nil { try show(row) }
      }
    }
  }
}
