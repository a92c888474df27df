import Testing

@testable import Cache

struct BatchDigesterTests {
  /// Lengths around every boundary of SHA-256's blocks, and far from them.
  private static let lengths = [0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 24_007, 262_144]

  private static func body(_ count: Int, _ seed: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 2_654_435_761 >> 7) }
  }

  @Test(arguments: [1, 2, 3, 7, 14])
  func `bodies digested at once have the digests that each has alone`(count: Int) {
    var digester = BatchDigester()
    for start in Self.lengths.indices {
      let bodies = (0..<count).map {
        Self.body(Self.lengths[(start + $0) % Self.lengths.count], start + $0)
      }

      #expect(digester.sha256(bodies) == bodies.map(ContentDigest.sha256))
    }
  }

  @Test func `no bodies have no digests`() {
    var digester = BatchDigester()
    #expect(digester.sha256([]) == [])
  }
}
