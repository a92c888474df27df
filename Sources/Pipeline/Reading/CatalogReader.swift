import Base
import Cache
import Catalog
import FoundationEssentials

/// A picture of an item, with the file that holds it.
public struct ShownPicture: Sendable, Hashable {
  /// Whether there are bytes to show.
  public enum State: String, Sendable {
    /// The file is here, perhaps from before a refresh that failed.
    case held
    /// It could not be fetched.
    case failed
    /// It was not requested yet.
    case missing
  }

  /// The part it plays.
  public package(set) var role: ImageReference.Role
  /// Its URL, as it is sent.
  public package(set) var url: String
  /// Its path, relative to the cache; nil while nothing is held.
  package var path: String?
  /// The cache's path.
  package var cache = ""
  /// The SHA-256 of its bytes, 64 hexadecimal digits.
  public package(set) var sha256: String?
  /// Its size in bytes.
  public package(set) var bytes: Int64?
  /// The media type of its bytes, such as `image/jpeg`.
  public package(set) var type: String?
  /// Whether there are bytes to show.
  public package(set) var state: State

  /// The path of its file, the cache's folder included; nil while nothing is held.
  public var file: String? { path.map { CatalogReader.file($0, in: cache) } }
}

/// An item as a section lists it, with its detail and its pictures.
///
/// The properties of ``item`` are also its own:
///
///     for item in try shop.items() { print(item.title, item.thumbnail?.file ?? "–") }
@dynamicMemberLookup
public struct ShownItem: Sendable, Hashable, Identifiable {
  /// The item as its list has it.
  public package(set) var item: StoreItem
  /// The keys of the sections that list it: one in a list, all where one item is asked for.
  public package(set) var sections: [String]
  /// Whether its section could not be refreshed, so that this is from an earlier run.
  public package(set) var isStale: Bool
  /// Its detail; nil when none is held.
  public package(set) var detail: ItemDetail?
  /// Since when the shop has that detail no more; nil while it has.
  package var detailSince: UnixTime?
  /// Its pictures: the list's, then the detail's.
  public package(set) var pictures: [ShownPicture]
  /// Its lowest price in the 30 days up to the last sync; nil when it has no price.
  public package(set) var lowest30Days: LowestPrice?
  /// Its price over the last year; nil where it did not change, and where nobody asked.
  package var priceLine: PriceLine?

  /// The shop's own name for it; the same item in two sections has one id.
  public var id: String { item.id }
  /// Since when the shop has the detail no more; nil while it has.
  public var detailMissingSince: Date? { detailSince.map(Date.init) }
  /// The small picture of the list.
  public var thumbnail: ShownPicture? { pictures.first { $0.role == .thumbnail } }

  /// A property of the item as its list has it.
  public subscript<Value>(dynamicMember property: KeyPath<StoreItem, Value>) -> Value {
    item[keyPath: property]
  }
}

