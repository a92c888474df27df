import Testing

@testable import Catalog

/// Proposals for objects and lists in unusual places: objects keyed by ids, empty objects, lists in lists, prices of extras.
struct ProposalKeyedTests {
  /// Members of an object, called a1, a2, …, that are items.
  private static func keyed(_ name: String, _ numbers: ClosedRange<Int>) -> String {
    let members = numbers.map { #""\#(name)\#($0)": \#(item(name, $0))"# }
    return "{\(members.joined(separator: ","))}"
  }

  private static func item(_ name: String, _ number: Int) -> String {
    #"{"name": "Thing \#(name)\#(number)", "price": \#(number).5, "image": "https://c.example/\#(name)\#(number).jpg"}"#
  }

  private static func list(_ name: String, _ numbers: ClosedRange<Int>, _ more: String = "")
    -> String
  {
    let items = numbers.map {
      "{\"id\": \"\(name)\($0)\", " + item(name, $0).dropFirst()
    }
    return "[\((items + Array(repeating: "{}", count: more.count)).joined(separator: ","))]"
  }

  @Test(arguments: [
    #"{"drinks": A, "food": B}"#, #"{"drinks": A, "food": B, "meta": {"version": 3}}"#,
    #"{"shop": {"name": "S", "drinks": A, "food": B}}"#,
    #"{"shop": {"categories": {"x": {"items": A}, "y": {"items": B}}}}"#,
    #"{"menu": {"drinks": {"hot": A}, "food": {"warm": B, "cold": {"c1": {"name": "Ice 1", "price": 2, "image": "https://c.example/i.jpg"}, "c2": {"name": "Ice 2", "price": 2, "image": "https://c.example/j.jpg"}}}}}"#,
  ])
  func `objects keyed by ids beside each other are all read`(_ body: String) throws {
    let file = try proposal(
      of: body.replacing("A", with: Self.keyed("a", 1...4))
        .replacing("B", with: Self.keyed("b", 1...10))
    )

    let items = file.listings[0].sections.flatMap(\.items)
    #expect(items.filter { $0.title.hasPrefix("Thing") }.count == 14, "\(file.text)")
    #expect(Set(items.map(\.id)).count == items.count)
  }

  @Test func `groups with sections of the same name are read or asked about`() throws {
    let file = try proposal(
      of: """
        {"food": {"hot": \(Self.list("a", 1...3)), "cold": \(Self.list("b", 1...3))},
        "drinks": {"hot": \(Self.list("c", 1...3)), "cold": \(Self.list("d", 1...3))}}
        """
    )

    let count = file.listings[0].sections.flatMap(\.items).count
    #expect(count == 12 || file.unsure.contains("items"), "\(file.text)")
  }

  @Test func `one object in an object is a section beside longer ones`() throws {
    let file = try proposal(
      of: """
        {"categories": {"Pizza": \(Self.keyed("p", 1...3)), "Drinks": \(Self.keyed("d", 1...1)),
        "meta": {"author": {"name": "Jo", "email": "j@x.example"}}}}
        """
    )

    let sections = file.listings[0].sections
    #expect(sections.map(\.key).prefix(2) == ["Pizza", "Drinks"], "\(file.text)")
    #expect(sections.flatMap(\.items).count == 4, "\(file.text)")
  }

  @Test func `other objects keyed by ids are no items`() throws {
    let users = (1...20).map { #""u\#($0)": {"name": "Jo \#($0)", "email": "j\#($0)@x.example"}"# }
    let file = try proposal(
      of: #"{"users": {\#(users.joined(separator: ","))}, "products": \#(Self.keyed("p", 1...5))}"#
    )

    #expect(file.listings[0].sections.flatMap(\.items).count == 5, "\(file.text)")
  }

  @Test(arguments: [
    #"{"sections": [{"name": "A", "items": A}, {"name": "B", "items": B}]}"#,
    #"{"A": A, "B": B}"#,
  ])
  func `a sync reads the file for a list with empty objects`(_ body: String) throws {
    let file = try proposal(
      of: body.replacing(" A", with: " " + Self.list("a", 1...5, "..."))
        .replacing(" B", with: " " + Self.list("b", 1...5, "..."))
    )

    let sections = file.listings[0].sections
    #expect(sections.map(\.items.count) == [5, 5], "\(file.text)")
    #expect(file.listings[0].skipped.isEmpty, "\(file.text)")
  }

  @Test func `empty objects beside objects keyed by ids are left out`() throws {
    let file = try proposal(
      of: #"{"a": \#(Self.item("a", 1)), "b": {}, "c": \#(Self.item("c", 1)), "d": {}}"#
    )

    #expect(file.listings[0].sections[0].items.map(\.id) == ["a", "c"], "\(file.text)")
  }

  @Test func `pictures and items in lists of lists are read`() throws {
    let nested = (1...4).map {
      #"{"id": \#($0), "name": "N \#($0)", "images": [["https://c.example/\#($0)a.jpg", "https://c.example/\#($0)b.jpg"]]}"#
    }.joined(separator: ",")
    let pictures = try proposal(of: "[\(nested)]").listings[0].sections[0].items[0].images
    let items = try proposal(of: "[\(Self.list("a", 1...4)), \(Self.list("b", 1...4))]")

    #expect(pictures.map(\.url).contains("https://c.example/1b.jpg"))
    #expect(items.listings[0].sections.flatMap(\.items).count == 8, "\(items.text)")
  }

  @Test(arguments: [
    (#""toppings": [{"name": "L", "price": 1.5}], "amount": 9.5"#, true),
    (#""extras": {"cheese": {"price": 1.NUMBER}}"#, true),
    (#""giftwrap_price": 1.2NUMBER, "unitPrice": 9.5"#, true),
    (#""options": [{"name": "L", "price": 1.5}], "amount": 9.5"#, true),
    (#""options": [{"name": "L", "price": 1NUMBER.5}]"#, false),
    (#""related": [{"name": "Bag", "price": 1NUMBER.5}]"#, true),
    (#""stores": [{"name": "X", "price": NUMBER.5}, {"name": "Y", "price": 9.5}]"#, true),
    (#""base_price": 9.5, "variants": [{"name": "L", "price": 1NUMBER.5}]"#, true),
    (
      #""price": 9.NUMBER, "toppings": [{"name": "L", "price": 1.5}, {"name": "M", "price": 2}]"#,
      false
    ),
    (
      #""price": 9.NUMBER, "variants": [{"name": "L", "price": 1NUMBER.5}, {"name": "M", "price": 2}]"#,
      false
    ),
    (#""variants": [{"name": "L", "price": 1NUMBER.5}, {"name": "M", "price": 2}]"#, false),
  ])
  func `the price of a part is not that of the item`(_ prices: String, _ isUnsure: Bool) throws {
    let items = (1...4).map {
      #"{"id": \#($0), "name": "N \#($0)", \#(prices.replacing("NUMBER", with: "\($0)"))}"#
    }.joined(separator: ",")
    let file = try proposal(of: "[\(items)]")

    #expect(file.unsure.contains("salePrice") == isUnsure, "\(file.text)")
    if prices.hasPrefix("\"price\"") { #expect(file.text.contains("\n  salePrice: $.price ")) }
  }

  @Test(arguments: [
    "list_price", "mrp", "originalPrice", "precio_lista", "catalogPrice", "cena_katalogowa",
  ])
  func `a price in a list that stands alone is unsure`(_ name: String) throws {
    let items = (1...6).map { #"{"id": \#($0), "name": "N \#($0)", "\#(name)": 1\#($0).99}"# }
    let file = try proposal(of: "[\(items.joined(separator: ","))]")

    #expect(file.unsure.contains("salePrice"), "\(file.text)")
    #expect(!file.text.contains("\n  salePrice: "), "\(file.text)")
  }

  @Test func `a code goes before a link as the id, and a link is no larger picture`() throws {
    let items = (1...6).map {
      #"{"id": "https://s.example/p/\#($0)", "title": "N \#($0)", "sku": "K\#($0)", "image": "https://c.example/\#($0).jpg", "original_url": "https://s.example/dp/\#($0)"}"#
    }
    let file = try proposal(of: "[\(items.joined(separator: ","))]")

    #expect(file.text.contains("\n  id: $.sku "), "\(file.text)")
    #expect(!file.text.contains("gallery: $.original_url"), "\(file.text)")
  }

  @Test(arguments: [
    ("[{\"id\": 1},]", "remove this comma"), ("[{\"id\": 1,}]", "remove this comma"),
    ("[1,,2]", "remove the comma before it"),
  ])
  func `the remedy for a comma too many is named`(_ body: String, _ remedy: String) {
    let error = #expect(throws: CatalogError.self) { try JSONDocument(parsing: bytes(body)) }

    #expect(error?.remedy == remedy)
  }

  @Test(arguments: [
    "\"id,name,price\"\n\"1,\"\"Cup, red\"\",3.5\"\n", "\"id;name\"\r\n\"1;Cup\"\r\n",
  ])
  func `a table whose lines are in quotes as a whole is named`(_ table: String) {
    let error = #expect(throws: CatalogError.self) { try proposal(of: table) }

    #expect(error?.reason.contains("in quotes as a whole") == true, "\(error?.reason ?? "")")
  }
}
