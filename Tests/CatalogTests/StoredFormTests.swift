import FoundationEssentials
import Testing

@testable import Catalog

/// The form in which the index stores items and details.
struct StoredFormTests {
  private static let item = StoreItem(
    id: "H1",
    title: "규동 \"250g\"\\\n\u{1F}",
    description: "d",
    badges: ["a", "b"],
    deliveryTypes: ["새벽배송"],
    normalPrice: Price(minorUnits: 7000, currency: "KRW"),
    salePrice: Price(minorUnits: -1, currency: "KRW"),
    images: [ImageReference(role: .gallery, url: "a b.jpg")]
  )

  @Test(arguments: [item, StoreItem(id: "", title: "")])
  func `an item reads back from its stored form`(item: StoreItem) throws {
    #expect(try StoreItem(decoding: item.encoded()) == item)
  }

  @Test func `the stored form equals that of Codable`() throws {
    let detail = ItemDetail(id: "H1", notes: ["point": "1"])

    #expect(try JSONDecoder().decode(StoreItem.self, from: Data(Self.item.encoded())) == Self.item)
    #expect(try StoreItem(decoding: Array(JSONEncoder().encode(Self.item))) == Self.item)
    #expect(try JSONDecoder().decode(ItemDetail.self, from: Data(detail.encoded())) == detail)
    #expect(try ItemDetail(decoding: Array(JSONEncoder().encode(detail))) == detail)
  }

  @Test func `a stored item omits absent fields`() {
    let text = String(decoding: StoreItem(id: "H1", title: "t").encoded(), as: UTF8.self)

    #expect(text == #"{"id":"H1","title":"t","badges":[],"deliveryTypes":[],"images":[]}"#)
  }

  @Test func `a detail reads back from its stored form, whatever the order of its notes`() throws {
    let names = (0..<50).map { "note\($0)" }
    var one = ItemDetail(
      id: "H1",
      description: "d",
      prices: [Price(minorUnits: 1, currency: "KRW")],
      images: [ImageReference(role: .top, url: "u")]
    )
    var other = one
    for name in names { one.notes[name] = "x" }
    for name in names.reversed() { other.notes[name] = "x" }

    #expect(one.encoded() == other.encoded())
    #expect(try ItemDetail(decoding: one.encoded()) == one)
  }

  /// The forms of each earlier larder, and one with members of a possible later version.
  @Test(
    arguments: [
      // The first version, without a coordinate.
      (
        #"{"id":"H1","title":"t","description":"d","badges":["a"],"deliveryTypes":["b"],"#
          + #""normalPrice":{"minorUnits":7000,"currency":"KRW"},"#
          + #""salePrice":{"minorUnits":6500,"currency":"KRW"},"#
          + #""images":[{"role":"thumbnail","url":"u"}]}"#, nil
      ),
      // With a coordinate.
      (
        #"{"id":"H1","title":"t","description":"d","badges":["a"],"deliveryTypes":["b"],"#
          + #""normalPrice":{"minorUnits":7000,"currency":"KRW"},"#
          + #""salePrice":{"minorUnits":6500,"currency":"KRW"},"coordinate":"37.5 127.0","#
          + #""images":[{"role":"thumbnail","url":"u"}]}"#, Coordinate(text: "37.5 127.0")
      ),
      // With an unknown member.
      (
        #"{"version":9,"id":"H1","title":"t","description":"d","badges":["a"],"#
          + #""deliveryTypes":["b"],"normalPrice":{"minorUnits":7000,"currency":"KRW","scale":2},"#
          + #""salePrice":{"minorUnits":6500,"currency":"KRW"},"stock":{"left":[1]},"#
          + #""images":[{"role":"thumbnail","url":"u","width":9}]}"#, nil
      ),
    ] as [(String, Coordinate?)]
  )
  func `an item of an earlier or later larder is read`(_ text: String, _ place: Coordinate?)
    throws
  {
    let item = try StoreItem(decoding: bytes(text))

    #expect(
      item
        == StoreItem(
          id: "H1",
          title: "t",
          description: "d",
          badges: ["a"],
          deliveryTypes: ["b"],
          normalPrice: Price(minorUnits: 7000, currency: "KRW"),
          salePrice: Price(minorUnits: 6500, currency: "KRW"),
          coordinate: place,
          images: [ImageReference(role: .thumbnail, url: "u")]
        )
    )
  }

  /// The forms of the first version, of the present one and of a possible later one.
  @Test(
    arguments: [
      ("}", nil), (#","lost":[{"field":"prices","reason":"r"}]}"#, "prices"),
      (#","lost":[{"field":"prices","reason":"r","row":1}],"video":"v"}"#, "prices"),
    ] as [(String, String?)]
  )
  func `a detail of an earlier or later larder is read`(_ end: String, _ lost: String?) throws {
    let text =
      #"{"id":"H1","description":"d","prices":[{"minorUnits":1,"currency":"KRW"}],"#
      + #""images":[{"role":"top","url":"u"}],"notes":{"point":"1"}"# + end

    let detail = try ItemDetail(decoding: bytes(text))

    #expect(detail.id == "H1" && detail.description == "d" && detail.notes == ["point": "1"])
    #expect(detail.prices == [Price(minorUnits: 1, currency: "KRW")])
    #expect(detail.images == [ImageReference(role: .top, url: "u")])
    #expect(detail.lost?.map(\.field) == lost.map { [$0] })
  }

  @Test(arguments: ["nan 1", "91.0 0.0", "0.0 -180.5", "inf inf", "1", "1 2 3", ""])
  func `an invalid stored coordinate is nil`(_ text: String) {
    #expect(Coordinate(text: text) == nil)
  }

  @Test func `a truncated stored form is refused, and a changed one never traps`() {
    let detail = ItemDetail(
      id: "H1",
      description: "d",
      prices: [Price(minorUnits: 1, currency: "KRW")],
      images: [ImageReference(role: .top, url: "u")],
      notes: ["point": "1"]
    )
    for whole in [Self.item.encoded(), detail.encoded()] {
      for place in whole.indices {
        let cut = Array(whole[..<place])
        #expect(throws: CatalogError.self) { try StoreItem(decoding: cut) }
        #expect(throws: CatalogError.self) { try ItemDetail(decoding: cut) }
        for bit in 0..<8 {
          var flipped = whole
          flipped[place] ^= 1 << bit
          // Both results are allowed: a changed letter in a title cannot be detected.
          _ = try? StoreItem(decoding: flipped)
          _ = try? ItemDetail(decoding: flipped)
          _ = ItemDetail.lostFields(in: flipped)
        }
      }
    }
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"id":"a","title":5}"#, #"{"id":"a","title":"t","badges":[1]}"#,
  ])
  func `damaged bytes are refused`(text: String) {
    #expect(throws: CatalogError.self) { try StoreItem(decoding: bytes(text)) }
    #expect(throws: CatalogError.self) { try ItemDetail(decoding: bytes(text)) }
  }
}