/// The catalog as last synced, read from the cache alone.
///
/// Works while a sync runs.
package struct CatalogReader: Sendable {
  /// The catalog that is read.
  package let catalog: CatalogEntry
  /// The cache's path.
  package let cache: String
  let index: Index
  /// The run whose catalog is read; nil for the last one.
  let past: RunTime?
  /// Whether items are shown with their lowest price of 30 days, which takes 37 % of the time of a list.
  package var showsLowest = true

  /// Opens a cache for reading.
  ///
  /// - Parameters:
  ///   - cache: the cache's path.
  ///   - name: which of its catalogs; none is needed when there is one.
  ///   - moment: when the catalog was as it is to be read; nil for the last sync.
  /// - Throws: ``LarderError`` when there is no such cache or catalog, or no run that old.
  package init(
    cache: String,
    catalog name: String?,
    at moment: UnixTime? = nil
  ) throws(LarderError) {
    self.cache = cache
    index = try Index(reading: cache)
    let catalogs = try index.catalogs()
    let names = catalogs.map(\.name)
    if let name {
      guard let match = catalogs.first(where: { $0.name == name }) else {
        let near = nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
        throw LarderError(.empty, "cannot find catalog \(name) in \(cache)\(near)", thing: name)
      }
      catalog = match
    } else if let only = catalogs.first, catalogs.count == 1 {
      catalog = only
    } else if catalogs.isEmpty {
      throw LarderError(
        .empty,
        "cannot read \(cache): nothing was synced yet",
        remedy: .sync,
        thing: cache
      )
    } else {
      throw LarderError(
        .ambiguous,
        "cannot choose among \(names.joined(separator: ", ")) in \(cache)",
        remedy: .nameCatalog,
        thing: cache
      )
    }
    if let moment {
      past = try Self.run(of: catalog, at: moment, index)
    } else {
      past = nil
    }
  }

  /// The last run of a catalog that had ended at a moment.
  private static func run(
    of catalog: CatalogEntry,
    at moment: UnixTime,
    _ index: Index
  ) throws(LarderError) -> RunTime {
    if let run = try index.lastRunTime(catalog: catalog.id, at: moment) { return run }
    let oldest = try index.runTimes(catalog: catalog.id, since: .distantPast)
      .last { $0.finished != nil }?.finished
    throw LarderError(
      .empty,
      "cannot read \(catalog.name) as of \(moment.rfc3339): "
        + (oldest.map { "the oldest run that is kept ended at \($0.rfc3339)" }
          ?? "no sync of it has ended yet"),
      thing: catalog.name
    )
  }

  /// The ids of all items in the catalog's order, without reading the items.
  private func ids() throws(LarderError) -> [String] {
    var ids: [String] = []
    for listing in try sections().compactMap(\.listing) {
      ids += try index.itemKeys(listing: listing)
    }
    return ids
  }

  /// The last run that ended, or had ended at the moment that is asked about.
  package func lastRun() throws(LarderError) -> RunEntry {
    let run: RunEntry?
    if let past {
      run = try index.finishedRun(past.id, catalog: catalog.id)
    } else {
      run = try index.lastRun(catalog: catalog.id)
    }
    guard let run else {
      throw LarderError(
        .empty,
        "cannot read \(catalog.name): no sync of it has ended yet",
        remedy: .sync,
        thing: catalog.name
      )
    }
    return run
  }

  /// The sections as last synced, in the catalog's order.
  package func sections() throws(LarderError) -> [RunSection] {
    try index.sections(run: try lastRun().id)
  }

  /// The listings of all sections or one, in the catalog's order.
  ///
  /// - Throws: ``LarderError`` when there is no such section.
  package func list(section key: String? = nil) throws(LarderError) -> [ShownItem] {
    var batches = try batches(section: key)
    var items: [ShownItem] = []
    while let batch = try batches.next() { items += batch }
    return items
  }

  /// The same a few at a time, so that a long catalog is neither awaited nor held whole.
  ///
  /// - Parameters:
  ///   - key: The section; nil for all of them.
  ///   - query: Which items, and in which order.
  /// - Returns: The items, batch by batch.
  /// - Throws: ``LarderError`` when there is no such section.
  package func batches(
    section key: String? = nil,
    where query: ItemQuery = ItemQuery()
  ) throws(LarderError) -> ItemBatches {
    let sections = try sections()
    if let key, !sections.contains(where: { $0.key == key }) {
      let keys = sections.map(\.key)
      let near = nearest(to: key, in: keys).map { "; did you mean \($0)?" } ?? ""
      throw LarderError(
        .empty,
        "cannot find section \(key); there are \(keys.joined(separator: ", "))\(near)",
        thing: key
      )
    }
    return ItemBatches(
      sections.filter { key == nil || $0.key == key },
      of: self,
      where: query
    )
  }

  /// Some items of a listing.
  func items(
    _ versions: some Sequence<ItemVersion>,
    of listing: ListingID
  ) throws(LarderError) -> [StoreItem] {
    var items: [StoreItem] = []
    for record in try index.items(versions, of: listing) { items.append(try record.storeItem()) }
    return items
  }

  /// Items as they are shown, with their details and pictures.
  func shown(_ items: [ListedItem]) throws(LarderError) -> [ShownItem] {
    let details = try details(of: items)
    let lowest = try showsLowest ? lowestPrices(of: items) : items.map { _ in LowestPrice?.none }
    return try withImages(
      zip(items, lowest).map { listed, lowest in
        let item = listed.item
        return ShownItem(
          item: item,
          sections: [listed.section.key],
          isStale: listed.section.isStale,
          detail: details[item.id].flatMap(\.decoded),
          detailSince: details[item.id]?.since,
          pictures: [],
          lowest30Days: lowest
        )
      }
    )
  }

  /// The details of items by id; of an earlier moment those that were held then already, and are as they were.
  private func details(
    of items: [ListedItem]
  ) throws(LarderError) -> [String: DetailEntry] {
    let details = try index.details(catalog: catalog.id, items: items.lazy.map(\.item.id))
    guard let past, let ended = past.finished else { return details }
    let fetched = try index.fetchTimes(of: details.values.map(\.document))
    return details.filter { fetched[$0.value.document].map { $0 <= ended } ?? false }
      .mapValues { detail in
        var detail = detail
        if let since = detail.since, since > ended { detail.since = nil }
        return detail
      }
  }

  /// One item with the values of its first listing, or nil when no section lists it.
  package func show(_ id: String) throws(LarderError) -> ShownItem? {
    var first: ShownItem?
    var keys: [String] = []
    for section in try sections() {
      let listed = try items(id, in: section)
      if first == nil {
        first = try shown(listed.prefix(1).map { ListedItem(item: $0, section: section) }).first
      }
      if !listed.isEmpty, !keys.contains(section.key) { keys.append(section.key) }
    }
    first?.sections = keys
    return first
  }

  /// The listings of an id in a section.
  func items(_ id: String, in section: RunSection) throws(LarderError) -> [StoreItem] {
    guard let listing = section.listing else { return [] }
    let versions = try index.versions(of: id, listing: listing)
    // A key is kept without characters that would end it, so another id may look the same.
    return try items(versions, of: listing).filter { $0.id == id }
  }

  /// The ids that come nearest to one that no section lists.
  package func nearestIDs(to id: String) throws(LarderError) -> [String] {
    nearest(3, to: id, in: Set(try ids()).sorted())
  }

  /// A path in a cache with the cache's folder before it.
  package static func file(_ path: String, in cache: String) -> String {
    cache.hasSuffix("/") ? cache + path : "\(cache)/\(path)"
  }

  /// The squares of a side, as paths in the cache, by the URLs of the catalog's pictures.
  package func squares(side: Int) throws(LarderError) -> [String: String] {
    var urls: Set<String> = []
    var batches = try batches()
    while let batch = try batches.next() { urls.formUnion(batch.flatMap(\.pictures).map(\.url)) }
    let found = try squares(of: urls, side: side)
    return Dictionary(found.map { ($0.url, $0.square.name) }) { first, _ in first }
  }

  /// The squares of these pictures that were made of the very bytes that are held.
  ///
  /// - Parameters:
  ///   - urls: the pictures' URLs.
  ///   - side: pixels along a side; nil for every size.
  /// - Returns: Each square with the URL of its picture.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func squares(of urls: some Sequence<String>, side: Int? = nil) throws(LarderError)
    -> [(url: String, square: SquareEntry)]
  {
    let urls = Dictionary(urls.map { (PictureID(url: $0), $0) }) { first, _ in first }
    let pictures = try index.pictures(Array(urls.keys))
    return try index.squares(side: side).compactMap { square in
      // One made of bytes that the picture no longer has shows something else.
      guard square.sha256 != nil, pictures[square.picture]?.sha256 == square.source,
        let url = urls[square.picture]
      else { return nil }
      return (url, square)
    }
  }

  /// The runs of the catalog, newest first.
  package func runs(limit: Int = 20) throws(LarderError) -> [RunEntry] {
    try index.runs(catalog: catalog.id, limit: limit)
  }

  /// When the runs since a moment were, newest first; their reports are not read.
  package func runTimes(since: UnixTime) throws(LarderError) -> [RunTime] {
    try index.runTimes(catalog: catalog.id, since: since)
  }

  /// The changes between two runs that ended.
  ///
  /// - Parameters:
  ///   - old: the run to compare with; without it, the one before `new`.
  ///   - new: the run to look at; without it, the last.
  /// - Returns: The difference.
  /// - Throws: ``LarderError`` when there is no such run.
  package func diff(from old: RunID?, to new: RunID?) throws(LarderError) -> RunDiff {
    let last = try run(new)
    let first: RunID?
    if let old {
      first = try run(old).id
    } else {
      first = try index.lastRun(catalog: catalog.id, before: last.id)?.id
    }
    let before = try first.map { id throws(LarderError) in try index.sections(run: id) }
    var diff = RunDiff(
      old: first,
      new: last.id,
      items: try CatalogDiff(index, before: before ?? [], after: index.sections(run: last.id))
    )
    diff.pictures = try index.pictureChanges(after: first ?? 0, through: last.id)
    // Removals after the newest run count for it, at any time.
    let isNewest = try last.id == lastRun().id
    let began = try first.flatMap { id throws(LarderError) in try run(id).finished }
    diff.removed = try index.tombstones(
      after: began ?? 0,
      through: isNewest ? .distantFuture : last.finished ?? .distantFuture
    )
    return diff
  }

  private func run(_ id: RunID?) throws(LarderError) -> RunEntry {
    guard let id else { return try lastRun() }
    guard let run = try index.finishedRun(id, catalog: catalog.id) else {
      let last = try index.runs(catalog: catalog.id, finishedOnly: true, limit: 5)
      let known = last.map { $0.id.description }.joined(separator: ", ")
      throw LarderError(
        .empty,
        "cannot find run \(id) of \(catalog.name); the last ones are \(known)",
        thing: id.description
      )
    }
    return run
  }

  private func withImages(_ items: [ShownItem]) throws(LarderError) -> [ShownItem] {
    let references = items.map { $0.item.images + ($0.detail?.images ?? []) }
    let ids = Set(references.joined().map { PictureID(url: $0.url) })
    var entries = try index.pictures(Array(ids))
    if let past {
      // The cache holds newer bytes of these.
      for id in try index.replacedPictures(after: past.id) { entries[id] = nil }
    }
    return zip(items, references).map { item, references in
      var item = item
      item.pictures = references.map {
        ShownPicture($0, entries[PictureID(url: $0.url)], cache: cache)
      }
      return item
    }
  }
}

