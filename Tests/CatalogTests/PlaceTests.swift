import Testing

@testable import Catalog

/// Placeholders in the URL and the request body of an item's detail.
struct PlaceTests {
  private static let mapping = """
    items: $.products
    item: {id: $.id, title: $.title}
    """

  private func detail(_ lines: String) throws -> CatalogFile {
    try catalog(Self.mapping + "\ndetail: \(lines)")
  }

  private func fields(_ file: CatalogFile, _ item: String) throws -> [String: String]? {
    let body = bytes("{\"products\": [\(item)]}")
    let listing = try decodeSource(body, at: 0, using: file)
    return listing.sections[0].items[0].placeValues
  }

  @Test func `a detail's URL may contain any field of its item`() throws {
    let file = try detail(#"{url: "p/{handle}.json?n={no}", description: $.text}"#)
    let rule = try #require(file.detail)

    let fields = try fields(file, #"{"id": 1, "title": "t", "handle": "a b/c", "no": 7}"#)

    #expect(fields == ["handle": "a b/c", "no": "7"])
    let values = rule.values(of: "1", fields)
    #expect(rule.url(filling: values) == "p/a%20b%2Fc.json?n=7")
    #expect(!rule.isShared)
  }

  @Test func `an environment variable is not a placeholder, whatever its name`() {
    let url = "https://${handle}.example/{handle}"
    let handle = Placeholder(rawValue: "handle")

    #expect(Placeholder.fill(url: url, with: [handle: "a"]) == "https://${handle}.example/a")
    #expect(Placeholder.all(in: url) == [handle])
    #expect(Placeholder.all(in: "https://${handle}.example/") == [])
  }

  @Test func `the key values gives the path of a field with another name`() throws {
    let file = try detail(
      #"{url: "p/{slug}", values: {slug: [$.seo.slug, $.slug]}, description: $.text}"#
    )

    let fields = try fields(file, #"{"id": 1, "title": "t", "seo": {"slug": "red"}}"#)

    #expect(fields == ["slug": "red"])
  }

  @Test func `an item stores no placeholder values when its id is enough`() throws {
    let file = try detail(#"{url: "p/{id}", description: $.text}"#)

    #expect(try fields(file, #"{"id": 1, "title": "t", "handle": "a"}"#) == nil)
  }

  @Test func `placeholder values are stored with the item`() throws {
    let item = StoreItem(id: "1", title: "t", placeValues: ["b": "2", "a": "1"])

    #expect(try StoreItem(decoding: item.encoded()) == item)
    #expect(try StoreItem(decoding: StoreItem(id: "1", title: "t").encoded()).placeValues == nil)
  }

  @Test func `a changed placeholder changes the mapping, so that stored listings are read again`()
    throws
  {
    let old = try detail(#"{url: "p/{id}", description: $.text}"#).mapping
    let new = try detail(#"{url: "p/{handle}", description: $.text}"#).mapping

    #expect(old.fingerprint != new.fingerprint)
  }

  @Test(
    arguments: [
      (#"{"h": "{handle}"}"#, #"{"h": "a\"b"}"#), (#"{"h": {handle}}"#, #"{"h": "a\"b"}"#),
      (#"{"h": "gid:/x/{handle}"}"#, #"{"h": "gid:/x/a\"b"}"#),
      (#"{"q": "p(h: 1) {handle}"}"#, #"{"q": "p(h: 1) {handle}"}"#),
      (#"{"q": "p{handle}"}"#, #"{"q": "p{handle}"}"#),
    ])
  func `in a JSON body a placeholder has a marker, because GraphQL uses braces too`(
    body: String,
    filled: String
  ) {
    let rule = RequestRule(method: .post, body: body)

    #expect(String(decoding: rule.body(filling: ["handle": "a\"b"]), as: UTF8.self) == filled)
    #expect(rule.itemPlaces == (body == filled ? [] : ["handle"]))
  }

  @Test(
    arguments: [
      (#"{url: "p/{handle", description: $.t}"#, "expected {id} or {NAME}, found \"{handle\""),
      (#"{url: "p/{}", description: $.t}"#, "expected {id} or {NAME}, found \"{}\""),
      (
        #"{url: "p/{handle}", values: {handel: $.h}, description: $.t}"#,
        "no place {handel} in url or body"
      ),
      (#"{url: "p/{id}", values: {id: $.h}, description: $.t}"#, "no place {id} in url or body"),
    ])
  func `an invalid placeholder or an unknown field is refused`(lines: String, reason: String) {
    let error = #expect(throws: CatalogError.self) { try detail(lines) }

    #expect(error?.reason == reason)
    #expect(error?.line != nil)
  }
}

extension Placeholder: ExpressibleByStringLiteral {
  /// A placeholder by its name.
  public init(stringLiteral name: String) { self.init(rawValue: name) }
}
