import Base
import Cache
import Catalog
import FoundationEssentials
import Transport

/// The plan of a sync, as far as the cache knows: it sends no request and changes nothing.
///
/// Items and pictures that a section will list for the first time are not known before it is
/// fetched, and so not part of a plan.
package struct SyncPlan: Sendable, Equatable, Codable {
  /// The planned action for one page of a section.
  package struct Section: Sendable, Equatable, Codable {
    /// Its address.
    package var url: String
    /// `fetch`, `revalidate` or `read` for a local file; `fresh` when an unattended run would not ask.
    package var action: String
    /// `GET` or `POST`.
    package var method = "GET"
  }

  /// The planned actions for details or pictures.
  package struct Work: Sendable, Equatable, Codable {
    /// URLs that would be fetched whole.
    package var fetch: [String] = []
    /// URLs whose origin would be asked whether they changed.
    package var revalidate: [String] = []
    /// How many need no question.
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
  /// The sections' pages, as far as they are known.
  package var sections: [Section] = []
  /// The details of the items that are known.
  package var details = Work()
  /// The pictures that are known.
  package var images = Work()
  /// Unclaimed files, by their path in the cache.
  package var sweep: [String] = []

  /// Makes the plan for a catalog and the cache at a path, which need not exist; `environment` is where
  /// `${NAME}` in the catalog's URLs comes from.
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
      let addresses = try CatalogAddresses(
        catalog,
        folder: folder,
        base: options.base,
        environment: environment,
        transport
      )
      let index = try Self.index(cache)
      let credentials = try catalog.resolved(environment)
      let asked = Asked(
        catalog,
        try addresses.named().carrying(credentials, catalog, environment),
        credentials,
        transport,
        onlyDue: options.onlyDue
      )
      for (position, source) in try addresses.sections().enumerated() {
        try planPages(catalog, position, source, index, options, asked, transport, now)
      }
      guard let index, let entry = try index.catalogs().first(where: { $0.name == catalog.name })
      else { return }
      try planItems(catalog, entry, index, addresses, options, asked, transport, now)
      sweep = try Verification.strays(of: CacheLayout(reading: cache), index)
    } catch {
      throw LarderError.ending(error, "plan \(catalog.name)")
    }
  }

  /// Plans a section's first page, and those after it as far as the cache knows them.
  private mutating func planPages(
    _ catalog: CatalogFile,
    _ position: Int,
    _ first: DocumentSource,
    _ index: Index?,
    _ options: SyncOptions,
    _ asked: Asked,
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
      let held = try index?.document(source.name, reader: catalog.reader(at: position))
      let action =
        if case .file = source {
          "read"
        } else {
          switch asked.documents.need(ofListing: asked.usable(held, mapping), source, at: now) {
          case .fresh, .rest: "fresh"
          case .revalidate: "revalidate"
          case .refetch: "fetch"
          }
        }
      sections.append(
        Section(url: source.redacted, action: action, method: source.method.rawValue)
      )
      guard let index, let held, held.mapping == mapping else { return }
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

  /// How many documents are looked up at once.
  private static let documentsAtOnce = 1024

  private mutating func planItems(
    _ catalog: CatalogFile,
    _ entry: CatalogEntry,
    _ index: Index,
    _ addresses: CatalogAddresses,
    _ options: SyncOptions,
    _ asked: Asked,
    _ transport: any URLParsing,
    _ now: UnixTime
  ) throws {
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
        // A picture without a URL is not requested.
        let values = rule.values(of: id, fields)
        guard let text = try? rule.address(filling: values) else { continue }
        let source = try addresses.target(text).asked(by: rule.request, filling: values)
        let document = DocumentID(url: source.name, reader: catalog.detailReader)
        wanted.append((id, source, document))
      }
      var documents: [DocumentID: DocumentEntry] = [:]
      for (place, (id, source, document)) in wanted.enumerated() {
        if place % Self.documentsAtOnce == 0 {
          let batch = wanted[place...].prefix(Self.documentsAtOnce)
          documents = try index.documents(batch.map(\.document))
        }
        let held = asked.usable(documents[document], mapping)
        if !rule.isShared {
          let need = asked.documents.need(ofDetail: known[id], in: held, source, at: now)
          details.add(source.redacted, need)
        } else if !hasAsked {
          // The first item that needs it asks for the one document that holds all.
          hasAsked = true
          let need = asked.documents.need(ofListing: held, source, at: now)
          details.add(source.redacted, need, count: subjects.count)
        }
        // Those of a detail that is gone are kept and not asked for.
        if !options.thumbnailsOnly, let detail = known[id], detail.since == nil {
          pictures.formUnion(detail.pictures)
        }
      }
    }
    try planPictures(pictures, listings, known, index, addresses) { entry in
      let url = try? transport.parse(entry.url, relativeTo: nil)
      return entry.freshness(
        at: now,
        for: url.map { asked.pictures($0) },
        onlyDue: options.onlyDue
      )
    }
  }

  /// Plans pictures, whose entries and items are read a few at a time.
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
    // Those that a run which ended early did not come to have no row.
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

  /// The plan as one line of JSON.
  package func json() throws -> [UInt8] {
    try jsonLine()
  }
}

