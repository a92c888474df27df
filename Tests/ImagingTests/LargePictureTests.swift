import Testing

@testable import Imaging

/// What is done with large pictures alone, so that they are in memory once or less.
struct LargePictureTests {
  @Test func `an interlaced picture of any shape is read like a plain one`() throws {
    let limits = PictureLimits()
    for width in [1, 2, 4, 5, 9] {
      for height in 1...10 {
        let kind = PNGKind(name: "", layout: .rgb, depth: 16)
        var interlaced = kind
        interlaced.isInterlaced = true
        let plain = try PictureFile(kind.bytes(width: width, height: height))
        let woven = try PictureFile(interlaced.bytes(width: width, height: height))
        for first in 0..<height {
          let region = PixelRegion(x: width / 3, y: first, width: 1, height: height - first)
          let expected = try PNGCodec.decode(plain, region, limits)
          for band in [1, width * 6, width * 12, 1 << 20] {
            let made = try PNGCodec.decode(woven, region, band: band, limits)

            #expect(made == expected, "\(width) × \(height) from \(first), band \(band)")
          }
        }
      }
    }
  }

  @Test(
    arguments: [Bitmap.Layout.grey, .greyAlpha, .rgb, .rgba],
    [8, 16]
  )
  func `a picture that becomes very small is like the whole one scaled`(
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) throws {
    let (width, height) = (301, 997)
    var samples = wave(width: width, height: height, channels: layout.channels, length: 60)
    if depth == 16 { samples = samples.flatMap { [$0, $0] } }
    let source = Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth,
      samples: samples
    )
    let file = try PictureFile(source.png())
    let region = PixelRegion(x: 3, y: 5, width: 293, height: 983)
    let limits = PictureLimits()
    for size in [PixelSize(width: 9, height: 20), PixelSize(width: 293, height: 13)] {
      let whole = try source.part(region)
        .scaled(width: size.width, height: size.height, limits: limits, name: "x")

      // So little room that squares of pixels become one before they are scaled.
      let made = try PNGCodec.scaled(file, region, to: size, strip: 1, limits)

      let most = ScalingTests.largestDifference(made, whole)
      #expect(most <= (depth == 16 ? 6 * 257 : 6), "\(size): \(most)")
    }
  }

  @Test func `clear pixels lend no colour to the squares that they are in`() throws {
    let side = 256
    var samples: [UInt8] = []
    for y in 0..<side {
      for x in 0..<side { samples += (x + y) % 2 == 0 ? [200, 0, 0, 255] : [0, 255, 255, 0] }
    }
    let source = Bitmap(width: side, height: side, layout: .rgba, samples: samples)
    let file = try PictureFile(source.png())
    let whole = PixelRegion(x: 0, y: 0, width: side, height: side)

    let made = try PNGCodec.scaled(
      file,
      whole,
      to: PixelSize(side: 4),
      strip: 1,
      PictureLimits()
    )

    // Of 8 bits, red is multiplied by alpha and divided again.
    for x in 0..<4 { #expect(made[x, 2] == [199, 0, 0, 128]) }
  }
}
