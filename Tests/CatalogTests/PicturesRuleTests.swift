import Testing

@testable import Catalog

/// The key `pictures` of a catalog file: header fields for pictures, and their identity.
struct PicturesRuleTests {
  private func catalog(_ pictures: String) throws(CatalogError) -> CatalogFile {
    try CatalogFile(
      parsing: bytes(
        "name: s\ncurrency: KRW\nsections: [{key: a, url: a}]\npictures: \(pictures)"
      ),
      file: "s.yaml"
    )
  }

  @Test func `headers for pictures are given for each host and may use the environment`() throws {
    let file = try catalog(
      "{headers: {CDN.example: {Referer: \"https://s/\"}, \"[::1]:80\": {Key: \"${CDN_KEY}\"}}}"
    )

    let hosts = file.pictures.hosts
    let headers = try hosts.map { try $0.headers.resolved(environment: ["CDN_KEY": "abc"]) }

    #expect(hosts.map(\.name) == ["cdn.example", "::1"])
    #expect(hosts.map(\.port) == [nil, 80])
    #expect(headers.map { $0.map(\.value) } == [["https://s/"], ["abc"]])
    let error = #expect(throws: CatalogError.self) {
      for host in hosts { _ = try host.headers.resolved(environment: [:]) }
    }
    #expect(error?.reason.contains("CDN_KEY") == true && error?.line == 4)
  }

  @Test(arguments: [
    "https://cdn.example", "cdn.example/x", "cdn.example:0", "cdn.example:http", "a b", ":80",
    "*.example", "user@cdn.example",
  ])
  func `headers are accepted only for a host, with or without a port`(_ host: String) {
    let error = #expect(throws: CatalogError.self) {
      _ = try catalog("{headers: {\"\(host)\": {A: b}}}")
    }

    #expect(error?.reason == "\"\(host)\" is not a host")
    #expect(error?.line == 4)
  }

  @Test(
    arguments: [
      (.url, "https://h/a?v=1", "https://h/a?v=1"),
      (.path, "https://h:8443/a/b.jpg?v=1", "h:8443/a/b.jpg"), (.path, "http://h/a", "h/a"),
      (.without(["v"]), "https://h/a?v=1", "https://h/a"),
      (.without(["v"]), "https://h/a?v", "https://h/a"),
      (.without(["v"]), "https://h/a", "https://h/a"),
      (.without(["v"]), "https://h/a?", "https://h/a?"),
      (.without(["v"]), "https://h/a?w=1&v=2&x=v&v=3", "https://h/a?w=1&x=v"),
      (.without(["v"]), "https://h/a?V=1&vv=2&%76=3", "https://h/a?V=1&vv=2"),
      (
        .without(["X-Amz-*"]), "https://h/a?X-Amz-=1&X-Amz-Date=2&x-amz-date=3&X-Amz=4",
        "https://h/a?x-amz-date=3&X-Amz=4"
      ),
      (
        .without(["a*c*e"]), "https://h/a?ace=1&abcde=2&abce=3&aec=4&acee=5&ae=6",
        "https://h/a?aec=4&ae=6"
      ),
      (.without(["*"]), "https://h/a?b=1&=2&&c", "https://h/a"),
      (
        .without(["Expires", "Signature"]), "https://h/a?Expires=1&w=2&Signature=3",
        "https://h/a?w=2"
      ),
    ] as [(PictureIdentity, String, String)]
  )
  func `a picture's identity is the URL without the ignored parts`(
    _ identity: PictureIdentity,
    _ url: String,
    _ text: String
  ) {
    #expect(identity.text(of: url) == text)
    // Applying a rule twice changes nothing more.
    if identity != .path { #expect(identity.text(of: text) == text) }
  }

  @Test func `an identity is either the word path, or the key without and a list of names`() throws
  {
    #expect(try catalog("{}").pictures == PicturesRule())
    #expect(try catalog("{identity: path}").pictures.identity == .path)
    #expect(
      try catalog("{identity: {without: [v, 8]}}").pictures.identity == .without(["v", "8"])
    )
    for wrong in ["host", "{without: []}", "{without: v}", "{}", "{with: [v]}", "[v]"] {
      #expect(throws: CatalogError.self, "\(wrong)") { _ = try catalog("{identity: \(wrong)}") }
    }
  }

  @Test func `a host given twice is refused`() {
    let error = #expect(throws: CatalogError.self) {
      _ = try catalog("{headers: {cdn.example: {A: b}, CDN.example: {A: c}}}")
    }

    #expect(error?.reason == "host CDN.example more than once")
  }
}
