import Testing

@testable import Catalog

/// Which list of a response a proposal takes for the items, and which value for their ids.
struct ProposalListTests {
  /// A response in which `ITEMS(template)` is a list of twenty objects; NUMBER is 1, 2, … in them.
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
      unsure: ["items"]
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
      testDescription: "lists of other items with the same ids are asked about, each by its path",
      body:
        #"{"user": [{"id": "u", "email": "c"}], "east": ITEMS({"id": NUMBER, "name": "East NUMBER", "image": "https://c.example/eNUMBER.jpg"}), "west": ITEMS({"id": NUMBER, "name": "West NUMBER", "image": "https://c.example/wNUMBER.jpg"}), "north": ITEMS({"id": NUMBER, "name": "North NUMBER", "image": "https://c.example/nNUMBER.jpg"}), "south": ITEMS({"id": NUMBER, "name": "South NUMBER", "image": "https://c.example/sNUMBER.jpg"})}"#,
      lines: ["items: $.east", "# items: $.west", "# items: $.south"],
      unsure: ["items"]
    ),
    Case(
      testDescription: "an item is one of the parts in a list",
      body:
        #"{"hotels": ITEMS({"hotel": [{"basic": {"hotelNo": NUMBER00, "hotelName": "Hotel NUMBER", "hotelImageUrl": "https://c.example/NUMBER.jpg"}}, {"rating": {"average": 4.1}}]})}"#,
      lines: [#"items: "$.hotels[*].hotel[*].basic""#, "  id: $.hotelNo"],
      unsure: ["items"]
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
  ]

  /// The body with its lists written out.
  private static func filled(_ body: String) -> String {
    func list(_ template: Substring) -> String {
      (1...20).map { template.replacing("NUMBER", with: String($0)) }.joined(separator: ", ")
    }
    var body = body.replacing("(CUP)", with: "(\(cup))").replacing("(PAGE)", with: "(\(page))")
      .replacing("LONG", with: String(repeating: "x", count: 260))
    for (mark, open, close) in [("ITEMS(", "[", "]"), ("MORE(", "", "")] {
      while let start = body.firstRange(of: mark),
        let end = body[start.upperBound...].firstRange(of: "})")
      {
        let template = body[start.upperBound..<end.lowerBound] + "}"
        let text = open + list(template) + close
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
      #"{"goods": ITEMS({"name": "Cup", "url": "https://s.example/p/NUMBER"})}"#
        .replacing("NUMBER", with: "1"),
      "found an object with goods"
    ),
    (
      #"{"goods": [MORE({"name": "Cup NUMBER", "price": 9.5}), MORE({"name": "Cup NUMBER", "price": 8.5})]}"#,
      "no field differs in all items: $.name is the same as in another item in 20 of 40"
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
}
