import Testing

@testable import Catalog

/// The details of items: their decoding, and the URLs that they are fetched from.
struct DetailTests {
  private static let fields = """
    {"top_image": "http://p.example/t.jpg", "thumb_images": ["http://p.example/t.jpg", "b.jpg"],
     "product_description": "소고기덮밥", "point": "52원", "delivery_info": "서울", "delivery_fee": 2500,
     "prices": ["6,500원", "5,200원"], "detail_section": ["c.jpg"]}
    """

  private func detail(_ body: String, id: String = "H1") throws -> ItemDetail {
    try decodeDetail(bytes(body), id: id, using: catalog("detail: {url: 'detail/{id}'}"))
  }

  @Test(
    arguments: [
      "{\"hash\": \"H1\", \"data\": \(fields)}", "{\"statusCode\": 200, \"body\": \(fields)}",
      "[{\"hash\": \"H0\", \"data\": {}}, {\"hash\": \"H1\", \"data\": \(fields)}]", fields,
    ])
  func `a detail is decoded in every envelope`(body: String) throws {
    let detail = try detail(body)

    #expect(detail.id == "H1")
    #expect(detail.description == "소고기덮밥")
    #expect(detail.prices.map(\.minorUnits) == [6500, 5200])
    #expect(detail.images.map(\.role) == [.top, .gallery, .gallery, .section])
    #expect(detail.images.map(\.url).last == "c.jpg")
    #expect(detail.notes == ["point": "52원", "delivery_info": "서울", "delivery_fee": "2500"])
  }

  @Test func `an empty detail section and a single price are accepted`() throws {
    let detail = try detail(
      #"{"hash": "H1", "data": {"detail_section": [], "prices": ["6,500원"], "point": null}}"#
    )

    #expect(detail.images == [])
    #expect(detail.prices.count == 1)
    #expect(detail.notes == [:])
  }