/// The traits of a run's requests, to judge the held versions.
private struct Asked {
  let pictures: PictureTraits
  let documents: RevalidationPolicy

  init(
    _ catalog: CatalogFile,
    _ named: NamedOrigins,
    _ credentials: Headers,
    _ transport: any Fetching,
    onlyDue: Bool
  ) {
    documents = RevalidationPolicy(
      named: named,
      credentials: credentials,
      transport: transport,
      onlyDue: onlyDue
    )
    pictures = PictureTraits(from: named, over: transport)
  }

  /// The held version, unless another mapping read it: it is then fetched again.
  func usable(_ held: DocumentEntry?, _ mapping: Int64) -> DocumentEntry? {
    held?.mapping == mapping ? held : nil
  }
}

extension PicturesRule.Host {
  /// The host with its port, or with those of http and https.
  var places: [HostPort] {
    (port.map { [$0] } ?? [80, 443]).map { HostPort(host: name, port: $0) }
  }
}

extension NamedOrigins {
  /// The same with the headers that the catalog file has for pictures.
  func carrying(
    _ credentials: Headers,
    _ catalog: CatalogFile,
    _ environment: [String: String]
  ) throws(CatalogError) -> NamedOrigins {
    var named = self
    named.pictureHeaders = PictureHeaders(catalog: credentials)
    for (host, headers) in try catalog.resolvedPictureHeaders(environment: environment) {
      let fields = Headers(headers.map { HeaderField(name: $0.name, value: $0.value) })
      for place in host.places { named.pictureHeaders.give(fields, to: place) }
    }
    return named
  }
}

extension CatalogFile {
  /// The headers with the environment put in.
  func resolved(_ environment: [String: String]) throws(CatalogError) -> Headers {
    Headers(
      try resolvedHeaders(environment: environment).map {
        HeaderField(name: $0.name, value: $0.value)
      }
    )
  }
}

/// Which catalogs an unattended run takes on, and in which order.
package struct WarmPlan: Sendable, Equatable {
  /// The state of one catalog before the run.
  package struct LastRuns: Sendable, Equatable {
    /// When its last run started; nil when there was none.
    package var started: UnixTime?
    /// When its last complete run ended; nil when there was none.
    package var complete: UnixTime?

    /// A catalog's standing from its parts.
    package init(started: UnixTime? = nil, complete: UnixTime? = nil) {
      self.started = started
      self.complete = complete
    }
  }

  /// The positions of the catalogs to run: the longest incomplete first, so that catalogs beyond a
  /// budget come first next time.
  package let due: [Int]
  /// The positions of those that ran too recently.
  package let recent: [Int]
  /// The state of each catalog, in the user's order.
  package let standings: [LastRuns]

  /// Plans a run.
  ///
  /// - Parameters:
  ///   - standings: the catalogs in the user's order.
  ///   - minInterval: how many seconds lie between the starts of two runs of a catalog, at least.
  ///   - now: the moment.
  package init(_ standings: [LastRuns], minInterval: Double?, now: UnixTime) {
    func isRecent(_ standing: LastRuns) -> Bool {
      guard let minInterval, let started = standing.started else { return false }
      // A start in the future was written under a clock that has been set back since.
      return now >= started && Double(now - started) < minInterval
    }
    self.standings = standings
    recent = standings.indices.filter { isRecent(standings[$0]) }
    due = standings.indices.filter { !isRecent(standings[$0]) }
      .sorted { (standings[$0].complete ?? 0, $0) < (standings[$1].complete ?? 0, $1) }
  }
}

extension WarmPlan.LastRuns {
  /// In how many runs a complete one is looked for: a catalog that had none for longer is as good as one that never had.
  private static let runs = 1_000

  /// The state of a catalog in the cache at a path, which need not exist.
  ///
  /// A damaged index counts as none: the run rebuilds it.
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
