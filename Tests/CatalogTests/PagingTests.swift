import Testing

@testable import Catalog

struct PagingTests {
  private func listing(_ count: Int, next: String? = nil) -> DecodedListing {
    var listing = DecodedListing()
    listing.elementCount = count
    listing.nextPage = next
    return listing
  }

  @Test(
    arguments: [
      ("main", "main?page=1"), ("main?q=a", "main?q=a&page=1"),
      ("main?page=7&q=a", "main?q=a&page=1"),
      ("main#top", "main?page=1#top"), ("main?", "main?page=1"),
      ("main?pages=2", "main?pages=2&page=1"),
      ("https://s.example/a?x=1#f?g", "https://s.example/a?x=1&page=1#f?g"),
    ])
  func `the page number is a query parameter`(url: String, first: String) {
    #expect(PagingRule(step: .page, parameter: "page", first: 1).firstPage(of: url) == first)
  }

  @Test func `counted pages end at an empty page`() {
    let rule = PagingRule(step: .page, parameter: "p", first: 0, limit: 3)

    #expect(rule.nextPage(afterReading: 1, of: "m", last: "m", listing: listing(5)) == "m?p=1")
    #expect(rule.nextPage(afterReading: 2, of: "m", last: "m", listing: listing(5)) == "m?p=2")
    #expect(rule.nextPage(afterReading: 2, of: "m", last: "m", listing: listing(0)) == nil)
    #expect(rule.limit == 3)
  }

