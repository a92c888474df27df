import Testing

@testable import Cache

/// `PackedKeys`, which finds an id in a buffer of ids that each end with a NUL.
struct PackedKeysTests {
  private static func places(of key: String, in keys: [String]) -> [Int] {
    keys.flatMap { Array($0.utf8) + [0] }.withUnsafeBytes {
      PackedKeys.places(of: Array(key.utf8) + [0], in: $0)
    }
  }

  @Test(arguments: [
    ("a", ["a", "b", "a"], [0, 2]), ("b", ["ab", "b", "ba"], [1]), ("", ["a", "", "b"], [1]),
    ("c", ["a", "b"], []), ("반찬", ["국", "반찬"], [1]), ("a", [], []),
  ])
  func `an id is found at each of its positions, and never inside another id`(
    key: String,
    keys: [String],
    places: [Int]
  ) {
    #expect(Self.places(of: key, in: keys) == places)
  }

  @Test func `damaged bytes after the last id are no id`() {
    let torn = Array("a\0ab".utf8)
    #expect(torn.withUnsafeBytes { PackedKeys.places(of: Array("ab".utf8) + [0], in: $0) } == [])
  }
}
