import Base
import Foundation
import SampleStore
import Testing

/// The script of faults that `larder demo` and tests give to a sample store.
struct FaultTextTests {
  @Test func `every word of the script has its effect`() throws {
    let script = try FaultScript(
      text: """
        # The first three pictures fail.
        path=/pictures/*.jpg hits=1..3 status=503 retry-after=1

        every=10 delay=250ms truncate=50%   # and so on
        every=4 reset
        hits=2 reset=100
        hits=4.. drip=2K
        body="<p>\\"no\\"\\n" header="X-A: b c"
        path="/a b" hang
        close delay=1.5
        """
    )

    #expect(
      script == [
        FaultRule("/pictures/*.jpg", hits: .range(1...3), .status(503, retryAfter: "1")),
        FaultRule(hits: .every(10), .delay(seconds: 0.25), .truncate(after: .fraction(0.5))),
        FaultRule(hits: .every(4), .reset(after: nil)),
        FaultRule(hits: .range(2...2), .reset(after: 100)),
        FaultRule(hits: .range(4...Int.max), .drip(bytesPerSecond: 2048)),
        FaultRule("*", .body(Array("<p>\"no\"\n".utf8)), .header("X-A", "b c")),
        FaultRule("/a b", .hang),
        FaultRule("*", .closeWithoutAnswer, .delay(seconds: 1.5)),
      ]
    )
  }

  @Test(arguments: [
    ("hang\npath=/a stauts=503", 2, "'stauts' is not a key"),
    ("status=abc", 1, "'status' is 'abc'; write a status from 200 to 599"),
    ("status=600", 1, "'status' is '600'"),
    ("status", 1, "'status' has no value; write status= and a status"),
    ("hang hits=3..1", 1, "'hits' is '3..1'; write N, N..M or N.., counted from 1"),
    ("hang hits=0", 1, "'hits' is '0'"),
    ("hang every=0", 1, "a number from 1"),
    ("delay=fast", 1, "a duration such as 250ms"),
    ("truncate=120%", 1, "a percentage such as 50%"),
    ("drip=0", 1, "bytes a second"),
    ("header=X", 1, "\"Name: value\" in double quotes"),
    ("hang=1", 1, "'hang' alone: it takes no value"),
    ("path=/a", 1, "the rule does nothing; add an effect"),
    ("hang hang", 1, "'hang' is given twice"),
    ("hang retry-after=1", 1, "'retry-after' needs 'status'"),
    ("hang hits=1 every=2", 1, "exclude each other"),
    ("body=\"never", 1, "the quotes are not closed"),
    ("body=\"a\\q\"", 1, "the backslash is not followed by a known escape"),
    ("body=\"a\"b", 1, "the quotes end inside a word"),
    ("한글 hang", 1, "'한글' is not a key"),
  ])
  func `a mistake is reported with its line and what was expected`(
    text: String,
    line: Int,
    message: String
  ) throws {
    let error = #expect(throws: LarderError.self) { try FaultScript(text: text) }

    #expect(error?.description.contains(message) == true)
    #expect(error?.description.contains("at line \(line): ") == true)
  }

  @Test(arguments: ["slow-origin", "flaky-origin"])
  func `the scripts in samples can be read`(name: String) throws {
    let root = URL(filePath: #filePath).appending(path: "../../../samples/faults")
    let file = root.standardizedFileURL.appending(path: name + ".faults")

    let script = try FaultScript(text: String(contentsOf: file, encoding: .utf8))

    #expect(!script.isEmpty)
  }
}
