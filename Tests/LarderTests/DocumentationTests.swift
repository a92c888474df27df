import Foundation
import Testing

/// Checks that the code in docs/library.md is the example that is built and run.
@Suite struct DocumentationTests {
  @Test func `the program in docs/library.md is the example that is built and run`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/library.md"), encoding: .utf8)
    let example = try String(
      contentsOf: root.appending(path: "Examples/SyncShop/Sources/SyncShop/main.swift"),
      encoding: .utf8
    )

    #expect(page.contains("```swift\n\(example)```"))
    #expect(example.split(separator: "\n").count <= 15)
  }
}
