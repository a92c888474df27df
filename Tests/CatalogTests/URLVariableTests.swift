import Testing

@testable import Catalog

struct URLVariableTests {
  private func file(_ base: String, _ section: String, _ detail: String) throws -> CatalogFile {
    try CatalogFile(
      parsing: bytes(
        """
        name: shop
        currency: KRW
        base: "\(base)"
        sections:
          - {key: a, url: plain}
          - {key: b, url: "\(section)"}
        detail: {url: "\(detail)"}
        """
      ),
      file: "shop.yaml"
    )
  }

  @Test func `every URL of the file may contain variables`() throws {
    let file = try file("https://${HOST}/", "b?key=${KEY}&v=${V_2}", "${ROOT}/${id}/{id}?k=${KEY}")
    let environment = ["HOST": "h", "KEY": "k", "V_2": "2", "ROOT": "r", "id": "i", "OTHER": "o"]

    let values = try file.resolvedURLVariables(environment: environment)

    #expect(values == ["HOST": "h", "KEY": "k", "V_2": "2", "ROOT": "r", "id": "i"])
    #expect(file.detail?.isShared == false)
    #expect(file.detail?.url(filling: [.id: "x${KEY}"]) == "${ROOT}/${id}/x%24%7BKEY%7D?k=${KEY}")
  }

  @Test(
    arguments: [
      ("HOST", 3, "base"), ("KEY", 6, "sections[1].url"), ("ROOT", 7, "detail.url"),
    ])
  func `an unset variable is reported with file, line and key`(
    name: String,
    line: Int,
    key: String
  ) throws {
    let file = try file("https://${HOST}/", "b?key=${KEY}", "${ROOT}/{id}")
    for value in [nil, "", "s3\ncret"] {
      var environment = ["HOST": "h", "KEY": "k", "ROOT": "r"]
      environment[name] = value

      #expect {
        try file.resolvedURLVariables(environment: environment)
      } throws: {
        let error = $0 as? CatalogError
        return error?.isConfiguration == true && error?.file == "shop.yaml" && error?.line == line
          && error?.keyPath == key && "\($0)".contains("environment variable \(name)")
          && !"\($0)".contains("s3")
      }
    }
  }

  @Test(arguments: ["b?key=${KEY", "b?key=${}", "b/${1A}", "b/${A-B}"])
  func `an invalid variable is refused with its position`(url: String) {
    #expect {
      try file("https://h/", url, "{id}")
    } throws: {
      let error = $0 as? CatalogError
      return error?.line == 6 && error?.keyPath == "sections[1].url"
    }
  }
}
