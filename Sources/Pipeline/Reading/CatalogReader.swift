import Base
import Cache
import Catalog
import FoundationEssentials

/// A picture of an item, and its file in the cache.
public struct ShownPicture: Sendable, Hashable {
  /// Whether the picture is in the cache.
  public enum State: String, Sendable {
    /// The file is in the cache. It is possible that the last refresh failed.
    case held
    /// The picture could not be fetched.
    case failed
    /// The picture was not requested yet.
    case missing
  }

  /// The picture's role, for example the thumbnail of a list.
  public package(set) var role: ImageReference.Role
  /// The absolute URL of the picture.
  public package(set) var url: String
  /// The path of its file, relative to the cache; nil if the picture is not in the cache.
  package var path: String?
  /// The path of the cache.
  package var cache = ""
  /// The SHA-256 of its bytes in 64 hexadecimal digits; nil if the picture is not in the cache.
  public package(set) var sha256: String?
  /// Its size in bytes; nil if the picture is not in the cache.
  public package(set) var bytes: Int64?
  /// The media type of its bytes, such as `image/jpeg`; nil if the picture is not in the cache.
  public package(set) var type: String?
  /// Whether the picture is in the cache.
  public package(set) var state: State

  /// The path of its file, including that of the cache; nil if the picture is not in the cache.
  public var file: String? { path.map { CatalogReader.file($0, in: cache) } }
}

/// An item as a section lists it, with its detail and its pictures.
///
/// The detail is the document about one item, beyond its entry in the section.
///
/// The properties of ``item`` are also properties of this type:
///
///     for item in try shop.items() { print(item.title, item.thumbnail?.file ?? "–") }
@dynamicMemberLookup
public struct ShownItem: Sendable, Hashable, Identifiable {
  /// The item as its section lists it.
  public package(set) var item: StoreItem
  /// The keys of sections that list it.
  ///
  /// An item of a list has only the key of that list's section. An item that was read by its id has the keys of all its
  /// sections.
  public package(set) var sections: [String]
  /// Whether the item is from an earlier run, because its section could not be updated since.
  public package(set) var isStale: Bool
  /// Its detail; nil if the cache has none.
  public package(set) var detail: ItemDetail?
  /// The time since which the shop no longer has the detail; nil if the shop has it.
  package var detailSince: UnixTime?
  /// Its pictures.
  ///
  /// Those of the list come before those of the detail.
  public package(set) var pictures: [ShownPicture]
  /// Its lowest price in the 30 days up to the last sync; nil if it has no price.
  public package(set) var lowest30Days: LowestPrice?
  /// Its price over the last year.
  ///
  /// It is nil if the price did not change, or ``CatalogReader/withPriceLines(_:)`` was not called.
  package var priceLine: PriceLine?

  /// The id that the shop gives to the item.
  ///
  /// An item in two sections has the same id in both.
  public var id: String { item.id }
  /// The small picture of the list; nil if the item has no such picture.
  public var thumbnail: ShownPicture? { pictures.first { $0.role == .thumbnail } }

  /// A property of ``item``.
  public subscript<Value>(dynamicMember property: KeyPath<StoreItem, Value>) -> Value {
    item[keyPath: property]
  }
}

