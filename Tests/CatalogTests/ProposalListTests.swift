import Testing

@testable import Catalog

/// Which list of a response a proposal takes for the items, and which value for their ids.
struct ProposalListTests {
  /// A response in which `ITEMS(template)` is a list of twenty objects; NUMBER is 1, 2, … in them.
  ///
  /// `MORE(template)` is twenty objects without the brackets of a list, and `MORE_3(template)` three.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let body: String
    /// Lines that the file must contain, without their comments.
    let lines: [String]
    /// Texts that the file must contain.
    var texts: [String] = []
    /// The uncertain keys, besides the currency.
    var unsure: [String] = []
    /// The number of items that a sync reads.
    var count = 20
  }

  private static let cup =
    #"{"id": NUMBER, "name": "Cup NUMBER", "price": 9.5, "image": "https://c.example/NUMBER.jpg"}"#
  private static let page =
    #"{"name": "Cup NUMBER", "url": "https://s.example/p/NUMBER", "price": 9.5, "image": "https://c.example/NUMBER.jpg"}"#

  static let cases: [Case] = [
    Case(
      testDescription: "films with actors are items, and the actors are asked about",
      body:
        #"{"subjects": ITEMS({"id": "fNUMBER", "title": "Film NUMBER", "images": {"large": "https://c.example/NUMBER.jpg"}, "casts": [{"id": "aNUMBER", "name": "Actor NUMBER a", "avatars": {"large": "https://c.example/aNUMBER.jpg"}}, {"id": "bNUMBER", "name": "Actor NUMBER b", "avatars": {"large": "https://c.example/bNUMBER.jpg"}}]})}"#,
      lines: ["items: $.subjects", #"# items: "$.subjects[*].casts""#],
      unsure: ["items", "title"]
    ),
    Case(
      testDescription: "categories without a price and a picture are left out",
      body:
        #"{"categories": [{"id": 1, "name": "Soups"}, {"id": 2, "name": "Drinks"}], "items": ITEMS(CUP)}"#,
      lines: ["items: $.items", "# items: $.categories"],
      texts: ["left out, seems to hold no items: 2 objects"]
    ),
    Case(
      testDescription: "a list whose entries cannot be read is left out of the sections",
      body:
        #"{"cups": ITEMS(CUP), "login": [{"id": 1, "email": "a"}, {"id": 2, "email": "b"}], "pans": [{"id": 91, "name": "Pan 1", "price": 9.5}, {"id": 92, "name": "Pan 2", "price": 9.5}]}"#,
      lines: [
        "# items: $.login",
        #"  {sections: [to_entries[] | select(.key != "login") | {key, title: .key, items: .value}]}"#,
      ],
      count: 22
    ),
    Case(
      testDescription:
        "lists of other items with the same ids are sections, and the title is the id",
      body:
        #"{"user": [{"id": "u", "email": "c"}], "east": ITEMS({"id": NUMBER, "name": "East NUMBER", "image": "https://c.example/eNUMBER.jpg"}), "west": ITEMS({"id": NUMBER, "name": "West NUMBER", "image": "https://c.example/wNUMBER.jpg"}), "north": ITEMS({"id": NUMBER, "name": "North NUMBER", "image": "https://c.example/nNUMBER.jpg"}), "south": ITEMS({"id": NUMBER, "name": "South NUMBER", "image": "https://c.example/sNUMBER.jpg"})}"#,
      lines: ["# Sections by name", "# items: $.user", "items: $.items", "  id: $.name"],
      unsure: ["items", "id", "title"],
      count: 80
    ),
    Case(
      testDescription: "an item that is listed twice leaves the title an id",
      body:
        #"{"goods": [{"name": "Cup 1", "url": "https://s.example/p/1", "price": 9.5}, MORE(PAGE)]}"#,
      lines: ["  id: $.name"],
      texts: ["a sync skips 1 of 21, without an id of their own"],
      unsure: ["id"],
      count: 21
    ),
    Case(
      testDescription: "a title that two items have gives way to a URL that differs in all",
      body:
        #"{"goods": [{"name": "Cup 1", "url": "https://s.example/p/one", "price": 9.5}, MORE(PAGE)]}"#,
      lines: ["  id: $.url", "  title: $.name"],
      unsure: ["id"],
      count: 21
    ),
    Case(
      testDescription: "an empty record and one that says nothing are skipped",
      body: #"{"goods": [MORE(PAGE), {}, {"name": null, "url": ""}]}"#,
      lines: ["  id: $.name"],
      texts: ["a sync skips 2 of 22"],
      unsure: ["id"]
    ),
    Case(
      testDescription: "more empty elements than a sync bears are left out",
      body: #"{"goods": [MORE(CUP), "", "", ""]}"#,
      lines: [#"items: "$.goods[?length(@.name) > 0]""#],
      texts: ["the entries without a title are left out"]
    ),
    Case(
      testDescription: "an id that all items share is none",
      body:
        #"{"goods": [MORE_3({"code": "424932", "name": "Cup NUMBER", "price": 9.5, "image": "https://c.example/NUMBER.jpg"})]}"#,
      lines: ["  id: $.name"],
      unsure: ["id"],
      count: 3
    ),
    Case(
      testDescription: "items that hold items of their own are asked about",
      body:
        #"{"node": [{"id": "g", "name": "Pans", "node": [{"id": "p", "name": "Pan", "price": 9.5}]}, MORE(CUP)]}"#,
      lines: ["items: $.node"],
      unsure: ["items", "title"],
      count: 21
    ),
    Case(
      testDescription: "items are found below two lists, each in an object that only holds it",
      body:
        #"{"groups": {"group": [{"title": "A", "parts": {"part": [{"label": "a", "offers": {"offer": [MORE_3(CUP)]}}, {"label": "b", "offers": {"offer": [{"id": 41, "name": "Cup 41", "price": 9.5, "image": "https://c.example/41.jpg"}]}}]}}, {"title": "B", "parts": {"part": [{"label": "c", "offers": {"offer": [{"id": 51, "name": "Cup 51", "price": 9.5, "image": "https://c.example/51.jpg"}]}}]}}]}}"#,
      lines: [#"items: "$.parts.part[*].offers.offer""#],
      unsure: ["sections"],
      count: 5
    ),
    Case(
      testDescription: "one long id is an id",
      body: #"{"goods": [MORE(CUP), {"id": "LONG", "name": "Cup 21", "price": 9.5}]}"#,
      lines: ["  id: $.id"],
      count: 21
    ),
    Case(
      testDescription: "an id that too many items lack gets a second path",
      body:
        #"{"goods": [MORE({"isbn": "978623013740NUMBER", "name": "Book NUMBER", "price": 9.5, "image": "https://c.example/NUMBER.jpg"}), {"name": "Book 21", "price": 9.5}, {"name": "Book 22", "price": 9.5}, {"name": "Book 23", "price": 9.5}]}"#,
      lines: ["  id: [$.isbn, $.name]"],
      unsure: ["id"],
      count: 23
    ),
    Case(
      testDescription: "goods with pages precede a longer list of makers with icons",
      body:
        #"{"makers": ITEMS({"id": "mNUMBER", "name": "Maker NUMBER", "icon": "https://c.example/mNUMBER.png", "count": 7}), "page": {"cards": [MORE_3({"name": "Boat NUMBER", "url": "https://s.example/b/NUMBER", "image": "https://c.example/NUMBER.jpg"})]}}"#,
      lines: ["items: $.page.cards", "# items: $.makers"],
      unsure: ["items", "id", "title"],
      count: 3
    ),
    Case(
      testDescription: "a list of one product is the items, not its variants",
      body:
        #"[{"node": {"id": "p/1", "title": "Kettle", "images": {"edges": [{"node": {"url": "https://c.example/k.jpg"}}]}, "variants": {"edges": [{"node": {"id": "v/1", "title": "Red", "price": {"amount": "29.0"}}}, {"node": {"id": "v/2", "title": "Blue", "price": {"amount": "29.0"}}}]}}}]"#,
      lines: ["items: $", "  id: $.node.id", "  title: $.node.title"],
      count: 1
    ),
    Case(
      testDescription: "the members of several objects are items; names that repeat are no ids",
      body:
        #"{"groups": {"a": {"name": "A", "goods": {"i1": {"name": "Cup", "price": 9.5, "image": "https://c.example/1.jpg"}, "i2": {"name": "Pan", "price": 8.5, "image": "https://c.example/2.jpg"}}}, "b": {"name": "B", "goods": {"i1": {"name": "Jug", "price": 7.5, "image": "https://c.example/3.jpg"}, "i2": {"name": "Pot", "price": 6.5, "image": "https://c.example/4.jpg"}}}}}"#,
      lines: [#"  {items: [.["groups"][]["goods"] | to_entries[] | .value]}"#, "  id: $.name"],
      unsure: ["id"],
      count: 4
    ),
    Case(
      testDescription: "lists beside an object are sections",
      body:
        #"{"gifts": ITEMS(CUP), "linen": [{"id": 91, "name": "Towel", "price": 9.5, "image": ""}], "trip": {"title": "Rome", "text": "By train"}}"#,
      lines: [
        #"  {sections: [to_entries[] | select((.value | type == "array")) | {key, title: .key, items: .value}]}"#
      ],
      count: 21
    ),
    Case(
      testDescription: "rows that are equal are said to be, and do no harm",
      body:
        #"{"goods": [MORE(PAGE), {"name": "Cup 1", "url": "https://s.example/p/1", "price": 9.5, "image": "https://c.example/1.jpg"}, {"name": "Cup 2", "url": "https://s.example/p/2", "price": 9.5, "image": "https://c.example/2.jpg"}]}"#,
      lines: ["  id: $.name"],
      texts: ["an array of 22 objects, 2 of them equal to another", "in 20 of 20 items"],
      unsure: ["id"],
      count: 22
    ),
    Case(
      testDescription: "a title that items of different prices share is an id in doubt",
      body:
        #"{"goods": [MORE({"name": "Cup NUMBER", "price": 9.5}), MORE({"name": "Cup NUMBER", "price": 8.5})]}"#,
      lines: ["  id: $.name"],
      texts: ["several items have the same: a sync skips 20 of 40"],
      unsure: ["items", "id"],
      count: 40
    ),
    Case(
      testDescription: "sections have all items although these have the same names in each",
      body:
        #"{"acids": {"zinc": {"id": "zinc", "offers": [MORE_3({"name": "Maker NUMBER", "price": 9.5})]}, "iron": {"id": "iron", "offers": [MORE_3({"name": "Maker NUMBER", "price": 8.5})]}}}"#,
      lines: [
        #"  {sections: [.["acids"] | to_entries[] | {key, title: .key, items: .value["offers"]}]}"#
      ],
      unsure: ["items", "id", "title"],
      count: 6
    ),
    Case(
      testDescription: "a Romanian shop's names are known",
      body:
        #"[{"denumire": "Ceainic", "pret": 80.5, "pretVechi": 99.5}, {"denumire": "Vas", "pret": 12.5, "pretVechi": 19.5}]"#,
      lines: ["  title: $.denumire", "  normalPrice: $.pretVechi", "  salePrice: $.pret"],
      unsure: ["items", "id"],
      count: 2
    ),
    Case(
      testDescription: "things with a price and no title get a short text as one",
      body:
        #"[{"page": "https://s.example/1", "model": "X7", "price": "111 199 €"}, {"page": "https://s.example/2", "model": "320", "price": "5 450 €"}]"#,
      lines: ["  title: $.model", "  salePrice: $.price"],
      unsure: ["items", "id", "title"],
      count: 2
    ),
    Case(
      testDescription: "a Croatian shop's names are known",
      body:
        #"[{"naziv": "Šaran", "vrsta": "riba", "cijena": 5.6}, {"naziv": "Som", "vrsta": "riba", "cijena": 9.95}, {"naziv": "Oslić", "vrsta": "more", "cijena": 12.5}]"#,
      lines: ["  title: $.naziv", "  salePrice: $.cijena"],
      unsure: ["items", "id"],
      count: 3
    ),
    Case(
      testDescription: "entries without a title are left out",
      body:
        #"{"entries": [MORE({"id": NUMBER, "name": "Cup NUMBER", "price": 9.5}), MORE_3({"id": "pNUMBER", "name": "", "answer": "yes"}), MORE_3({"id": "sNUMBER", "locale": "en"})]}"#,
      lines: [#"items: "$.entries[?length(@.name) > 0]""#, "  title: $.name"],
      texts: ["the entries without a title are left out"],
      unsure: ["items", "title"]
    ),
    Case(
      testDescription: "notes of a few items are no items",
      body:
        #"{"lots": [MORE({"id": NUMBER, "area": "Block NUMBER", "price": 9.5, "notes": []}), {"id": 90, "area": "Box", "price": 8.5, "notes": [{"id": 1, "note": "Has a pass"}]}]}"#,
      lines: ["items: $.lots", "  title: $.area"],
      unsure: ["items", "title"],
      count: 21
    ),
    Case(
      testDescription: "links beside the items are no table",
      body:
        #"{"urls": [["Portrait", "https://s.example/a"], ["Ship", "https://s.example/b"]], "goods": ITEMS(CUP)}"#,
      lines: ["items: $.goods"]
    ),
    Case(
      testDescription: "items by number may have a poorer one first",
      body:
        #"{"101": {"sku": "a", "name": "Cup", "price": 9.5}, "102": {"sku": "b", "name": "Mug", "price": 9.5, "maker": "M", "size": 1, "kind": "x", "web": "y"}, "103": {"sku": "c", "name": "Jug", "price": 8.5, "maker": "M", "size": 2, "kind": "x", "web": "y"}}"#,
      lines: ["  id: $.sku", "  title: $.name"],
      unsure: [],
      count: 3
    ),
    Case(
      testDescription: "things with pictures alone get their addresses as ids and titles",
      body: #"[MORE({"url": "https://c.example/NUMBER.jpg", "kind": "macro"})]"#,
      lines: ["  id: $.url", "  title: $.url", "    thumbnail: $.url"],
      unsure: ["items", "id", "title"]
    ),
    Case(
      testDescription: "things that share one title get it",
      body:
        #"[MORE({"id": NUMBER, "title": "iPod nano", "price": "199.00"})]"#,
      lines: ["  id: $.id", "  title: $.title"],
      unsure: ["items", "title"]
    ),
    Case(
      testDescription: "items with a known title and no id, price or picture are asked about",
      body:
        #"{"goods": [MORE({"name": "Cup NUMBER", "size": 9}), MORE({"name": "Cup NUMBER", "size": 8})]}"#,
      lines: ["  id: $.name"],
      texts: ["records: .id = tojson with id: $.id gives each record one"],
      unsure: ["items", "id"],
      count: 40
    ),
    Case(
      testDescription: "goods with a price that share one title precede the kinds beside them",
      body:
        #"{"goods": ITEMS({"id": NUMBER, "name": "Ring", "photo": "./p/NUMBER.jpg", "price": NUMBER9.5}), "kinds": [MORE_3({"id": NUMBER, "name": "Kind NUMBER", "photo": "./k/NUMBER.png"})]}"#,
      lines: ["items: $.goods", "# items: $.kinds", "  title: $.name", "  salePrice: $.price"],
      unsure: ["items", "title"]
    ),
    Case(
      testDescription: "a longer list with prices precedes people, whatever its titles are called",
      body:
        #"{"staff": [MORE_3({"id": NUMBER, "name": "Jo NUMBER"})], "goods": ITEMS({"id": NUMBER, "wares": "jugNUMBER", "price": NUMBER9.5})}"#,
      lines: ["items: $.goods", "# items: $.staff", "  title: $.wares"],
      unsure: ["items", "title"]
    ),
    Case(
      testDescription: "a notice among the sections has no items",
      body:
        #"[{"id": "a", "title": "Warm", "dishes": ITEMS({"id": "aNUMBER", "title": "Pie NUMBER", "price": "9,50 €"})}, {"id": "b", "title": "Cold", "dishes": [MORE_3({"id": "bNUMBER", "title": "Ice NUMBER", "price": "3,50 €"})]}, {"id": "c", "title": "Wet", "dishes": [MORE_3({"id": "cNUMBER", "title": "Tea NUMBER", "price": "2,50 €"})]}, {"id": "d", "title": "Hours", "content": "Closed on Monday"}]"#,
      lines: [#"  each: "$[?@.dishes]""#, "items: $.dishes", "  salePrice: $.price"],
      texts: ["in 3 sections; entries without such a list are left out"],
      count: 26
    ),
    Case(
      testDescription: "an entry with a picture is no notice",
      body:
        #"[{"id": "a", "title": "Set 1", "photo": "https://c.example/1.jpg", "parts": [MORE_3({"id": "aNUMBER", "title": "Cup NUMBER", "price": 9.5})]}, {"id": "b", "title": "Set 2", "photo": "https://c.example/2.jpg", "parts": [MORE_3({"id": "bNUMBER", "title": "Pan NUMBER", "price": 8.5})]}, {"id": "c", "title": "Set 3", "photo": "https://c.example/3.jpg", "parts": [MORE_3({"id": "cNUMBER", "title": "Jug NUMBER", "price": 7.5})]}, {"id": "d", "title": "Pot", "photo": "https://c.example/4.jpg"}]"#,
      lines: ["items: $"],
      unsure: ["salePrice"],
      count: 4
    ),
    Case(
      testDescription: "a list of one object can have the items by name",
      body:
        #"{"goods": [{"g1": {"id": 1, "name": "Cup", "price": "9.50"}, "g2": {"id": 2, "name": "Pan", "price": "8.50"}, "g3": {"id": 3, "name": "Jug", "price": "7.50"}}]}"#,
      lines: [#"  {items: [.["goods"][] | to_entries[] | .value]}"#, "  id: $.id"],
      count: 3
    ),
    Case(
      testDescription: "a few values among the items are no objects",
      body: #"{"goods": [MORE(CUP), null, "sold out"]}"#,
      lines: ["items: $.goods"]
    ),
    Case(
      testDescription: "lists of dishes whose titles have an unknown name are sections",
      body:
        #"{"menu": [{"label": "Cakes", "dishes": [MORE_3({"option": "Lime Cake NUMBER", "price": "4.2NUMBER"})]}, {"label": "Teas", "dishes": [MORE_3({"option": "Green Tea NUMBER", "price": "1.5NUMBER"})]}]}"#,
      lines: ["items: $.dishes", "  title: $.option", "  salePrice: $.price"],
      unsure: ["sections", "items", "id", "title"],
      count: 6
    ),
    Case(
      testDescription: "an object called categories has the sections",
      body:
        #"{"categories": {"cups": ITEMS(CUP), "pans": [{"id": 91, "name": "Pan 1", "price": 9.5, "image": "https://c.example/p1.jpg"}, {"id": 92, "name": "Pan 2", "price": 9.5, "image": "https://c.example/p2.jpg"}]}}"#,
      lines: ["# Sections by name"],
      count: 22
    ),
    Case(
      testDescription: "the names of priced objects without a title are their titles",
      body:
        #"{"menu": {"Green Tea": {"price": 2.5, "size": "S"}, "Black Tea": {"price": 2.4, "size": "S"}, "Lime Cake": {"price": 4.5, "size": "M"}}}"#,
      lines: [
        "  {items: [.[\"menu\"] | to_entries[] | .value + {id: .key, name: .key}]}",
        "  title: $.name",
      ],
      unsure: ["items", "title"],
      count: 3
    ),
    Case(
      testDescription: "the rows of the only table of a database are the items",
      body:
        #"[{"type": "header", "version": "5"}, {"type": "database", "name": "shop"}, {"type": "table", "name": "cups", "database": "shop", "data": ITEMS(CUP)}]"#,
      lines: ["items: \"$[*].data\""]
    ),
    Case(
      testDescription: "the signs of a currency field and the words around a price are read",
      body:
        #"[MORE({"id": NUMBER, "name": "Cup NUMBER", "price": "Sale price9.50", "currency": "€"})]"#,
      lines: ["currency: EUR", "  salePrice: $.price"],
      unsure: []
    ),
  ]

  /// The body with its lists written out.
  private static func filled(_ body: String) -> String {
    func list(_ template: Substring, _ count: Int) -> String {
      (1...count).map { template.replacing("NUMBER", with: String($0)) }.joined(separator: ", ")
    }
    var body = body.replacing("(CUP)", with: "(\(cup))").replacing("(PAGE)", with: "(\(page))")
      .replacing("LONG", with: String(repeating: "x", count: 260))
    for (mark, open, close, count) in [
      ("ITEMS(", "[", "]", 20), ("MORE(", "", "", 20), ("MORE_3(", "", "", 3),
    ] {
      while let start = body.firstRange(of: mark),
        let end = body[start.upperBound...].firstRange(of: "})")
      {
        let template = body[start.upperBound..<end.lowerBound] + "}"
        let text = open + list(template, count) + close
        body.replaceSubrange(start.lowerBound..<end.upperBound, with: text)
      }
    }
    return body
  }

  @Test(arguments: cases)
  func `the items are found among other lists, and each has an id`(_ one: Case) throws {
    let file = try proposal(of: Self.filled(one.body))

    let lines = linesWithoutComments(of: file.text)
    for line in one.lines { #expect(lines.contains(line), "\(line) in\n\(file.text)") }
    for text in one.texts { #expect(file.text.contains(text), "\(text) in\n\(file.text)") }
    #expect(file.unsure.filter { $0 != "currency" } == one.unsure, "\(file.text)")
    #expect(file.listings[0].sections.flatMap(\.items).count == one.count, "\(file.text)")
  }

  @Test(arguments: [
    (
      #"{"goods": ITEMS({"reviews": NUMBER, "rate": 9.5})}"#,
      "found a list of 20 at $.goods with reviews, rate, and none of these looks like a title"
    ),
    (
      #"{"goods": [MORE({"goods_nm": "Cup NUMBER", "size": 9}), MORE({"goods_nm": "Cup NUMBER", "size": 8})]}"#,
      "no field differs in all items: $.goods_nm is the same as in another item in 20 of 40"
    ),
    (
      #"[MORE({"name;text;price": "Cup NUMBER;blue;9.50"})]"#,
      "each of its records is a line of a table, with semicolons between its cells, in one member"
    ),
    (
      "Cup\tBlue Co\t9.50\thttps://c.example/1.jpg\nPan\tBlue Co\t8.50\thttps://c.example/2.jpg\n",
      "it is a table with tabs between its cells, and its first line does not name the columns"
    ),
    (
      #""{\"goods\": [{\"id\": 1, \"name\": \"Cup\"}]}""#,
      "it is a JSON text inside a string"
    ),
  ])
  func `a refusal names its cause`(_ body: String, _ cause: String) throws {
    let error = try #require(throws: CatalogError.self) { try proposal(of: Self.filled(body)) }

    #expect(error.reason.contains(cause), "\(error.reason)")
  }

  @Test func `one item of many without an id of its own makes the id unsure`() throws {
    let items = (0...60).map { #"{"id": \#(max($0, 1)), "name": "Cup \#($0)", "price": 9.5}"# }

    let file = try proposal(of: "[\(items.joined(separator: ","))]")

    #expect(file.text.contains("a sync skips 1 of 61"), "\(file.text)")
    #expect(file.unsure == ["id", "currency"])
  }

  @Test
  func `a longer list of goods of the same form is asked about, though the shorter has a price`()
    throws
  {
    let (stock, archive) = (
      "\"id\": \"sNUMBER\", \"name\": \"Scent NUMBER\"",
      "\"id\": \"aNUMBER\", \"name\": \"Old scent NUMBER\""
    )
    let more = #""brand": "Kiln", "type": "EDP", "ml": 50, "stock": NUMBER"#
    let all = #"ITEMS({\#(stock), \#(more)})"#
    let old = (1...3).map { number in
      "{\(archive), \(more)\(number == 3 ? ", \"price\": 65.5" : "")}"
        .replacing("NUMBER", with: "\(number)")
    }.joined(separator: ", ")

    let file = try proposal(
      of: Self.filled(#"{"_meta": {"title": "Scents"}, "scents": \#(all), "archive": [\#(old)]}"#)
    )

    #expect(file.unsure.contains("items"), "\(file.text)")
    #expect(file.text.contains("# items: $.scents   # 0.6: an array"), "\(file.text)")
  }

  @Test func `an object that is written as text is no description`() throws {
    let sizes =
      #"{\"5\": {\"sku\": \"FX-NUMBER\", \"stock\": 1}, \"6\": {\"sku\": \"FY-NUMBER\", \"stock\": 1.5}}"#
    let file = try proposal(
      of: Self.filled(
        #"ITEMS({"id": NUMBER, "title": "Shoe NUMBER", "sizes": "\#(sizes)", "price": 9.5})"#
      )
    )

    #expect(!file.text.contains("description: $.sizes"), "\(file.text)")
  }

  @Test func `a currency that nothing names is unsure, although no price was found`() throws {
    let file = try proposal(of: #"[{"id": 1, "name": "Cup"}, {"id": 2, "name": "Pan"}]"#)

    #expect(file.unsure.contains("currency"), "\(file.text)")
  }

  @Test(arguments: ["/lists/1.json", "/lists/page-01.json", "lists/0"])
  func `a local file has no further pages, whatever number its name ends in`(
    _ path: String
  ) throws {
    let body = bytes(#"[{"id": 1, "name": "Cup", "price": 9.5}]"#)
    let page = ProposedPage(body: body, source: ProposedSource(file: path))

    let file = try ProposedFile(of: [page], name: "x.yaml")

    #expect(!file.text.contains("page}"), "\(file.text)")
  }

  @Test func `a part of a page can begin with comments`() {
    let page = "<!-- menu -->\n<!-- goods -->\n<section class=\"goods\"><div>Cup</div></section>"
    let feed = "<!-- goods --><section><item><id>1</id></item></section>"

    #expect(FormatSignature.look(of: bytes(page)) == .html)
    #expect(FormatSignature.look(of: bytes(feed)) == .xml)
  }

  @Test func `XML that is not in the encoding it declares is refused with this cause`() throws {
    let head = #"<?xml version="1.0" encoding="UTF-8"?>"#
    let body = bytes("\(head)<r>\n<p><id>1</id><name>") + [0xCE, 0x2E] + bytes("</name></p></r>")
    let page = ProposedPage(body: body, source: ProposedSource(url: "https://s.example/x"))

    let error = #expect(throws: CatalogError.self) { try ProposedFile(of: [page], name: "x.yaml") }

    #expect(
      error?.reason == "line 2 is not in UTF-8, the encoding of the document",
      "\(error?.reason ?? "")"
    )
  }
}
