import Testing

@testable import Catalog

/// The findings of `larder catalog check` about one section.
struct SectionCheckTests {
  private static let lines = """
    items: $.items
    item:
      id: $.id
      title: $.name
      normalPrice: $.was
      salePrice: $.price
      images: {thumbnail: $.img}
    """

  private static func check(_ items: String, _ lines: String = Self.lines) throws -> SectionCheck {
    let file = try catalog(lines, currency: "EUR")
    let listing = try decodeSource(bytes("{\"items\": [\(items)]}"), at: 0, using: file)
    return SectionCheck(listing.sections[0], of: listing, mapping: file.mapping)
  }

  private static let sound = #"{"id": 1, "name": "A", "was": 9, "price": 8.5, "img": "/a.jpg"}"#

  @Test func `a sound section has counts and no findings`() throws {
    let check = try Self.check(Self.sound)

    #expect(check.findings == [])
    #expect(
      check.fields.map { "\($0.name) \($0.items)" } == [
        "id 1", "title 1", "normalPrice 1", "salePrice 1", "images.thumbnail 1",
      ]
    )
  }

  @Test(arguments: [
    (#"{"id": 2, "name": "B", "price": 9.5, "was": 9}"#, CatalogFinding.Code.saleAboveNormal, "2"),
    (#"{"id": 1, "name": "B", "price": 1}"#, .duplicateID, "1"),
    (#"{"id": 2, "name": "B", "img": "https://s.example/p/2.html"}"#, .pictureIsPage, "2"),
    (#"{"id": 2, "price": 1}"#, .itemSkipped, "2"),
    (#"{"id": 2, "name": "B", "price": "soon"}"#, .fieldLost, "2"),
  ])
  func `an item that looks wrong is a finding with its id`(
    _ item: String,
    _ code: CatalogFinding.Code,
    _ id: String
  ) throws {
    let check = try Self.check("\(Self.sound), \(item)")

    #expect(check.findings.map(\.code) == [code])
    #expect(check.findings.first?.count == 1)
    #expect(check.findings.first?.examples == [id])
  }

  @Test(arguments: [(1, true), (12, false)])
  func `a section of which a sync reads too little has a reason`(
    _ count: Int,
    _ isRefused: Bool
  ) throws {
    let sound = (1...count).map { #"{"id": \#($0), "name": "A"}"# }.dropLast(count == 1 ? 1 : 0)
    let check = try Self.check((sound + [#"{"id": 99}"#]).joined(separator: ", "))

    #expect((check.refusal != nil) == isRefused)
    #expect(check.refusal?.contains("1 of 1 items cannot be read") ?? true)
  }

  @Test(arguments: [(2, 30, 3, true), (30, 0, 3, false), (30, 30, 0, false)])
  func `repeated ids are neither unreadable nor further items, as in a sync`(
    _ count: Int,
    _ repeats: Int,
    _ unread: Int,
    _ isRefused: Bool
  ) throws {
    let items =
      (1...count).map { #"{"id": \#($0), "name": "A"}"# }
      + (0..<repeats).map { #"{"id": 1, "name": "B\#($0)"}"# }
      + (0..<unread).map { #"{"id": \#($0 + 90)}"# }
    let file = try catalog(Self.lines, currency: "EUR")
    var listing = try decodeSource(
      bytes("{\"items\": [\(items.joined(separator: ","))]}"),
      at: 0,
      using: file
    )

    let check = SectionCheck(listing.sections[0], of: listing, mapping: file.mapping)
    listing.dropRepeats()
    let afterwards = SectionCheck(listing.sections[0], of: listing, mapping: file.mapping)

    #expect(listing.skipped.count { $0.reason == SkippedItem.duplicateID } == repeats)
    #expect([check.skipped, afterwards.skipped] == [unread, unread])
    #expect([check.refusal != nil, afterwards.refusal != nil] == [isRefused, isRefused])
  }

  @Test func `an item with two pictures that fail counts once`() {
    let findings = ["1", "1", "2"].map { id in
      CatalogFinding(.pictureFails, field: "images", count: 1, message: "fail", examples: [id])
    }

    let joined = CatalogFinding.joined(ofItems: findings)

    #expect(joined.map(\.count) == [2])
    #expect(joined.first?.examples == ["1", "2"])
  }

  @Test func `a path to values that cannot be read is no path without a value`() throws {
    let items = (1...3).map {
      #"{"id": \#($0), "name": "A", "price": 5, "was": "-\#($0)", "img": "/a.jpg"}"#
    }

    let check = try Self.check(items.joined(separator: ","))

    #expect(check.findings.map(\.code) == [.fieldLost])
  }

  @Test func `a path without a value is a finding`() throws {
    let check = try Self.check(Self.sound, Self.lines.replacing("$.was", with: "$.wass"))

    #expect(check.findings.map(\.code) == [.neverMatches])
    #expect(check.findings.first?.field == "normalPrice")
    #expect(check.findings.first?.message.contains("$.wass") == true)
  }

  @Test(arguments: [("$.price", true), ("{path: $.price, minorUnits: true}", false)])
  func `prices in cents that are read as whole units are a finding`(
    _ rule: String,
    _ isFound: Bool
  ) throws {
    let items = [1999, 2499, 995].enumerated().map {
      #"{"id": \#($0), "name": "A\#($0)", "was": 5000, "price": \#($1), "img": "/a.jpg"}"#
    }

    let file = try catalog(
      Self.lines.replacing("salePrice: $.price", with: "salePrice: \(rule)"),
      currency: "EUR"
    )
    let body = bytes("{\"items\": [\(items.joined(separator: ","))]}")

    let findings = file.priceFindings(in: body, ofSource: 0)

    #expect(findings.contains { $0.code == .minorUnits } == isFound)
  }

  @Test(arguments: [
    ("\"21990.00\"", "BRL"), ("21990.5", "EUR"), ("21990", "ARS"), ("21990", "NGN"),
  ])
  func `prices with decimals, and customarily large ones, are not taken for cents`(
    _ price: String,
    _ currency: String
  ) throws {
    let items = (0...3).map { #"{"id": \#($0), "name": "A", "price": \#(price)}"# }
    let file = try catalog(Self.lines, currency: currency)
    let body = bytes("{\"items\": [\(items.joined(separator: ","))]}")

    #expect(file.priceFindings(in: body, ofSource: 0) == [])
  }

  @Test(arguments: [
    ("", #", "total": 9, "skip": 0"#, [CatalogFinding.Code.morePages]),
    ("", #", "totalCount": 9"#, [.morePages]), ("", #", "total": 2"#, []),
    ("", "", []),
    ("paging: {offset: skip}", #", "total": 9, "skip": 0"#, []),
    ("paging: {page: p, size: {name: n, value: 1}}", "", [.pageSize]),
  ])
  func `an unconfigured next page, or more items than requested, is a finding`(
    _ paging: String,
    _ around: String,
    _ codes: [CatalogFinding.Code]
  ) throws {
    let file = try catalog("\(Self.lines)\n\(paging)", currency: "EUR")
    let body = bytes(
      "{\"items\": [\(Self.sound), \(Self.sound.replacing("1,", with: "2,"))]\(around)}"
    )
    let listing = try decodeSource(body, at: 0, using: file)

    let findings = listing.pageFindings(of: body, paging: file.paging, hasNextLink: false)

    #expect(findings.map(\.code) == codes)
  }
}
