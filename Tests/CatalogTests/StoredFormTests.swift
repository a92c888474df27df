import FoundationEssentials
import Testing

@testable import Catalog

struct StoredFormTests {
  private static let item = StoreItem(
    id: "H1",
    title: "규동 \"250g\"\\\n\u{1F}\0",
    description: "d",
    badges: ["a", "b"],
    deliveryTypes: ["새벽배송"],
    normalPrice: Price(minorUnits: 7000, currency: "KRW"),
    salePrice: Price(minorUnits: -1, currency: "KRW"),
    images: [ImageReference(role: .gallery, url: "a b.jpg")]
  )

  @Test(arguments: [item, StoreItem(id: "", title: "")])
  func `an item survives its stored form`(item: StoreItem) throws {
    #expect(try StoreItem(decoding: item.encoded()) == item)
  }

  @Test func `the stored form is the one that Codable reads and writes`() throws {
    let detail = ItemDetail(id: "H1", notes: ["point": "1"])

    #expect(try JSONDecoder().decode(StoreItem.self, from: Data(Self.item.encoded())) == Self.item)
    #expect(try StoreItem(decoding: Array(JSONEncoder().encode(Self.item))) == Self.item)
    #expect(try JSONDecoder().decode(ItemDetail.self, from: Data(detail.encoded())) == detail)
    #expect(try ItemDetail(decoding: Array(JSONEncoder().encode(detail))) == detail)
  }

  @Test func `a stored item leaves out what is absent`() {
    let text = String(decoding: StoreItem(id: "H1", title: "t").encoded(), as: UTF8.self)

    #expect(text == #"{"id":"H1","title":"t","badges":[],"deliveryTypes":[],"images":[]}"#)
  }

  @Test func `a detail survives its stored form, whatever the order of its notes`() throws {
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

  @Test(arguments: [
    "", "[]", "{}", #"{"id":"a","title":5}"#, #"{"id":"a","title":"t","badges":[1]}"#,
  ])
  func `damaged bytes are refused`(text: String) {
    #expect(throws: CatalogError.self) { try StoreItem(decoding: bytes(text)) }
    #expect(throws: CatalogError.self) { try ItemDetail(decoding: bytes(text)) }
  }
}
