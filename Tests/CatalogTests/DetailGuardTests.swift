import Testing

@testable import Catalog

/// Fields that all details lose at once, and configured paths that no detail has.
struct DetailGuardTests {
  /// The numbers of held details, of those with a new response, and of those that lost the field; whether a new one has it,
  /// whether any has it, and whether the field is lost.
  typealias Row = (Int, Int, Int, Bool, Bool, Bool)

  @Test(
    arguments: [
      (3, 3, 3, false, false, true), (3, 3, 2, false, false, true),
      (4, 4, 2, false, false, false), (2, 2, 2, false, false, false),
      (5, 5, 5, true, true, false), (5, 1, 1, false, true, false),
      (100, 9, 9, false, true, false), (100, 10, 10, false, true, true),
      (100, 10, 10, true, true, false), (100, 30, 15, false, true, false),
      (100, 29, 15, false, true, true), (0, 0, 0, false, false, false),
    ] as [Row]
  )
  func `a field is lost when most items had it and no evidence of it is left`(_ row: Row) {
    let isLost = DetailGuard.isLost(
      row.2,
      of: row.1,
      held: row.0,
      isInNew: row.3,
      isLeft: row.4
    )
    #expect(isLost == row.5)
  }

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
    #expect(try mapping(", description: $.text").given == [.description])
    #expect(
      try mapping(", images: {top: $.a, gallery: null}, notes: {point: $.p}, prices: $.c").given
        == [.images(.top), .note("point"), .prices]
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
