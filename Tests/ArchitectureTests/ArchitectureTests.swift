import Foundation
import Testing

/// The rules of CONTRIBUTING.md about the source code and its modules.
@Suite struct ArchitectureTests {
  @Test func `every target has a row in the table of layers, and every row a target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: SourceFile.root.appending(path: "Sources").path
    )

    #expect(Set(folders).subtracting(Layers.ours).sorted() == [])
    #expect(Layers.ours.subtracting(folders).sorted() == [])
  }

  @Test func `the table of modules in CONTRIBUTING.md matches the table of layers`() throws {
    let text = try String(
      contentsOf: SourceFile.root.appending(path: "CONTRIBUTING.md"),
      encoding: .utf8
    )
    func names(_ cell: Substring) -> Set<String> {
      Set(cell.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        .subtracting(["–"])
    }
    var shown: Set<String> = []
    for line in text.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").dropLast(line.hasSuffix("|") ? 0 : 1)
      guard cells.count == 3, names(cells[0]).isSubset(of: Layers.ours) else { continue }
      shown.formUnion(names(cells[0]))
      // Two rows describe their imports in words instead of listing them.
      if cells[2].contains("everything") || cells[2].contains("what they import") { continue }
      for target in names(cells[0]) { #expect(Layers.imports[target] == names(cells[2])) }
    }

    #expect(Layers.ours.subtracting(shown) == [])
  }

  @Test func `the reference explains exactly the reasons that a failure can have`() throws {
    let name = /FailureReason\((?:rawValue: )?"([a-z-]+)"\)/
    let known = try SourceFile.sources.get().flatMap(\.lines)
      .compactMap { $0.code.firstMatch(of: name).map { String($0.output.1) } }
    let reference = try String(
      contentsOf: SourceFile.root.appending(path: "docs/reference.md"),
      encoding: .utf8
    )
    let reasons = try #require(
      reference.split(separator: "\n## ").first { $0.hasPrefix("Reasons") }
    )
    let explained = reasons.matches(of: /(?m)^\| ([a-z-]+) \|/).map { String($0.output.1) }
      .filter { $0 != "reason" }

    // `refused` is no failure's reason: it ends a transfer on purpose, and it is the outcome of a
    // refused upload.
    let unreported = ["refused"]
    #expect(Set(known).count == known.count)
    #expect((explained + unreported).sorted() == known.sorted())
  }

  @Test func `a release takes at most 40 lines of CHANGELOG`() throws {
    let text = try String(
      contentsOf: SourceFile.root.appending(path: "CHANGELOG.md"),
      encoding: .utf8
    )

    for release in text.split(separator: "\n## ").dropFirst() {
      #expect(release.split(separator: "\n").count <= 40, "\(release.prefix(20))")
    }
  }

  @Test func `the pages about the code name only types and files that exist`() throws {
    var known: Set<String> = ["DispatchGroup"]
    // Outside the loop, because a regular expression is parsed and compiled again whenever its literal is evaluated.
    let declaration = /(?:struct|class|enum|actor|protocol|typealias) (\w+)/
    for file in try SourceFile.sources.get() + SourceFile.tests.get() {
      known.insert(String(file.path.split(separator: "/").last?.prefix { $0 != "." } ?? ""))
      for line in file.lines {
        for type in line.code.matches(of: declaration) {
          known.insert(String(type.output.1))
        }
      }
    }

    for page in ["CONTRIBUTING.md", "docs/how-a-sync-works.md"] {
      let text = try String(
        contentsOf: SourceFile.root.appending(path: page),
        encoding: .utf8
      )
      // `Index.endRun`, `SyncRun.stop()` and `SyncRun.swift` are checked by their first word.
      let name = /`([A-Z][a-z]+[A-Z][A-Za-z]*)[.`]/
      let named = Set(text.matches(of: name).map { String($0.output.1) })
      #expect(named.count > 20, "\(page)")
      #expect(named.subtracting(known).sorted() == [], "\(page)")
    }
  }

  @Test(arguments: [
    Rule.layers, .foundation, .printing, .flags, .responses, .force, .safety, .databases,
  ])
  func `the sources obey every rule`(_ rule: Rule) throws {
    let files = try SourceFile.sources.get()

    #expect(files.count > 100)
    #expect(rule.findings(in: files) == [])
  }

  @Test(arguments: [Rule.force, .safety, .sleeping])
  func `the tests obey every rule`(_ rule: Rule) throws {
    // This folder is left out, because its tests contain examples of breaches.
    let files = try SourceFile.tests.get().filter { $0.target != "ArchitectureTests" }

    #expect(rule.findings(in: files) == [])
  }

  @Test(arguments: [
    (Rule.layers, "Sources/Catalog/A.swift", "import Transport"),
    (.layers, "Sources/Cache/A.swift", "import Dispatch\nimport struct Catalog.Price"),
    (.layers, "Sources/Pipeline/A.swift", "public import CurlTransport"),
    (.layers, "Sources/LarderCommands/A.swift", "@_implementationOnly import CCurl"),
    (.layers, "Sources/Unknown/A.swift", "import Cache"),
    (.foundation, "Sources/Pipeline/A.swift", "import Foundation"),
    (.printing, "Sources/LarderCommands/A.swift", "  print(1)"),
    (.printing, "Sources/Cache/A.swift", "let output = FileHandle.standardOutput"),
    (.flags, "Sources/Cache/A.swift", "let a = \"run again with --force\""),
    (.force, "Sources/Cache/A.swift", "let a = try! b()"),
    (.force, "Sources/Cache/A.swift", "let a = \"http://\" + (b as! String)"),
    (.safety, "Sources/Cache/A.swift", "final class A: @unchecked Sendable {"),
    (
      .safety, "Sources/Cache/A.swift",
      "// SAFETY: far\n\n\n\n\n\nlet a = unsafeBitCast(b, to: C.self)"
    ),
    (.databases, "Sources/Orders/Outbox.swift", "let a = open(path, O_RDONLY | O_CLOEXEC)"),
    (.databases, "Sources/SQLite/DatabaseFile.swift", "let a = open(path, O_RDONLY | O_CLOEXEC)"),
    (.databases, "Sources/Cache/A.swift", "let a = openat(root, \"index.sqlite\", flags, 0)"),
    (.sleeping, "Tests/CacheTests/A.swift", "  try await Task.sleep(for: .seconds(1))"),
    (.sleeping, "Tests/CacheTests/A.swift", "  usleep(5)"),
  ])
  func `a breach of a rule is found`(_ rule: Rule, _ path: String, _ text: String) {
    let findings = rule.findings(in: [SourceFile(path: path, text: text)])

    let breach = text.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(findings == ["\(path):\(breach): \(rule.words)"])
  }

  @Test(arguments: [
    (Rule.layers, "Sources/Pipeline/A.swift", "import Cache\nimport Catalog\nimport Transport"),
    (.foundation, "Sources/LarderCommands/A.swift", "import Foundation"),
    (.foundation, "Sources/Pipeline/A.swift", "import FoundationEssentials"),
    (.printing, "Sources/LarderCommands/Output/A.swift", "print(1)"),
    (.printing, "Sources/Cache/A.swift", "/// print(store.baseURL)\nfingerprint(1)\na.print(1)"),
    (.flags, "Sources/Cache/A.swift", "/// What `--force` does.\nlet a = \"a -- b\""),
    (.flags, "Sources/LarderCommands/A.swift", "let a = \"--force\""),
    (.force, "Sources/Cache/A.swift", "let a = try? b() // never try! here"),
    (.safety, "Sources/Cache/A.swift", "// SAFETY: one thread\nnonisolated(unsafe) var a = 1"),
    (.databases, "Sources/Orders/Outbox.swift", "let a = open(b, O_RDONLY | O_DIRECTORY)"),
    (.databases, "Sources/Cache/A.swift", "let a = open(b, O_RDONLY)"),
    (.sleeping, "Tests/CacheTests/A.swift", "#expect(sleeper.naps == 1)"),
  ])
  func `code that a rule allows is not reported`(_ rule: Rule, _ path: String, _ text: String) {
    #expect(rule.findings(in: [SourceFile(path: path, text: text)]) == [])
  }
}

extension Rule: CustomTestStringConvertible {
  var testDescription: String { words }
}
