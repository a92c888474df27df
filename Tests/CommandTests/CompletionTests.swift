import Foundation
import Testing

/// The completion scripts for bash, zsh and fish.
///
/// bash expands every word of a completion list once more. So a word from a cache could be executed
/// as a command.
@Suite struct CompletionTests {
  @Test(arguments: ["bash", "zsh", "fish"])
  func `no completion script calls larder, and files are completed by the shell`(_ shell: String)
    throws
  {
    let script = try Command.larder(["--generate-completion-script", shell]).output

    #expect(!script.contains("---completion"), "\(shell)")
    #expect(!script.contains(/\beval\b/), "\(shell)")
    #expect(script.contains("yaml"), "\(shell)")
  }

  @Test func `no word offered to bash is changed by an expansion`() throws {
    let script = try Command.larder(["--generate-completion-script", "bash"]).output
    let lists = script.matches(of: /-W '([^\n]*)'(?: --|\n)/).map(\.1)
    let words = lists.flatMap {
      $0.split(separator: "'$'\\n''").flatMap { $0.split(separator: " ") }
    }

    #expect(words.count > 30)
    for word in words {
      #expect(word.wholeMatch(of: /-?[A-Za-z0-9][-A-Za-z0-9_.]*/) != nil, "\(word)")
    }
  }

  @Test(arguments: [
    ["list"], ["list", "--catalog"], ["show"], ["order", "place"], ["order", "show"],
  ])
  func `bash completes nothing from a cache and executes nothing of it`(_ command: [String]) throws
  {
    let shop = try Shop()
    let mark = shop.folder.path("ran")
    for (place, text) in ["$(touch \(mark))", "`touch \(mark)`", "; touch \(mark);"].enumerated() {
      let name = "P\(text.replacing("/", with: "|"))"
      try shop.folder.write(#"[{"id": "\#(name)", "title": "Cup"}]"#, to: "feed-\(place).json")
      let path = try shop.folder.write(
        """
        {"name": "\(name)", "currency": "KRW", "items": "$", "item": {"id": "$.id", "title": "$.title"},
         "sections": [{"key": "\(name)", "title": "A", "url": "feed-\(place).json"}]}
        """,
        to: "catalog-\(place).yaml"
      )
      let synced = try Command.larder(["sync", path, "--cache", shop.cache])
      #expect(synced.status == 0, "\(synced.errors)")
    }
    let line = ["larder"] + command + ["P"]

    let typed = try Command.shell(
      """
      PATH=$(dirname "$larder"):$PATH
      source <(larder --generate-completion-script bash)
      COMP_WORDS=(\(line.joined(separator: " "))) COMP_CWORD=\(line.count - 1)
      COMP_LINE='\(line.joined(separator: " "))' COMP_POINT=${#COMP_LINE}
      _larder larder P \(line[line.count - 2]); printf '%s\\n' "${COMPREPLY[@]}"
      """,
      environment: ["LARDER_CACHE": shop.cache]
    )

    #expect(typed.output == "\n", "\(typed.errors)")
    #expect(!FileManager.default.fileExists(atPath: mark))
  }
}
