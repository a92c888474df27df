import Catalog
import Testing

@testable import Pipeline

/// What a program that the user has configured prints, such as a catalog file's `token` command.
@Suite struct ProgramOutputTests {
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
}
