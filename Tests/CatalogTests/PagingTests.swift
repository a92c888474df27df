import Testing

@testable import Catalog

struct PagingTests {
  private func listing(_ count: Int, next: String? = nil) -> DecodedListing {
    DecodedListing(sections: [], elementCount: count, nextPage: next)
  }

  @Test(
    arguments: [
      ("main", "main?page=1"), ("main?q=a", "main?q=a&page=1"),
      ("main?page=7&q=a", "main?q=a&page=1"),
      ("main#top", "main?page=1#top"), ("main?", "main?page=1"),
      ("main?pages=2", "main?pages=2&page=1"),
      ("https://s.example/a?x=1#f?g", "https://s.example/a?x=1&page=1#f?g"),
    ])
  func `the page is a query parameter`(url: String, first: String) {
    #expect(PagingRule.parameter(name: "page", first: 1, limit: 9).firstPage(of: url) == first)
  }

  @Test func `counted pages end at an empty one`() {
    let rule = PagingRule.parameter(name: "p", first: 0, limit: 3)

    #expect(rule.nextPage(afterReading: 1, of: "m", listing: listing(5)) == "m?p=1")
    #expect(rule.nextPage(afterReading: 2, of: "m", listing: listing(5)) == "m?p=2")
    #expect(rule.nextPage(afterReading: 2, of: "m", listing: listing(0)) == nil)
    #expect(rule.limit == 3)
  }

  @Test(
    arguments: [
      (#"{"items": [], "next": "m?p=2"}"#, "m?p=2"), (#"{"items": [], "next": null}"#, nil),
      (#"{"items": [], "next": ""}"#, nil), (#"{"items": []}"#, nil),
      (#"{"items": [], "next": 2}"#, nil),
    ] as [(String, String?)]
  )
  func `a body may name the page that follows`(body: String, next: String?) throws {
    let lines = "paging: {next: $.next}"
    let rule = try #require(try catalog(lines).paging)

    let listing = try decode(body, lines)

    #expect(rule.limit == 1000)
    #expect(rule.firstPage(of: "m") == "m")
    #expect(rule.nextPage(afterReading: 1, of: "m", listing: listing) == next)
  }
}
