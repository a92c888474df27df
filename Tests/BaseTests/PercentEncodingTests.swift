import Base
import Testing

struct PercentEncodingTests {
  @Test(arguments: [("a%20b", "a b"), ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%41%", "A%")])
  func `valid percent escapes are decoded and broken ones kept`(_ text: String, _ plain: String) {
    #expect(PercentEncoding.decoded(text.utf8) == Array(plain.utf8))
  }

  @Test(arguments: [
    ("a+b%2b", "a b+"), ("%+1", "% 1"), ("%EA%B5%AD", "국"), ("", ""), ("%25%32%30", "%20"),
  ])
  func `a plus means a space only in a form`(_ text: String, _ plain: String) {
    #expect(PercentEncoding.lenientText(text, plusIsSpace: true) == plain)
    #expect(PercentEncoding.lenientText("a+b") == "a+b")
  }

  @Test(arguments: ["%", "a%4", "%zz", "%41%", "%%41", "%+1"])
  func `strict decoding refuses a broken escape`(_ text: String) {
    #expect(PercentEncoding.validated(text.utf8) == nil)
    #expect(PercentEncoding.text(text) == nil)
  }

  @Test func `valid escapes that are not UTF-8 decode to bytes but not to text`() {
    #expect(PercentEncoding.validated("%ff%41".utf8) == [0xFF, 0x41])
    #expect(PercentEncoding.text("%ff%41") == nil)
    #expect(PercentEncoding.text("%EA%B5%AD%20a") == "국 a")
  }

  @Test func `every byte survives encoding and decoding`() {
    let scalars = (0...0x7FF).compactMap { Unicode.Scalar(UInt32($0)) }
    let all = String(String.UnicodeScalarView(scalars))

    let escaped = PercentEncoding.escaped(all, keeping: "/")

    #expect(escaped.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || "%/".utf8.contains($0) })
    #expect(PercentEncoding.text(escaped) == all)
  }
}
