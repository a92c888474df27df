import Testing

@testable import Imaging

/// Pictures of every EXIF orientation, which all become upright.
struct OrientationTests {
  /// The stored position of the upright pixel `x`, `y`, for each orientation value. (EXIF 2.32,
  /// figure 10)
  private static func stored(
    _ value: Int,
    _ x: Int,
    _ y: Int,
    _ size: PixelSize
  ) -> (x: Int, y: Int) {
    let (w, h) = (size.width - 1, size.height - 1)
    return [
      (x, y), (w - x, y), (w - x, h - y), (x, h - y), (y, x), (y, w - x), (h - y, w - x),
      (h - y, x),
    ][value - 1]
  }

  private static func turned(_ upright: Bitmap, _ value: Int) -> Bitmap {
    let size = PixelSize(width: upright.width, height: upright.height)
    let width = value >= 5 ? size.height : size.width
    var samples = [UInt8](repeating: 0, count: upright.samples.count)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let place = stored(value, x, y, size)
        for index in 0..<upright.pixelBytes {
          samples[(place.y * width + place.x) * upright.pixelBytes + index] =
            upright.samples[(y * size.width + x) * upright.pixelBytes + index]
        }
      }
    }
    return Bitmap(
      width: width,
      height: value >= 5 ? size.width : size.height,
      layout: upright.layout,
      depth: upright.depth,
      samples: samples
    )
  }

  /// Layouts with every number of bytes per pixel.
  private static let layouts: [(Bitmap.Layout, Int)] = [
    (.grey, 8), (.greyAlpha, 8), (.rgb, 8), (.bgrx, 8), (.rgba, 16), (.rgb, 16),
  ]

  /// A picture in which every place differs.
  private static func pattern(
    width: Int,
    height: Int,
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) -> Bitmap {
    let count = width * height * layout.channels * depth / 8
    return Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth,
      samples: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    )
  }

  @Test(arguments: 1...8)
  func `stored rows are rotated upright, however many are passed at once`(_ value: Int) throws {
    let orientation = try #require(Orientation(rawValue: value))
    for (layout, depth) in Self.layouts {
      for (width, height) in [(1, 1), (5, 2), (31, 64), (33, 65), (70, 130), (300, 7)] {
        let upright = Self.pattern(width: width, height: height, layout, depth)
        let stored = Self.turned(upright, value)

        #expect(
          try stored.upright(from: orientation) == upright,
          "\(layout), \(width) x \(height)"
        )
        for rows in [1, 7, 64, 1000] {
          #expect(
            Self.laid(stored, orientation, rows) == upright.samples,
            "\(layout), \(rows) rows"
          )
        }
        let collected = try BitmapRows(stored)
          .collected(from: orientation, PictureLimits().named("x"))
        #expect(collected == upright, "\(layout), as they are read")
      }
    }
  }

  /// The upright picture, if the stored rows are passed in groups of `rows`.
  private static func laid(
    _ stored: Bitmap,
    _ orientation: Orientation,
    _ rows: Int
  ) -> [UInt8] {
    let size = PixelSize(width: stored.width, height: stored.height)
    let turning = Turning(size, from: orientation, stored.pixelBytes)
    var samples = [UInt8](repeating: 0, count: stored.samples.count)
    samples.withUnsafeMutableBufferPointer { target in
      stored.samples.withUnsafeBufferPointer { source in
        guard let start = source.baseAddress, let target = target.baseAddress else { return }
        for first in stride(from: 0, to: size.height, by: rows) {
          let row = start + first * stored.rowBytes
          let count = min(rows, size.height - first)
          turning.lay(row, first: first, count: count, into: target)
        }
      }
    }
    return samples
  }

  @Test(arguments: 1...8, [PixelSize(width: 14, height: 9), PixelSize(width: 9, height: 15)])
  func `a PNG is rotated upright, sample for sample`(_ value: Int, _ size: PixelSize) throws {
    for kind in PNGKind.all where !kind.isInterlaced && kind.clear == nil {
      let upright = kind.bitmap(width: size.width, height: size.height)
      let plain = try PNGCodec.encode(
        BitmapRows(Self.turned(upright, value)),
        PictureLimits().named("x")
      ).bytes()
      let bytes = Array(plain[..<33]) + chunk("eXIf", tiff(orientation: value)) + plain[33...]

      let square = try Crop().apply(to: PictureFile(bytes))

      let region = PixelRegion(
        x: (size.width - 9) / 2,
        y: (size.height - 9) / 2,
        width: 9,
        height: 9
      )
      #expect(
        part(try native(square.bytes), PixelRegion(x: 0, y: 0, width: 9, height: 9))
          == part(upright, region)
      )
    }
  }

  // A short, a long, and a fraction and three shorts at an offset.
  @Test(arguments: [(3, 1, 6), (4, 1, 6), (5, 1, 26), (3, 3, 26)] as [(UInt8, UInt8, UInt8)])
  func `kept EXIF data says that a crop is upright, whatever the type of its orientation`(
    _ type: UInt8,
    _ count: UInt8,
    _ value: UInt8
  ) {
    let header = Array("II".utf8) + [42, 0, 8, 0, 0, 0]
    let directory = [1, 0, 0x12, 1, type, 0, count, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0]
    let data = header + directory + [6, 0, 0, 0, 1, 0, 0, 0]

    let cropped = Exif.cropped(data, width: 10, height: 10)

    #expect(Exif(data).orientation?.rawValue == 6)
    #expect(Exif(cropped).orientation == .upright && cropped.count == data.count)
  }

  @Test(arguments: 1...8, [false, true])
  func `a JPEG is rotated upright whether its coefficients are kept or not`(
    _ value: Int,
    _ lossless: Bool
  ) throws {
    let upright = Bitmap(
      width: 70,
      height: 51,
      layout: .rgb,
      samples: wave(width: 70, height: 51, channels: 3)
    )
    let stored = Self.turned(upright, value)
    for kind in [JPEGKind(name: "", across: 1, down: 1), JPEGKind(name: "", across: 2, down: 1)] {
      let bytes = kind.bytes(
        samples: stored.samples,
        width: stored.width,
        height: stored.height,
        quality: 95,
        segments: exifSegment(tiff(orientation: value))
      )

      let square = try Crop(lossless: lossless).apply(to: PictureFile(bytes))

      #expect(square.method == (lossless ? .lossless : .reencoded))
      let side = square.width
      let x = (70 - side) / 2 + square.shift.x
      let y = (51 - side) / 2 + square.shift.y
      let expected = Bitmap(
        width: side,
        height: side,
        layout: .rgb,
        samples: part(upright, PixelRegion(x: x, y: y, width: side, height: side))
      ).flattened(.bgrx)
      #expect(psnr(try decoded(square.bytes), expected) > 30)
      #expect(try PictureFile(square.bytes).probe.orientation == .upright)
    }
  }

  @Test(arguments: 1...8)
  func `a lossless crop has the coefficients of the source`(_ value: Int) throws {
    for kind in JPEGKind.all where !kind.isArithmetic {
      let bytes = kind.bytes(
        width: 167,
        height: 99,
        segments: exifSegment(tiff(orientation: value))
      )

      let square = try Crop(lossless: true).apply(to: PictureFile(bytes))

      guard square.method == .lossless else {
        Issue.record("\(kind.name) was encoded anew")
        continue
      }
      #expect(square.width >= 64)
      for component in 0..<Coefficients.components(of: kind) {
        let source = try Coefficients(bytes, component)
        let made = try Coefficients(square.bytes, component)
        // Rotating a block only permutes its coefficients and changes signs.
        let known = Set(source.blocks.map { $0.map(abs).sorted() })
        #expect(
          made.wholeBlocks(side: square.width).allSatisfy { known.contains($0.map(abs).sorted()) }
        )
      }
    }
  }

  @Test(arguments: JPEGKind.all)
  func `an upright lossless crop has the source's blocks in their order`(_ kind: JPEGKind) throws {
    let bytes = kind.bytes(width: 167, height: 99)

    let square = try Crop(lossless: true).apply(to: PictureFile(bytes))

    guard square.method == .lossless else {
      Issue.record("\(kind.name) was encoded anew")
      return
    }
    #expect(square.width == 99)
    #expect(square.height == 99)
    let left = 34 + square.shift.x
    for component in 0..<Coefficients.components(of: kind) {
      let source = try Coefficients(bytes, component)
      let made = try Coefficients(square.bytes, component)
      let scale = Double(source.across) / (Double(167) / 8)
      let first = Int((Double(left) / 8 * scale).rounded())
      for y in 0..<made.down - 1 {
        for x in 0..<made.across - 1 {
          #expect(made[x, y] == source[first + x, y])
        }
      }
    }
  }
}
