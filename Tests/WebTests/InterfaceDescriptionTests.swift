import Foundation
import Testing

@testable import Web

@Suite struct InterfaceDescriptionTests {
  @Test func `every search parameter in the API's description is part of the cache key`() throws {
    let bytes = InterfaceDescription(squares: []).bytes
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    )
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    let search = try #require(paths["/api/search"]?["get"] as? [String: Any])
    let parameters = try #require(search["parameters"] as? [[String: Any]])

    let names = Set(parameters.compactMap { $0["name"] as? String })

    #expect(names == Set(InterfaceQuery.filters + ["offset", "limit"]))
  }
}
