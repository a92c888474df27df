import Base
import Cache
import Support
import Testing

@testable import Catalog
@testable import Pipeline
@testable import Web

/// The HTML page that `larder report` writes.
@Suite struct ReportPageTests {
  @Test func `on a phone each run is a few labelled figures, and no table is wider than the page`()
    throws
  {
    let page = try ReportFixture.page(ReportFixture.data([ReportFixture.item("1")]))

    for name in ["Run", "Took", "Received", "Requests", "Failures"] {
      #expect(page.contains("data-name=\"\(name)\""), "\(name)")
    }
    #expect(
      PageAssets.reportStyle.contains("#run-list [data-name]::before{content:attr(data-name)")
    )
  }

  @Test func `the problems section is before the items, or after them when it is empty`()
    throws
  {
    var report = SyncReport(catalog: "shop")
    report.failures = [
      SyncReport.Failure(
        stage: .picture,
        id: "1",
        url: "https://a.example/1",
        reason: "http-404",
        attempts: 1
      )
    ]
    let items = [ReportFixture.item("1")]
    func isFirst(_ page: String) throws -> Bool {
      let problems = try #require(page.firstRange(of: "id=\"problems\""))
      return problems.lowerBound
        < (try #require(page.firstRange(of: "<li class=c id=i"))).lowerBound
    }

    #expect(try isFirst(ReportFixture.page(ReportFixture.data(items, report: report))))
    #expect(try !isFirst(ReportFixture.page(ReportFixture.data(items))))
  }

  @Test func `no text of a feed becomes markup, anywhere in the page`() throws {
    let evil = "\"\u{301}><script>alert(1)</script><img src=x onerror=\"'</style>"
    var item = ReportFixture.item(evil, title: evil, badges: [evil])
    item.item.description = evil
    item.item.deliveryTypes = [evil]
    item.detail = ItemDetail(id: evil, description: evil, notes: [evil: evil])
    item.pictures = [ShownPicture(role: .top, url: "javascript:alert(1)", state: .failed)]
    var report = SyncReport(catalog: evil)
    report.sections = [
      SyncReport.Section(
        key: evil,
        title: evil,
        items: 0,
        skipped: 0,
        source: .stale,
        error: evil
      )
    ]
    report.failures = [
      SyncReport.Failure(
        stage: .picture,
        id: evil,
        url: "https://a.example/\"\u{301}/onmouseover=\"alert(1)",
        reason: evil,
        attempts: 1,
        detail: evil
      )
    ]
    report.skipped = [
      SyncReport.Skipped(
        section: evil,
        index: 1,
        field: evil,
        id: evil,
        lost: .field,
        reason: evil
      )
    ]
    var data = ReportFixture.data([item], report: report)
    data.catalog = evil
    data.sections[0].title = evil
    data.sections[0].subtitle = evil
    data.changes = ["", evil].map { id in
      NetChange(
        id: id + evil,
        section: evil,
        presence: .stayed,
        item: StoreItem(id: id + evil, title: evil, badges: [evil]),
        price: nil,
        badges: "before" + evil,
        hasNewPictures: true
      )
    }

    for language in PageLanguage.allCases {
      let html = try ReportFixture.page(data, language)

      #expect(html.split(separator: "<script").count == 3)
      #expect(html.split(separator: "</script>").count == 3)
      #expect(html.split(separator: "</style>").count == 2)
      #expect(!html.contains("<img src=x"))
      #expect(!html.contains("href=\"javascript:"))
      #expect(!html.contains("\"javascript:"))
      // Compared by bytes, because an accent turns a quotation mark into another character.
      let markup = html.utf8.prefix(
        upTo: try #require(html.firstRange(of: "id=\"data\"")).lowerBound
      )
      #expect(markup.firstRange(of: "\"\u{301}".utf8) == nil)
      #expect(markup.firstRange(of: "&quot;\u{301}/onmouseover=&quot;".utf8) != nil)
    }
  }

  @Test func `a page allows its own script and style by their digests, and pictures`() throws {
    let html = try ReportFixture.page(ReportFixture.data([ReportFixture.item("1")]))
    let policy = PagePolicy.text(script: PageAssets.reportScript, style: PageAssets.reportStyle)

    #expect(html.contains(PageText.escaped(policy)))
    #expect(
      policy.hasPrefix("default-src 'none'; img-src 'self' file: data:; script-src 'sha256-")
    )
    #expect(!policy.contains("unsafe"))
    #expect(html.contains("<script>\(PageAssets.reportScript)</script>"))
    #expect(html.contains("<style>\(PageAssets.reportStyle)</style>"))
    #expect(!html.contains(" style="))
    #expect(!html.contains("http://") && !html.contains("https://"))
    #expect(ReportPage.isReport(Array(html.utf8.prefix(1024))))
  }

  @Test(
    arguments: [
      (1000, 900, "$9.00", "$10.00"), (900, 1000, "$10.00", ""), (1000, nil, "$10.00", ""),
      (nil, 900, "$9.00", ""), (nil, nil, "", ""), (900, 900, "$9.00", ""),
    ] as [(Int?, Int?, String, String)]
  )
  func `a card shows the price to pay, and the normal price where it is higher`(
    _ normal: Int?,
    _ sale: Int?,
    _ price: String,
    _ before: String
  ) {
    let view = ItemView(
      ReportFixture.item("1", normal: normal, sale: sale),
      number: 0,
      picture: nil,
      ItemView.Words(.english)
    )

    #expect(view.price == price && view.normal == before)
  }

  @Test func `a reduced price is struck through, with words for screen readers`() throws {
    let html = try ReportFixture.page(
      ReportFixture.data([ReportFixture.item("1", normal: 1000, sale: 900, badges: ["New", " "])])
    )

    #expect(html.contains("<b><i>sale price </i>$9.00</b>"))
    #expect(html.contains("<s><i>normal price </i>$10.00</s>"))
    #expect(html.contains("<em>New</em>"))
    #expect(!html.contains("<em></em>"))
  }

  @Test(arguments: [
    (PageLanguage.english, "반찬", "<s><i lang=en>normal price </i>"),
    (.korean, "반찬", "<s><i>정가 </i>"), (.english, "Soup", "<s><i>normal price </i>"),
  ])
  func `the page's words in a shop of another language have their own lang attribute`(
    _ language: PageLanguage,
    _ title: String,
    _ markup: String
  ) throws {
    let item = ReportFixture.item("1", title: title, normal: 1000, sale: 900)
    let html = try ReportFixture.page(ReportFixture.data([item]), language)

    #expect(html.contains(markup))
  }

  @Test func `pictures are in the page or in its folder, and a missing one says so`() throws {
    let held = ReportFixture.item("1", images: [ReportFixture.image("1.jpg")])
    let data = ReportFixture.data([held, ReportFixture.item("2", section: "b")])
    let digest = try #require(held.pictures[0].sha256)
    var inline = PictureBook(.inline)
    inline.add(digest, Array("foo".utf8))
    var beside = PictureBook(.folder("a b.files"))
    beside.add(digest)

    let first = try ReportFixture.page(data, .english, inline)
    let second = try ReportFixture.page(data, .english, beside)

    #expect(first.contains("<img src=\"data:image/jpeg;base64,Zm9v\" alt=\"\""))
    #expect(second.contains("<img src=\"a%20b.files/aaaaaaaaaaaaaaaaaaaaaaaa.jpg\""))
    #expect(first.contains("<span class=none>no picture</span>"))
    #expect(PictureBook.isFileName(PictureBook.fileName(digest)))
    #expect(!PictureBook.isFileName("notes.jpg"))
  }

  @Test func `an item's sheet has its pictures by role, each picture once`() throws {
    let image = ReportFixture.image("1.jpg", .gallery)
    let top = ReportFixture.image("1.jpg", .top)
    var book = PictureBook(.inline)
    book.add(try #require(image.sha256), Array("foo".utf8))
    var data = SheetData(.english, book, showsDetails: true)
    var missing = ReportFixture.image("2.jpg", .gallery)
    missing.sha256 = nil
    data.add(
      ReportFixture.item("1", images: [top, image, missing]),
      ReportFixture.clock
    )

    #expect(data.json.contains(#""pictures":["data:image/jpeg;base64,Zm9v"]"#))
    #expect(data.json.contains(#"["1",[],"",[[0],[0,-1],[]]]"#))
  }

  @Test func `failures are grouped by kind with advice, and each links to its item`() throws {
    var report = SyncReport(catalog: "shop")
    report.failures = (1...60).map {
      SyncReport.Failure(
        stage: .picture,
        id: "\($0)",
        url: "https://a.example/\($0)",
        reason: "http-404",
        attempts: 1,
        remedy: .allowPrivateAddresses
      )
    }
    let problems = ProblemView.all(
      report,
      cards: ["7": (6, "Stew")],
      advice: ReportFixture.advice,
      .english
    )

    #expect(problems.map(\.title) == ["60 pictures · http-404"])
    #expect(problems[0].advice.hasSuffix("raise the limit"))
    #expect(problems[0].rows.count == 50 && problems[0].more == "and 10 more")
    #expect(problems[0].rows[6].number == 6 && problems[0].rows[6].name == "Stew")
    #expect(problems[0].rows[5].number == nil && problems[0].rows[5].name == "6")
    #expect(
      ProblemView.all(
        SyncReport(catalog: "shop"),
        cards: [:],
        advice: ReportFixture.advice,
        .korean
      ).isEmpty
    )
  }

  @Test func `the page says if the run was the first one, or without changes`() throws {
    var data = ReportFixture.data([ReportFixture.item("1")])
    #expect(try ReportFixture.page(data).contains("Nothing changed since the run before."))

    data.previous = nil
    let first = try ReportFixture.page(data)
    let korean = try ReportFixture.page(data, .korean)

    #expect(first.contains("This is the first run: everything is new."))
    #expect(korean.contains("첫 실행이라 모두 새 상품입니다."))
  }

  @Test func `the changes of a period are first, kind by kind, the largest first`() throws {
    func net(
      _ id: String,
      _ presence: NetChange.Presence = .stayed,
      from: Int? = 1000,
      to: Int? = 1000,
      badges: String = ""
    ) -> NetChange {
      NetChange(
        id: id,
        section: "a",
        presence: presence,
        item: ReportFixture.item(id, title: "Dish \(id)", sale: to).item,
        price: from.map { Price(minorUnits: $0, currency: "USD") },
        badges: badges,
        hasNewPictures: id == "9"
      )
    }
    let nets = [
      net("1", to: 900), net("2", to: 500), net("3", to: 1030), net("4", to: nil),
      net("5", .added), net("6", .back), net("7", .removed), net("8", badges: "New"), net("9"),
    ]
    var data = ReportFixture.data(
      nets.filter { $0.presence != .removed }.map {
        ReportFixture.item($0.id, title: "Dish \($0.id)")
      }
    )
    (data.since, data.changes) = (ReportFixture.now + -2_592_000, nets)
    let page = try ReportFixture.page(data)
    let korean = try ReportFixture.page(data, .korean)
    let changes = try #require(page.firstRange(of: "id=\"changes\"")).lowerBound
    let cards = try #require(page.firstRange(of: "<li class=c id=i0>")).lowerBound
    let part = page[changes..<cards]

    #expect(
      part.matches(of: /<h3>([^<]+)<\/h3>/).map(\.output.1) == [
        "Cheaper (2)", "Dearer (1)", "Other prices (1)", "New (1)", "Back (1)", "Gone (1)",
        "Badges (1)", "Pictures (1)",
      ]
    )
    #expect(part.matches(of: /Dish (\d)/).map(\.output.1).joined() == "213456789")
    for text in [
      "−50%", "−10%", "+3%", "$10.00</span>", "<b>$5.00</b>",
      "What changed</h2><p>since 2023-10-15",
    ] { #expect(part.contains(text), "\(text)") }
    #expect(page.contains("Changed since 2023-10-15 22:13: 8 items in 2 sections"))
    #expect(page.contains("<b>9</b><span>changes since 2023-10-15 22:13</span>"))
    #expect(page.split(separator: "id=\"changes\"").count == 2)
    #expect(!page.contains("of pictures held"))
    #expect(korean.contains("2023-10-15 22:13 이후 달라진 점") && korean.contains("내린 가격 (2)"))
    data.changes = []
    data.items = []
    #expect(try ReportFixture.page(data).contains("Nothing changed in this time."))
  }

  @Test func `an item that went with the last run is named by its title`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    try shop.publish()
    _ = try shop.sync(folder)
    shop.clock.advance(86_400)
    let gone = try #require(shop.items["A"]?.last)
    shop.items["A"]?.removeLast()
    try shop.publish()
    _ = try shop.sync(folder)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)

    let page = try ReportFixture.page(ReportData(reader))

    #expect(page.contains("<h3>Gone (1)</h3>"))
    #expect(page.contains("<li>\(gone.title)</li>"))
  }
}
