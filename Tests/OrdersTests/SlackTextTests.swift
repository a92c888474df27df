import Support
import Testing

@testable import Orders

/// The escaping of text for Slack.
@Suite struct SlackTextTests {
  @Test func `no text mentions anybody or makes a link, and Slack shows it unchanged`() {
    for text in HostileText.all + HostileText.random(2000, seed: 13) {
      var slack = SlackText(limit: 10_000)
      slack.append(text)

      #expect(!slack.value.utf8.contains { "<>".utf8.contains($0) }, "\(text.debugDescription)")
      let read = Array(slack.value.unicodeScalars)
      for place in read.indices where read[place] == "&" {
        let rest = String(String.UnicodeScalarView(read[place...].prefix(5)))
        #expect(
          ["&amp;", "&lt;", "&gt;"].contains {
            rest.unicodeScalars.starts(with: $0.unicodeScalars)
          },
          "\(text.debugDescription)"
        )
      }
    }
  }
}
