import COpening
import Testing

/// The error messages for missing libraries.
struct OpeningTests {
  @Test func `the message about a missing library stays valid during the next search`() throws {
    let first = try #require(copening_find("libmissing-first.so.1", nil, 0))
    let second = try #require(copening_find("libmissing-second.so.2", nil, 0))

    #expect(String(cString: first).contains("libmissing-first.so.1"))
    #expect(String(cString: second).contains("libmissing-second.so.2"))
    #expect(first != second)
  }
}
