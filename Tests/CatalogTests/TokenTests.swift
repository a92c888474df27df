import Testing

@testable import Catalog

/// A catalog file's `token` command, which gets a new token after a 401.
@Suite struct TokenTests {
  @Test("The description of a redactor shows none of its secrets")
  func shown() {
    var redactor = SecretRedactor()
    redactor.hide("Basic abcdefgh")

    #expect("\(redactor)" == "1 secrets")
    #expect(String(reflecting: redactor) == "1 secrets")
    #expect(redactor.applied(to: "Basic abcdefgh, key no") == "Basic ***, key no")
  }

  private static let head = "name: a\ncurrency: KRW\nsections: [{key: main, url: main}]\n"

  @Test("A catalog file names the command, and the header that carries its token")
  func parsing() throws {
    let text = Self.head + "token: {header: Authorization, command: [refresh, --quiet, 7]}"

    let file = try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")

    let rule = TokenRule(header: "Authorization", command: ["refresh", "--quiet", "7"])
    #expect(file.token == rule)
    #expect(TokenRule(header: "a", command: ["/opt/x/refresh"]).program == "refresh")
  }

  @Test(
    "An error under the key token names the exact key",
    arguments: [
      ("{header: A, command: refresh me}", "token.command", "expected a list"),
      ("{header: A, command: []}", "token.command", "the list is empty"),
      ("{header: A, command: [\"\"]}", "token.command[0]", "found an empty one"),
      ("{header: A}", "token", "\"command\" is missing"),
      ("{header: \"A b\", command: [x]}", "token.header", "is not a header name"),
      ("{heeder: A, command: [x]}", "token.heeder", "unknown key \"heeder\""),
      ("refresh", "token", "expected a mapping"),
    ]
  )
  func mistakes(_ rule: String, _ key: String, _ reason: String) throws {
    let text = Self.head + "token: \(rule)"

    let error = #expect(throws: CatalogError.self) {
      try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")
    }

    #expect(error?.keyPath == key)
    #expect(error?.line == 4)
    #expect(error?.reason.contains(reason) == true)
  }
}
