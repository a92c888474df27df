import Testing

@testable import Catalog

/// The catalog file that is proposed for several responses, with details and with a tested paging.
struct ProposedFileTests {
  private static func page(_ body: String, _ url: String) -> ProposedPage {
    ProposedPage(body: bytes(body), source: ProposedSource(url: url))
  }

  private static func list(_ ids: String..., rest: String = "") -> String {
    ids.map { #"{"id": "\#($0)", "slug": "s-\#($0)", "name": "Cup \#($0)", "price": 3\#(rest)}"# }
      .joined(separator: ",")
  }

  // MARK: - Several listings

  @Test(arguments: [
    (
      ["https://a.example/v1/main", "https://a.example/v1/soup"], "https://a.example/v1/",
      ["main main", "soup soup"]
    ),
    (
      ["https://a.example/x/cups/products.json", "https://a.example/x/mugs/products.json"],
      "https://a.example/x/", ["cups cups/products.json", "mugs mugs/products.json"]
    ),
    (
      ["https://a.example/list?kind=cups", "https://a.example/list?kind=mugs"],
      "https://a.example/", ["cups list?kind=cups", "mugs list?kind=mugs"]
    ),
    (
      ["https://a.example/main", "https://b.example/main"], "https://a.example/",
      ["main main", "main-2 https://b.example/main"]
    ),
  ])
  func `several listings become sections under one base, each with its own key`(
    _ urls: [String],
    _ base: String,
    _ sections: [String]
  ) throws {
    let pages = urls.enumerated().map { Self.page("[\(Self.list("a\($0)", "b\($0)"))]", $1) }

    let file = try ProposedFile(of: pages, name: "shop.yaml")

    let read = try CatalogFile(parsing: bytes(file.text), file: "shop.yaml")
    #expect(read.base == base)
    #expect(read.sections.map { "\($0.key) \($0.url)" } == sections)
    #expect(
      file.listings.flatMap(\.sections).flatMap(\.items).map(\.id) == ["a0", "b0", "a1", "b1"]
    )
    #expect(file.text.ranges(of: "\nitem:").count == 1)
  }

