import Foundation
import Testing

@testable import Catalog

struct DocumentedCatalogTests {
  /// The examples of docs/catalog-files.md, each a whole file or some keys of one.
  private static func examples() throws -> [String] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "docs/catalog-files.md"),
      encoding: .utf8
    )
    return page.split(separator: "```yaml\n").dropFirst().compactMap { part in
      part.firstRange(of: "```").map { String(part[..<$0.lowerBound]) }
    }
  }

  @Test func `every example of the documentation is a catalog file, or part of one`() throws {
    let examples = try Self.examples()

    for example in examples {
      var file = example
      func lacks(_ key: String) -> Bool { !"\n\(file)".contains("\n\(key):") }
      if lacks("name") { file = "name: shop\ncurrency: KRW\n" + file }
      if lacks("sections") { file += "sections: [{key: main, url: main}]\n" }
      #expect(throws: Never.self, "\(example)") {
        try CatalogFile(parsing: bytes(file), file: "shop.yaml")
      }
    }

    #expect(examples.count > 10)
  }
}
