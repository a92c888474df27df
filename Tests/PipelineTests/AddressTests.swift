import Cache
import Catalog
import SampleStore
import Support
import Testing
import Transport

@testable import Pipeline

/// Which hosts receive requests, and with which headers.
struct AddressTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop
  /// A second shop, whose host appears only in the data of the first.
  private let other: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 2)
    other = try SampleShop(sections: 1, items: 2)
  }

  @Test func `a private host that appears only in the data is refused and never contacted`() throws
  {
    shop.items["A"]?[0].thumbnail = "\(other.store.baseURL)/pictures/x.jpg"
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.failures.map(\.reason) == ["address-refused"])
    #expect(report.failures.map(\.url) == ["\(other.store.baseURL)/pictures/x.jpg"])
    #expect(other.store.requests.isEmpty)
  }

  @Test func `a private host that a picture redirects to is refused too`() throws {
    shop.store.faults = [
      FaultRule(
        "/pictures/A1-thumb.jpg",
        .status(302),
        .header("Location", "\(other.store.baseURL)/pictures/x.jpg")
      )
    ]

    let report = try shop.sync(folder)

    #expect(report.failures.map(\.reason) == ["address-refused"])
    #expect(other.store.requests.isEmpty)
  }

  @Test func `private hosts are contacted when the user allows them`() throws {
    shop.items["A"]?[0].thumbnail = "\(other.store.baseURL)/pictures/x.jpg"
    try shop.publish()
    var options = shop.transportOptions()
    options.allowPrivateAddresses = true

    #expect(try shop.sync(folder, transport: options).outcome == .complete)
    #expect(other.store.requests.map(\.path) == ["/pictures/x.jpg"])
  }

  @Test func `the catalog's headers are sent to its own host, for pictures too, and to no other`()
    throws
  {
    shop.items["A"]?[0].thumbnail = "\(other.store.baseURL)/pictures/x.jpg"
    try shop.publish()
    var options = shop.transportOptions()
    options.namedHosts.insert(HostPort(host: "127.0.0.1", port: other.store.port))
    let catalog = try shop.catalog("headers: {token: \"key ${STORE_TOKEN}\"}")

    let report = try shop.sync(
      folder,
      catalog,
      transport: options,
      environment: ["STORE_TOKEN": "s3cret"]
    )

    #expect(report.outcome == .complete)
    for request in shop.store.requests {
      #expect(request.headers["token"] == "key s3cret", "\(request.path)")
    }
    #expect(other.store.requests.count == 1)
    #expect(other.store.requests.allSatisfy { $0.headers["token"] == nil })
    let index = String(decoding: try folder.read("cache/index.sqlite"), as: UTF8.self)
    #expect(!index.contains("s3cret"))
    #expect(!String(decoding: report.json, as: UTF8.self).contains("s3cret"))
  }

  @Test func `after a redirect to another host a section sends no headers of the catalog`() throws
  {
    var options = shop.transportOptions()
    options.namedHosts.insert(HostPort(host: "127.0.0.1", port: other.store.port))
    shop.store.faults = [FaultRule("/shop/A", .status(302), .header("Location", "\(other.base)A"))]
    let catalog = try shop.catalog("headers: {token: \"${STORE_TOKEN}\"}")

    _ = try shop.sync(folder, catalog, transport: options, environment: ["STORE_TOKEN": "s3cret"])

    #expect(other.store.requests.contains { $0.path == "/shop/A" })
    #expect(other.store.requests.allSatisfy { $0.headers["token"] == nil })
  }

  @Test func `a header with an unset variable ends the run before anything is created`() throws {
    let catalog = try shop.catalog("headers: {token: \"${STORE_TOKEN}\"}")

    let error = #expect(throws: CatalogError.self) { _ = try shop.sync(folder, catalog) }

    #expect(error?.code == .environment)
    #expect(folder.files(below: "cache").isEmpty)
    #expect(shop.store.requests.isEmpty)
  }

  @Test(arguments: [false, true])
  func `relative pictures are resolved against base, or the final URL if there is no base`(
    hasBase: Bool
  ) throws {
    shop.put(
      """
      {"body": [{"id": "1", "title": "one", "image": "thumb.jpg"},
                {"id": "2", "title": "two", "image": "../up.jpg?size=1#top"},
                {"id": "3", "title": "three", "image": "/pictures/root.jpg"},
                {"id": "4", "title": "four", "image": "//127.0.0.1:\(shop.store.port)/pictures/s.jpg"}]}
      """,
      at: "/pictures/new/place/list.json"
    )
    shop.store.faults = [
      FaultRule("/shop/A", .status(302), .header("Location", "/pictures/new/place/list.json"))
    ]

    let text = shop.catalogText(
      sections: "[{key: A, title: A, url: \"\(shop.base)A\"}]",
      detail: false
    )
    let lines = text.split(separator: "\n").filter { hasBase || !$0.hasPrefix("base:") }
    let catalog = try CatalogFile(
      parsing: Array(lines.joined(separator: "\n").utf8),
      file: "shop.yaml"
    )
    let place = hasBase ? "/shop/" : "/pictures/new/place/"
    let above = hasBase ? "/" : "/pictures/new/"
    for path in ["/shop/thumb.jpg", "/up.jpg"] {
      let bytes = try SampleShop.bytes(of: path)
      shop.store.content[path] = Resource(bytes, type: "image/jpeg")
    }

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete)
    let paths = Set(shop.store.requests.map { $0.path + ($0.query.map { "?\($0)" } ?? "") })
    #expect(
      paths == [
        "/shop/A", "/pictures/new/place/list.json", place + "thumb.jpg", above + "up.jpg?size=1",
        "/pictures/root.jpg", "/pictures/s.jpg",
      ]
    )
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(
      try reader.show("2")?.thumbnail?.url
        == "\(shop.store.baseURL)\(above)up.jpg?size=1"
    )
  }

  @Test func `relative pictures follow another base, although the list is unchanged`() throws {
    shop.put(
      #"{"body": [{"id": "1", "title": "one", "image": "thumb.jpg"}]}"#,
      at: "/shop/list"
    )
    let text = shop.catalogText(
      sections: "[{key: A, title: A, url: \"\(shop.base)list\"}]",
      detail: false
    )
    let catalog = try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")
    for path in ["/shop/thumb.jpg", "/other/thumb.jpg"] {
      let bytes = try SampleShop.bytes(of: path)
      shop.store.content[path] = Resource(bytes, type: "image/jpeg")
    }
    func plan(_ options: SyncOptions) throws -> [String] {
      let clock = shop.clock
      let run = SyncRun(
        catalog,
        folder: folder.path,
        cache: folder.path("cache"),
        options: options,
        transport: FakeTransport(),
        now: { clock.now }
      )
      return try SyncPlan(run).sections.map(\.action)
    }
    _ = try shop.sync(folder, catalog)
    var moved = SyncOptions()
    moved.base = "\(shop.store.baseURL)/other/"

    let planned = try plan(moved)
    _ = try shop.sync(folder, catalog, options: moved)

    #expect(planned == ["fetch"])
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.show("1")?.thumbnail?.url == "\(shop.store.baseURL)/other/thumb.jpg")
    #expect(try plan(moved) == ["revalidate"])
    #expect(try plan(SyncOptions()) == ["fetch"])
  }

  @Test func `a relative picture in an HTML page is relative to the page, as in a browser`() throws
  {
    let page = """
      <html><body itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>one</h1>
      <meta itemprop=sku content=1><img itemprop=image src="thumb.jpg"></body></html>
      """
    shop.store.content["/pictures/list.html"] = Resource(Array(page.utf8), type: "text/html")
    let catalog = try CatalogFile(
      parsing: Array(
        """
        name: shop
        currency: KRW
        base: \(shop.base)
        format: json-ld
        sections: [{key: A, title: A, url: /pictures/list.html}]
        """.utf8
      ),
      file: "shop.yaml"
    )

    _ = try shop.sync(folder, catalog)

    #expect(shop.store.requests.map(\.path) == ["/pictures/list.html", "/pictures/thumb.jpg"])
  }

  @Test(arguments: [
    ("main", "https://h.example/shop/", nil, "https://h.example/shop/main"),
    ("/main", "https://h.example/shop/", nil, "https://h.example/main"),
    (
      "main", "https://h.example/shop/", "http://127.0.0.1:8080/x/", "http://127.0.0.1:8080/x/main"
    ),
    ("http://o.example/m", "https://h.example/", nil, "http://o.example/m"),
    ("main.json", nil, nil, "file:/folder/main.json"),
    ("/abs/main.json", nil, nil, "file:/abs/main.json"),
    ("file:main.json", "https://h.example/", nil, "file:/folder/main.json"),
    ("file:///abs/main.json", "https://h.example/", nil, "file:/abs/main.json"),
    ("file://localhost/abs/main.json", nil, nil, "file:/abs/main.json"),
    ("main.json", "file:///data/", nil, "file:/data/main.json"),
    ("FILE:///a%20b/%EA%B5%AD%23.json", nil, nil, "file:/a b/국#.json"),
    ("a%2Fb%00/100%25%.json", "file:///data%20x/", nil, "file:/data x/a%2Fb%00/100%25%.json"),
    ("100%2525.json", nil, nil, "file:/folder/100%25.json"),
  ])
  func `a URL or path in the catalog file is resolved against the base or the file's folder`(
    text: String,
    base: String?,
    override: String?,
    source: String
  ) throws {
    var catalog = try shop.catalog()
    (catalog.base, catalog.sections, catalog.detail) = (base, [], nil)

    let addresses = try CatalogAddresses(
      catalog,
      folder: "/folder",
      base: override,
      FakeTransport()
    )

    #expect(try addresses.target(text).name == source)
  }

  @Test(arguments: [
    ("main?key=${KEY}", "https://h.example/", "https://h.example/main?key=${KEY}"),
    ("bot${KEY}/main", "https://h.example/", "https://h.example/bot${KEY}/main"),
    ("${KEY}/main", "https://h.example/a/", "https://h.example/a/${KEY}/main"),
    ("main", "${BASE}", "https://store.example/v1/main"),
    ("main", "${BASE}${KEY}/", "https://store.example/v1/${KEY}/main"),
    ("main", "https://${HOST}:${PORT}/", "https://h.example:8443/main"),
    ("${BASE}main", nil, "https://store.example/v1/main"),
    ("main", "https://clerk:${KEY}@h.example/", "https://h.example/main"),
    ("file:${DIR}/main.json", nil, "file:/folder/lists/main.json"),
    ("${DIR}/main.json", nil, "file:/folder/lists/main.json"),
    ("${DIR}/main.json", "file:///data/", "file:/data/lists/main.json"),
    ("${PERCENT}/a%20b.json", "file:///data/", "file:/data/100%41/a b.json"),
  ])
  func `the value of a variable in path or query is not stored, and a variable may give the host`(
    text: String,
    base: String?,
    source: String
  ) throws {
    let environment = [
      "KEY": "a/b c&d", "BASE": "https://store.example/v1/", "HOST": "h.example", "PORT": "8443",
      "DIR": "lists", "PERCENT": "100%41",
    ]
    var catalog = try shop.catalog()
    (catalog.base, catalog.detail) = (base, nil)
    catalog.sections[0].url = text

    let addresses = try CatalogAddresses(
      catalog,
      folder: "/folder",
      base: nil,
      environment: environment,
      FakeTransport()
    )

    #expect(try addresses.target(text).name == source)
  }

  @Test(arguments: [
    "detail/{id}", "detail/{id}.json?a={slug}&b=${KEY}", "/{id}/{id}", "a/../{id}/한글?q=\"{id}\"",
    "https://{slug}.example/{id}", "//cdn.example:8080/{id}#{slug}", "https://u:p@h.example/x{id}",
    "{id}?x", "?id={id}", "details.json", "a/{id}/./b", "\\{id}",
  ])
  func `the URL of a detail is the one that a parser makes of the filled template`(
    template: String
  ) throws {
    let parser = FakeTransport()
    let base = try parser.parse("https://user@Shop.example/develop/x", relativeTo: nil)
    let file = try CatalogFile(
      parsing: Array(
        """
        name: shop
        currency: KRW
        base: https://user@Shop.example/develop/x
        sections: [{key: a, url: a}]
        format: banchan
        detail: {url: '\(template)'}
        """.utf8
      ),
      file: "shop.yaml"
    )
    let addresses = try CatalogAddresses(
      file,
      folder: "",
      base: nil,
      environment: ["KEY": "secret-value"],
      parser
    )
    let rule = try #require(file.detail)

    let odd = ["H1", "a b/c?d#e", "...", "%2e%2e", "한", "{id}", "${KEY}", "x.y~z_-", "\u{1}"]
    for value in odd + [String(repeating: "x", count: 40_000)] {
      let values = rule.values(of: value, ["slug": "s1"])
      let text = try #require(rule.url(filling: values))
      let expected = Result { try parser.parse(text, relativeTo: base) }
      let source = Result { try addresses.detail(of: value, ["slug": "s1"], by: rule) }

      #expect((try? source.get().name) == (try? expected.get().text), "\(value)")
      #expect((try? source.get().base?.userInfo) == (try? expected.get().userInfo))
    }
  }

  @Test
  func `variables in a stored URL get their values back, escaped as their positions require`()
    throws
  {
    let variables = URLSecrets(values: ["KEY": "a/b c&d+e", "V": "7"])
    let parser = FakeTransport()
    func revealed(_ text: String) throws -> String {
      try variables.revealed(try parser.parse(text, relativeTo: nil), parser).text
    }
    func veiled(_ text: String) throws -> String {
      variables.veiled(try parser.parse(text, relativeTo: nil)).text
    }

    #expect(
      try revealed("https://h.example/${V}/${KEY}?k=${KEY}&${NONE}")
        == "https://h.example/7/a/b%20c%26d%2Be?k=a%2Fb%20c%26d%2Be&${NONE}"
    )
    for form in [
      "a/b%20c&d+e", "a%2Fb+c%26d%2Be", "a%2fb%20c%26d%2be", "a%252Fb%2520c%2526d%252be",
    ] {
      for host in ["h.example", "other.example:8443"] {
        #expect(
          try veiled("https://\(host)/7?k=\(form)&x=1") == "https://\(host)/7?k=${KEY}&x=1"
        )
        #expect(try veiled("https://\(host)/7/\(form)/x") == "https://\(host)/7/${KEY}/x")
      }
    }
    #expect(URLSecrets.defused("x?k=${KEY}") == "x?k=$%7BKEY}")
  }

  @Test(arguments: ["abc", "x-s3cret-y", "${KEY}", "s3cret${KEY}${$}{", "$${"])
  func `a cursor is stored without secrets, and sent unchanged`(cursor: String) {
    let variables = URLSecrets(values: ["KEY": "s3cret"])

    let kept = variables.kept(cursor: cursor)

    #expect(!kept.contains("s3cret"))
    #expect(variables.cursor(kept: kept) == cursor)
    #expect(URLSecrets.none.cursor(kept: URLSecrets.none.kept(cursor: "${KEY}")) == "${KEY}")
  }

  @Test
  func `stored header fields contain no secret and no text like a variable, but keep their dates`()
  {
    let variables = URLSecrets(values: ["KEY": "s3cret", "YEAR": "2024"])
    let headers: Headers = [
      "Link": "</x?k=s3cret>; rel=next", "Vary": "X-s3cret", "X": "${KEY}",
      "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    ]

    let veiled = variables.veiled(headers)

    #expect(
      veiled.text == """
        Link: </x?k=${KEY}>; rel=next
        Vary: X-${KEY}
        X: $%7BKEY}
        Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT

        """
    )
  }

  @Test func `the hosts that a catalog names are those of its lists and details`() throws {
    let catalog = try CatalogFile(
      parsing: Array(
        """
        name: shop
        currency: KRW
        base: https://Shop.example/
        sections: [{key: a, url: a}, {key: b, url: "http://lists.example:8080/b"},
          {key: c, url: "file:c.json"}]
        detail: {url: "https://details.example/{id}"}
        """.utf8
      ),
      file: "shop.yaml"
    )

    let addresses = try CatalogAddresses(catalog, folder: "", base: nil, FakeTransport())
    let hosts = try addresses.namedHosts()

    #expect(
      hosts == [
        HostPort(host: "shop.example", port: 443), HostPort(host: "lists.example", port: 8080),
        HostPort(host: "details.example", port: 443),
      ]
    )
  }
}
