import Base
import Testing

struct ExactTextTests {
  @Test(arguments: [
    ("\u{E9}", "e\u{301}"), ("a\u{301}\u{323}", "a\u{323}\u{301}"), ("\u{212B}", "Å"),
  ])
  func `texts that are canonically equivalent differ`(_ one: String, _ other: String) {
    #expect(one == other)

    #expect(one.exact != other.exact)
    #expect(one.exact == String(decoding: Array(one.utf8), as: UTF8.self).exact)
    #expect(Set([one.exact, other.exact, one.exact]).count == 2)
  }
}
