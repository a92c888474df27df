import Base
import Cache
import Catalog
import Foundation
import Pipeline
import Support

/// Compares the cache with the model.
extension SoakModel {
  /// Updates the model after a run, and compares it with the contents of the cache.
  mutating func compare(_ run: SoakRun, _ folder: TemporaryFolder) throws {
    let name = run.catalog.name
    let listings = settleListings(run)
    guard let reader = try? CatalogReader(cache: folder.path("cache"), catalog: name),
      let sections = try? reader.sections()
    else {
      // If the first run of a catalog fails there is no catalog.
      let isNeeded =
        shown[name] != nil
        || listings.contains { !$0.choices.isEmpty && !$0.choices.contains { $0.items.isEmpty } }
      if isNeeded, !run.wasCut { complaints.append("there is no catalog \(name) to be read") }
      settleUnseen(run)
      return
    }
    var seen: [SoakSection] = []
    var guarding = SoakCatalogGuard()
    var items: [ShownItem] = []
    for (key, choices) in listings {
      let list = sections.contains { $0.key == key } ? try reader.list(section: key) : []
      let shownItems = list.map { SoakItem($0.item) }
      let fitting = choices.filter { $0.items == shownItems }
      if fitting.isEmpty, !(choices.isEmpty && list.isEmpty) {
        complaints.append(
          "section \(key) shows \(shownItems.words), expected one of \(choices.map(\.items.words)), after "
            + "\(run.pages(of: key).joined(separator: "; ")); before: "
            + history.filter { $0.key.contains("/\(key)") || $0.key.hasSuffix("/all") }
            .map { "\($0.key): \($0.value)" }.joined(separator: "; ")
        )
      }
      guarding.add(fitting, before: shown[name]?.first { $0.key == key }?.items)
      seen.append(SoakSection(key: key, items: shownItems))
      items += list
    }
    // A section that the catalog file no longer names stays while another one is not read or is withheld, but without
    // items that others have.
    let isUnread =
      run.wasCut
      || run.report?.sections.contains { [.stale, .failed, .withheld].contains($0.source) } == true
    for key in sections.map(\.key) where !listings.contains(where: { $0.key == key }) {
      let list = try reader.list(section: key)
      let section = SoakSection(key: key, items: list.map { SoakItem($0.item) })
      let before = shown[name]?.first { $0.key == key }?.items ?? []
      if !isUnread || !Set(section.items).isSubset(of: before) {
        complaints.append("section \(key) shows \(section.items.words), but is no longer named")
      }
      guarding.others += before.count
      seen.append(section)
      items += list
    }
    if !run.wasCut, !run.allowsRemovals { complaints += guarding.complaints }
    shown[name] = seen
    let detailURLs = Set(items.map { SoakShop.detail(run.catalog, $0.item.id) })
    let pictureURLs = Set(items.flatMap(\.pictures).map(\.url))
    if run.wasCut { settleUnseen(run, except: detailURLs.union(pictureURLs)) }
    if run.catalog.hasDetails { settleDetails(detailURLs, run) }
    compareDetails(items, run)
    settlePictures(pictureURLs, optional: picturesOfMissing(items, run), run)
    try comparePictures(items, run, folder)
    compareRequests(run)
    try compareFiles(folder, mayHoldOthers: run.cut.map { $0.isCrash } ?? false)
  }

  /// Updates the model for resources that are not shown, but may be in the cache.
  private mutating func settleUnseen(_ run: SoakRun, except seen: Set<String> = []) {
    let urls = Set(run.exchanges.keys).subtracting(seen)
    settleDetails(
      urls.filter { $0.contains("/detail/") && !$0.hasPrefix("http://cdn.test/") },
      run
    )
    settlePictures(urls.filter { $0.contains(".test/p/") }, optional: [], run)
  }

  private mutating func compareDetails(_ items: [ShownItem], _ run: SoakRun) {
    for item in items where run.catalog.hasDetails {
      let url = SoakShop.detail(run.catalog, item.item.id)
      let shown = item.detail.map { SoakDetail($0) }
      let expected = details[url]?.values ?? [nil]
      if !expected.contains(shown) {
        complaints.append(
          "detail \(url) is \(shown as Any), expected \(expected); \(history[url] ?? [])"
        )
      }
      // The value that was uncertain is now known.
      if expected.count > 1 { details[url]?.values = [shown] }
    }
  }

  private mutating func comparePictures(
    _ items: [ShownItem],
    _ run: SoakRun,
    _ folder: TemporaryFolder
  ) throws {
    for image in Set(items.flatMap(\.pictures).map { Picture(url: $0.url, path: $0.path) }) {
      let bytes = try image.path.map { try folder.read("cache/\($0)") }
      let expected = (pictures[image.url]?.values ?? [nil])
        .union(pictures[image.url]?.strays.map(\.self) ?? [])
      if !expected.contains(bytes) {
        complaints.append(
          "\(image.url) is \(Self.words(bytes)), expected \(expected.map(Self.words))"
        )
      }
      if expected.count > 1 { pictures[image.url]?.values = [bytes] }
    }
  }

