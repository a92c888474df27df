import Testing

@testable import LarderCommands

/// The widths of texts in tables.
@Suite struct ColumnTests {
  @Test(arguments: [
    ("", 0), ("Soup", 4), ("오리 주물럭", 11), ("\u{1112}\u{1161}\u{11AB} 상", 5), ("é", 1),
    ("e\u{301}", 1), ("👨‍👩‍👧 ❤️ ⭐", 8), ("🇰🇷 👍🏽", 5),
  ])
  func `a text has the width in which a terminal draws it`(_ text: String, _ width: Int) {
    #expect(columns(text) == width)
    #expect(padded(text, to: 12) == text + String(repeating: " ", count: 12 - width))
  }
}
