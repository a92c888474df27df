import Foundation
import Testing

@testable import Catalog

/// Products in the microdata and the Open Graph of pages.
struct PageDataTests {
  private func items(_ body: String) throws -> [StoreItem] {
    try decode("<!doctype html><html>\(body)</html>", "format: json-ld", currency: "EUR")
      .sections[0].items
  }

  private func reason(_ body: String) -> String {
    decodingError("<!doctype html><html>\(body)</html>", "format: json-ld")?.reason ?? ""
  }

  /// A product of microdata with further elements.
  private static func product(_ rest: String, _ attributes: String = "") -> String {
    "<div itemscope itemtype='https://schema.org/Product' \(attributes)>\(rest)</div>"
  }

  private static let og = """
    <meta property="og:title" content="Cup &amp; more"><meta property="og:type" content="product">
    <meta property="og:url" content="https://shop.example/cup">
    """

  // MARK: - Microdata

  @Test(arguments: [
    ("<meta itemprop=name content='Cup'>", "Cup"),
    ("<h1 itemprop=name>\n  Blue\n  <b>cup</b>\n</h1>", "Blue cup"),
    ("<span itemprop=name content='Cup'>Our best</span>", "Cup"),
    ("<p><b itemprop=name>Cup<script>no()</script></b></p>", "Cup"),
    ("<div itemprop=name>Cup &lt;b&gt; &amp; jug</div>", "Cup <b> & jug"),
    ("<data itemprop=name value=Cup>7</data>", "Cup"),
    ("<i itemprop='alternateName name'>Cup</i>", "Cup"),
    ("<i itemprop='https://schema.org/name'>Cup</i>", "Cup"),
    ("<div id=x><p><i itemprop=name>Cup</i></div><i itemprop=name>Jug</i>", "Cup"),
  ])
  func `a property is found however it is written`(markup: String, title: String) throws {
    let items = try items(Self.product("<meta itemprop=sku content=A>" + markup))

    #expect(items.map(\.title) == [title])
  }

  @Test func `an offer, its currency and the pictures are read`() throws {
    let item = try items(
      Self.product(
        """
        <meta itemprop=sku content=A><b itemprop=name>Cup</b>
        <a href="/big.jpg" itemprop=image><img itemprop=image src="/small.jpg"></a>
        <img itemprop=image src="data:image/gif;base64,R0" data-src="/late.jpg">
        <p itemprop=offers itemscope itemtype="http://schema.org/Offer">
          <span itemprop=price>1.299,50</span><meta itemprop=priceCurrency content=EUR>
          <link itemprop=availability href="http://schema.org/OutOfStock"></p>
        <div itemprop=brand itemscope itemtype="https://schema.org/Brand"><i itemprop=name>Kiln</i></div>
        """
      )
    ).first

    #expect(item?.title == "Cup")
    #expect(item?.salePrice == Price(minorUnits: 129950, currency: "EUR"))
    #expect(item?.badges == ["OutOfStock"])
    #expect(item?.images.map(\.url) == ["/big.jpg", "/small.jpg", "/late.jpg"])
  }

  @Test func `a list has the products in it, and related ones are none`() throws {
    let products = ["A", "B"].map {
      "<li itemprop=itemListElement itemscope itemtype='https://schema.org/ListItem'>"
        + "<div itemprop=item itemscope itemtype='https://schema.org/Product'>"
        + "<meta itemprop=sku content=\($0)><b itemprop=name>Cup \($0)</b>"
        + "<div itemprop=isRelatedTo itemscope itemtype='https://schema.org/Product'>"
        + "<meta itemprop=sku content=R><b itemprop=name>Tray</b></div></div></li>"
    }
    let list =
      "<ul itemscope itemtype='https://schema.org/ItemList'><h2 itemprop=name>Cups</h2>"
      + products.joined() + "</ul>"

    #expect(try items(list).map(\.id) == ["A", "B"])
    #expect(try items(list).map(\.title) == ["Cup A", "Cup B"])
  }