/// Reads a catalog from the cache, as the last sync left it.
///
/// No request is sent.
///
/// This works while a sync runs.
package struct CatalogReader: Sendable {
  /// The catalog that is read.
  package let catalog: CatalogEntry
  /// The cache's path.
  package let cache: String
  let index: Index
  /// The run whose catalog is read.
  ///
  /// If it is nil, the catalog of the last run is read.
  let past: RunEntry?
  /// Whether to read the lowest prices of items in 30 days.
  ///
  /// This takes 37 % of the time for reading a list.
  package var showsLowest = true

  /// Opens a cache for reading.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - name: The catalog's name; nil if the cache has only one catalog.
  ///   - moment: The catalog is read as it was at this time. Pass nil to read it as the last sync left it.
  /// - Throws: ``LarderError`` if there is no such cache or catalog, or no run that ended at or before `moment`.
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
    past = try moment.map { [catalog, index] moment throws(LarderError) in
      try Self.run(of: catalog, at: moment, index)
    }
  }

  /// Finds the last run of a catalog that ended at or before a moment.
  private static func run(
    of catalog: CatalogEntry,
    at moment: UnixTime,
    _ index: Index
  ) throws(LarderError) -> RunEntry {
    if let run = try index.lastRunTime(catalog: catalog.id, at: moment) { return run }
    let oldest = try index.oldestRunTime(catalog: catalog.id)?.finished
    throw LarderError(
      .empty,
      "cannot read \(catalog.name) as of \(moment.rfc3339): "
        + (oldest.map { "the oldest run that is kept ended at \($0.rfc3339)" }
          ?? "no sync of it has ended yet"),
      thing: catalog.name
    )
  }

  /// Whether the index can be read, even if no run has ended yet.
  package var isReadable: Bool { (try? index.catalogs()) != nil }

  /// The last run that ended.
  ///
  /// If the reader was made for an earlier moment, it is the last run that had ended by then.
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

  /// The sections as that run left them, in the catalog's order.
  package func sections() throws(LarderError) -> [RunSection] {
    try index.sections(run: try lastRun().id)
  }

  /// Reads the items of one section or of all sections, in the catalog's order.
  ///
  /// - Throws: ``LarderError`` if there is no such section.
  package func list(section key: String? = nil) throws(LarderError) -> [ShownItem] {
    var batches = try batches(section: key)
    var items: [ShownItem] = []
    while let batch = try batches.next() { items += batch }
    return items
  }

  /// Reads items in batches, so that a large catalog is never in memory as a whole.
  ///
  /// - Parameters:
  ///   - key: The key of the section. Pass nil to read all sections.
  ///   - query: The filter and the order of the items.
  /// - Returns: The batches.
  /// - Throws: ``LarderError`` if there is no such section.
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

  /// Adds details, pictures and lowest prices to items.
  package func shown(_ items: [ListedItem]) throws(LarderError) -> [ShownItem] {
    let details = try details(of: items)
    let lowest = try showsLowest ? lowestPrices(of: items) : items.map { _ in LowestPrice?.none }
    return try withImages(
      zip(items, lowest).map { listed, lowest in
        let (item, section) = listed
        return ShownItem(
          item: item,
          sections: [section.key],
          isStale: section.isStale,
          detail: details[item.id.exact].flatMap(\.decoded),
          detailSince: details[item.id.exact]?.since,
          pictures: [],
          lowest30Days: lowest
        )
      }
    )
  }

  /// The details of items, by the ids of the items.
  ///
  /// If the reader was made for an earlier moment, details that were fetched again since then are left out.
  private func details(
    of items: [ListedItem]
  ) throws(LarderError) -> [ExactText: DetailEntry] {
    let details = try index.details(catalog: catalog.id, items: items.lazy.map(\.item.id))
    guard let past, let ended = past.finished else { return details }
    let documents = try index.documents(details.values.map(\.document))
    return details.filter { (documents[$0.value.document]?.fetched).map { $0 <= ended } ?? false }
      .mapValues { detail in
        var detail = detail
        if let since = detail.since, since > ended { detail.since = nil }
        return detail
      }
  }

  /// Reads an item with the values of the first section that lists it; nil if no section does.
  package func show(_ id: String) throws(LarderError) -> ShownItem? {
    var first: ShownItem?
    var keys: [String] = []
    for section in try sections() {
      let listed = try items(id, in: section)
      if first == nil {
        first = try shown(listed.prefix(1).map { ($0, section) }).first
      }
      if !listed.isEmpty, !keys.contains(section.key) { keys.append(section.key) }
    }
    first?.sections = keys
    return first
  }

  /// Reads the items with an id in a section.
  func items(_ id: String, in section: RunSection) throws(LarderError) -> [StoreItem] {
    guard let listing = section.listing else { return [] }
    return try index.items(listing: listing, ids: [id]).storeItems()
  }

  /// The ids of items that are most similar to `id`, for a suggestion after a mistyped id.
  package func nearestIDs(to id: String) throws(LarderError) -> [String] {
    var ids: Set<String> = []
    for listing in try sections().compactMap(\.listing) {
      ids.formUnion(try index.itemKeys(listing: listing))
    }
    return nearest(3, to: id, in: ids.sorted())
  }

  /// The path of a file in a cache, including that of the cache.
  package static func file(_ path: String, in cache: String) -> String {
    cache.hasSuffix("/") ? cache + path : "\(cache)/\(path)"
  }

  /// The square versions of the cache's pictures in one size.
  ///
  /// The keys are URLs of pictures, and the values are paths in the cache. Squares that were made from other bytes than
  /// those in the cache are left out, because they can show another picture.
  package func squares(side: Int) throws(LarderError) -> [String: String] {
    let found = try index.currentSquares(side: side).map { ($0.identity, $0.square.name) }
    return Dictionary(found) { first, _ in first }
  }

  /// The last runs of the catalog, newest first.
  package func runs(limit: Int = 20) throws(LarderError) -> [RunEntry] {
    try index.runs(catalog: catalog.id, limit: limit)
  }

  /// The changes between two runs that ended.
  ///
  /// - Parameters:
  ///   - old: The earlier run. If it is nil, the run before `new` is used.
  ///   - new: The later run. If it is nil, the last run is used.
  /// - Returns: The difference.
  /// - Throws: ``LarderError`` if there is no such run.
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
      catalog: catalog.name,
      old: first,
      new: last.id,
      items: try CatalogDiff(index, before: before ?? [], after: index.sections(run: last.id))
    )
    diff.pictures = try index.pictureChanges(after: first ?? 0, through: last.id)
    // Pictures that were removed after the newest run count as changes of that run.
    let isNewest = try last.id == lastRun().id
    let began = try first.flatMap { id throws(LarderError) in try run(id).finished }
    diff.removed = try index.tombstones(
      after: began ?? 0,
      through: isNewest ? .distantFuture : last.finished ?? .distantFuture
    )
    return diff
  }

  /// The same pictures as the index has them now.
  ///
  /// If the reader was made for an earlier moment, they are returned unchanged.
  func current(_ pictures: [ShownPicture]) throws(LarderError) -> [ShownPicture] {
    guard past == nil else { return pictures }
    return zip(pictures, try rows(of: pictures)).map { picture, row in
      ShownPicture(ImageReference(role: picture.role, url: picture.url), row, cache: cache)
    }
  }

  /// The stamps that the files of pictures have in the index.
  ///
  /// One is nil if the index no longer has the picture's bytes.
  func stamps(of pictures: [ShownPicture]) throws(LarderError) -> [FileStamp?] {
    zip(pictures, try rows(of: pictures)).map { picture, row in
      row?.sha256.map(Hexadecimal.text) == picture.sha256 ? row?.stamp : nil
    }
  }

  /// The rows of pictures; nil for those without one.
  private func rows(of pictures: [ShownPicture]) throws(LarderError) -> [PictureEntry?] {
    var (rows, rest) = ([PictureEntry?](), pictures[...])
    while !rest.isEmpty {
      let ids = rest.prefix(Self.batch).map { PictureID(url: $0.url) }
      rest = rest.dropFirst(ids.count)
      let entries = try index.pictures(ids)
      rows += ids.map { entries[$0] }
    }
    return rows
  }

  /// The number of pictures to read in one transaction, so that a sync need not wait for long.
  private static let batch = 4096

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
      // Leave out a picture if its bytes were replaced after that time, because the cache no longer has the earlier
      // bytes.
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
  /// Whether the items are from an earlier run, because the last run could not fetch the section, or a guard rejected
  /// its new items.
  package var isStale: Bool {
    source == SyncReport.Source.stale.rawValue || source == SyncReport.Source.withheld.rawValue
  }
}

