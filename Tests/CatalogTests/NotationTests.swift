import Testing

@testable import Catalog

/// Feeds that are not JSON, read by formats of their own.
struct NotationTests {
  private func items(_ body: String, _ format: String) throws -> [StoreItem] {
    try decode(body, "format: \(format)", currency: "EUR").sections[0].items
  }

  private static let rss = """
    <?xml version="1.0"?>
    <rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>
      <title>The shop</title><link>https://shop.example</link>
      <item><g:id>A1</g:id><title>Page title</title><g:title>Tea &amp; cup</g:title>
        <g:price>12.50 EUR</g:price><g:sale_price>10.00 EUR</g:sale_price>
        <g:image_link>https://cdn.example/a.jpg</g:image_link>
        <g:additional_image_link>https://cdn.example/b.jpg</g:additional_image_link>
        <g:additional_image_link>https://cdn.example/c.jpg</g:additional_image_link>
        <g:shipping><g:country>DE</g:country><g:price>5 EUR</g:price></g:shipping></item>
      <item><g:id>A2</g:id><title><![CDATA[Jug <b>]]></title><g:price>3 EUR</g:price></item>
    </channel></rss>
    """

  @Test func `a merchant feed is read from RSS`() throws {
    let items = try items(Self.rss, "google-merchant")

    #expect(items.map(\.id) == ["A1", "A2"])
    #expect(items.map(\.title) == ["Tea & cup", "Jug <b>"])
    #expect(items.map { $0.normalPrice?.minorUnits } == [1250, 300])
    #expect(items.map { $0.salePrice?.minorUnits } == [1000, 300])
    #expect(
      items[0].images.map(\.url) == ["a", "b", "c"].map { "https://cdn.example/\($0).jpg" }
    )
  }

  @Test func `a merchant feed is read from Atom`() throws {
    let items = try items(
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0">
        <title>Shop</title>
        <entry><id>urn:1</id><g:id>A1</g:id><title>Tea</title><link href="https://s.example/1"/>
          <g:price>2.00 EUR</g:price></entry></feed>
      """,
      "google-merchant"
    )

    #expect(items.map(\.id) == ["A1"])
    #expect(items[0].salePrice?.minorUnits == 200)
  }

  @Test func `a merchant feed is read from text parted by tabs`() throws {
    let items = try items(
      "id\ttitle\tprice\timage link\tadditional_image_link\r\n"
        + "A1\t\"Tea\t\"\"green\"\"\"\t2.00 EUR\thttps://c.example/a.jpg\thttps://c.example/b.jpg,"
        + "https://c.example/c.jpg\r\n\r\nA2\tJug\t\t\t\r\n",
      "google-merchant"
    )

    #expect(items.map(\.title) == ["Tea\t\"green\"", "Jug"])
    #expect(items[0].images.count == 3)
    #expect(items[1].salePrice == nil)
  }

  @Test(arguments: [
    #"<!DOCTYPE r [<!ENTITY a "aaaa">]><rss><channel><item><id>&a;</id></item></channel></rss>"#,
    #"<!DOCTYPE r SYSTEM "file:///etc/passwd"><rss><channel/></rss>"#,
  ])
  func `a feed with entities of its own is refused`(_ body: String) {
    let error = decodingError(body, "format: google-merchant")

    #expect(error?.reason.contains("document type") == true)
  }

  @Test(
    arguments: [
      ("<rss><channel><item>", "is not well-formed XML"), ("<html></html>", "begins with <html>"),
      ("hello", "column names"),
      (String(repeating: "<a>", count: 100_000), "more than 64 elements in one another"),
    ])
  func `what is no merchant feed says so`(body: String, words: String) {
    #expect(decodingError(body, "format: google-merchant")?.reason.contains(words) == true)
  }

  @Test func `an empty merchant feed is an empty section`() throws {
    #expect(try items("<rss><channel><title>a</title></channel></rss>", "google-merchant") == [])
  }
}
