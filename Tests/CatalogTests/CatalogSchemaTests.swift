import Foundation
import Testing

@testable import Catalog

struct CatalogSchemaTests {
  private static func schema() throws -> JSONNode {
    try JSONDocument(parsing: bytes(CatalogSchema.text)).root
  }

  private static func definition(_ keys: CatalogKeys) throws -> JSONNode? {
    let root = try schema()
    return keys == .root ? root : root["definitions"]?[keys.rawValue]
  }

  @Test(arguments: CatalogKeys.allCases)
  func `the schema has exactly the keys that the parsers allow`(_ keys: CatalogKeys) throws {
    let definition = try #require(try Self.definition(keys))

    #expect(definition["properties"]?.members.map(\.name) == keys.names)
    #expect(definition["additionalProperties"]?.boolean == false)
    #expect(definition["required"]?.elements.compactMap(\.text) ?? [] == keys.required)
  }

  @Test func `every reference of the schema leads to a definition`() throws {
    let root = try Self.schema()
    let names = try #require(root["definitions"]).members.map(\.name)
    var references: [String] = []
    func visit(_ node: JSONNode) {
      if let reference = node["$ref"]?.text { references.append(reference) }
      node.children.forEach(visit)
    }

    visit(root)

    #expect(references.count > 30)
    for reference in references {
      #expect(names.contains(reference.replacing("#/definitions/", with: "")), "\(reference)")
    }
  }

  @Test(arguments: CatalogKeys.allCases)
  func `every key is documented`(_ keys: CatalogKeys) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "docs/catalog-files.md"),
      encoding: .utf8
    )

    for name in keys.names {
      #expect(page.contains("`\(name)") || page.contains("\(name):"), "\(keys).\(name)")
    }
  }

  @Test func `an unknown key lists the allowed keys, the nearest first`() {
    let error = parsingError(
      "name: s\ncurrency: KRW\nsections: [{key: a, url: a, paging: {page: p, size: {nam: x}}}]"
    )

    #expect(error?.remedy == "the nearest known key is \"name\"; also allowed here: value")
  }
}