  @Test(
    arguments: [
      (#"{"items": [], "next": "m?p=2"}"#, "m?p=2"), (#"{"items": [], "next": null}"#, nil),
      (#"{"items": [], "next": ""}"#, nil), (#"{"items": []}"#, nil),
      (#"{"items": [], "next": 0}"#, nil),
    ] as [(String, String?)]
  )
  func `a body may name the next page`(body: String, next: String?) throws {
    let lines = "paging: {next: $.next}"
    let rule = try #require(try catalog(lines).paging)

    let listing = try decode(body, lines)

    #expect(rule.limit == 1000)
    #expect(rule.firstPage(of: "m") == "m")
    #expect(rule.nextPage(afterReading: 1, of: "m", last: "m", listing: listing) == next)
  }

  @Test func `the offset advances by the items received, not by those requested`() throws {
    let rule = try #require(
      try catalog("paging: {offset: skip, size: {name: limit, value: 30}}").paging
    )
    let first = rule.firstPage(of: "m?q=a")

    #expect(first == "m?q=a&limit=30&skip=0")
    let second = rule.nextPage(afterReading: 1, of: first, last: first, listing: listing(30))
    #expect(second == "m?q=a&limit=30&skip=30")
    let third = rule.nextPage(
      afterReading: 2,
      of: first,
      last: second ?? "",
      listing: listing(7)
    )
    #expect(third == "m?q=a&limit=30&skip=37")
    #expect(
      rule.nextPage(afterReading: 3, of: first, last: third ?? "", listing: listing(0)) == nil
    )
  }

  @Test func `the cursor in a body requests the next page`() throws {
    let lines = "paging: {cursor: after, from: $.page.end, size: {name: n, value: 2}}"
    let rule = try #require(try catalog(lines).paging)
    let body = #"{"items": [], "page": {"end": "a=b&c/é"}}"#

    let next = rule.nextPage(
      afterReading: 1,
      of: rule.firstPage(of: "m"),
      last: "m?n=2",
      listing: try decode(body, lines)
    )

    #expect(next == "m?n=2&after=a%3Db%26c%2F%C3%A9")
    let numbered = try decode(#"{"items": [], "page": {"end": 42}}"#, lines)
    let after = rule.nextPage(afterReading: 1, of: "m", last: "m?n=2", listing: numbered)
    #expect(after == "m?after=42")
    let last = try decode(#"{"items": [], "page": {"end": null}}"#, lines)
    #expect(rule.nextPage(afterReading: 2, of: "m", last: "m", listing: last) == nil)
  }

  @Test func `the page number and the page size may be parameters`() throws {
    let lines = "paging: {page: page, first: 1, size: {name: per_page, value: 100}}"
    let rule = try #require(try catalog(lines).paging)

    #expect(rule.firstPage(of: "m") == "m?per_page=100&page=1")
    #expect(throws: CatalogError.self) {
      try catalog("paging: {page: page, size: {name: per_page, value: 0}}")
    }
    #expect(try catalog("paging: {parameter: p}").paging?.fingerprint != rule.fingerprint)
    #expect(try catalog("\(lines)\n").paging?.fingerprint == rule.fingerprint)
  }

  @Test func `a Link header may name the next page`() throws {
    let rule = try #require(try catalog("paging: {link: true, limit: 7}").paging)

    #expect(rule == PagingRule(step: .link, limit: 7))
    #expect(
      rule.nextPage(afterReading: 1, of: "m", last: "m", listing: listing(1, next: "p2")) == "p2"
    )
  }

  @Test(
    "an offset counts the elements of the page, whatever the mapping makes of them",
    arguments: [
      ("items: '$.products[?@.stock > 0]'\nitem: {id: $.id, title: $.id}", 2),
      ("items: $.products\nrecords: select(.stock > 0)\nitem: {id: $.id, title: $.id}", 2),
      (
        "items: $.products\nrecords: '. as $p | .variants[] | .id'\nitem: {id: $.id, title: $.id}",
        2
      ),
      ("items: '$.products[*].variants[*]'\nitem: {id: $.id, title: $.id}", 2),
      (
        "transform: '{items: [.products[] | .variants[]]}'\nitems: $.items\nitem: {id: $.id, title: $.id}",
        2
      ),
    ]
  )
  func offsets(_ lines: String, _ count: Int) throws {
    let variants = #""variants": [{"id": "v1"}, {"id": "v2"}, {"id": "v3"}]"#
    let body =
      #"{"products": [{"id": "a", "stock": 0, \#(variants)}, {"id": "b", "stock": 1, \#(variants)}], "page": {"n": 1}}"#
    let lines = "\(lines)\npaging: {offset: skip}"
    let rule = try #require(try catalog(lines).paging)

    let next = rule.nextPage(afterReading: 1, of: "m", last: "m", listing: try decode(body, lines))

    #expect(next == "m?skip=\(count)")
  }

  @Test(
    "a list around the items that the shop does not count costs no items and ends",
    arguments: [
      (30, 20, "m?skip=20"), (3, 20, "m?skip=3"), (30, 0, nil as String?),
    ]
  )
  func groups(_ groups: Int, _ items: Int, _ next: String?) throws {
    let lists = (0..<groups).map { group in
      let own = group == 0 ? (0..<items).map { #"{"id": "i\#($0)"}"# } : []
      return #"{"items": [\#(own.joined(separator: ","))]}"#
    }
    let lines =
      "items: '$.groups[*].items[*]'\npaging: {offset: skip}\nitem: {id: $.id, title: $.id}"
    let rule = try #require(try catalog(lines).paging)
    let listing = try decode(
      #"{"groups": [\#(lists.joined(separator: ","))], "total": \#(items)}"#,
      lines
    )

    #expect(rule.nextPage(afterReading: 1, of: "m", last: "m", listing: listing) == next)
    #expect(listing.unfollowed(hasNextLink: false) == nil)
  }

  @Test func `an empty list ends a listing, though another path leads to a list`() throws {
    let lines =
      "items: ['$.results[*]', '$.recommended[*]']\npaging: {page: p}\nitem: {id: $.id, title: $.id}"
    let rule = try #require(try catalog(lines).paging)
    let listing = try decode(#"{"results": [], "recommended": [{"id": "a"}]}"#, lines)

    #expect(rule.nextPage(afterReading: 2, of: "m", last: "m?p=2", listing: listing) == nil)
    #expect(listing.sections[0].items.isEmpty)
  }

  @Test func `a page of which a filter leaves nothing is not the last, and an empty one is`()
    throws
  {
    let lines =
      "items: '$.products[?@.stock > 0]'\npaging: {page: p}\nitem: {id: $.id, title: $.id}"
    let rule = try #require(try catalog(lines).paging)
    func next(_ products: String) throws -> String? {
      let listing = try decode(#"{"products": [\#(products)], "total": 9}"#, lines)
      return rule.nextPage(afterReading: 1, of: "m", last: "m", listing: listing)
    }

    #expect(try next(#"{"id": "a", "stock": 0}"#) == "m?p=2")
    #expect(try next("") == nil)
  }
}