extension RunSection {
  /// Whether the shown items are from an earlier run, because this one's could not be fetched or were
  /// rejected.
  package var isStale: Bool {
    source == SyncReport.Source.stale.rawValue || source == SyncReport.Source.withheld.rawValue
  }
}

extension DetailEntry {
  /// The detail, when one is held, of now or from before, and can be read.
  var decoded: ItemDetail? {
    guard let body else { return nil }
    return try? ItemDetail(decoding: body)
  }
}

extension ShownPicture {
  init(_ reference: ImageReference, _ entry: PictureEntry?, cache: String) {
    role = reference.role
    url = reference.url
    self.cache = cache
    // A file that another picture holds is not this one's.
    let entry = entry.flatMap { $0.identity == reference.url ? $0 : nil }
    if let entry, let digest = entry.sha256 {
      path = entry.name.path
      sha256 = Hexadecimal.text(digest)
      bytes = entry.bytes.count
      type = entry.type?.mediaType
      state = .held
    } else {
      state = entry?.failure == nil ? .missing : .failed
    }
  }
}

/// The catalog as something keeps it at hand: its items whole, details and pictures when they are shown.
extension CatalogReader {
  /// The items of a section in its order, without details.
  package func storeItems(in section: RunSection) throws(LarderError) -> [StoreItem] {
    guard let listing = section.listing else { return [] }
    var items: [StoreItem] = []
    try index.forEachBatch(of: listing) { records throws(LarderError) in
      for record in records { items.append(try record.storeItem()) }
    }
    return items
  }

