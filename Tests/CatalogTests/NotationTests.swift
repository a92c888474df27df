import Testing

@testable import Catalog

/// Feeds in notations other than JSON, such as XML and tables.
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

  @Test func `a merchant feed is read from tab-separated text`() throws {
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
    #"<!DOCTYPE r SYSTEM "r.dtd" [<!ENTITY a "aaaa">]><rss><channel/></rss>"#,
    #"<!DOCTYPE r [<!ELEMENT r ANY><!ENTITY a "aaaa">]><rss><channel/></rss>"#,
    #"<!DOCTYPE r [<!ELEMENT r %a;>]><rss><channel/></rss>"#,
    "<!DOCTYPE r [\(String(repeating: "<!-- a --><!ELEMENT r ANY>", count: 40))<!NOTATION n>]><rss/>",
    #"<!DOCTYPE r [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><rss><channel/></rss>"#,
    #"<!DOCTYPE r><!DOCTYPE r><rss><channel/></rss>"#,
    #"<!DOCTYPE r <!ENTITY a "aaaa">><rss><channel/></rss>"#,
    #"<rss><channel/><!DOCTYPE r></rss>"#,
    #"<!ENTITY a "aaaa"><rss><channel/></rss>"#, #"<!DOCTYPE r SYSTEM "r.dtd><rss></rss>"#,
  ])
  func `a feed that declares its own entities is refused`(_ body: String) {
    let error = decodingError(body, "format: google-merchant")

    let words = error?.reason ?? ""
    #expect(words.contains("document type") || words.contains("is not well-formed"), "\(words)")
  }

  @Test(arguments: [
    #"<!DOCTYPE rss>"#, #"<!DOCTYPE rss SYSTEM "file:///etc/passwd">"#,
    #"<!DOCTYPE rss [ <!-- ]> --> <!ELEMENT rss (channel*)> <!ATTLIST item n CDATA "a>]"> ] >"#,
    #"<?xml version="1.0"?><!-- a > b --><!DOCTYPE rss PUBLIC '-//X//Y' "http://x.example/[x]>" >"#,
  ])
  func `a document type that declares nothing is skipped, and what it refers to is not read`(
    _ declaration: String
  ) throws {
    let feed = { (id: String) in
      "\n<rss><channel><item><id>\(id)</id><title>t</title></item></channel></rss>"
    }

    let read = try items(declaration + feed("A"), "google-merchant")
    let entity = decodingError(declaration + feed("&a;"), "format: google-merchant")

    #expect(read.map(\.id) == ["A"])
    #expect(entity?.reason.contains("line 2 is not well-formed") == true)
  }

  @Test func `entities in attributes of XML are decoded once`() throws {
    let body = #"<r><p a="1&amp;2 &#38;amp; &lt;&#x26;&quot;"/></r>"#
    #expect(
      try json(body, "read: xml\nxml: {record: p}")
        == #"{"items":[{"@a":"1&2 &amp; <&\""}],"around":{"r":""}}"#
    )
  }

  @Test(arguments: [
    // The byte 0xFF begins no character of EUC-KR, and the surrogate D800 is none of UTF-16.
    ("euc-kr", [0x6E, 0xFF]), ("shift_jis", [0x81, 0x20]), ("utf-16le", [0x00, 0xD8, 0x6E, 0x00]),
    ("windows-1253", [0xD2]),
    // The last error of libxml2 is a warning here.
    ("utf-8", Array(#"<z a="x & y" xml:space="no"/>"#.utf8)),
  ])
  func `XML that cannot be read to its end is no shorter list`(
    _ encoding: String,
    _ bad: [UInt8]
  ) throws {
    let isWide = encoding == "utf-16le"
    func text(_ text: String) -> [UInt8] { text.utf8.flatMap { isWide ? [$0, 0] : [$0] } }
    let start = text("<?xml version='1.0' encoding='\(encoding)'?>\n<shop>")
    let items = (1...300).map { text("<p><id>\($0)</id><t>Cup \($0)</t></p>\n") }
    let whole = (isWide ? [0xFF, 0xFE] : []) + start + items.joined() + text("</shop>")
    let place = whole.count - text("</t></p>\n</shop>").count
    let file = try catalog("read: xml\nxml: {record: p}\nitem: {id: $.id, title: $.t}")

    #expect(try decodeSource(whole, at: 0, using: file).sections[0].items.count == 300)
    let broken = whole[..<place] + bad + whole[place...]
    let error = #expect(throws: CatalogError.self) {
      try decodeSource(Array(broken), at: 0, using: file)
    }
    #expect(
      error?.reason.contains("line \(isWide ? "" : "301 is not ")") == true,
      "\(error as Any)"
    )
  }

  @Test(arguments: [
    (#"<p id="0" t="x" z="3"/>"#, "$['@id']"),
    ("<p><id>0</id><d>\(String(repeating: "a b ", count: 40))</d></p>", "$.id"),
  ])
  func `the words of many elements are no long tag`(_ item: String, _ id: String) throws {
    let body = "<r>\((1...3000).map { item.replacing("0", with: "\($0)") }.joined())</r>"
    let read = try decode(
      body,
      "read: xml\nxml: {record: p}\nitem: {id: \"\(id)\", title: \"\(id)\"}"
    )

    #expect(read.sections[0].items.count == 3000)
  }

  @Test(
    arguments: [
      ("<rss><channel><item>", "is not well-formed XML"),
      ("<rss/><rss/>", "is not well-formed XML: Extra content at the end of the document"),
      ("<rss>A & B</rss>", "line 1 is not well-formed XML: xmlParseEntityRef: no name"),
      ("<html></html>", "begins with <html>"),
      ("hello", "column names"),
      (String(repeating: "<rss>", count: 100_000), "nested more than 64 elements deep"),
    ])
  func `a body that is not a merchant feed is refused as such`(body: String, words: String) {
    #expect(decodingError(body, "format: google-merchant")?.reason.contains(words) == true)
  }

  @Test func `an empty merchant feed is an empty section`() throws {
    #expect(try items("<rss><channel><title>a</title></channel></rss>", "google-merchant") == [])
  }

  // MARK: - Readers

  private func json(_ body: String, _ lines: String) throws -> String {
    let notation = try catalog("item: {id: $.id, title: $.t}\n\(lines)").mapping.notation
    return String(decoding: try notation.json(of: bytes(body), "feed"), as: UTF8.self)
  }

  @Test func `columns with the same name, and those without a name, are numbered`() throws {
    #expect(
      try json("id,-,-_2,-,,column_7,\nA,1,2,3,4,5,6\n", "read: csv")
        == #"{"items":[{"id":"A","-":"1","-_2":"2","-_3":"3","column_5":"4","column_7":"5","column_8":"6"}]}"#
    )
    #expect(try json(",id\n0,A\n", "read: csv") == #"{"items":[{"column_1":"0","id":"A"}]}"#)
  }

  @Test(arguments: [[0xB0, 0xA1], [0xFF], [0xE3, 0x81]] as [[UInt8]])
  func `a table that is not UTF-8 is refused with the place and a remedy`(_ odd: [UInt8]) throws {
    let notation = try catalog("read: csv\nitem: {id: $.id, title: $.t}").mapping.notation
    let table = bytes("id,t\nA,Cup é\nB,가") + odd + bytes("\n")

    let error = #expect(throws: CatalogError.self) { try notation.json(of: table, "feed") }

    #expect(error?.line == 3 && error?.column == 4)
    #expect(error?.code == .unexpectedShape)
    #expect(error?.reason == "expected UTF-8, found the byte 0x\(String(odd[0], radix: 16))")
    #expect(error?.remedy?.contains("iconv -f ENCODING -t UTF-8") == true)
  }

  @Test(arguments: [
    ("id,name\nA,\"Cup, blue\"\nB,\n", "read: csv"),
    ("\u{FEFF}id;name\r\nA;\"Cup, blue\"\r\n\r\nB;;\r\n", "read: csv"),
    ("id\tname\nA\tCup, blue\nB", "read: tsv"),
    ("ID|Name\nA|Cup, blue\nB|\n", "table: {names: plain}"),
    ("\n\nid;name\nA;\"Cup, blue\"\nB;\n", "read: csv"),
    ("\r\n\t\u{FEFF}id\tname\n\tA\tCup, blue\n\tB", "read: tsv"),
  ])
  func `each row of a table becomes an object, with the header line as names`(
    _ body: String,
    _ lines: String
  ) throws {
    #expect(
      try json(body, lines) == #"{"items":[{"id":"A","name":"Cup, blue"},{"id":"B"}]}"#
    )
  }

  @Test(arguments: [
    ("id;name;5\" disk\nA;Cup \"x,y,z,w;\n", #"{"id":"A","name":"Cup \"x,y,z,w"}"#),
    ("id;\"a, b\";\"c, d\"\nA;1;2\n", #"{"id":"A","a, b":"1","c, d":"2"}"#),
    ("id;\"a\n,,,,b\"\nA;1\n", #"{"id":"A","a\u000a,,,,b":"1"}"#),
  ])
  func `a quote encloses separators only at the beginning of a column's name`(
    _ body: String,
    _ record: String
  ) throws {
    #expect(try json(body, "read: csv") == "{\"items\":[\(record)]}")
  }

  @Test(arguments: [
    // The next quote is at the end of a cell, before another quoted cell, or nowhere.
    ("id\tt\tp\nA\t\"Cup\t1\nB\tMug\t2\nC\tJug 5\"\t3\n", "read: tsv"),
    ("id\tt\tp\nA\t\"Cup\t1\nB\tMug\t2\nC\t\"Jug 5\"\"\"\t3\n", "read: tsv"),
    ("id\tt\tp\r\nA\t\"Cup\t1\r\nB\tMug\t2\r\nC\tJug 5\"\t3", "read: csv"),
    ("id,t,p\nA,\"Cup,1\nB,Mug,2\nC,\"Jug 5\"\"\",3\n", "read: csv"),
    ("id,t,p\nA,\"Cup,1\nB,Mug,2\nC,Jug 5\"\"\"\",3", "read: csv"),
  ])
  func `a quote that encloses no cell is text, and swallows no row`(
    _ body: String,
    _ lines: String
  ) throws {
    let read = try decode(body, "\(lines)\nitem: {id: $.id, title: $.t, salePrice: $.p}").sections[
      0
    ]

    #expect(read.items.map(\.id) == ["A", "B", "C"])
    #expect(read.items[0].title == "\"Cup")
    #expect(read.items.map { $0.salePrice?.minorUnits } == [1, 2, 3])
  }

  @Test func `a cell of several lines stays whole where each row ends with a separator`() throws {
    let lines = "read: csv"
    let rows = "id,t,p\nA,\"Cup\n\nblue\",1,\nB,\"Mug\nred\",2,\n"
    let read = try decode(rows, "\(lines)\nitem: {id: $.id, title: $.t, salePrice: $.p}")

    #expect(read.skipped.isEmpty && read.sections[0].items.map(\.id) == ["A", "B"])
    // Two cells too many are another matter: the quotes can have swallowed the beginning of a row.
    let more = try decode(
      rows.replacing("2,", with: "2,,"),
      "\(lines)\nitem: {id: $.id, title: $.t}"
    )
    #expect(more.sections[0].items.map(\.id) == ["A"] && more.skipped.count == 1)
  }

  @Test(arguments: [
    "# Required | An id,# Optional | A text\nid,t\nA,Cup\n",
    "\u{FEFF}# Obligatoire | Un texte; 100,\r\nid,t\r\nA,Cup\r\n",
  ])
  func `a line of hints above the names of a table is skipped`(_ body: String) throws {
    let item = "item: {id: $.id, title: $.t}"
    #expect(try decode(body, "read: csv\n\(item)").sections[0].items.map(\.id) == ["A"])
    #expect(TableRecords.isTable(Array(body.utf8)))
    // One cell that begins so is a name or a value.
    let plain = "# id,t\nA,Cup\n# B,Mug\n"
    let named = "item: {id: \"$['# id']\", title: $.t}"
    let read = try decode(plain, "read: csv\n\(named)")
    #expect(read.sections[0].items.map(\.id) == ["A", "# B"])
  }

  @Test func `a quote that parts its row wrongly is named with its line`() throws {
    let item = "item: {id: $.id, title: $.t}"
    let rows = "id,t,p\nA,Cup,1\nB,\"Mug, blue,2\n" + (1...9).map { "C\($0),Jug,3\n" }.joined()

    let read = try decode(rows, "read: csv\n\(item)")

    #expect(read.sections[0].items.count == 10)
    #expect(read.skipped.map(\.index) == [1])
    #expect(
      read.skipped[0].reason.hasPrefix("line 3: the quote that begins its cell 2 encloses no cell")
    )
    let error = decodingError(rows, "read: csv\ntransform: .\n\(item)")
    #expect(error?.reason.hasPrefix("line 3: the quote") == true)
  }

  @Test func `a row with more cells than columns is named with its line, and not cut`() throws {
    let item = "item: {id: $.id, title: $.t, salePrice: $.p}"
    let rows = "id,p,t\nA,9.50,Cup\n\nB,9,50,Mug\nC,3.00,Jug,\n"

    let read = try decode(rows, "read: csv\n\(item)", currency: "EUR")

    #expect(read.sections[0].items.map(\.id) == ["A", "C"])
    #expect(read.skipped.map(\.index) == [1])
    #expect(read.skipped[0].reason.hasPrefix("line 4 has 4 cells, and the first line names 3"))
    let records = try decode(
      rows,
      "read: csv\nrecords: '.t |= ascii_upcase'\n\(item)",
      currency: "EUR"
    )
    #expect(records.sections[0].items.map(\.title) == ["CUP", "JUG"])
    #expect(records.skipped.map(\.reason) == read.skipped.map(\.reason))
    #expect(
      decodingError(rows, "read: csv\ntransform: .\n\(item)")?.reason.hasPrefix("line 4") == true
    )
  }

  @Test(arguments: [
    ("id,t,p\nA,Cup,1\nB,\"Mug\nblue,", "line 3:"),
    // A line feed ends a line, although the line before it ends with a carriage return.
    ("id,t,p\rnone\nA,Cup,1\nB,\"Mug\nblue,", "line 4:"),
  ])
  func `a row of a table that ends within a cell is named`(
    _ body: String,
    _ line: String
  ) throws {
    let read = try decode(body, "read: csv\nitem: {id: $.id, title: $.t}")

    #expect(read.sections[0].items.map(\.id) == ["A"])
    #expect(read.skipped.last?.reason.hasPrefix(line) == true)
  }

  @Test(arguments: [
    ("id,t,p\nA,\"Cup\n1, 2, 3\nblue\",1\n", "read: csv"),
    ("id\tt\tp\nA\t\"Cup\n1, 2, 3\nblue\"\t1\n", "read: tsv"),
    ("id\tt\tp\nA\t\"Cup\t\n1, 2, 3\nblue\"\t1\n", "read: tsv"),
  ])
  func `a cell in quotes may have lines of its own`(_ body: String, _ lines: String) throws {
    let read = try decode(body, "\(lines)\nitem: {id: $.id, title: $.t}")
    let words = read.sections[0].items.map { $0.title.split(whereSeparator: \.isWhitespace) }

    #expect(words == [["Cup", "1,", "2,", "3", "blue"]] && read.skipped.isEmpty)
  }

  @Test(arguments: [
    ("pictures", "table: {lists: [pictures]}"),
    ("Pictures", "table: {names: plain, lists: [pictures]}"),
    ("Pictures", "table: {names: plain, lists: [Pictures]}"),
  ])
  func `a column of a table may hold several values`(_ name: String, _ lines: String) throws {
    #expect(
      try json("id,\(name)\nA,\"a.jpg, b.jpg\"\n", lines)
        == #"{"items":[{"id":"A","pictures":["a.jpg","b.jpg"]}]}"#
    )
  }

  @Test func `a table without an id column is refused`() {
    let lines = "read: csv\nitem: {id: $.sku, title: $.name}"

    #expect(decodingError("Sorry, come back later\n", lines)?.reason.contains("\"sku\"") == true)
  }

  @Test func `XML elements become records, with their attributes and the elements around them`()
    throws
  {
    let body = """
      <shop xmlns:m="urn:m"><name>Shop</name><product id="A" m:kind="x"><title lang="en">Cup</title>
        <image>a.jpg</image><image>b.jpg</image><m:note/></product><product/></shop>
      """

    #expect(
      try json(body, "read: xml\nxml: {record: product}")
        == ##"{"items":[{"@id":"A","@m:kind":"x","title":{"@lang":"en","#text":"Cup"},"##
        + ##""image":["a.jpg","b.jpg"],"m:note":""},{"#text":""}],"around":{"shop":{"name":"Shop"}}}"##
    )
    #expect(
      try json("<a><b>1</b><b>2</b></a>", "read: xml\nitems: $.a.b") == #"{"a":{"b":["1","2"]}}"#
    )
  }

  @Test func `the text of an element with attributes is read as text`() throws {
    let lines = """
      xml: {record: p}
      item: {id: "$['@id']", title: $.title, salePrice: $.price, images: {gallery: $.image}}
      """
    let body = """
      <l><p id="1"><title lang="en">Cup</title><price currency="EUR">9.50</price><image n="1">a.jpg</image></p></l>
      """

    let item = try decode(body, lines, currency: "EUR").sections[0].items.first

    #expect(item?.title == "Cup" && item?.salePrice?.minorUnits == 950)
    #expect(item?.images.map(\.url) == ["a.jpg"])
  }

  @Test func `XML without the record element or with another root is refused`() {
    let lines = "xml: {record: p}\nitem: {id: $.id, title: $.t}"
    let page = "<html><body/></html>"

    #expect(decodingError(page, lines)?.reason.contains("elements <p>") == true)
    let rooted = lines.replacing("record: p", with: "record: p, roots: [list]")
    #expect(decodingError(page, rooted)?.reason.contains("begins with <html>") == true)
    #expect(decodingError("<list/>", rooted) == nil)
  }

  @Test func `each line has its URL and the words after it`() throws {
    let body = "https://c.example/a.jpg\r\n\r\nA cup https://c.example/b.jpg blue\nno address"

    #expect(
      try json(body, "read: lines")
        == #"{"items":[{"number":1,"text":"https://c.example/a.jpg","url":"https://c.example/a.jpg"},"#
        + #"{"number":3,"text":"A cup https://c.example/b.jpg blue","url":"https://c.example/b.jpg","rest":"A cup blue"},"#
        + #"{"number":4,"text":"no address"}]}"#
    )
  }

  @Test func `lines are UTF-8 or UTF-16, and others are refused with the place`() throws {
    func items(_ body: [UInt8]) throws -> [String] {
      let file = try catalog("format: list", sections: "[{key: main, url: main}]")
      return try decodeSource(body, at: 0, using: file).sections[0].items.map(\.title)
    }
    let line = "https://c.example/a.jpg 컵 🍵\n"
    let units = line.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let wide: [UInt8] = [0xFF, 0xFE] + units

    #expect(try items(bytes(line)) == ["컵 🍵"])
    #expect(try items(wide) == ["컵 🍵"])
    #expect(throws: CatalogError.self) { try items(wide.dropLast(2) + [0xD8]) }
    #expect(try items(wide + [0x0A]) == ["컵 🍵"])
    #expect(try items(wide.dropLast(4)) == ["컵 \u{FFFD}"])
    #expect {
      try items(bytes(line) + [0xB0, 0xA1])
    } throws: {
      "\($0)".contains("line 2")
    }
  }

  @Test func `JSON Lines are recognised by their content`() throws {
    let body = "{\"id\": 1, \"t\": \"Cup\"}\n\n{\"id\": 2, \"t\": \"Jug\"}\n"

    let listing = try decode(body, "items: $\nitem: {id: $.id, title: $.t}")

    #expect(listing.sections[0].items.map(\.title) == ["Cup", "Jug"])
  }

  @Test(arguments: [
    ("PAR1\u{15}", "Parquet"), ("PK\u{3}\u{4}x", "ZIP"), ("%PDF-1.4", "PDF"), ("{\\rtf1", "RTF"),
  ])
  func `an error for an unreadable notation names it`(_ body: String, _ name: String) {
    for lines in ["items: $\nitem: {id: $.id, title: $.t}", "format: google-merchant"] {
      #expect(decodingError(body, lines)?.reason.contains(name) == true)
    }
  }

  @Test func `a records program runs once for each item`() throws {
    let lines = """
      items: $.list
      records: |
        .title |= ascii_upcase # a comment
      item: {id: $.id, title: $.title}
      """
    let body = #"{"list": [{"id": 1, "title": "cup"}, {"id": 9007199254740993, "title": "jug"}]}"#

    let items = try decode(body, lines).sections[0].items

    #expect(items.map(\.title) == ["CUP", "JUG"])
    #expect(items.map(\.id) == ["1", "9007199254740993"])
    let faulty = #expect(throws: CatalogError.self) {
      try catalog("items: $\nrecords: |\n  .a\n  | nothing_known\nitem: {id: $.i, title: $.t}")
    }
    #expect(faulty?.line == 7)
  }

  @Test(arguments: ["$.edges[*].node", "$..node", "$.byID.*", "$.edges[?@.node].node"])
  func `a path may select the items one by one`(_ path: String) throws {
    let node = #"{"id": "A", "title": "Cup"}"#
    let body = #"{"edges": [{"node": \#(node)}], "byID": {"A": \#(node)}}"#

    let items = try decode(body, "items: \"\(path)\"\nitem: {id: $.id, title: $.title}")

    #expect(items.sections[0].items.map(\.id) == ["A"])
  }

  @Test(arguments: [("1000", nil as Int?), ("100", 1800), ("12", nil)])
  func `a price is divided by the item's own divisor, a power of ten`(
    _ divisor: String,
    _ units: Int?
  )
    throws
  {
    let body = #"[{"id": 1, "title": "Cup", "price": {"amount": 1800, "divisor": \#(divisor)}}]"#
    let lines = """
      items: $
      item: {id: $.id, title: $.title, salePrice: {path: $.price.amount, divisor: $.price.divisor}}
      """

    let listing = try decode(body, lines, currency: divisor == "1000" ? "KRW" : "EUR")

    #expect(listing.sections[0].items[0].salePrice?.minorUnits == units)
  }

  @Test(arguments: [
    (#"{"units": "18", "nanos": 500000000}"#, 1850), (#"{"units": 18}"#, 1800),
    (#"{"nanos": 500000000}"#, 50), (#"{"units": "", "nanos": 0}"#, nil as Int?),
    (#"{"units": 18, "nanos": 1}"#, nil as Int?),
  ])
  func `a price is read from units and nanos`(_ price: String, _ units: Int?) throws {
    let lines = """
      items: $
      item: {id: $.id, title: $.title, salePrice: {units: $.price.units, nanos: $.price.nanos}}
      """

    let listing = try decode(
      #"[{"id": 1, "title": "Cup", "price": \#(price)}]"#,
      lines,
      currency: "EUR"
    )

    #expect(listing.sections[0].items[0].salePrice?.minorUnits == units)
  }

  @Test(arguments: [
    (
      "sku,name,price,photo\nA,Cup,4.00,https://c.example/a.jpg\nB,Jug,5.00,https://c.example/b.jpg\n",
      "read: csv"
    ),
    (
      "<shop><product sku='A'><name>Cup</name><price>4.00</price></product>"
        + "<product sku='B'><name>Jug</name><price>5.00</price></product></shop>",
      "read: xml"
    ),
  ])
  func `init proposes the notation of a body that no built-in format fits`(
    _ body: String,
    _ line: String
  )
    throws
  {
    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    #expect(file.text.contains("\n\(line)\n"))
    let items = file.listings[0].sections[0].items
    #expect(items.map(\.id) == ["A", "B"] && items.map(\.title) == ["Cup", "Jug"])
    #expect(items.map(\.salePrice?.minorUnits) == [400, 500])
  }
}