  @Test func `a product within nothing of its own is not another's property`() throws {
    let inner = Self.product("<meta itemprop=sku content=B><b itemprop=name>Jug</b>")

    let items = try items(
      Self.product("<meta itemprop=sku content=A><b itemprop=name>Cup</b>" + inner)
    )

    #expect(items.map(\.title) == ["Cup", "Jug"])
  }

  @Test func `JSON-LD comes before microdata, and that before Open Graph`() throws {
    let script =
      #"<script type="application/ld+json">{"@type": "Product", "sku": "J", "name": "Cup"}</script>"#
    let microdata = Self.product("<meta itemprop=sku content=M><b itemprop=name>Cup</b>")
    let sku = "<meta property='product:retailer_item_id' content=O>"
    let site = #"<script type="application/ld+json">{"@type": "WebSite"}</script>"#

    #expect(try items(script + Self.og + sku + microdata).map(\.id) == ["J"])
    #expect(try items(site + Self.og + sku + microdata).map(\.id) == ["M"])
    #expect(try items(site + Self.og + sku).map(\.id) == ["O"])
  }

  @Test func `a product without id takes the page's own URL`() throws {
    let link = "<link rel=canonical href='https://shop.example/cup'>"
    let cup = Self.product("<b itemprop=name>Cup</b>")

    #expect(try items(link + cup).map(\.id) == ["https://shop.example/cup"])
    // If a page has two products, its URL belongs to neither.
    #expect(try decode("<html>\(link)\(cup)\(cup)</html>", "format: json-ld").lost == 2)
  }

  @Test func `a page that is cut off anywhere is read or refused`() throws {
    let page =
      "<!doctype html><html>" + Self.og
      + Self.product(
        "<meta itemprop=sku content=A><b itemprop=name>Cup</b><div itemprop=offers itemscope>"
          + "<i itemprop=price>7.50</i></div>"
      )
    let file = try catalog("format: json-ld", currency: "EUR")

    for count in 0..<page.utf8.count {
      let body = Array(page.utf8.prefix(count))
      let listing = try? decodeSource(body, at: 0, using: file)
      #expect((listing?.elementCount ?? 0) <= 1)
    }
  }

  @Test func `microdata of other things is named`() {
    let shop =
      "<p itemscope itemtype='https://schema.org/Organization'><b itemprop=name>Us</b></p>"

    #expect(reason(shop).contains("a page with microdata and none in it (only Organization)"))
  }

  // MARK: - Open Graph

  @Test func `Open Graph of a product is an item`() throws {
    let item = try items(
      Self.og + """
        <meta property="og:description" content="Blue">
        <meta name="product:price:amount" content="20.00"><meta name="product:price:currency" content="EUR">
        <meta property="product:sale_price:amount" content="18.50">
        <meta property="product:availability" content="out of stock">
        <meta property="og:image" content="/a.jpg"><meta property="og:image:width" content="400">
        <meta property="og:image" content="/b.jpg"><meta property="og:image:secure_url" content="https://i.example/b.jpg">
        <meta property="og:image:width" content="1600"><meta property="og:image:height" content="900">
        """
    ).first

    #expect(item?.id == "https://shop.example/cup")
    #expect(item?.title == "Cup & more")
    #expect(item?.description == "Blue")
    #expect(item?.salePrice == Price(minorUnits: 1850, currency: "EUR"))
    #expect(item?.normalPrice == Price(minorUnits: 2000, currency: "EUR"))
    #expect(item?.badges == ["OutOfStock"])
    #expect(item?.images.map(\.url) == ["https://i.example/b.jpg", "/a.jpg"])
  }

