import Testing

@testable import Catalog

/// The error message of a server, which is found in a body that is not the expected document.
@Suite struct OriginMessageTests {
  @Test(
    "The error message of an origin is found in every place where shops put it",
    arguments: [
      (#"{"errors": [{"message": "Throttled", "path": ["a"]}]}"#, "Throttled"),
      (#"{"errors": [{"message": "One"}, {"message": "Two"}]}"#, "One; Two"),
      (#"{"errors": "[API] Invalid API key"}"#, "[API] Invalid API key"),
      (
        #"{"errors": {"limit": ["is too large"], "page": "is odd"}}"#,
        "limit: is too large; page: is odd"
      ),
      (#"{"errors": ["a", "a", "b", "c", "d"]}"#, "a; b; c, and 1 more"),
      (#"{"error": "invalid_token", "error_description": "It has expired"}"#, "It has expired"),
      (#"{"error": {"code": 7, "message": "No"}}"#, "No"),
      (#"{"code": "rest_no_route", "message": "No route"}"#, "No route"),
      (#"{"type": "about:blank", "title": "Forbidden", "detail": "Not yours"}"#, "Not yours"),
      (#"{"error": "a\u001b[2Jb\nc\u202e"}"#, "a[2Jb c"),
      ("\u{FEFF} {\"error\": \"marked\"}", "marked"),
    ]
  )
  func refusals(_ body: String, _ words: String) {
    let found = OriginMessage(in: body.utf8, isRefusal: true)

    #expect(found?.description == "the origin says: \(words)")
  }

  @Test(
    "An HTML page is described by its title, which people know from their browser",
    arguments: [
      ("<!DOCTYPE html><html><head><title>Log in &amp; go</title>", ": Log in & go"),
      ("\n<HTML><TITLE lang=ko>\n 점검 중\n입니다 </TITLE>", ": 점검 중 입니다"),
      ("<html><body>none</body></html>", ""),
      ("<html><title>a\u{1B}[31mb", ": a[31mb"),
    ]
  )
  func pages(_ body: String, _ title: String) {
    let found = OriginMessage(in: body.utf8, isRefusal: false)

    #expect(found?.description == "an HTML page, not JSON\(title)")
  }

  @Test(
    "An XML feed is not described as a page, even if it has a title",
    arguments: [
      "<rss><channel><title>Shop</title>", "<?xml version=\"1.0\"?><feed><title>Shop</title>",
    ]
  )
  func feeds(_ body: String) {
    #expect(
      OriginMessage(in: body.utf8, isRefusal: false)?.description == "an XML document, not JSON"
    )
  }

  @Test(
    "A body without a message gives no description",
    arguments: [
      "", "{}", "[]", "no", #"{"errors": []}"#, #"{"error": null}"#, "<", "<3", "{\"error\": \"a",
    ]
  )
  func silence(_ body: String) {
    #expect(OriginMessage(in: body.utf8, isRefusal: true) == nil)
  }

  @Test("The title in a body with a good status is not an error message")
  func title() {
    #expect(OriginMessage(in: #"{"title": "Shop"}"#.utf8, isRefusal: false) == nil)
  }

  @Test("A long message is truncated")
  func length() {
    let body = "{\"error\": \"\(String(repeating: "x", count: 9000))\"}"

    let words = OriginMessage(in: body.utf8, isRefusal: true)?.description ?? ""

    #expect(words.hasSuffix("x…"))
    #expect(words.count < 230)
  }

  private static let catalog = """
    name: a
    currency: KRW
    sections: [{key: main, url: main}]
    items: $.data.products
    item: {id: $.id, title: $.title}
    detail: {url: "d/{id}", root: $.data, description: $.text}
    """

  @Test(
    "The error for a body without items contains the origin's message",
    arguments: [
      (
        #"{"data": null, "errors": [{"message": "Field 'x' doesn't exist"}]}"#,
        "cannot read section main: expected an array of items at $.data.products, found none in an object; "
          + "the origin says: Field 'x' doesn't exist"
      ),
      (
        "<!doctype html><title>Log in</title>",
        "cannot read section main: an HTML page, not JSON: Log in"
      ),
    ]
  )
  func listings(_ body: String, _ words: String) throws {
    let file = try CatalogFile(parsing: Array(Self.catalog.utf8), file: "shop.yaml")

    let error = #expect(throws: CatalogError.self) {
      try decodeSource(Array(body.utf8), at: 0, using: file)
    }

    #expect(error?.description == words)
    let detail = #expect(throws: CatalogError.self) {
      try decodeDetail(Array("<html><title>Log in</title>".utf8), id: "7", using: file)
    }
    #expect(detail?.description == "cannot read detail 7: an HTML page, not JSON: Log in")
  }

  @Test func `a body too large for an error message is not searched`() {
    let words = Array(#"{"error": "no"}"#.utf8)
    func found(_ count: Int) -> String? {
      let body = words + Array(repeating: 0x20, count: count - words.count)
      return OriginMessage(in: body, isRefusal: true)?.description
    }

    #expect(found(OriginMessage.longestBody)?.contains("no") == true)
    #expect(found(OriginMessage.longestBody + 1) == nil)
  }
}
