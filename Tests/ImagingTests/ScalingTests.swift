import Testing

@testable import Imaging

struct ScalingTests {
  /// Lengths before and after, among them those where a little more than half is left away.
  private static let lengths: [(from: Int, to: Int)] =
    [(1024, 500), (512, 250), (720, 350), (3264, 300), (2448, 300), (4000, 1960)]
    + [600, 1024, 2448, 4096].flatMap { from in
      stride(from: 64, through: 2048, by: 101).map { (from, $0) }
    }

  @Test(arguments: [(Bitmap.Layout.grey, 8), (.bgrx, 8), (.rgba, 8), (.rgb, 16)])
  func `this processor's code scales as the code in plain C does`(
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) throws {
    let across = 4
    let disorder = noise(4096 * across * 8, depth: 8)
    for (from, to) in Self.lengths {
      for isWide in [true, false] {
        let count = from * across * layout.channels * depth / 8
        let source = Bitmap(
          width: isWide ? from : across,
          height: isWide ? across : from,
          layout: layout,
          depth: depth,
          samples: Array(disorder[..<count])
        )

        let (made, plain) = try (
          Self.scaled(source, to, isWide, portable: false),
          Self.scaled(source, to, isWide, portable: true)
        )

        #expect(Self.largestDifference(made, plain) <= (depth == 8 ? 1 : 16), "\(from) to \(to)")
      }
    }
  }

  private static func scaled(
    _ source: Bitmap,
    _ length: Int,
    _ isWide: Bool,
    portable: Bool
  ) throws -> Bitmap {
    try source.scaled(
      width: isWide ? length : source.width,
      height: isWide ? source.height : length,
      limits: PictureLimits(),
      name: "x",
      portable: portable
    )
  }

  static func largestDifference(_ one: Bitmap, _ other: Bitmap) -> Int {
    if one.samples == other.samples { return 0 }
    guard one.depth == 16 else {
      return zip(one.samples, other.samples).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }
    return one.samples.withUnsafeBytes { one in
      other.samples.withUnsafeBytes { other in
        zip(one.bindMemory(to: UInt16.self), other.bindMemory(to: UInt16.self))
          .reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
      }
    }
  }
}
