import Base
import Cache
import Catalog
import FoundationEssentials
import Transport

/// The plan of a sync (`sync --dry-run`), made from the cache alone: no request is sent, and nothing is changed.
///
/// Items and pictures that a section will list for the first time are not known before the section is fetched, so
/// they are not in the plan.
package struct SyncPlan: Sendable, Equatable, Codable {
  /// The planned action for one page of a section.
  package struct Section: Sendable, Equatable, Codable {
    /// The page's URL or file, without secrets.
    package var url: String
    /// `fetch`, `revalidate`, `read` for a local file, or `fresh` if an unattended run would not request it.
    package var action: String
    /// `GET` or `POST`.
    package var method = "GET"
  }

  /// The planned actions for details or pictures.
  package struct Work: Sendable, Equatable, Codable {
    /// URLs that would be fetched in full.
    package var fetch: [String] = []
    /// URLs that would be requested conditionally.
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
  /// The known pages of sections.
  package var sections: [Section] = []
  /// The details of known items.
  package var details = Work()
  /// The known pictures.
  package var images = Work()
  /// Stray files, which have no row in the index, by their path in the cache.
  package var sweep: [String] = []

  /// Plans a sync of a catalog into the cache at a path, which need not exist.
  ///
  /// `environment` has the variables for `${NAME}` in the catalog's URLs.
  package init(
    _ catalog: CatalogFile,
    folder: String,
    cache: String,
    options: SyncOptions,
    transport: any Fetching,
    environment: [String: String] = [:],
    now: UnixTime
  ) throws {
    self.catalog = catalog.name
    do {
      let request = try RunRequest(
        catalog,
        folder: folder,
        options: options,
        environment: environment,
        parser: transport,
        now: { now }
      )
      let index = try Self.index(cache)
      let needs = request.needs(over: transport)
      for (position, source) in request.sections.enumerated() {
        try planPages(catalog, position, source, index, needs, transport, now)
      }
      guard let index, let entry = try index.catalogs().first(where: { $0.name == catalog.name })
      else { return }
      try planItems(request, entry, index, needs, transport, now)
      sweep = try Verification.strays(of: CacheLayout(reading: cache), index)
    } catch {
      throw LarderError.ending(error, "plan \(catalog.name)")
    }
  }

  /// Plans a section's first page, and the further pages that the cache knows.
  private mutating func planPages(
    _ catalog: CatalogFile,
    _ position: Int,
    _ first: DocumentSource,
    _ index: Index?,
    _ needs: RevalidationPolicy,
    _ transport: any URLParsing,
    _ now: UnixTime
  ) throws {
    let mapping = catalog.listingDigest(at: position)
    var reading = SectionReading(
      position: position,
      key: catalog.sectionKey(at: position),
      start: first,
      next: first
    )
    while true {
      let source = reading.next
      // A document that was decoded with another mapping is fetched again.
      let held = try index?.document(source.name, reader: catalog.reader(at: position))
        .flatMap { $0.mapping == mapping ? $0 : nil }
      let action =
        if case .file = source {
          "read"
        } else {
          switch needs.need(ofListing: held, source, at: now) {
          case .fresh, .rest: "fresh"
          case .revalidate: "revalidate"
          case .refetch: "fetch"
          }
        }
      sections.append(
        Section(url: source.redacted, action: action, method: source.method.rawValue)
      )
      guard let index, let held else { return }
      reading.pages.append(SectionPage(document: held, sections: try index.decoded(held.id)))
      let sequence = PageSequence(
        rule: catalog.paging(ofSource: position),
        index: index,
        parser: transport
      )
      switch try sequence.step(after: reading) {
      case .next(let next): reading.next = next
      case .invalid(let failure): throw failure
      case .complete, .repeats, .beyondLimit: return
      }
    }
  }

  private static func index(_ cache: String) throws(LarderError) -> Index? {
    do throws(LarderError) {
      return try Index(reading: cache)
    } catch {
      guard error.code == .empty else { throw error }
      return nil
    }
  }

  /// The number of documents in one look-up.
  private static let documentsAtOnce = 1024

  private mutating func planItems(
    _ request: RunRequest,
    _ entry: CatalogEntry,
    _ index: Index,
    _ needs: RevalidationPolicy,
    _ transport: any Fetching,
    _ now: UnixTime
  ) throws {
    let (catalog, options, addresses) = (request.catalog, request.options, request.addresses)
    guard let run = try index.lastRun(catalog: entry.id) else { return }
    var pictures: Set<PictureID> = []
    var subjects: [String: [String: String]?] = [:]
    let listings = try index.sections(run: run.id).compactMap(\.listing)
    for listing in listings {
      pictures.formUnion(try index.pictures(listing: listing))
      guard let rule = catalog.detail else { continue }
      for subject in try index.detailSubjects(of: listing, for: rule)
      where subjects[subject.id] == nil {
        subjects[subject.id] = .some(subject.fields)
      }
    }
    var known: [String: DetailEntry] = [:]
    if let rule = catalog.detail, !options.noDetails {
      known = try index.details(catalog: entry.id)
      let mapping = catalog.detailDigest
      var hasAsked = false
      var wanted: [(id: String, source: DocumentSource, document: DocumentID)] = []
      for (id, fields) in subjects.sorted(by: { $0.key < $1.key }) {
        // A detail whose URL cannot be formed is not requested.
        guard let source = try? addresses.detail(of: id, fields, by: rule) else { continue }
        let document = DocumentID(url: source.name, reader: catalog.detailReader)
        wanted.append((id, source, document))
      }
      var documents: [DocumentID: DocumentEntry] = [:]
      for (place, (id, source, document)) in wanted.enumerated() {
        if place % Self.documentsAtOnce == 0 {
          let batch = wanted[place...].prefix(Self.documentsAtOnce)
          documents = try index.documents(batch.map(\.document))
        }
        let held = documents[document].flatMap { $0.mapping == mapping ? $0 : nil }
        if !rule.isShared {
          let need = needs.need(ofDetail: known[id], in: held, source, at: now)
          details.add(source.redacted, need)
        } else if !hasAsked {
          // The shared document is requested once.
          hasAsked = true
          let need = needs.need(ofListing: held, source, at: now)
          details.add(source.redacted, need, count: subjects.count)
        }
        // The pictures of a missing detail are kept, but not requested.
        if !options.thumbnailsOnly, let detail = known[id], detail.since == nil {
          pictures.formUnion(detail.pictures)
        }
      }
    }
    let traits = PictureTraits(from: request.named, over: transport)
    try planPictures(pictures, listings, known, index, addresses) { entry in
      let url = try? transport.parse(entry.url, relativeTo: nil)
      return entry.freshness(
        at: now,
        for: url.map { traits($0) },
        onlyDue: options.onlyDue
      )
    }
  }

  /// Plans pictures; reads their rows and items in batches.
  private mutating func planPictures(
    _ pictures: Set<PictureID>,
    _ listings: [ListingID],
    _ known: [String: DetailEntry],
    _ index: Index,
    _ addresses: CatalogAddresses,
    need: (PictureEntry) -> Freshness
  ) throws {
    var unknown = pictures
    try index.forEachPicture(of: pictures.sorted()) { entry in
      unknown.remove(entry.id)
      images.add(addresses.redacted(entry.url), need(entry))
    }
    // Pictures that an earlier run did not reach before its end have no row.
    let wanted = unknown
    func add(_ id: PictureID, _ url: String) {
      if unknown.remove(id) != nil { images.add(addresses.redacted(url), .refetch) }
    }
    if !wanted.isEmpty {
      for listing in listings {
        var urls = ListedURLs(listing, index)
        try urls.find(wanted, add)
      }
      for image in known.values.flatMap({ $0.decoded?.images ?? [] }) {
        add(PictureID(url: image.url), image.url)
      }
    }
    images.fetch.sort()
    images.revalidate.sort()
  }
}

/// Decides which catalogs `warm` runs, and in which order.
///
/// It does not decide about pictures: see ``PictureState/quiet(at:onlyDue:)``.
package struct WarmPlan: Sendable, Equatable {
  /// The state of one catalog before the run.
  package struct LastRuns: Sendable, Equatable {
    /// When the catalog's last run started; nil when there was none.
    package var started: UnixTime?
    /// When the catalog's last complete run ended; nil when there was none.
    package var complete: UnixTime?

    /// Makes a state from its parts.
    package init(started: UnixTime? = nil, complete: UnixTime? = nil) {
      self.started = started
      self.complete = complete
    }
  }

  /// The positions of the catalogs to run, the one with the oldest complete run first.
  ///
  /// So catalogs that the deadline or the byte limit cut off are first the next time.
  package let due: [Int]
  /// The positions of the catalogs that ran too recently.
  package let recent: [Int]
  /// The state of each catalog, in the user's order.
  package let standings: [LastRuns]

  /// Plans a run.
  ///
  /// - Parameters:
  ///   - standings: The states of the catalogs, in the user's order.
  ///   - minInterval: The minimum number of seconds between the starts of two runs of a catalog; nil for no limit.
  ///   - now: The current time.
  package init(_ standings: [LastRuns], minInterval: Double?, now: UnixTime) {
    func isRecent(_ standing: LastRuns) -> Bool {
      guard let minInterval, let started = standing.started else { return false }
      // If the start is in the future, the clock has been set back since, and the start is ignored.
      return now >= started && Double(now - started) < minInterval
    }
    self.standings = standings
    recent = standings.indices.filter { isRecent(standings[$0]) }
    due = standings.indices.filter { !isRecent(standings[$0]) }
      .sorted { (standings[$0].complete ?? 0, $0) < (standings[$1].complete ?? 0, $1) }
  }
}

extension WarmPlan.LastRuns {
  /// The number of runs to search for a complete one.
  ///
  /// If none of them is complete, the catalog counts as never complete.
  private static let runs = 1_000

  /// The state of a catalog in the cache at a path, which need not exist.
  ///
  /// A damaged index counts as missing, because the run rebuilds it.
  package init(of name: String, cache: String) throws(LarderError) {
    self.init()
    do throws(LarderError) {
      let index = try Index(reading: cache)
      guard let entry = try index.catalogs().first(where: { $0.name == name }) else { return }
      started = try index.runs(catalog: entry.id, limit: 1).first?.started
      complete = try index.lastComplete(catalog: entry.id, amongLast: Self.runs)
    } catch {
      guard error.code == .empty || error.code == .damaged else { throw error }
      self.init()
    }
  }
}
