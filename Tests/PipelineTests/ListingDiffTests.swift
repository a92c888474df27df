import Cache
import Support
import Testing

@testable import Catalog
@testable import Pipeline

/// The changes between random catalogs in the index, compared with those of the same catalogs in memory.
struct ListingDiffTests {
  private let index: Index
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
  }

  private func sections(_ random: inout SplitMix64, _ ids: Int) -> [Catalog.Section] {
    ["a", "b", "c"].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).map {
      key in
      let numbers = (0..<ids).shuffled(using: &random).prefix(
        Int.random(in: 0...ids, using: &random)
      )
      let items = numbers.map { number in
        var item = StoreItem(id: "김\(number)", title: "T")
        item.salePrice = Price(
          minorUnits: Int.random(in: 0...2, using: &random),
          currency: "KRW"
        )
        return item
      }
      return Catalog.Section(key: key, title: key, items: items)
    }
  }

  private func stored(_ sections: [Catalog.Section]) throws -> [RunSection] {
    try sections.map { section in
      RunSection(
        key: section.key,
        title: section.title,
        subtitle: nil,
        listing: try index.keepListing(
          section.items.map { NewItem(key: $0.id, body: $0.encoded(), pictures: []) }
        ),
        source: "network"
      )
    }
  }

  @Test(arguments: [2, 4, 12])
  func `the index has the same changes as a comparison in memory, in the same order`(
    _ ids: Int
  ) throws {
    var random = SplitMix64(UInt64(ids))
    for _ in 0..<200 {
      let (old, new) = (sections(&random, ids), sections(&random, ids))
      let (before, after) = (try stored(old), try stored(new))
      var found: [ChangedItem] = []
      let plain = CatalogDiff(from: old, to: new)
      let diff = try CatalogDiff(index, before: before, after: after)
      let told = try CatalogDiff(index, before: before, after: after) { change, _ in
        found.append(change)
      }
      func item(_ version: ItemVersion?) throws -> StoreItem? {
        guard let version, let body = try index.item(version: version) else { return nil }
        return try StoreItem(decoding: body)
      }
      let seen = try found.compactMap { change -> String? in
        let (old, new) = (try item(change.from), try item(change.to))
        let (from, to) = (old?.salePrice?.minorUnits, new?.salePrice?.minorUnits)
        guard from != to else { return nil }
        return "\(change.section) \((new ?? old)?.id ?? "") \(from ?? -1) \(to ?? -1)"
      }

      #expect(diff == plain && told == plain)
      func price(_ listing: CatalogDiff.Listing, in sections: [Catalog.Section]) -> Int {
        let items = sections.first { $0.key == listing.section }?.items ?? []
        return items.first { $0.id == listing.id }?.salePrice?.minorUnits ?? -1
      }
      let changed = plain.changed.filter { $0.field == "salePrice" }
        .map { "\($0.section) \($0.id) \($0.from ?? "-1") \($0.to ?? "-1")" }
      let added = plain.added.map { "\($0.section) \($0.id) -1 \(price($0, in: new))" }
      let removed = plain.removed.map { "\($0.section) \($0.id) \(price($0, in: old)) -1" }
      #expect(seen.filter { !$0.contains("-1") } == changed)
      #expect(seen.filter { $0.contains(" -1 ") } == added)
      #expect(seen.filter { $0.hasSuffix(" -1") } == removed)
    }
  }
}
