import Support
import Testing

@testable import Catalog

/// The changes between random listings, compared with those of a simple reference.
struct CatalogDiffPropertyTests {
  /// A repeatable random generator: xorshift, by George Marsaglia.
  private struct Chance {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
  }

  private func sections(_ chance: inout Chance, _ ids: Int) -> [Catalog.Section] {
    ["a", "b", "c"].prefix(1 + chance.below(3)).map { key in
      let names = (0..<chance.below(9)).map { _ in
        ["x", "y\u{1F}", "김"][chance.below(3)] + "\(chance.below(ids))"
      }
      let items = Set(names).sorted().map { id in
        var item = StoreItem(id: id, title: "T")
        item.normalPrice = Price(minorUnits: chance.below(3), currency: "KRW")
        return item
      }
      return Catalog.Section(key: key, title: key, items: items)
    }
  }

  @Test(arguments: [2, 4, 30])
  func `the changes are those of a comparison of whole listings`(ids: Int) {
    var chance = Chance(state: 88_172_645_463_325_252)
    for _ in 0..<2000 {
      let (old, new) = (sections(&chance, ids), sections(&chance, ids))

      let diff = CatalogDiff(from: old, to: new)
      let plain = PlainDiff(from: old, to: new)

      #expect(diff.added == plain.added)
      #expect(diff.removed == plain.removed)
      #expect(diff.changed.map { "\($0.section) \($0.id) \($0.field)" } == plain.changed)
    }
  }
}

/// The reference comparison, by dictionaries of whole listings: slow but easy to verify.
private struct PlainDiff {
  private struct Placement {
    let listing: CatalogDiff.Listing
    let item: StoreItem
  }

  private(set) var added: [CatalogDiff.Listing] = []
  private(set) var removed: [CatalogDiff.Listing] = []
  private(set) var changed: [String] = []

  init(from old: [Catalog.Section], to new: [Catalog.Section]) {
    let (before, after) = (Self.placements(old), Self.placements(new))
    let still = Set(after.map(\.listing))
    var departed = before.filter { !still.contains($0.listing) }
    for placement in after {
      let source: Placement
      if let same = before.first(where: { $0.listing == placement.listing }) {
        source = same
      } else if let place = departed.firstIndex(where: { $0.item.id == placement.item.id }) {
        source = departed.remove(at: place)
        changed.append("\(placement.listing.section) \(placement.item.id) section")
      } else {
        added.append(placement.listing)
        continue
      }
      if source.item.normalPrice != placement.item.normalPrice {
        changed.append("\(placement.listing.section) \(placement.item.id) normalPrice")
      }
    }
    removed = departed.map(\.listing)
  }

  private static func placements(_ sections: [Catalog.Section]) -> [Placement] {
    sections.flatMap { section in
      section.items.map { item in
        Placement(listing: CatalogDiff.Listing(section: section.key, id: item.id), item: item)
      }
    }
  }
}
