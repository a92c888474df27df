import Testing

@testable import Catalog

/// `PlainText`, which makes text from shops safe to show on a terminal.
@Suite struct PlainTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("밥 \u{1F35A} 국", "밥 \u{1F35A} 국"), (" a \t b\r\n", "a b"),
    ("a\u{1B}[31mred\u{1B}[0m", "a[31mred[0m"), ("a\u{1B}]0;title\u{07}b", "a]0;titleb"),
    ("a\u{9B}31mb", "a31mb"), ("a\u{85}b", "a b"), ("a\u{7F}\u{08}b", "ab"),
    ("a\u{2028}b\u{2029}c", "a b c"), ("one\rtwo", "one two"), ("a\u{0}b", "ab"),
    ("user\u{202E}gpj.exe", "usergpj.exe"), ("a\u{2066}b\u{2069}c", "abc"),
    ("a\u{061C}\u{200E}\u{200F}b", "ab"), ("a\u{202A}\u{202B}\u{202C}\u{202D}b", "ab"),
    ("\u{FEFF}a\u{200B}b\u{2060}", "ab"), ("a\u{E0041}\u{E007F}b", "ab"), ("a\u{FFFE}b", "ab"),
    (" a", "a"), ("밥  국 ", "밥 국"), ("a\u{3000}b\u{A0}c", "a b c"), ("a \u{301}b", "a b"), ("", ""),
    ("e\u{301}", "e\u{301}"), ("\u{1F468}\u{200D}\u{1F469}", "\u{1F468}\u{200D}\u{1F469}"),
    ("ن\u{200C}م", "ن\u{200C}م"), ("x\u{202E}\u{301}y", "x\u{301}y"),
    (
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
    ),
  ])
  func `a line keeps its visible text and loses control and direction characters`(
    _ text: String,
    _ line: String
  ) {
    #expect(Array(PlainText.line(text).unicodeScalars) == Array(line.unicodeScalars))
  }

  @Test func `no control or bidirectional character of Unicode is kept`() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl = scalar.properties.generalCategory == .control
      if isControl || scalar.properties.isBidiControl || scalar.properties.isNoncharacterCodePoint
      {
        #expect(PlainText.isHarmful(scalar), "\(value)")
      }
      if scalar.properties.isAlphabetic || scalar.properties.isEmoji {
        #expect(!PlainText.isHarmful(scalar), "\(value)")
      }
    }
  }

  @Test func `a block keeps its line breaks, and a row its spaces`() {
    #expect(PlainText.block("\n a\u{1B}[2J\r\nb\u{2028}c\n\n") == "a[2J\nb\nc")
    #expect(PlainText.row("  a  \u{1B}b\nc ") == "  a  b c ")
  }
}