extension DetailEntry {
  /// The cached detail, current or not; nil if the cache has no detail, or if the detail cannot be read.
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
    // The row can be that of another picture with the same key.
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

/// Queries for callers that keep all items in memory, and read details and pictures only to show them.
extension CatalogReader {
  /// Reads the items of a section in its order, without details.
  package func storeItems(in section: RunSection) throws(LarderError) -> [StoreItem] {
    guard let listing = section.listing else { return [] }
    var items: [StoreItem] = []
    try index.forEachBatch(of: listing) { records throws(LarderError) in
      items += try records.storeItems()
    }
    return items
  }

  /// The end of the newest run that left the section current; nil if no run did.
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

// Queries for the server, each for one path or page.
extension CatalogReader {
  /// The row of the picture at a path in the cache; nil if there is no such row.
  package func picture(at path: String) throws(LarderError) -> PictureEntry? {
    try index.picture(at: path)
  }

  /// Whether an item or a detail of the catalog shows a picture.
  package func shows(_ picture: PictureEntry) throws(LarderError) -> Bool {
    try index.isShown(picture.id, in: lastRun().id, of: catalog.id)
  }

  /// The row of a picture's square version; nil if there is no such row.
  package func square(of picture: PictureEntry, side: Int) throws(LarderError) -> SquareEntry? {
    try index.square(of: picture.id, side: side)
  }

  /// The number of items that a section lists.
  package func itemCount(of section: RunSection) throws(LarderError) -> Int {
    guard let listing = section.listing else { return 0 }
    return try index.itemCount(listing: listing)
  }

  /// Reads some of a section's items, in the catalog's order.
  ///
  /// - Parameters:
  ///   - section: One of ``sections()``.
  ///   - first: The number of items to skip. They are not read.
  ///   - count: The maximum number of items to read.
  /// - Returns: The items.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func items(
    of section: RunSection,
    from first: Int,
    count: Int
  ) throws(LarderError) -> [ShownItem] {
    guard let listing = section.listing, count > 0 else { return [] }
    let items = try index.items(listing: listing, from: first, count: count).storeItems()
    return try shown(items.map { ($0, section) })
  }
}

extension ShownPicture {
  /// The path that its file has in the cache, even if the picture is not in the cache.
  package var name: PictureName { PictureName(url: url, id: PictureID(url: url)) }
}

extension Date {
  /// Converts a time to a Foundation date.
  package init(_ time: UnixTime) { self.init(timeIntervalSince1970: Double(time.seconds)) }
}
