import Support
import Testing

@testable import Catalog

/// The changes between two versions of a catalog.
struct CatalogDiffTests {
  private func section(_ key: String, _ ids: String) -> Catalog.Section {
    Catalog.Section(key: key, title: key, items: items(ids.map(String.init)))
  }

  @Test func `the same catalog has no changes`() {
    let sections = [section("a", "xyz"), section("b", "x")]

    #expect(CatalogDiff(from: sections, to: sections).isEmpty)
  }

  @Test func `a first run adds everything`() {
    let diff = CatalogDiff(from: [], to: [section("a", "xy")])

    #expect(diff.added == [.init(section: "a", id: "x"), .init(section: "a", id: "y")])
    #expect(diff.removed.isEmpty && diff.changed.isEmpty)
  }

  @Test func `added and removed listings are reported by section`() {
    let diff = CatalogDiff(
      from: [section("a", "xy"), section("b", "x")],
      to: [section("a", "yz"), section("b", "x")]
    )

    #expect(diff.added == [.init(section: "a", id: "z")])
    #expect(diff.removed == [.init(section: "a", id: "x")])
    #expect(diff.changed.isEmpty)
  }

  @Test func `an item that moved to another section is still the same item`() {
    let diff = CatalogDiff(
      from: [section("a", "xy"), section("b", "z")],
      to: [section("a", "y"), section("b", "zx")]
    )

    #expect(diff.added.isEmpty && diff.removed.isEmpty)
    #expect(
      diff.changed == [.init(section: "b", id: "x", field: "section", from: "a", to: "b")]
    )
  }

  @Test(arguments: ["cba", "bca", "acb"])
  func `a new order within a section is no change`(new: String) {
    #expect(CatalogDiff(from: [section("a", "abc")], to: [section("a", new)]).isEmpty)
  }

  @Test func `each changed field is reported with both values`() {
    let old = StoreItem(
      id: "x",
      title: "t",
      badges: ["a"],
      salePrice: Price(minorUnits: 7000, currency: "KRW"),
      images: [
        ImageReference(role: .thumbnail, url: "1"), ImageReference(role: .gallery, url: "2"),
      ]
    )
    var new = old
    new.title = "u"
    new.description = "d"
    new.badges = ["a", "b"]
    new.deliveryTypes = ["q"]
    new.normalPrice = Price(minorUnits: 9000, currency: "KRW")
    new.salePrice = nil
    new.images = [
      ImageReference(role: .thumbnail, url: "3"), ImageReference(role: .gallery, url: "4"),
    ]

    let diff = CatalogDiff(
      from: [Catalog.Section(key: "a", title: "", items: [old])],
      to: [Catalog.Section(key: "a", title: "", items: [new])]
    )

    let expected: [(String, String?, String?)] = [
      ("title", "t", "u"), ("description", nil, "d"), ("badges", "a", "a, b"),
      ("deliveryTypes", nil, "q"), ("normalPrice", nil, "9000"), ("salePrice", "7000", nil),
      ("thumbnail", "1", "3"), ("images", "2", "4"),
    ]
    #expect(
      diff.changed
        == expected.map {
          .init(section: "a", id: "x", field: $0.0, from: $0.1, to: $0.2)
        }
    )
  }

  @Test
  func `another currency, address or place is a change, and a new price alone is none of them`() {
    func changes(_ change: (inout StoreItem) -> Void) -> [String] {
      let old = StoreItem(
        id: "x",
        title: "t",
        salePrice: Price(minorUnits: 1000, currency: "USD"),
        coordinate: Coordinate(latitude: 1, longitude: 2),
        address: "here"
      )
      var new = old
      change(&new)
      return CatalogDiff.changes(from: old, to: new, in: "a").map {
        "\($0.field) \($0.from ?? "-") \($0.to ?? "-")"
      }
    }

    #expect(
      changes { $0.salePrice = Price(minorUnits: 1000, currency: "EUR") } == ["currency USD EUR"]
    )
    #expect(changes { $0.salePrice = nil } == ["salePrice 1000 -"])
    #expect(changes { $0.address = nil } == ["address here -"])
    #expect(
      changes { $0.coordinate = Coordinate(latitude: 1, longitude: 3) } == ["longitude 2.0 3.0"]
    )
  }
}
