import Testing

@testable import Catalog

/// Proposals for values that have another form in other items or in another notation, and refusals that name the form.
struct ProposalFormTests {
  private func items(_ file: ProposedFile) -> [StoreItem] { file.listings[0].sections[0].items }

  private func urls(_ item: StoreItem, _ role: ImageReference.Role) -> [String] {
    item.images.filter { $0.role == role }.map(\.url)
  }

  // MARK: - Pictures

  @Test(
    arguments: [
      (#"[""URL?w=2,3"", ""URL?n=2""]"#, #"[""URL?w=2,3""]"#),
      ("['URL?w=2,3', 'URL?n=2']", "['URL?w=2,3']"),
    ])
  func `a cell with a list of pictures is proposed and read as a list`(
    _ several: String,
    _ one: String
  ) throws {
    func table(_ cells: [String]) -> String {
      "sku,name,price,image_urls\n"
        + cells.enumerated().map { number, cell in
          let list = cell.replacing("URL", with: "https://x.example/\(number).jpg")
          return "A\(number),Tent \(number),19.5\(number),\"\(list)\"\n"
        }.joined()
    }

    let many = try proposal(of: table([several, several, "[]"]))
    let single = try proposal(of: table([one, one, one]))

    #expect(!many.unsure.contains("gallery"), "\(many.text)")
    #expect(linesWithoutComments(of: many.text).contains("    gallery: $.image_urls"))
    #expect(
      items(many).map { urls($0, .gallery) }
        == [0, 1].map {
          ["https://x.example/\($0).jpg?w=2,3", "https://x.example/\($0).jpg?n=2"]
        } + [[]]
    )
    #expect(linesWithoutComments(of: single.text).contains("    thumbnail: $.image_urls"))
    #expect(
      items(single).map { urls($0, .thumbnail) }
        == (0..<3).map { ["https://x.example/\($0).jpg?w=2,3"] }
    )
  }

  @Test(
    arguments: [1, 2, 4, 8, 9],
    [
      ("", "<picture>URL</picture>", ""), ("<photos>", "<photo>URL</photo>", "</photos>"),
      ("", "<photo><url>URL</url></photo>", ""),
      ("<photos>", "<photo n=\"1\">URL</photo>", "</photos>"),
    ]
  )
  func `all pictures are read of an element that only some items repeat`(
    _ ones: Int,
    _ element: (before: String, picture: String, after: String)
  ) throws {
    let offers = (0..<10).map { number in
      let pictures = (0..<(number < ones ? 1 : 3)).map {
        element.picture.replacing("URL", with: "https://x.example/\(number)-\($0).jpg")
      }
      return "<offer id=\"\(number)\"><name>Thing \(number)</name><price>9.5\(number)</price>"
        + element.before + pictures.joined() + element.after + "</offer>"
    }

    let file = try proposal(of: "<shop><offers>\(offers.joined())</offers></shop>")

    #expect(!file.unsure.contains("thumbnail") && !file.unsure.contains("gallery"), "\(file.text)")
    for (number, item) in items(file).enumerated() {
      let all = (0..<(number < ones ? 1 : 3)).map { "https://x.example/\(number)-\($0).jpg" }
      #expect(urls(item, .thumbnail) == [all[0]], "\(file.text)")
      #expect(urls(item, .gallery) == all, "\(file.text)")
    }
  }

  @Test func `a picture that is a text, an object or a list is read in each form`() throws {
    let forms = [
      #""URL""#, #"{"url": "URL"}"#, #"["URL", "URL?2"]"#, #"[{"url": "URL"}, {"url": "URL?2"}]"#,
    ]
    let items = forms.enumerated().map { number, form in
      let image = form.replacing("URL", with: "https://x.example/\(number).jpg")
      return
        #"{"id": "a\#(number)", "name": "Cup \#(number)", "price": 4.5\#(number), "image": \#(image)}"#
    }

    let file = try proposal(of: "[\(items.joined(separator: ","))]")

    #expect(
      self.items(file).map { urls($0, .thumbnail).first }
        == (0..<4).map { "https://x.example/\($0).jpg" },
      "\(file.text)"
    )
    #expect(self.items(file).map { urls($0, .gallery).count } == [1, 1, 2, 2], "\(file.text)")
  }

  // MARK: - Tables

  @Test(arguments: [
    ",name,price,image\n0,Tent,19.50,https://x.example/a.jpg\n1,Lamp,7.25,https://x.example/b.jpg\n",
    "n,name,price,,image\n0,Tent,19.50,x,https://x.example/a.jpg\n1,Lamp,7.25,,https://x.example/b.jpg\n",
    ",name,,price,image\n0,\"Tent\",\"re\n  d\",19.50,https://x.example/a.jpg\n1,Lamp,,7.25,https://x.example/b.jpg\n",
  ])
  func `a column without a name gets its number as its name`(_ table: String) throws {
    let items = items(try proposal(of: table))

    #expect(items.map(\.title) == ["Tent", "Lamp"])
    #expect(items.flatMap { urls($0, .thumbnail) }.count == 2)
  }

  @Test(arguments: [
    "Price list;;;\nA1;Tent;19.50;x\nB2;Lamp;7.25;y\nC3;Rope;3.95;z\n",
    "A1;Tent;19.50;;x\nB2;Lamp;7.25;;y\nC3;Rope;3.95;;z\nD4;\"Pot;\nblue\";5.00;;z\n",
  ])
  func `a first line of which most cells are empty, or one is a number, has no names`(
    _ table: String
  ) {
    let error = #expect(throws: CatalogError.self) { try proposal(of: table) }

    #expect(error?.reason.contains("does not name the columns") == true, "\(error?.reason ?? "")")
  }

  @Test(arguments: [
    (
      "name,price,note\nMug,8.50,red, white\nCup,9.50,blue\n",
      "it is a table with commas between its cells, and line 2 has 4 cells, while the first line names 3"
    ),
    (
      "Nome,Imagem\nFan 30cm, 60W,a.jpg\nIron, 90W,b.jpg\n",
      "it is a table with commas between its cells, and line 2 has 3 cells, while the first line names 2"
    ),
  ])
  func `a table with too many cells in a line is refused with that line`(
    _ table: String,
    _ reason: String
  ) {
    let error = #expect(throws: CatalogError.self) { try proposal(of: table) }

    #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func `column names may be long and have line breaks`() throws {
    let long = String(repeating: "note ", count: 40)
    let table = "NAME,\"PART (CURRENT)\n\",\"PRICE \(long)\n\"\nCup,A1,9.50\nMug,B2,8.50\n"

    #expect(items(try proposal(of: table)).map(\.title) == ["Cup", "Mug"])
  }

  @Test func `a row with a stray quote is skipped and the others are proposed`() throws {
    let rows = (1...20).map { "\($0),Cup \($0),\($0).50\n" }.joined()
    let file = try proposal(of: "id,name,price\n0,\"Mug, blue,1.50\n" + rows)

    #expect(items(file).count == 20)
    #expect(file.listings[0].skipped.map { $0.reason.prefix(7) } == ["line 2:"])
  }

  @Test func `the lowest price of several offers is in doubt`() throws {
    func page(_ offer: String) throws -> ProposedFile {
      try proposal(
        of: """
          <html><script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",
          "name": "cups", "sku": "c", "offers": {"@type": "AggregateOffer", "offerCount": 32, \(offer),
          "priceCurrency": "BRL"}}</script></html>
          """
      )
    }
    let range = try page(#""lowPrice": 19, "highPrice": 9900"#)

    #expect(range.unsure == ["salePrice"])
    #expect(range.text.contains("lowest of several offers in 1 of 1 items;"))
    #expect(try page(#""lowPrice": 19, "highPrice": 19"#).unsure == [])
  }

  @Test func `UTF-16 is read as a table, and refused by name as JSON`() throws {
    func wide(_ text: String) throws -> ProposedFile {
      let units: [UInt16] = [0xFEFF] + Array(text.utf16)
      let body = units.flatMap { unit -> [UInt8] in
        [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
      }
      let source = ProposedSource(url: "https://s.example/x")
      return try ProposedFile(of: [ProposedPage(body: body, source: source)], name: "x.yaml")
    }

    let table = try wide("sku;name;price\nA1;Zélt;19.50\nB2;Lamp;7.25\n")
    let error = #expect(throws: CatalogError.self) { try wide(#"[{"id": 1, "name": "Tent"}]"#) }

    #expect(items(table).map(\.title) == ["Zélt", "Lamp"])
    #expect(error?.reason == "expected UTF-8, found UTF-16")
    #expect(error?.remedy?.contains("iconv -f UTF-16 -t UTF-8") == true)
  }

  // MARK: - Causes

  @Test func `items that only repeat are refused with the field and a remedy`() {
    let items = (0..<16).map {
      #"{"code": "g\#($0 % 2)", "goods_nm": "Box of \#($0 % 8)", "weight": \#($0).5}"#
    }

    let error = #expect(throws: CatalogError.self) {
      try proposal(of: "[\(items.joined(separator: ","))]")
    }

    #expect(
      error?.reason.hasSuffix("$.goods_nm is the same as in another item in 8 of 16") == true,
      "\(error?.reason ?? "")"
    )
    #expect(error?.remedy?.contains("records: .id = tojson and id: $.id") == true)
  }

  @Test func `products of a page without an id get their name as id`() throws {
    let products = ["Lamp", "Tent"].map {
      #"{"@type": "Product", "name": "\#($0)", "offers": {"@type": "Offer", "price": "10.50", "priceCurrency": "EUR"}}"#
    }.joined(separator: ",")
    let page =
      #"<html><script type="application/ld+json">{"@type": "ItemList", "itemListElement": [\#(products)]}</script></html>"#

    let file = try proposal(of: page)

    let lines = linesWithoutComments(of: file.text)
    for line in ["read: html", "items: $.items", "  id: $.name"] {
      #expect(lines.contains(line), "\(file.text)")
    }
    #expect(file.unsure == ["items", "id"], "\(file.text)")
    #expect(file.listings[0].sections[0].items.map(\.id) == ["Lamp", "Tent"])
  }
}
