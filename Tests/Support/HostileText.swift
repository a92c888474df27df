/// Texts by which a feed may try to inject something into a program that reads larder's output.
package enum HostileText {
  /// Every line break of Unicode or YAML.
  package static let breaks = [
    "\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{B}", "\u{C}", "\u{1C}", "\u{1E}",
  ]

  /// Texts and single characters that each attack one interpreter.
  package static let all: [String] = {
    var texts = [
      "$(touch RAN)", "`touch RAN`", "; touch RAN;", "| touch RAN", "&& touch RAN", "${HOME}",
      "$HOME",
      "'", "\"", "\\", "''", "\"\"", "\\\\", "\\'", "\\\"", "'\\''", "\"] | env #", "\\(env)",
      "\\u0022",
      "#", " # x", "a: b", "- a", "? a", "! a", "&a", "*a", "%a", "@a", "[a, b]", "{a: b}", "|",
      ">", "~",
      "null", "true", "No", "y", "1e3", "0x10", ".inf", "=", "<<", "---", "...", "*/", "/*", "--",
      "-->",
      "<script>alert(1)</script>", "&amp;", "<!channel>", "<@U1>", "<https://a.example|b>",
      "</style>",
      "=1+1", "+1", "-1", "@SUM(1)", "\t=1", "'=1", "＝1", "a,b", "a;b", "a\tb", "{{{a}}}", "%s",
      "%n",
      "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{9B}2J", "\u{0}", "a\u{0}b", "\u{7F}", "\u{80}",
      "\u{9F}",
      "\u{202E}abc", "\u{2066}abc", "\u{200B}", "\u{FEFF}", "\u{FFFE}", "\u{FFFF}", "\u{1FFFE}",
      "\u{E0041}", "\u{301}\"", "\"\u{301}", "'\u{301}", "한글", "日本", "\u{1F600}", "\u{10FFFF}", "",
      " ",
      " a", "a ", "a\\", "x\"] as $n | {items: .z} #",
    ]
    for mark in breaks {
      texts += [
        "a\(mark)b", mark, "\(mark)token: {command: [touch, RAN]}\(mark)#", "a\(mark)", "\(mark)a",
      ]
    }
    return texts
  }()

  /// Random texts of characters from all planes, mostly special ones; equal for equal seeds.
  package static func random(_ count: Int, seed: UInt64) -> [String] {
    var generator = SplitMix64(seed)
    let telling = Array(all.joined().unicodeScalars)
    return (0..<count).map { _ in
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        if Bool.random(using: &generator) {
          text.append(telling.randomElement(using: &generator) ?? "a")
        } else {
          let limit: UInt32 = Bool.random(using: &generator) ? 0x2100 : 0x10FFFF
          let value = UInt32.random(in: 0...limit, using: &generator)
          text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
        }
      }
      return String(text)
    }
  }
}
