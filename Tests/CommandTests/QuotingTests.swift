import Foundation
import Pipeline
import Support
import Testing

@testable import LarderCommands

/// Foreign text in the output of commands, read back by the program that the output is for.
@Suite struct QuotingTests {
  private static let texts = HostileText.all + HostileText.random(500, seed: 3)

  /// Whether a terminal shows the text without interpreting any of it.
  private static func isHarmless(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      scalar.properties.generalCategory != .control && !("\u{202A}"..."\u{202E}" ~= scalar)
        && !("\u{2066}"..."\u{2069}" ~= scalar) && scalar != "\u{2028}" && scalar != "\u{2029}"
    }
  }

  @Test(arguments: ["/bin/sh", "/bin/bash"])
  func `a shell reads each quoted word back as the same text`(_ shell: String) throws {
    let texts = Self.texts.filter { !$0.unicodeScalars.contains("\0") }
    let words = texts.map(ShellWord.quoted).joined(separator: " ")

    let ended = try Running(shell, ["-c", "printf '%s\\0' \(words)"]).wait()

    let read = ended.output.utf8.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    #expect(read.map(Array.init) == texts.map { Array($0.utf8) }, "\(ended.errors)")
  }

  @Test func `JSON for a terminal reads back as the same text and has no control characters`()
    throws
  {
    for text in Self.texts {
      let printed = TerminalJSON.text([UInt8](try JSONEncoder().encode([text])))
      #expect(Self.isHarmless(printed), "\(text.debugDescription)")
      let read = try JSONDecoder().decode([String].self, from: Data(printed.utf8))
      #expect(read.map { Array($0.utf8) } == [Array(text.utf8)], "\(text.debugDescription)")
    }
  }

  @Test func `a metrics label is escaped and reads back as the same text`() {
    for text in Self.texts {
      let escaped = MetricLines.escaped(text)
      #expect(Self.isHarmless(escaped), "\(text.debugDescription)")
      // Reads a label of Prometheus' text format, version 0.0.4.
      var read = ""
      var rest = escaped.unicodeScalars[...]
      while let scalar = rest.popFirst() {
        #expect(scalar != "\"", "\(text.debugDescription)")
        guard scalar == "\\" else {
          read.unicodeScalars.append(scalar)
          continue
        }
        let next = rest.popFirst()
        #expect(next == "\\" || next == "\"" || next == "n", "\(text.debugDescription)")
        read.unicodeScalars.append(next == "n" ? "\n" : next ?? "?")
      }
      let seen = text.unicodeScalars.filter { $0 == "\n" || Self.isHarmless(String($0)) }
      #expect(seen.starts(with: read.unicodeScalars) || read.unicodeScalars.count <= seen.count)
    }
  }

  @Test func `a feed whose ids contain code is stored, listed and found`() throws {
    let folder = try TemporaryFolder()
    let ids = Set(HostileText.all.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) })
      .filter { !$0.isEmpty }.sorted()
    let items = ids.map { ["id": $0, "title": "Cup \($0)"] }
    try folder.write(
      String(decoding: try JSONEncoder().encode(items), as: UTF8.self),
      to: "feed.json"
    )
    let catalog = try folder.write(
      """
      {name: shop, currency: EUR, sections: [{key: a, title: A, url: feed.json}], items: "$",
       item: {id: $.id, title: $.title}}
      """,
      to: "shop.yaml"
    )
    let cache = ["--cache", folder.path("cache")]

    let synced = try Command.larder(["sync", catalog, "--json"] + cache)
    let listed = try Command.larder(["list", "--json"] + cache)
    let shown = try Command.larder(["list"] + cache)

    #expect(synced.status == 0 || synced.status == 3, "\(synced.errors)")
    let read = try JSONDecoder().decode([Listed].self, from: Data(listed.output.utf8)).map(\.id)
    #expect(read.count == (try Document(synced)["items"]["total"].int))
    // U+0000 is read as U+FFFD.
    let known = Set(ids.map { $0.replacing("\0", with: "\u{FFFD}") })
    #expect(Set(read).isSubset(of: known) && read.count > ids.count / 2)
    #expect(shown.lines.allSatisfy { Self.isHarmless(String($0)) })
    for id in read where !id.hasPrefix("-") {
      let found = try Command.larder(["show", "--json"] + cache + ["--", id])
      #expect(found.status == 0, "\(id.debugDescription): \(found.errors)")
      if found.status != 0 { break }
    }
    #expect(folder.files(below: "").keys.allSatisfy { !$0.contains("RAN") })
  }

  private struct Listed: Decodable {
    let id: String
  }
}
