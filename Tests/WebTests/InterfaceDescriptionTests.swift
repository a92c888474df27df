import Catalog
import Foundation
import Testing

@testable import Web

/// The OpenAPI document of the JSON interface, without a server.
///
/// `ServeTests` compares every answer with it.
@Suite struct InterfaceDescriptionTests {
  private let paths: [String: [String: Any]]

  init() throws { paths = try Self.paths(squares: []) }

  private static func paths(squares: [Int]) throws -> [String: [String: Any]] {
    let bytes = InterfaceRoutes.description(squares: squares)
    let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    return try #require(document?["paths"] as? [String: [String: Any]])
  }

  /// The schemas of an operation's parameters, by their names.
  private static func parameters(
    _ path: String,
    of paths: [String: [String: Any]]
  ) throws -> [String: [String: Any]] {
    let operation = try #require(paths[path]?["get"] as? [String: Any])
    let list = try #require(operation["parameters"] as? [[String: Any]])
    var schemas: [String: [String: Any]] = [:]
    for parameter in list {
      let name = try #require(parameter["name"] as? String)
      schemas[name] = try #require(parameter["schema"] as? [String: Any])
    }
    return schemas
  }

  @Test func `every search parameter in the API's description is part of the cache key`() throws {
    let names = Set(try Self.parameters("/api/search", of: paths).keys)

    #expect(names == Set(InterfaceQuery.filters + ["offset", "limit"]))
  }

  @Test func `the description has the limits of the server`() throws {
    let search = try Self.parameters("/api/search", of: paths)

    for name in ["q", "badge"] {
      #expect(search[name]?["maxLength"] as? Int == InterfaceQuery.longest)
    }
    #expect(search["sort"]?["enum"] as? [String] == ItemSort.allCases.map(\.rawValue))
    for path in ["/api/search", "/api/sections/{key}"] {
      let parameters = try Self.parameters(path, of: paths)
      #expect(parameters["offset"]?["maximum"] as? Int == InterfaceQuery.farthest)
      #expect(parameters["limit"]?["maximum"] as? Int == InterfaceRoutes.most)
      #expect(parameters["limit"]?["default"] as? Int == InterfaceRoutes.usual)
    }
  }

  @Test func `a picture has a parameter with the sizes of squares, if there are any`() throws {
    let path = "/images/{folder}/{file}"
    let without = try Self.parameters(path, of: paths)
    let with = try Self.parameters(path, of: Self.paths(squares: [16, 256]))

    #expect(Set(without.keys) == ["folder", "file"])
    #expect(Set(with.keys) == ["folder", "file", "square"])
    #expect(with["square"]?["enum"] as? [Int] == [16, 256])
  }
}
