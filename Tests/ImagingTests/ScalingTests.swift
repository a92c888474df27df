import Dispatch
import Synchronization
import Testing

@testable import Imaging

/// Scaling of pictures: the code for this processor, its precision, and its threads.
struct ScalingTests {
  /// Lengths before and after scaling, including ratios just above and below one half.
  private static let lengths: [(from: Int, to: Int)] =
    [(1024, 500), (512, 250), (720, 350), (3264, 300), (2448, 300), (4000, 1960)]
    + [600, 1024, 2448, 4096].flatMap { from in
      stride(from: 64, through: 2048, by: 101).map { (from, $0) }
    }

  @Test(arguments: [(Bitmap.Layout.grey, 8), (.bgrx, 8), (.rgba, 8), (.rgb, 16)])
  func `the vector code of this processor scales as the portable C code does`(
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

        let (width, height) = isWide ? (to, across) : (across, to)
        let (made, plain) = try (
          Self.scaled(source, width, height, portable: false),
          Self.scaled(source, width, height, portable: true)
        )

        #expect(largestDifference(made, plain) <= (depth == 8 ? 1 : 16), "\(from) to \(to)")
      }
    }
  }

  private static let smooth = SmoothPicture.bitmap(of: 600)

  @Test(arguments: [64, 75, 101, 128, 160, 249, 320, 512])
  func `a scaled smooth picture is as close to the exact one as two roundings allow`(
    _ side: Int
  ) throws {
    let source = Self.smooth
    let expected = SmoothPicture.values(of: side)
    let rounded = SmoothPicture.scaled(source, to: side)
    // The result may be at most one decibel worse.
    let most = SmoothPicture.error(rounded, expected) * 1.26

    let made = try Self.scaled(source, side, side, portable: false)
    let inStrips = try source.scaled(
      width: side,
      height: side,
      strip: 1 << 17,
      limits: PictureLimits().named("x")
    )

    #expect(SmoothPicture.error(made.samples.map(Double.init), expected) <= most)
    #expect(SmoothPicture.error(inStrips.samples.map(Double.init), expected) <= most)
  }

  @Test func `a scaling does not depend on earlier ones, on any thread`() throws {
    // The cases share the same borders, so that each differs from the first in one respect.
    let part = Bitmap.Part(x: 5, y: 5, width: 80, height: 60)
    var (right, down, wide, high) = (part, part, part, part)
    (right.x, down.y, wide.width, high.height) = (7, 7, 81, 61)
    let cases: [(depth: Int, size: (Int, Int), part: Bitmap.Part)] =
      [part, right, down, wide, high].map { (8, (40, 30), $0) }
      + [(16, (40, 30), part), (8, (41, 30), part), (8, (40, 31), part)]
    let disorder = noise(90 * 70 * 6, depth: 8)
    @Sendable func made(_ index: Int) throws -> [UInt8] {
      let (depth, (width, height), part) = cases[index]
      let count = 90 * 70 * 3 * depth / 8
      let source = Bitmap(
        width: 90,
        height: 70,
        layout: .rgb,
        depth: depth,
        samples: Array(disorder[..<count])
      )
      return try source.scaled(
        part,
        width: width,
        height: height,
        limits: PictureLimits().named("x")
      ).samples
    }
    let other = Bitmap(
      width: 8,
      height: 9,
      layout: .grey,
      depth: 8,
      samples: Array(disorder[..<72])
    )
    let alone = try cases.indices.map { index in
      _ = try Self.scaled(other, 3, 4, portable: true)
      return try made(index)
    }

    for index in cases.indices {
      #expect(try made(0) == alone[0])
      #expect(try made(index) == alone[index], "case \(index)")
      #expect(try made(index) == alone[index], "case \(index), twice")
    }
    let wrong = Mutex<Set<Int>>([])
    DispatchQueue.concurrentPerform(iterations: 400) { round in
      let index = round / 3 % cases.count
      if (try? made(index)) != alone[index] { wrong.withLock { _ = $0.insert(index) } }
    }
    #expect(wrong.withLock { $0 }.isEmpty)
  }

  private static func scaled(
    _ source: Bitmap,
    _ width: Int,
    _ height: Int,
    portable: Bool
  ) throws -> Bitmap {
    try source.scaled(
      width: width,
      height: height,
      portable: portable,
      limits: PictureLimits().named("x")
    )
  }
}
