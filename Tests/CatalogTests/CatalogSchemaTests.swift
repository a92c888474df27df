import Foundation
import Testing

@testable import Catalog

struct CatalogSchemaTests {
  private static func schema() throws -> JSONNode {
    try JSONDocument(parsing: bytes(CatalogSchema.text)).root
  }

  /// The mapping with these keys.
  private static func definition(_ keys: CatalogKeys) throws -> JSONNode? {
    let root = try schema()
    return keys == .root ? root : root["definitions"]?[keys.rawValue]
  }

  @Test(arguments: CatalogKeys.allCases)
  func `the schema has every mapping of a catalog file`(_ keys: CatalogKeys) throws {
    let definition = try #require(try Self.definition(keys))

    #expect(!keys.names.isEmpty)
    #expect(definition["properties"]?.members.map(\.name) == keys.names)
    #expect(definition["additionalProperties"]?.boolean == false)
    let required = definition["required"]?.elements.compactMap(\.text) ?? []
    #expect(Set(required).isSubset(of: keys.names))
  }

  @Test func `a key that file, section and format share is described alike`() throws {
    let all = CatalogSchema.text.split(separator: "\n").map(\.trimmed)
    /// The line of a key in each of the mappings, without a comma at its end.
    func lines(of key: String) -> Set<String> {
      Set(
        all.filter { $0.hasPrefix("\"\(key)\": {\"description\"") }
          .map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }
      )
    }
    let shared = [
      "read", "xml", "table", "text", "items", "envelope", "item", "transform", "records",
    ]

    for key in shared + ["format", "base", "pictures"] {
      #expect(lines(of: key).count == 1, "\(key)")
    }
    for keys in [CatalogKeys.root, .section, .format] {
      #expect(Set(shared).isSubset(of: keys.names), "\(keys)")
    }
  }

  @Test func `the schema lists the formats, notations and currencies of the program`() throws {
    let properties = try #require(try Self.schema()["properties"])
    func words(_ node: JSONNode?) -> [String] { node?["enum"]?.elements.compactMap(\.text) ?? [] }

    #expect(words(properties["format"]?["anyOf"]?.elements.first) == FormatFiles.names)
    let kinds = BodyFormat.Kind.allCases.map(\.rawValue)
    #expect(words(properties["read"]?["anyOf"]?.elements.first) == kinds)
    #expect(words(properties["currency"]) == Currency.codes)
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