  @Test(
    arguments: [
      ("{}", CatalogError.Code.unexpectedShape),
      (#"{"hash": "H1", "data": {}}"#, .unexpectedShape),
      (#"{"hash": "H2", "data": {"point": "1"}}"#, .unexpectedShape), ("[]", .unexpectedShape),
      (#"[{"hash": "H2", "data": {}}, {"hash": "H3", "data": {}}]"#, .absentDetail),
      (#"[{"data": {"point": "1"}}, {"data": {"point": "2"}}]"#, .unexpectedShape),
      (#"{"statusCode": 500}"#, .reportedFailure), ("{", .malformedJSON),
      (#"{"hash": "H1", "data": {"prices": ["품절"]}}"#, .unexpectedShape),
      (#"{"hash": "H1", "data": {"top_image": 5}}"#, .unexpectedShape),
    ])
  func `a body that is not the item's detail is an error`(body: String, code: CatalogError.Code)
    throws
  {
    #expect {
      try detail(body)
    } throws: {
      let error = $0 as? CatalogError
      return error?.code == code && error?.description.hasPrefix("cannot read detail H1: ") == true
    }
  }

  @Test(
    arguments: [
      (#""prices": ["6,500원", "품절"]"#, ["prices"]), (#""prices": "-1""#, ["prices"]),
      (#""top_image": {"src": "t.jpg"}"#, ["top_image"]), (#""point": {}"#, ["point"]),
      (
        #""product_description": 5, "detail_section": [true]"#,
        ["product_description", "detail_section"]
      ),
    ])
  func `one invalid value costs its field, not the detail`(json: String, fields: [String]) throws {
    let detail = try detail(#"{"hash": "H1", "data": {"delivery_info": "서울", \#(json)}}"#)

    var rest = detail
    rest.lost = nil
    #expect(rest == ItemDetail(id: "H1", notes: ["delivery_info": "서울"]))
    #expect(detail.lost?.map(\.field) == fields)
    #expect(detail.lost?.allSatisfy { !$0.reason.isEmpty } == true)
  }

  @Test
  func
    `lost fields are stored with a detail and found without decoding details that lost nothing`()
    throws
  {
    let whole = ItemDetail(id: "H1", description: #","lost":[{"field":"x"}]"#)
    var partly = whole
    partly.lost = [
      LostField(field: "prices", reason: "\"-1\" is negative"), LostField(field: nil, reason: "r"),
    ]

    #expect(ItemDetail.lostFields(in: whole.encoded()) == [])
    #expect(ItemDetail.lostFields(in: partly.encoded()) == partly.lost)
    #expect(try ItemDetail(decoding: partly.encoded()) == partly)
    #expect(try ItemDetail(decoding: whole.encoded()) == whole)
  }

  @Test func `only the invalid one of many details fails`() throws {
    let body = """
      [{"hash": "H1", "data": {"point": "1"}}, {"hash": {}, "data": {"point": "2"}},
       {"hash": "H3", "data": {"prices": ["품절"]}}, {"data": {"point": "4"}},
       {"hash": 5, "data": {"point": "5"}}]
      """
    let file = try catalog("detail: {url: 'details'}")

    let decoded = try decodeDetails(bytes(body), using: file)

    #expect(decoded.details.map(\.id) == ["H1", "5"])
    #expect(decoded.unreadable.map(\.index) == [1, 2, 3])
    #expect(decoded.unreadable.map(\.id) == [nil, "H3", nil])
    #expect(try decodeDetail(bytes(body), id: "5", using: file).notes == ["point": "5"])
    #expect(throws: CatalogError.self) {
      try decodeDetails(bytes(#"[{"hash": {}, "data": {"point": "2"}}]"#), using: file)
    }
  }

  @Test(
    arguments: [
      ("H1", "d/H1/x"), ("a b/c?d", "d/a%20b%2Fc%3Fd/x"), ("...", "d/.../x"),
      ("../..", "d/..%2F../x"), ("%2e%2e", "d/%252e%252e/x"), ("한", "d/%ED%95%9C/x"),
      ("{id}", "d/%7Bid%7D/x"), ("a\u{1}", "d/a%01/x"),
    ])
  func `an id becomes one escaped segment of the URL`(id: String, url: String) {
    #expect(DetailRule(urlTemplate: "d/{id}/x").url(filling: [.id: id]) == url)
  }

  @Test(arguments: [
    ("d/{id}", "."), ("d/{id}", ".."), ("d/{id}/x", ".."), ("{id}", ".."), ("d/{id}?a=b", ".."),
    ("d/{id}#x", ".."), ("d/.{id}", "."), ("https://h.example/{id}", ".."), ("d/{id}{id}", "."),
  ])
  func `an id that would make a segment only of dots has no URL`(template: String, id: String) {
    #expect(DetailRule(urlTemplate: template).url(filling: [.id: id]) == nil)
  }

  @Test(arguments: [
    ("d?id={id}", "d?id=.."), ("d/{id}.json", "d/...json"), ("d/x{id}", "d/x.."),
    ("d#{id}", "d#.."),
  ])
  func `dots within a longer segment are kept`(template: String, url: String) {
    #expect(DetailRule(urlTemplate: template).url(filling: [.id: ".."]) == url)
  }

  @Test func `a template without a placeholder names one file for all items`() {
    #expect(DetailRule(urlTemplate: "details.json").isShared)
    #expect(!DetailRule(urlTemplate: "d/{id}").isShared)
  }

  @Test func `the first of two details with one id is read, and the second is reported`() throws {
    func details(_ second: String) throws -> DecodedDetails {
      let entries =
        #"{"hash": "a", "data": {"point": "1"}}, {"hash": "a", "data": {"point": "\#(second)"}}"#
      return try decodeDetails(bytes("[\(entries)]"), using: catalog("detail: {url: details}"))
    }

    for second in ["1", "2"] {
      let decoded = try details(second)
      #expect(decoded.details.map { $0.notes["point"] } == ["1"] && decoded.unreadable == [])
      #expect((decoded.details[0].lost != nil) == (second == "2"))
    }
  }
}
