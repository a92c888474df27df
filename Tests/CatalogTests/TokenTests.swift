import Testing

@testable import Catalog

/// A catalog file's `token` command, which gets a new token after a 401.
@Suite struct TokenTests {
  @Test("The command runs once, however many requests are answered with 401")
  func oneRun() {
    var state = TokenState<String>()

    #expect(state.refused(sentWith: nil, "a") == .run)
    #expect(state.refused(sentWith: nil, "b") == .wait)
    #expect(state.refused(sentWith: nil, "c") == .wait)
    #expect(state.value == nil)
    #expect(state.ended(.success("new")) == ["a", "b", "c"])
    #expect(state.value == "new")
  }

  @Test("A late 401 for the old token is retried with the new one; a 401 for the new token is not")
  func onceAgain() {
    var state = TokenState<String>()
    _ = state.refused(sentWith: nil, "a")
    _ = state.ended(.success("new"))

    #expect(state.refused(sentWith: nil, "late") == .again("new"))
    #expect(state.refused(sentWith: "new", "a") == .refusedAgain)
    #expect(state.ended(.success("other")) == [])
    #expect(state.value == "new")
  }

  @Test("A command that fails is not run again, and every later 401 contains the reason")
  func failure() {
    var state = TokenState<String>()
    _ = state.refused(sentWith: nil, "a")

    #expect(state.ended(.failure(ProgramFault(words: "ended with status 1"))) == ["a"])
    #expect(state.refused(sentWith: nil, "b") == .stand("ended with status 1"))
    #expect(state.value == nil)
  }

  @Test(
    "The token is the first line that the command prints, trimmed",
    arguments: [
      ("Bearer abc\n", "Bearer abc"), ("  Bearer abc \r\nmore\n", "Bearer abc"), ("x", "x"),
      ("토큰\n", "토큰"),
    ]
  )
  func value(_ output: String, _ value: String) {
    let ended = ProgramOutput(end: .status(0), output: Array(output.utf8))

    #expect(ended.value() == .success(value))
  }

  @Test(
    "The error for a command without a token contains its end and its stderr, but not its stdout",
    arguments: [
      (ProgramOutput.End.status(0), "", "oops\n", "printed nothing on its first line: oops"),
      (.status(0), "\nsecret\n", "", "printed nothing on its first line"),
      (.status(0), "a\u{1B}[2Jb\n", "", "printed a control character on its first line"),
      (
        .status(0), String(repeating: "x", count: 20_000), "",
        "printed more than 16 KiB on its first line"
      ),
      (.status(3), "", "no network\u{1B}[2J\n", "ended with status 3: no network[2J"),
      (
        .status(3), "Bearer s3cret\n", "set -x: echo Bearer s3cret",
        "ended with status 3: set -x: echo Bearer ***"
      ),
      (.signal(9), "", "", "was ended by signal 9"),
      (.tooSlow(30), "", "waiting", "took longer than 30 s: waiting"),
      (
        .notStarted("No such file or directory"), "", "",
        "cannot be started (No such file or directory)"
      ),
    ]
  )
  func fault(_ end: ProgramOutput.End, _ output: String, _ errors: String, _ words: String) {
    let ended = ProgramOutput(end: end, output: Array(output.utf8), errors: Array(errors.utf8))

    #expect(ended.value() == .failure(ProgramFault(words: words)))
  }

  @Test("The secrets of the catalog's headers are hidden in the command's stderr too")
  func redactor() {
    var redactor = SecretRedactor()
    redactor.hide("Bearer old-t0ken")
    let ended = ProgramOutput(
      end: .status(1),
      errors: Array("refresh of old-t0ken (old%2Dt0ken) failed".utf8)
    )

    #expect(
      ended.value(hiding: redactor)
        == .failure(ProgramFault(words: "ended with status 1: refresh of *** (***) failed"))
    )
  }

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
