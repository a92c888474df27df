import Catalog
import CurlTransport
import Support
import Testing
import Transport

@testable import Pipeline

/// `RevalidationPolicy` predicts the header fields of a request for a document without making the request.
///
/// These tests compare the prediction with the real request.
struct RevalidationPolicyTests {
  @Test(arguments: [
    // The base's origin, which gets the catalog's headers and its own password.
    "https://kim:secret@shop.example/detail/1", "https://shop.example/detail/2",
    // A host that the user named, one that appears only in the data, and one whose URL has its own
    // password.
    "https://details.example/3", "http://cdn.example:8080/4?a=b",
    "https://lee:other@cdn.example/5",
  ])
  func `a request sends the fields that were predicted for it`(_ text: String) throws {
    let transport = try CurlTransport()
    defer { transport.shutdown() }
    let url = try CurlURLParser.parse(text)
    for base in ["https://kim:secret@shop.example/", "https://shop.example/"] {
      let request = try RunRequest(
        CatalogFile(
          parsing: Array(
            """
            name: shop
            currency: KRW
            base: \(base)
            sections: [{key: A, url: a}]
            detail: {url: "https://details.example/{id}"}
            headers: {X-Token: hush}
            """.utf8
          ),
          file: "shop.yaml"
        ),
        folder: "",
        options: SyncOptions(),
        environment: [:],
        parser: CurlURLParser(),
        now: { 0 }
      )
      let needs = RevalidationPolicy(request, over: transport)
      let posted = DocumentQuery(url, RequestRule(method: .post, body: "{}"), filling: [:])
      for source in [DocumentSource.web(url), .query(posted)] {
        let made = try #require(
          Request(document: source, from: request.named, credentials: request.credentials)
        )
        let (told, sent) = (needs.traits(of: source), CacheKeyFields(made, over: transport))
        #expect(told?.fields == sent.fields)
        #expect(told?.owner == sent.owner)
      }
      #expect(needs.traits(of: .file("/tmp/a")) == nil)
    }
  }
}
