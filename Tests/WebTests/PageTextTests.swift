import Foundation
import Support
import Testing

@testable import Web

/// Text of feeds in HTML pages, which must never become markup.
@Suite struct PageTextTests {
  @Test(arguments: [
    ("반찬 A1", "반찬 A1"),
    ("<script>alert('&')</script>", "&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"),
    // With its accent this is not a quotation mark as a Swift character, but as bytes it would end
    // an attribute.
    ("\"\u{301} onclick=\"x", "&quot;\u{301} onclick=&quot;x"), ("<\u{20DD}b", "&lt;\u{20DD}b"),
  ])
  func `characters that HTML would read as markup are escaped, byte by byte`(
    _ text: String,
    _ escaped: String
  ) {
    #expect(PageText.escaped(text) == escaped)
  }

  @Test func `a page reads back the same text, also in quotes and in a script`() throws {
    let references = ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&"]
    for text in HostileText.all + HostileText.random(2000, seed: 5) {
      let escaped = Array(PageText.escaped(text).utf8)
      #expect(!escaped.contains { "<>\"'".utf8.contains($0) }, "\(text.debugDescription)")
      var read: [UInt8] = []
      var rest = escaped[...]
      while let byte = rest.first {
        let reference = references.first { rest.starts(with: $0.key.utf8) }
        #expect(byte != UInt8(ascii: "&") || reference != nil, "\(text.debugDescription)")
        read += reference.map { Array($0.value.utf8) } ?? [byte]
        rest = rest.dropFirst(reference?.key.utf8.count ?? 1)
      }
      #expect(read == Array(text.utf8), "\(text.debugDescription)")

      let data = PageData.text(text)
      #expect(!data.utf8.contains { "<>&".utf8.contains($0) || $0 < 0x20 })
      let decoded = try JSONDecoder().decode([String].self, from: Data("[\(data)]".utf8))
      #expect(decoded.map { Array($0.utf8) } == [Array(text.utf8)], "\(text.debugDescription)")
    }
  }

  @Test(arguments: [
    ("https://a.example/b?c=d", true), ("HTTP://a.example/", true), ("javascript:alert(1)", false),
    ("java\nscript:alert(1)", false), (" https://a.example/", false), ("data:text/html,a", false),
    ("//a.example/", false), ("https://a.example/\u{7}", false),
  ])
  func `only http and https URLs become links`(_ url: String, _ isLinked: Bool) {
    #expect(PageText.link(url) == (isLinked ? url : nil))
  }

  @Test func `data within a script element cannot close it`() {
    #expect(
      PageData.text("</script><!--\"\\\n\u{2028}&")
        == #""\u003c/script\u003e\u003c!--\"\\\u000a\#u{2028}\u0026""#
    )
    #expect(PageData.object(["a": PageData.list(["1", "2"])]) == #"{"a":[1,2]}"#)
  }

  @Test(arguments: [
    ([], nil), (["Soup", "Stew"], nil), (["된장찌개", "Soup", "김치"], "ko"), (["カレー"], "ja"),
  ])
  func `a shop's language is recognised by its letters`(_ texts: [String], _ language: String?) {
    #expect(PageLanguage.spoken(in: texts) == language)
  }
}