  /// Items as they are shown, with their details and the pictures of this moment.
  package func shown(
    _ items: some Sequence<(item: StoreItem, section: RunSection)>
  ) throws(LarderError) -> [ShownItem] {
    try shown(items.map { ListedItem(item: $0.item, section: $0.section) })
  }

  /// The end of the newest run with a good version of the section; nil when there is none.
  package func lastGood(_ key: String) throws(LarderError) -> UnixTime? {
    for run in try index.runs(catalog: catalog.id, finishedOnly: true, limit: 200) {
      let section = try index.sections(run: run.id).first { $0.key == key }
      if let section, section.listing != nil, !section.isStale, section.source != "failed" {
        return run.finished
      }
    }
    return nil
  }
}

// A server's queries of a catalog, one path or page at a time.
extension CatalogReader {
  /// The entry of the picture at a path in the cache; nil when there is none.
  package func picture(at path: String) throws(LarderError) -> PictureEntry? {
    try index.picture(at: path)
  }

  /// The URL of the picture that the catalog names and that belongs at a path in the cache; nil when it names none.
  package func url(ofPictureAt path: String) throws(LarderError) -> String? {
    let ids = try index.items(isPicturePath: path, catalog: catalog.id)
    guard !ids.isEmpty else { return nil }
    for section in try sections() {
      guard let listing = section.listing else { continue }
      for id in ids {
        let versions = try index.versions(of: id, listing: listing)
        let listed = try items(versions, of: listing).map {
          ListedItem(item: $0, section: section)
        }
        for image in try shown(listed).flatMap(\.pictures) where image.name.path == path {
          return image.url
        }
      }
    }
    return nil
  }

  /// The entry of a picture's square.
  package func square(of picture: PictureEntry, side: Int) throws(LarderError) -> SquareEntry? {
    try index.square(of: picture.id, side: side)
  }

  /// How many items a section lists.
  package func itemCount(of section: RunSection) throws(LarderError) -> Int {
    guard let listing = section.listing else { return 0 }
    return try index.itemCount(listing: listing)
  }

  /// Some of a section's items in the catalog's order.
  ///
  /// - Parameters:
  ///   - section: One of ``sections()``.
  ///   - first: How many to skip, without reading them.
  ///   - count: How many to read at most.
  /// - Returns: The items.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func items(
    of section: RunSection,
    from first: Int,
    count: Int
  ) throws(LarderError) -> [ShownItem] {
    guard let listing = section.listing, count > 0 else { return [] }
    let versions = try index.versions(listing: listing, from: first, count: count)
    return try shown(
      try items(versions, of: listing).map { ListedItem(item: $0, section: section) }
    )
  }
}

extension ShownPicture {
  /// Its path in the cache, whether it is held or not.
  package var name: PictureName { PictureName(url: url, id: PictureID(url: url)) }
}

extension Date {
  /// The moment as Foundation has it.
  package init(_ time: UnixTime) { self.init(timeIntervalSince1970: Double(time.seconds)) }
}
