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
        FaultRule(
          "/pictures/*.jpg",
          hits: .range(1...3),
          .status(503),
          .header("Retry-After", "1")
        ),
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
    ("hang\npath=/a stauts=503", 2, "'stauts=503' is none of its words; write path=GLOB"),
    ("status=abc", 1, "'status=abc'"), ("status=600", 1, "'status=600'"),
    ("status", 1, "'status'"),
    ("hang hits=3..1", 1, "'hits=3..1'"), ("hang hits=0", 1, "'hits=0'"),
    ("hang every=0", 1, "'every=0'"), ("delay=fast", 1, "'delay=fast'"),
    ("truncate=120%", 1, "'truncate=120%'"), ("drip=0", 1, "'drip=0'"),
    ("header=X", 1, "'header=X'"), ("hang=1", 1, "'hang=1'"),
    ("path=/a", 1, "the rule does nothing; add an effect"),
    ("hang retry-after=", 1, "'retry-after='"), ("path= hang", 1, "'path='"),
    ("body=\"never", 1, "not a string of JSON"), ("body=\"a\\q\"", 1, "not a string of JSON"),
    ("body=\"a\"b", 1, "not a string of JSON"), ("한글 hang", 1, "'한글'"),
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
