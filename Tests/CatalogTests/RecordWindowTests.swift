import Support
import Testing

@testable import Catalog

/// Large tables, JSON Lines and XML documents are read in windows, like JSON.
struct RecordWindowTests {
  private static let item = "item: {id: $.id, title: $.title, salePrice: $.price}\n"

  private static let table =
    "id;title;price\r\n\r\n"
    + (1...9).map { "A\($0);\"Cup \($0); \"\"blue\"\"\nwide\";\($0).50\r\n" }.joined()
    + "\n;no id;1.50\nA10; \"loose\" ;many\rA11;\"\";7.25"

  /// Quotes that enclose no cell: at some cells' beginnings, and at others' ends.
  private static let stray =
    "id\ttitle\tprice\n"
    + (1...9).map {
      "A\($0)\t\"Cup \($0)\t\($0).50\nB\($0)\tMug \($0)\"\t1\nC\($0)\t\"x, \($0)\t2\n"
    }.joined()

  private static let lines =
    "\u{FEFF}https://c.example/0.jpg\r\n\r\n"
    + (1...9).map { "  https://c.example/\($0).jpg Cup \($0)\n\($0 % 3 == 0 ? "\n" : "")" }
    .joined()
    + "no address\nhttps://c.example/last.jpg"

  private static let records =
    (1...9).map { #"{"id": "A\#($0)", "title": "[\#($0)] \"a, b\" {\\", "price": "\#($0).50"}"# }
    + [#"{"title": "T"}"#, "7"]

  private static let feed =
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- <item> of a <channel> -->
    <rss xmlns:m="http://media.example/" note='a > b />'><channel><title>Cups</title>
    <link/>
    """
    + (1...9).map {
      """
      <item n="\($0)"><id>A\($0)</id><title><![CDATA[</channel><item> ]] \($0)]]></title>
        <m:item><price>0</price></m:item><!-- </item> --><price>\($0).50</price></item>
      <break between="/item>"/>
      """
    }.joined()
    + "<item/><item ><title>no id</title></item ></channel><after>x</after></rss>\n"

  private static let all: [(body: String, lines: String)] = [
    (table, "read: csv"), (table.replacing(";", with: "\t"), "read: tsv"),
    ("  \n\n" + table, "read: csv"),
    (
      table + "\n" + String(repeating: "\n", count: 200) + "A12;\"Jug\nwide",
      "read: csv"
    ),
    (
      "id\ta\tb\tc\n" + (1...40).map { "A\($0)\tx\ty\tz\n" }.joined() + "B\tx\ty\t\"\nC\n",
      "read: tsv\nitem: {id: $.id, title: $.id}"
    ),
    (lines, "format: list"),
    ("\u{FEFF}" + lines, "read: lines\nitem: {id: $.number, title: $.text}"),
    (lines, "read: lines\nitem: {id: $.number, title: $.text}"),
    (
      lines + "\u{FEFF}https://a.b/last.jpg\n\u{FEFF}\n",
      "read: lines\nitem: {id: $.number, title: $.text}"
    ),
    (records.joined(separator: "\n"), "read: jsonl\nitems: $"),
    ("\n" + records.joined(separator: "\r\n") + "\n", "items: [$.none, $]"),
    (feed, "xml: {record: item}\nenvelope: {title: $.around.rss.channel.title}"),
    (
      feed.replacing("<item", with: "<x:item").replacing("</item", with: "</x:item")
        .replacing("<rss", with: "<rss xmlns:x='x'"), "read: xml\nxml: {record: item}"
    ),
    (
      feed.replacing("<rss", with: "<!DOCTYPE rss SYSTEM \"<item>\">\n<rss"),
      "xml: {record: item}"
    ),
  ]

  private func file(_ lines: String) throws -> CatalogFile {
    let isWhole = lines.contains("item: {") || lines.contains("format:")
    return try catalog((isWhole ? "" : Self.item) + lines)
  }

  /// The joined results of the windows of a body, or nil if the body is not split or a window
  /// cannot be read.
  private func read(_ body: [UInt8], _ file: CatalogFile, size: Int) -> DecodedListing? {
    var windows = ListingWindows(body, for: ListingDecoder(file, position: 0), size: size)
    return try? windows?.joined().listing
  }

  @Test(arguments: all.indices)
  func `the result does not depend on where records are split`(_ index: Int) throws {
    let (body, lines) = Self.all[index]
    let file = try file(lines)
    let whole = try decodeSource(bytes(body), at: 0, using: file)

    for size in [1, 20, 90, 150] {
      #expect(read(bytes(body), file, size: size) == whole, "\(size) bytes")
    }
    #expect(whole.sections[0].items.count >= 9)
  }

  @Test func `a byte order mark within lines does not make UTF-16 of the rest`() throws {
    let body =
      bytes(Self.lines + "\n") + [0xFE, 0xFF, 0x00, 0x41, 0x0A] + bytes("https://a.b/z.jpg")
    let file = try file("format: list")

    #expect(throws: CatalogError.self) { try decodeSource(body, at: 0, using: file) }
    for size in [1, 20, 90, 150] { #expect(read(body, file, size: size) == nil) }
  }

  @Test(arguments: [
    #"[{"url": "https://a.b/1.jpg"}, "sold out"]"#, "{\"url\": \"u\"}\n{}\n\"sold out\"",
  ])
  func `a text among JSON elements is never taken for a reader's reason`(_ body: String) throws {
    let listing = try decodeSource(bytes(body), at: 0, using: file("format: list"))
    #expect(listing.skipped.last?.reason == "expected an object, found text")
  }

  @Test(arguments: all.indices)
  func `a truncated or damaged body reads the same by windows as whole, or windows refuse it`(
    _ index: Int
  ) throws {
    let (text, lines) = Self.all[index]
    let file = try file(lines)
    let body = bytes(text)
    var torn = stride(from: 1, to: body.count, by: 3).map { Array(body[..<$0]) }
    let marks = body.indices.filter { "<>/\"'\n;\t![".utf8.contains(body[$0]) }
    for place in marks {
      torn.append(Array(body[..<place] + body[(place + 1)...]))
      torn.append(Array(body[...place] + body[place...]))
    }
    var count = 0
    for place in Sweep.places(torn.count, part: index) {
      let body = torn[place]
      guard let read = read(body, file, size: 60) else { continue }
      count += 1
      let whole = try? decodeSource(body, at: 0, using: file)
      #expect(read == whole, "\(String(decoding: body, as: UTF8.self))")
    }
    #expect(count > (Sweep.isWhole ? 20 : 6))
  }

  @Test(arguments: [
    // The records have several parents, a path leads into the records or beside them, the encoding
    // does not contain ASCII, no element is a record, the document type has declarations, or a quote encloses no cell.
    ("<a><b><item/><item/></b><c><item/></c></a>", "xml: {record: item}"),
    (feed, "xml: {record: item}\nenvelope: {title: \"$.items[0].title\"}"),
    (feed, "xml: {record: item}\nitems: $.around.rss.channel.break"),
    (feed.replacing("UTF-8", with: "UTF-7"), "xml: {record: item}"),
    (feed, "read: xml\nitems: $.rss.channel.item"),
    (feed.replacing("<!--", with: "<!DOCTYPE rss [<!ENTITY a 'b'>]><!--"), "xml: {record: item}"),
    ("[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n", "read: jsonl\nitems: \"$[*]\""),
    (table, "read: csv\ntransform: ."), (stray, "read: tsv"),
    (stray.replacing("\t", with: ","), "read: csv"),
  ])
  func `records that windows could misread are read whole`(body: String, lines: String)
    throws
  {
    let decoder = ListingDecoder(try file(lines), position: 0)
    let windows = ListingWindows(bytes(body), for: decoder, size: 5)
    #expect(windows == nil)
  }
}
