import Testing

@testable import Catalog

struct PicturesRuleTests {
  private func catalog(_ pictures: String) throws(CatalogError) -> CatalogFile {
    try CatalogFile(
      parsing: bytes(
        "name: s\ncurrency: KRW\nsections: [{key: a, url: a}]\npictures: \(pictures)"
      ),
      file: "s.yaml"
    )
  }

  @Test func `headers for pictures are given by host, with the environment in them`() throws {
    let file = try catalog(
      "{headers: {CDN.example: {Referer: \"https://s/\"}, \"[::1]:80\": {Key: \"${CDN_KEY}\"}}}"
    )

    let headers = try file.resolvedPictureHeaders(environment: ["CDN_KEY": "abc"])

    #expect(headers.map(\.host.name) == ["cdn.example", "::1"])
    #expect(headers.map(\.host.port) == [nil, 80])
    #expect(headers.map { $0.headers.map(\.value) } == [["https://s/"], ["abc"]])
    let error = #expect(throws: CatalogError.self) {
      _ = try file.resolvedPictureHeaders(environment: [:])
    }
    #expect(error?.reason.contains("CDN_KEY") == true && error?.line == 4)
  }

  @Test(arguments: [
    "https://cdn.example", "cdn.example/x", "cdn.example:0", "cdn.example:http", "a b", ":80",
    "*.example", "user@cdn.example",
  ])
  func `only a host with or without a port gets headers`(_ host: String) {
    let error = #expect(throws: CatalogError.self) {
      _ = try catalog("{headers: {\"\(host)\": {A: b}}}")
    }

    #expect(error?.reason == "\"\(host)\" is no host")
    #expect(error?.line == 4)
  }

  @Test func `a host is named once`() {
    let error = #expect(throws: CatalogError.self) {
      _ = try catalog("{headers: {cdn.example: {A: b}, CDN.example: {A: c}}}")
    }

    #expect(error?.reason == "host CDN.example more than once")
  }
}
