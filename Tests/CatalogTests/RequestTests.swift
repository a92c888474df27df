import Testing

@testable import Catalog

/// The `request` rules of a catalog file and the requests that they produce.
struct RequestTests {
  private func rule(_ body: String, _ type: String = "application/json") -> RequestRule {
    RequestRule(method: .post, type: type, body: body)
  }

  @Test(
    arguments: [
      (#"{"a": "{cursor}"}"#, "", #"{"a": ""}"#), (#"{"a": {cursor}}"#, "", #"{"a": null}"#),
      (#"{"a": "{cursor}"}"#, "x\"\\\n", #"{"a": "x\"\\\u000a"}"#),
      (#"{"a": {cursor}}"#, "x\"", #"{"a": "x\""}"#),
      (#"{"\"": {cursor}}"#, "1", #"{"\"": "1"}"#),
      (#"{"a": "{cursor}"}"#, "\u{301}1\u{600}", "{\"a\": \"\u{301}1\u{600}\"}"),
      (#"{"a": "${cursor}"}"#, "1", #"{"a": "${cursor}"}"#),
      (#"{"a": "{ cursor }"}"#, "1", #"{"a": "{ cursor }"}"#),
    ])
  func `a value is escaped as its position in the JSON body requires`(
    body: String,
    value: String,
    sent: String
  ) {
    #expect(rule(body).body(filling: [.cursor: value]) == bytes(sent))
  }

  @Test func `numbers stay numbers, forms are escaped, and other text is sent unchanged`() {
    let values: [Placeholder: String] = [.page: "2", .cursor: "a b&c"]

    #expect(rule("{\"p\": {page}}").body(filling: values) == bytes("{\"p\": 2}"))
    #expect(
      rule("p={page}&c={cursor}", "application/x-www-form-urlencoded").body(filling: values)
        == bytes("p=2&c=a%20b%26c")
    )
    #expect(rule("c {cursor} {id}", "text/plain").body(filling: values) == bytes("c a b&c {id}"))
  }

  @Test(
    arguments: [
      ("request: {method: PUT, body: x}", "expected GET or POST, found \"PUT\""),
      ("request: {method: POST}", "\"body\" is missing"),
      ("request: {method: GET, body: x}", "needs method: POST"),
      ("request: {bdoy: x}", "unknown key \"bdoy\""),
      ("request: {body: '{'}", "the body is not JSON"),
      ("request: {body: '{}', type: json}", "\"json\" is not a media type"),
      ("request: {body: '{\"a\": {cursor}}'}", "nothing fills {cursor}"),
      ("paging: {from: $.next}", "paging has no place for the cursor"),
      ("paging: {from: $.next, cursor: a, first: 1}", "belongs to page, not to cursor"),
    ])
  func `an invalid request is refused with its line`(line: String, reason: String) {
    let error = parsingError("name: a\ncurrency: KRW\nsections: [{key: m, url: m}]\n\(line)\n")

    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "no error")")
    #expect(error?.line != nil)
  }

  @Test func `a section's request overrides the catalog's`() throws {
    let file = try CatalogFile(
      parsing: bytes(
        """
        name: a
        currency: KRW
        request: {body: '{"a": 1}'}
        sections:
          - {key: a, url: a}
          - {key: b, url: b, request: null}
          - {key: c, url: c, request: {type: text/plain, body: all}}
        """
      ),
      file: "a.yaml"
    )

    #expect(file.request(ofSource: 0) == rule("{\"a\": 1}"))
    #expect(file.request(ofSource: 1) == RequestRule())
    #expect(file.request(ofSource: 2) == rule("all", "text/plain"))
  }

  @Test func `a detail whose body contains the item's id is not shared`() {
    let rule = DetailRule(urlTemplate: "graphql", request: rule(#"{"id": "{id}"}"#))

    #expect(!rule.isShared)
    #expect(DetailRule(urlTemplate: "graphql", request: self.rule("{}")).isShared)
  }

  @Test func `a placeholder in a URL replaces the query parameter`() {
    let rule = PagingRule(
      step: .page,
      parameter: "page",
      first: 1,
      size: .init(name: "n", value: 20)
    )

    #expect(rule.firstPage(of: "a/{page}/{size}") == "a/{page}/{size}")
    #expect(rule.firstPage(of: "a/{page}") == "a/{page}?n=20")
    #expect(rule.firstPage(of: "a") == "a?n=20&page=1")
    #expect(rule.firstPage(of: "a", self.rule("{\"p\": {page}}")) == "a?n=20")
  }
}
