import Foundation
import Testing

@testable import Catalog

/// Reads each response in Formats/NAME by the format of that name, and by no other.
struct FormatFileTests {
  /// A sample response with its expected meaning in NAME.means.json.
  struct Example: Sendable, CustomTestStringConvertible {
    let format: String
    let response: URL
    let means: URL

    var testDescription: String { "\(format)/\(response.lastPathComponent)" }
  }

  static let examples: [Example] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Formats")
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: folder.path())) ?? []
    return names.sorted().flatMap { name in
      let own = folder.appending(path: name)
      let files = (try? manager.contentsOfDirectory(atPath: own.path())) ?? []
      return files.sorted().filter { !$0.hasSuffix(".means.json") }.map { file in
        let stem = file.prefix { $0 != "." }
        return Example(
          format: name,
          response: own.appending(path: file),
          means: own.appending(path: "\(stem).means.json")
        )
      }
    }
  }()

  /// An item as NAME.means.json describes it.
  struct Item: Codable, Equatable {
    var id: String
    var title: String
    var description: String?
    var badges: [String]?
    var normalPrice: String?
    var salePrice: String?
    var images: [String]

    init(_ item: StoreItem) {
      id = item.id
      title = item.title
      description = item.description
      badges = item.badges.isEmpty ? nil : item.badges
      normalPrice = item.normalPrice.map { "\($0.minorUnits) \($0.currency)" }
      salePrice = item.salePrice.map { "\($0.minorUnits) \($0.currency)" }
      images = item.images.map { "\($0.role.rawValue) \($0.url)" }
    }
  }

  struct Meaning: Codable {
    var currency: String
    var items: [Item]
  }

  @Test func `every format has an example`() {
    #expect(Set(Self.examples.map(\.format)) == Set(FormatFiles.names))
  }

  @Test(arguments: examples)
  func `a format reads a real answer of its system`(_ example: Example) throws {
    let body = Array(try Data(contentsOf: example.response))
    let meaning = try JSONDecoder().decode(Meaning.self, from: Data(contentsOf: example.means))
    let file = try catalog("format: \(example.format)", currency: meaning.currency)

    let listing = try decodeSource(body, at: 0, using: file)

    #expect(listing.skipped == [])
    #expect(listing.sections[0].items.map(Item.init) == meaning.items)
  }

  @Test(arguments: examples)
  func `a response is recognised by its format's signature`(_ example: Example) throws {
    let body = Array(try Data(contentsOf: example.response))
    // These formats have no signature. Two only define a request or a common shape; for the other
    // four `init` maps the fields itself.
    let unsigned = ["banchan", "shopify-storefront", "json-api", "hal", "odata", "directus"]
    guard !unsigned.contains(example.format) else { return }

    let known = FormatSignature.formats(fitting: body).map(\.name)
    let file = try ProposedFile(
      of: [ProposedPage(body: body, source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    #expect(known.first == example.format, "\(known)")
    #expect(file.text.contains("\nformat: \(example.format)\n"))
  }

  @Test(arguments: ["woocommerce/store.json", "mercado-libre/search.json"])
  func `the currency of the items is written into the proposed file`(_ name: String) throws {
    let example = try #require(Self.examples.first { $0.testDescription == name })
    let meaning = try JSONDecoder().decode(Meaning.self, from: Data(contentsOf: example.means))
    let body = Array(try Data(contentsOf: example.response))

    let file = try ProposedFile(
      of: [ProposedPage(body: body, source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    #expect(file.text.contains("\ncurrency: \(meaning.currency)   # 1.0: the items name it"))
  }
}