  @Test func `a listing of another shape gets its own mapping`() throws {
    let pages = [
      Self.page(
        "{\"page\": 1, \"total_pages\": 3, \"all\": [\(Self.list("a", "b", rest: #", "badge": "new", "image": "/a.png""#))]}",
        "https://a.example/one"
      ),
      Self.page(
        #"{"goods": {"k1": {"title": "Mug", "price": 2}, "k2": {"title": "Jug", "price": 4}}}"#,
        "https://a.example/two"
      ),
      Self.page("{\"all\": [\(Self.list("c", "d"))]}", "https://a.example/three"),
    ]

    let file = try ProposedFile(of: pages, name: "shop.yaml")

    let ids = file.listings.map { $0.sections.flatMap(\.items).map(\.id) }
    #expect(ids == [["a", "b"], ["c", "d"], ["k1", "k2"]])
    #expect(file.text.contains("    transform: |\n"))
    #expect(file.text.contains("    paging: null\n"))
    #expect(
      file.text.contains("      badges: null\n") && file.text.contains("      images: null\n")
    )
    #expect(file.listings[2].absent.values.allSatisfy { $0.isEmpty })
  }

  @Test func `a field that only a later listing has is found`() throws {
    let pages = [
      Self.page("[\(Self.list("a", "b"))]", "https://a.example/one"),
      Self.page("[\(Self.list("c", "d", rest: #", "badge": "new""#))]", "https://a.example/two"),
    ]

    let file = try ProposedFile(of: pages, name: "shop.yaml")

    #expect(
      file.text.contains("  badges: $.badge   # 1.0: text in 2 of 4 items\n"),
      "\(file.text)"
    )
  }

  @Test func `a field that one listing lacks is not mapped there`() throws {
    let pages = [
      Self.page(
        "[\(Self.list("a", "b", rest: #", "badge": "new", "image": "/a.png""#))]",
        "https://a.example/one"
      ),
      Self.page("[\(Self.list("c", "d"))]", "https://a.example/two"),
    ]

    let file = try ProposedFile(of: pages, name: "shop.yaml")

    #expect(
      file.text.contains(
        #"  - {key: two, url: "two", item: {badges: null, images: {thumbnail: null}}}"# + "\n"
      ),
      "\(file.text)"
    )
    #expect(file.listings.allSatisfy { $0.absent.values.allSatisfy(\.isEmpty) })
  }

  // MARK: - Details

  @Test(arguments: [
    (
      #"{"hash": "a", "data": {"text": "long", "top_image": "/t.png", "thumb_images": ["/1.png", "/2.png"],"#
        + #""detail_section": ["/d.png"], "prices": ["3,000", "2,000"], "point": "20"}}"#,
      "https://a.example/detail/a",
      [
        "  url: \"detail/{id}\"", "  id: $.hash", "  root: $.data", "  description: $.text",
        "  prices: $.prices",
        "    top: $.top_image", "    gallery: $.thumb_images", "    section: $.detail_section",
        "    point: $.point",
      ]
    ),
    (
      #"{"product": {"body_html": "<p>long</p>", "images": [{"src": "/1.png"}], "price_cents": 300}}"#,
      "https://a.example/products/s-b.json?full=1",
      [
        "  url: \"products/{slug}.json?full=1\"", "  root: $.product",
        "  description: $.body_html",
        "  prices: {path: $.price_cents, minorUnits: true}", "    gallery: \"$.images[*].src\"",
      ]
    ),
  ])
  func `the URL template of all details is derived from one item's detail`(
    _ body: String,
    _ url: String,
    _ lines: [String]
  ) throws {
    let listing = Self.page("[\(Self.list("a", "b"))]", "https://a.example/list")

    let file = try ProposedFile(of: [listing], detail: Self.page(body, url), name: "shop.yaml")

    let found = file.text.split(separator: "\n").map(String.init)
    for line in lines { #expect(found.contains(line), "\(line) in\n\(file.text)") }
    let read = try CatalogFile(parsing: bytes(file.text), file: "shop.yaml")
    #expect(
      try decodeDetail(bytes(body), id: url.hasSuffix("/a") ? "a" : "b", using: read).description
        != nil
    )
  }

  @Test(arguments: [
    (
      #"{"description": "long"}"#, "https://a.example/detail/zz",
      "no item that is listed has its id"
    ),
    (
      #"[{"id": "b", "description": "long"}, {"id": "a", "description": "long"}]"#,
      "https://a.example/all.json", "no item that is listed has its id"
    ),
    (#"{"no": true}"#, "https://a.example/detail/a", "nothing in it is a description"),
    (
      "<html><title>Gone</title></html>", "https://a.example/detail/a",
      "an HTML page, not JSON: Gone"
    ),
  ])
  func `a detail that matches no item is refused with the reason`(
    _ body: String,
    _ url: String,
    _ reason: String
  ) {
    let listing = Self.page("[\(Self.list("a", "b"))]", "https://a.example/list")

    let error = #expect(throws: CatalogError.self) {
      try ProposedFile(of: [listing], detail: Self.page(body, url), name: "shop.yaml")
    }

    #expect(error?.subject == url)
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  // MARK: - Paging

  @Test(arguments: [
    (#"{"total": 9, "items": LIST}"#, "list?skip=2", "paging: {offset: skip}"),
    (
      #"{"next_cursor": "c2", "items": LIST}"#, "list?after=c2",
      "paging: {cursor: after, from: $.next_cursor}"
    ),
    (
      #"{"nextPageToken": 42, "items": LIST}"#, "list?pageToken=42",
      "paging: {cursor: pageToken, from: $.nextPageToken}"
    ),
    (
      #"{"meta": {"page": 0, "pages": 2}, "items": LIST}"#, "list?page=1",
      "paging: {page: page, first: 0}"
    ),
    (#"{"has_more": true, "items": LIST}"#, "list?p=2", "paging: {page: p}"),
    (
      #"{"has_more": true, "items": LIST}"#, "list?starting_after=b",
      "paging: {cursor: starting_after, from: \"$.items[-1].id\"}"
    ),
  ])
  func `the paging that returns other items is chosen`(
    _ body: String,
    _ known: String,
    _ line: String
  ) throws {
    let first = body.replacing("LIST", with: "[\(Self.list("a", "b"))]")
    let second = body.replacing("LIST", with: "[\(Self.list("c", "d"))]")
    var asked: [String] = []

    // A shop that ignores an unknown parameter answers with its first page.
    let file = try ProposedFile(
      of: [Self.page(first, "https://a.example/list")],
      name: "shop.yaml"
    ) { _, url, _ in
      asked.append(url)
      return bytes(url == known ? second : first)
    }

    #expect(
      file.text.contains("\n\(line)   # 0.9: ") || file.text.contains("\n\(line)   # 1.0: "),
      "\(file.text)"
    )
    #expect(asked.last == known && asked.count <= PagingProposal.mostTried)
  }

  @Test func `a paging that returns no new items is written as a comment`() throws {
    let body = "{\"total\": 9, \"items\": [\(Self.list("a", "b"))]}"
    var asked = 0

    let file = try ProposedFile(of: [Self.page(body, "https://a.example/list")], name: "shop.yaml")
    { _, _, _ in
      asked += 1
      return bytes(body)
    }

    #expect(
      file.text.contains(
        "\n# paging: {page: page}   # 0.3: it has 2 of 9 items, but a second page"
      ),
      "\(file.text)"
    )
    #expect(asked > 0 && asked <= PagingProposal.mostTried)
  }

  @Test func `a listing that names its next page is not probed`() throws {
    let body = "{\"next\": \"https://a.example/list?page=2\", \"items\": [\(Self.list("a", "b"))]}"

    let file = try ProposedFile(of: [Self.page(body, "https://a.example/list")], name: "shop.yaml")
    { _, _, _ in
      Issue.record("it was asked")
      return nil
    }

    #expect(file.text.contains("\npaging: {next: $.next}"))
  }

  @Test(arguments: [
    (
      #"{"query": "{ items { id, {size} } }", "variables": {"after": null}}"#,
      #"    {"query": "{ items { id, { size } } }", "variables": {"after": {cursor}}}"#
    ),
    (#"{"limit": 10}"#, #"    {"limit": 10, "end": {cursor}}"#),
  ])
  func `a cursor gets its placeholder in the request body`(_ request: String, _ line: String)
    throws
  {
    var source = ProposedSource(url: "https://a.example/search")
    source.body = try ProposedSource.requestBody(request)
    let body = #"{"end": "c2", "data": {"items": [\#(Self.list("a", "b"))]}}"#
      .replacing("\"end\"", with: request.contains("after") ? "\"endCursor\"" : "\"next_cursor\"")

    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: source)],
      name: "shop.yaml"
    )

    let expected = line.replacing("\"end\"", with: "\"next_cursor\"")
    #expect(file.text.contains("\nrequest:\n  body: |\n\(expected)\n"), "\(file.text)")
    #expect(file.text.contains("\npaging: {from: "))
  }

  @Test(arguments: [
    // The first request, the counts in the response, the request for the second page, and the
    // proposed lines.
    (
      #"{"page": 1, "limit": 2}"#, #""total": 9, "page": 1"#, #"{"page": 2, "limit": 2}"#,
      #"{"page": {page}, "limit": 2}"#, "{page: page}"
    ),
    (
      #"{"q": "", "page":0}"#, #""nbPages": 3, "page": 0, "nbHits": 5"#, #"{"q": "", "page":1}"#,
      #"{"q": "", "page":{page}}"#, "{page: page, first: 0}"
    ),
    (
      #"{"from": 0, "size": 2}"#, #""total": 9"#, #"{"from": 2, "size": 2}"#,
      #"{"from": {offset}, "size": 2}"#, "{offset: from}"
    ),
    (
      #"{"query": "query($p: Int) { all(currentPage: $p) { id } }", "variables": {"p": 1}}"#,
      #""total": 9"#,
      #"{"query": "query($p: Int) { all(currentPage: $p) { id } }", "variables": {"p": 2}}"#,
      #"{"query": "query($p: Int) { all(currentPage: $p) { id } }", "variables": {"p": {page}}}"#,
      "{page: currentPage}"
    ),
    // A missing parameter is added to the request.
    (
      #"{}"#, #""total": 9, "pageNumber": 1"#, #"{"pageNumber": 2}"#, #"{"pageNumber": {page}}"#,
      "{page: pageNumber}"
    ),
    (#"{}"#, #""total": 9"#, #"{"offset": 2}"#, #"{"offset": {offset}}"#, "{offset: offset}"),
  ])
  func `a page number or offset gets its placeholder in the request body`(
    _ request: String,
    _ counts: String,
    _ known: String,
    _ line: String,
    _ paging: String
  ) throws {
    var source = ProposedSource(url: "https://a.example/search")
    source.body = try ProposedSource.requestBody(request)
    func page(_ ids: String...) -> [UInt8] {
      bytes("{\(counts), \"items\": [\(ids.map { Self.list($0) }.joined(separator: ","))]}")
    }

    let file = try ProposedFile(
      of: [ProposedPage(body: page("a", "b"), source: source)],
      name: "shop.yaml"
    ) { _, url, body in
      #expect(url == "search")
      return body?.trimmed == known ? page("c", "d") : page("a", "b")
    }

    #expect(file.text.contains("\nrequest:\n  body: |\n    \(line)\n"), "\(file.text)")
    #expect(file.text.contains("\npaging: \(paging)   # "), "\(file.text)")
  }

  @Test(arguments: [
    ("https://a.example/cups/page/1", "{page}", "2", "cups"),
    ("https://a.example/cups/page-1.json?n=2", "page-{page}.json?n=2", "page-2.json?n=2", "cups"),
    ("https://a.example/cups/", "./", "./", "cups"),
  ])
  func `pages are counted in the path of a URL`(
    _ address: String,
    _ written: String,
    _ known: String,
    _ key: String
  ) throws {
    let first = bytes("{\"pages\": 2, \"items\": [\(Self.list("a", "b"))]}")
    let second = bytes("{\"pages\": 2, \"items\": [\(Self.list("c", "d"))]}")
    let page = ProposedPage(body: first, source: ProposedSource(url: address))

    let file = try ProposedFile(of: [page], name: "shop.yaml") { _, url, _ in
      url == known ? second : first
    }

    #expect(file.text.contains("\n  - {key: \(key), url: \"\(written)\"}\n"), "\(file.text)")
    #expect(
      file.text.contains("\npaging: {page: page}   # 1.0") == written.contains("{page}"),
      "\(file.text)"
    )
  }

  // MARK: - Stdin

  @Test func `a body from stdin gets a base address to be corrected`() throws {
    let page = ProposedPage(body: bytes("[\(Self.list("a", "b"))]"), source: .standardInput)

    let file = try ProposedFile(of: [page], name: "shop.yaml") { _, _, _ in
      Issue.record("nobody said whom to ask")
      return nil
    }

    #expect(file.text.contains("\nname: shop\n"))
    #expect(
      file.text.contains(
        "base: \"https://shop.example/\"   # stdin has no address: write the shop's here"
      )
    )
  }
}