  /// The pictures that appear only in details that the origin may no longer have.
  private func picturesOfMissing(_ items: [ShownItem], _ run: SoakRun) -> Set<String> {
    let (missing, present) = (
      items.filter { details[SoakShop.detail(run.catalog, $0.item.id)]?.mayBeMissing == true },
      items.filter { details[SoakShop.detail(run.catalog, $0.item.id)]?.mayBeMissing != true }
    )
    func urls(_ items: [ShownItem]) -> [String] {
      items.flatMap { item in (item.detail?.images ?? []).map(\.url) }
    }
    let listed: [String] = items.flatMap { item in item.item.images.map(\.url) }
    return Set(urls(missing)).subtracting(urls(present)).subtracting(listed)
  }

  private struct Picture: Hashable {
    let url: String
    let path: String?
  }

  /// A description of a picture for messages: its name, version and size.
  private static func words(_ bytes: [UInt8]?) -> String {
    guard let bytes else { return "not held" }
    let text = bytes.dropFirst(4).prefix { $0 > 31 && $0 < 127 }
    return "\(String(decoding: text, as: UTF8.self).prefix(60)), \(bytes.count) bytes"
  }

  /// Checks that only URLs of the catalog, and the targets of their redirects, were requested.
  private mutating func compareRequests(_ run: SoakRun) {
    for (url, exchanges) in run.exchanges.sorted(by: { $0.key < $1.key }) {
      let isKnown =
        pages[url] != nil || details[url] != nil || pictures[url] != nil
        || url.hasPrefix("http://cdn.test/") || url == "http://shop.test/nowhere"
      if !isKnown, !run.wasCut {
        complaints.append("asked for \(url), which nothing names, \(exchanges.count) times")
      }
    }
  }

  /// Checks that the files of the cache are exactly those in its index, byte for byte.
  ///
  /// After an interrupted run there may be more files, because a crash can happen between a new
  /// file and its row.
  private mutating func compareFiles(
    _ folder: TemporaryFolder,
    mayHoldOthers: Bool = false
  ) throws {
    let report = try verify(folder)
    if mayHoldOthers { return }
    if !report.damaged.isEmpty || !report.missing.isEmpty {
      complaints.append("verify: \(report)")
    }
  }

  /// Sweeps the cache with a short grace period; pictures of a catalog must stay.
  mutating func sweep(_ folder: TemporaryFolder, at now: UnixTime) throws {
    var options = SweepOptions()
    options.grace = .seconds(86_400)
    let history: Int64 = 20 * 86_400
    options.history = .seconds(history)
    let report = try CacheGc(folder.path("cache"), options: options, now: now)
      .run(holder: "a test")
    let named = Set(shown.values.joined().flatMap(\.items).compactMap(\.picture)).union(
      shown.flatMap { name, sections in
        sections.flatMap(\.items).flatMap { item in
          let url = "http://shop.test/\(name)/detail/\(item.id)"
          return details[url]?.values.flatMap { $0?.pictures ?? [] } ?? []
        }
      }
    )
    for removal in report.plan.removals {
      let url = removal.picture.url
      if named.contains(url) { complaints.append("gc took \(url), which a catalog names") }
      pictures[url] = nil
    }
    // Pages that no kept run has read may be forgotten.
    for (url, held) in pages where held.term.map({ now.seconds - $0.since >= history }) ?? true {
      pages[url]?.values.insert(nil)
      pages[url]?.term = SoakTerm(held.term, or: nil)
    }
    // Details of items that no section lists may be removed as well.
    let listed = Set(
      shown.flatMap { name, sections in
        sections.flatMap(\.items).map { "http://shop.test/\(name)/detail/\($0.id)" }
      }
    )
    for url in details.keys where !listed.contains(url) {
      guard var held = details[url] else { continue }
      held.values.insert(nil)
      held.term = SoakTerm(held.term, or: nil)
      details[url] = held
    }
    try compareFiles(folder)
  }
}

extension [SoakItem] {
  /// The items for messages: id, title, price and the number of the picture.
  fileprivate var words: String {
    let items = map {
      "\($0.id) \($0.title?.count ?? 0) \($0.price ?? 0) \($0.picture?.split(separator: "/").last ?? "-")"
    }
    return "[\(items.joined(separator: ", "))]"
  }
}

extension SoakItem {
  /// An item as larder shows it.
  init(_ item: StoreItem) {
    self.init(
      id: item.id,
      title: item.title,
      price: item.salePrice?.minorUnits,
      picture: item.images.first?.url
    )
  }
}

extension SoakDetail {
  /// A detail as larder shows it.
  init(_ detail: ItemDetail) {
    self.init(
      id: detail.id,
      text: detail.description ?? "",
      pictures: detail.images.map(\.url)
    )
  }
}