  @Test func `pictures keep their order where one does not say how wide it is`() throws {
    let item = try items(
      Self.og + """
        <meta property="og:image" content="/a.jpg"><meta property="og:image:url" content="/a.jpg">
        <meta property="og:image" content="/b.jpg"><meta property="og:image:width" content="1600">
        """
    ).first

    #expect(item?.images.map(\.url) == ["/a.jpg", "/b.jpg"])
  }

  @Test func `Open Graph of a site or an article is no item`() {
    for type in ["website", "article", "product.group"] {
      let page = "<meta property=og:type content=\(type)><meta property=og:title content=Shop>"
      #expect(reason(page).contains("microdata and Open Graph of a product"), "\(type)")
    }
  }

  // MARK: - What is refused

  @Test func `items that are too deep in one another are left out`() throws {
    let deep = (0..<200).reduce("<i itemprop=name>Deep</i>") { inner, _ in
      "<p itemprop=brand itemscope>\(inner)</p>".replacing("<p", with: "<div")
        .replacing("</p>", with: "</div>")
    }
    let page = Self.product("<meta itemprop=sku content=A><b itemprop=name>Cup</b>" + deep)

    #expect(try items(page).map(\.title) == ["Cup"])
  }

  private static let hostile: [String] = {
    let nested = (0..<30).reduce("<b itemprop=name>Cup</b>") { inner, _ in
      "<div itemprop='a b' itemscope>\(inner)</div>"
    }
    return [
      // Each item is in the previous item twice.
      product("<b itemprop=name>Cup</b>" + nested),
      product(String(repeating: "<i itemprop=name>x</i>", count: 100_001)),
      // A long text is the value of many properties.
      product(
        String(repeating: "<div itemprop=name>", count: 100)
          + String(repeating: "x", count: 1 << 18)
      ),
    ]
  }()

  @Test(arguments: hostile)
  func `microdata that makes much of little is refused in time`(_ page: String) {
    let clock = ContinuousClock()

    let taken = clock.measure {
      let reason = reason(page)
      #expect(reason.contains("microdata of more than 100000 properties"))
    }

    #expect(taken < .seconds(10))
  }

  // MARK: - What is proposed and documented

  @Test(arguments: [
    product(
      "<meta itemprop=sku content=A><b itemprop=name>Cup</b><div itemprop=offers itemscope>"
        + "<meta itemprop=price content=7.50><meta itemprop=priceCurrency content=EUR></div>"
    ),
    og + "<meta property='product:retailer_item_id' content=A>"
      + "<meta property='og:price:amount' content=7.50><meta property='og:price:currency' content=EUR>",
  ])
  func `a file that is proposed for such a page reads it`(_ markup: String) throws {
    let body = bytes("<!doctype html><html><head>\(markup)</head></html>")
    let source = ProposedSource(url: "https://shop.example/cup")

    let text = try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")
      .text

    #expect(text.contains("\nformat: json-ld\n"))
    #expect(text.contains("\ncurrency: EUR   # 1.0: the items name it\n"))
    let file = try CatalogFile(parsing: bytes(text), file: "x.yaml")
    let listing = try decodeSource(body, at: 0, using: file)
    #expect(listing.sections[0].items.map(\.id) == ["A"])
    #expect(listing.sections[0].items.map(\.salePrice?.minorUnits) == [750])
  }

  @Test func `the pages of the documentation are the item that it speaks of`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "docs/catalog-files.md"),
      encoding: .utf8
    )
    let examples = page.split(separator: "```html\n").dropFirst().compactMap { part in
      part.firstRange(of: "```").map { String(part[..<$0.lowerBound]) }
    }

    for example in examples {
      let item = try items(example).first
      #expect(item?.id == "C-1")
      #expect(item?.title == "Blue cup")
      #expect(item?.salePrice == Price(minorUnits: 1850, currency: "EUR"))
      #expect(item?.images.first?.url.hasSuffix("/pictures/cup.jpg") == true)
    }
    #expect(examples.count == 2)
  }
}
