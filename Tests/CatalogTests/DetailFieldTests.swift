import Testing

@testable import Catalog

/// The fields of details that a catalog file gives paths for.
struct DetailFieldTests {
  private func mapping(_ detail: String) throws -> Mapping.Detail {
    let lines = [
      "name: shop", "currency: KRW", "base: http://h/", "sections: [{key: A, title: A, url: a}]",
      "detail: {url: \"detail/{id}\"\(detail)}",
    ]
    let file = try CatalogFile(parsing: bytes(lines.joined(separator: "\n")), file: "s.yaml")
    return try #require(file.mapping.detail)
  }

  @Test
  func `only the paths in the catalog file itself, not those of its format, are a detail's own`()
    throws
  {
    #expect(try mapping("").given.isEmpty)
    #expect(try mapping(", description: $.text").given.map(\.name) == ["detail.description"])
    #expect(
      try mapping(", images: {top: $.a, gallery: null}, notes: {point: $.p}, prices: $.c").given
        .map(\.name).sorted() == ["detail.images.top", "detail.notes.point", "detail.prices"]
    )
    #expect(
      try mapping(", description: $.text").fields.map(\.name).starts(with: [
        "detail.description", "detail.prices", "detail.images.top",
      ])
    )
  }

  @Test func `an empty list is stored for a field that is spelled out`() throws {
    let decoder = DetailDecoder(
      envelope: Mapping.Envelope(),
      mapping: try mapping(", images: {top: $.top, gallery: \"$.gallery[*]\"}, root: $"),
      currency: "KRW"
    )

    let detail = try decoder.detail(bytes(#"{"top": "t.jpg", "gallery": []}"#), id: "A")
    let none = try decoder.detail(bytes(#"{"top": "t.jpg", "gallery": null}"#), id: "A")

    #expect(detail.empty == ["detail.images.gallery"] && none.empty == nil)
    #expect(try ItemDetail(decoding: detail.encoded()) == detail)
    #expect(try ItemDetail(decoding: none.encoded()) == none)
    #expect(ItemDetail.lostFields(in: detail.encoded()).isEmpty)
    var torn = detail
    torn.lost = [LostField(field: "top", reason: "odd")]
    #expect(try ItemDetail(decoding: torn.encoded()) == torn)
    #expect(ItemDetail.lostFields(in: torn.encoded()) == torn.lost)
  }
}
