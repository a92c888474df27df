import Foundation
import Testing

@testable import Catalog

/// The cases of github.com/jsonpath-standard/jsonpath-compliance-test-suite.
struct JSONPathComplianceTests {
  private struct Case {
    let name: String
    let selector: String
    let document: Any?
    let results: [[Any]]
    let paths: [[String]]
    let isInvalid: Bool

    init(_ object: [String: Any]) throws {
      name = try #require(object["name"] as? String)
      selector = try #require(object["selector"] as? String)
      document = object["document"]
      results = (object["result"] as? [Any]).map { [$0] } ?? object["results"] as? [[Any]] ?? []
      paths =
        (object["result_paths"] as? [String]).map { [$0] }
        ?? object["results_paths"] as? [[String]] ?? []
      isInvalid = object["invalid_selector"] as? Bool ?? false
    }
  }

  private static func cases() throws -> [Case] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/jsonpath/cts.json")
    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    let tests = try #require((json as? [String: Any])?["tests"] as? [[String: Any]])
    return try tests.map(Case.init)
  }

  @Test func `every selector of the compliance suite gives the expected result or is refused`()
    throws
  {
    let cases = try Self.cases()

    for test in cases {
      if test.isInvalid {
        #expect(throws: CatalogError.self, "\(test.name): \(test.selector)") {
          try JSONPath(parsing: test.selector)
        }
        continue
      }
      let document = try #require(test.document)
      let body = try JSONSerialization.data(withJSONObject: document, options: .fragmentsAllowed)
      let root = try JSONDocument(parsing: Array(body)).root
      let values = try JSONPath(parsing: test.selector).values(in: root)
      let found = values.map(value) as NSArray
      #expect(test.results.contains { found == $0 as NSArray }, "\(test.name): \(test.selector)")
      #expect(
        try test.paths.contains { try areAt($0, of: root, values) },
        "\(test.name): \(test.selector) at \(test.paths)"
      )
    }

    #expect(cases.count == 703)
    #expect(cases.count(where: \.isInvalid) == 247)
  }

  /// Whether `values` are exactly those at the normalized paths, in order.
  private func areAt(_ paths: [String], of root: JSONNode, _ values: [JSONNode]) throws -> Bool {
    guard paths.count == values.count else { return false }
    return try zip(paths, values).allSatisfy { path, value in
      try JSONPath(parsing: path).firstValue(in: root) == value
    }
  }

  private func value(_ node: JSONNode) -> Any {
    switch node.kind {
    case .object:
      Dictionary(node.members.map { ($0.name, value($0.value)) }, uniquingKeysWith: { $1 })
    case .array: node.elements.map(value)
    case .string: node.text ?? ""
    case .integer: node.integer ?? 0
    case .real: node.real ?? 0
    case .boolean: node.boolean ?? false
    case .null: NSNull()
    }
  }
}
