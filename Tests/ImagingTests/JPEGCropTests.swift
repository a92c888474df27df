import Testing

@testable import Imaging

/// Crops of JPEGs, lossless and re-encoded.
struct JPEGCropTests {
  /// Decodes a region of a picture at a number of eighths of its size.
  ///
  /// - Returns: The bitmap, and whether any of the region is damaged.
  private static func decodedRegion(
    _ file: PictureFile,
    _ region: PixelRegion,
    eighths: Int = 8
  ) throws(ImagingError) -> (value: Bitmap, isDamaged: Bool) {
    let layout: Bitmap.Layout =
      switch file.probe.channels {
      case 1: .grey
      case 3: .bgrx
      default: .cmyk
      }
    let limits = PictureLimits()
    return try file.bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
      let rows = try JPEGRows(bytes, region, eighths: eighths, layout: layout, limits.named("x"))
      return (try rows.collected(limits.named("x")), rows.hasWarnings)
    }
  }

  @Test(arguments: JPEGKind.all + JPEGKind.odd)
  func `a region has the same pixels as in the whole picture`(_ kind: JPEGKind) throws {
    let file = try PictureFile(kind.bytes(width: 131, height: 97))
    for eighths in [8, 4, 2, 1] {
      let size = PixelSize(width: (131 * eighths + 7) / 8, height: (97 * eighths + 7) / 8)
      let whole = try Self.decodedRegion(
        file,
        PixelRegion(x: 0, y: 0, width: size.width, height: size.height),
        eighths: eighths
      ).value
      for (x, y) in [(0, 0), (size.width / 3, size.height / 3), (size.width / 2, size.height / 2)]
      {
        let region = PixelRegion(x: x, y: y, width: size.width / 3, height: size.height / 3)

        let made = try Self.decodedRegion(file, region, eighths: eighths)

        let full = PixelRegion(x: 0, y: 0, width: region.width, height: region.height)
        #expect(part(made.value, full) == part(whole, region))
        #expect(!made.isDamaged)
      }
    }
  }

  @Test(arguments: JPEGKind.all)
  func `a crop keeps colour space, sampling, tables and appearance`(_ kind: JPEGKind) throws {
    let bytes = kind.bytes(width: 131, height: 97, length: 4)
    let file = try PictureFile(bytes)

    let square = try Crop().apply(to: file)

    let made = try PictureFile(square.bytes)
    #expect(made.probe.width == 97)
    #expect(made.probe.height == 97)
    #expect(made.probe.quality == file.probe.quality)
    #expect(try markers(made).hasSameColours(as: markers(file)))
    let source = try decoded(bytes)
    let region = PixelRegion(x: 17, y: 0, width: 97, height: 97)
    let expected = Bitmap(
      width: 97,
      height: 97,
      layout: source.layout,
      samples: part(source, region)
    )
    #expect(psnr(try decoded(square.bytes), expected) > 32)
  }

  @Test(arguments: JPEGKind.all, [16, 40, 97, 150])
  func `a scaled crop looks like the picture`(_ kind: JPEGKind, _ size: Int) throws {
    let bytes = kind.bytes(width: 400, height: 300, quality: 95, length: 8)

    let file = try PictureFile(bytes)

    let made = try Crop(size: size).pixels(of: file)

    let expected = try decoded(bytes).part(Crop().framing(file.probe).window).scaled(
      width: size,
      height: size,
      limits: PictureLimits().named("x")
    )
    #expect(psnr(made, expected) > (kind.across > 2 ? 28 : 33))
    let square = try Crop(size: size).apply(to: file)
    #expect(square.width == size)
    #expect(try decoded(square.bytes).height == size)
  }

  /// A CMYK picture of 40 × 84 pixels in several scans.
  ///
  /// One component has four times as many rows as the others.
  static let endless: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xEE, 0, 14, 65, 100, 111, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xDB, 0, 67, 0,
    13, 9, 10, 11, 10, 73, 70, 0, 1, 1, 0, 0, 1, 8, 13, 11, 10, 11, 14, 14, 13, 15, 19, 32, 21,
    19, 18, 18, 19, 39, 28, 30, 23, 32, 46, 41, 49, 48, 46, 41, 45, 44, 51, 58, 74, 62, 51, 54,
    70, 55, 44, 45, 64, 87, 65, 70, 76, 78, 82, 83, 82, 50, 62, 90, 97, 90, 80, 96, 74, 81, 82,
    79, 0xFF, 0xC2, 0, 20, 8, 0, 84, 0, 40, 4, 67, 34, 0, 77, 17, 0, 89, 20, 0, 75, 17, 0, 0xFF,
    0xC4, 0, 25, 0, 1, 0, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 6, 4, 0xFF, 0xDA,
    0, 14, 4, 67, 0, 77, 0, 89, 0, 75, 0, 0, 0, 1, 0xE9, 0xC7, 79, 30, 98, 175, 49, 124, 127,
    0xFF, 0xD9,
  ]

  @Test(.timeLimit(.minutes(1)))
  func `the decoding of a picture with 4:1 vertical sampling in separate scans ends`() throws {
    #expect(Self.endless.count == 171)
    let file = try PictureFile(Self.endless)
    for crop in [Crop(), Crop(size: 32), Crop(size: 32, gravity: .attention), Crop(format: .png)] {
      #expect(try crop.apply(to: file).isDamaged)
    }
    #expect(try Stamp(time: .now).apply(to: file).isDamaged)
  }

  @Test(arguments: [(1, 4), (2, 4), (1, 3), (2, 2), (1, 2)], [false, true])
  func `rows are skipped exactly, wherever a region begins and ends`(
    _ sampling: (Int, Int),
    _ isProgressive: Bool
  ) throws {
    let kind = JPEGKind(
      name: "",
      across: sampling.0,
      down: sampling.1,
      isProgressive: isProgressive
    )
    let file = try PictureFile(kind.bytes(width: 20, height: 84))
    let whole = try Self.decodedRegion(file, PixelRegion(x: 0, y: 0, width: 20, height: 84)).value
    for first in 0..<84 {
      for count in [1, 2, 5, 40] where first + count <= 84 {
        let region = PixelRegion(x: 0, y: first, width: 20, height: count)

        let made = try Self.decodedRegion(file, region)

        let full = PixelRegion(x: 0, y: 0, width: 20, height: count)
        #expect(part(made.value, full) == part(whole, region) && !made.isDamaged, "\(region)")
      }
    }
  }

  @Test func `the left margin of a centred region is rounded down`() {
    let size = PixelSize(width: 14, height: 9)

    let region = Focus(.centre, in: size).region(of: PixelSize(side: 9), in: size)

    #expect(region == PixelRegion(x: 2, y: 0, width: 9, height: 9))
  }

  @Test(arguments: [
    (Orientation.upright, Gravity.centre, PixelRegion(x: 32, y: 0, width: 99, height: 99), -2, 0),
    (.upright, .right, PixelRegion(x: 64, y: 0, width: 99, height: 99), -4, 0),
    (.upright, .left, PixelRegion(x: 0, y: 0, width: 99, height: 99), 0, 0),
    (.upsideDown, .centre, PixelRegion(x: 32, y: 0, width: 96, height: 96), 4, 2),
  ])
  func `a lossless crop is aligned to the block grid and reports the offset`(
    _ orientation: Orientation,
    _ gravity: Gravity,
    _ region: PixelRegion,
    _ x: Int,
    _ y: Int
  ) throws {
    let stored = PixelSize(width: 167, height: 99)
    let grid = try #require(
      LosslessGrid(
        stored: stored,
        block: PixelSize(width: 16, height: 16),
        orientation: orientation,
        focus: Focus(gravity, in: orientation.upright(stored))
      )
    )

    #expect(grid.region == region)
    #expect(grid.shift.x == x)
    #expect(grid.shift.y == y)
  }

  @Test func `a picture smaller than a block that must be rotated is re-encoded`() throws {
    let bytes = JPEGKind(name: "").bytes(
      width: 15,
      height: 12,
      segments: exifSegment(tiff(orientation: 3))
    )

    let square = try Crop(lossless: true).apply(to: PictureFile(bytes))

    #expect(square.method == .reencoded)
    #expect(square.width == 12)
  }

  @Test func `metadata is removed, or kept on request and then describes the square`() throws {
    let profile = segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + Array("profile".utf8))
    let exif = exifSegment(tiff(orientation: 6, dateTime: "2021:01:13 06:30:00"))
    let note = segment(0xFE, Array("a note".utf8))
    let bytes = JPEGKind(name: "").bytes(width: 70, height: 50, segments: exif + profile + note)
    for lossless in [false, true] {
      let bare = try Crop(lossless: lossless).apply(to: PictureFile(bytes)).bytes
      let full = try Crop(lossless: lossless, keepsMetadata: true)
        .apply(to: PictureFile(bytes))

      #expect(bare.contains(profile))
      #expect(!bare.contains(Array("Exif".utf8)) && !bare.contains(note))
      #expect(full.bytes.contains(profile) && !full.bytes.contains(note))
      #expect(!full.bytes.contains(Array("THUMB".utf8)))
      let probe = try PictureFile(full.bytes).probe
      #expect(probe.orientation == .upright)
      #expect(probe.exif?.dateTime == "2021:01:13 06:30:00")
      let exif = probe.structure.exif
      let place = try #require(places(of: 0xA002, in: exif).first)
      #expect(exif[place] == UInt8(full.width))
    }
  }

  /// The number of each segment of a profile with the number of all, and whether the profile is whole.
  private static let profiles: [([[UInt8]], Bool)] = [
    ([[1, 2]], false), ([[2, 2]], false), ([[0, 1]], false), ([[1, 1], [1, 1]], false),
    ([[1, 1], [2, 2]], false), ([[9, 255], [3, 255]], false), ([[1, 2], [2, 2]], true),
    ([[2, 2], [1, 2]], true), (Array(repeating: [1, 1], count: 256), false),
  ]

  @Test(arguments: profiles)
  func `a profile is kept if each of its segments is there once`(
    _ parts: [[UInt8]],
    _ isKept: Bool
  ) throws {
    let name = Array("ICC_PROFILE\0".utf8)
    let segments = parts.flatMap {
      segment(0xE2, name + $0 + Array("part \($0[0])".utf8))
    }
    let file = try PictureFile(JPEGKind(name: "").bytes(width: 70, height: 50, segments: segments))
    for crop in [Crop(), Crop(lossless: true)] {
      let made = try crop.apply(to: file).bytes

      #expect(made.contains(name) == isKept)
      let whole = segment(0xE2, name + [1, 1] + Array("part 1part 2".utf8))
      #expect(made.contains(whole) == isKept)
    }
  }

  @Test(arguments: [0, 101]) func `a quality out of range is a usage error`(_ quality: Int) throws
  {
    let file = try PictureFile(JPEGKind(name: "").bytes(width: 20, height: 20))

    #expect { try Crop(quality: quality).apply(to: file) } throws: {
      ($0 as? ImagingError)?.code == .usage
    }
  }

  @Test(arguments: [30, 75, 95]) func `the quality of a JPEG is read from its quantization tables`(
    _ quality: Int
  ) throws {
    let file = try PictureFile(JPEGKind(name: "").bytes(width: 20, height: 20, quality: quality))

    let read = try #require(file.probe.quality)

    #expect(abs(read - quality) <= 1)
  }

  @Test(arguments: [(1, 1_400_000, true), (6, 1_400_000, false), (6, 1_500_000, true)])
  func `coefficients count as memory only as long as they are needed`(
    _ orientation: Int,
    _ memory: Int,
    _ isLossless: Bool
  ) throws {
    // All coefficients of the picture take 720,000 bytes.
    let bytes = JPEGKind(name: "", across: 2, down: 2).bytes(
      width: 600,
      height: 400,
      segments: exifSegment(tiff(orientation: orientation))
    )
    let limits = PictureLimits(pixels: 150_000_000, memory: memory)

    let square = try Crop(lossless: true, limits: limits).apply(to: PictureFile(bytes))

    #expect(square.method == (isLossless ? .lossless : .reencoded))
  }

  @Test func `coefficients of a single scan are not held`() throws {
    let bytes = JPEGKind(name: "", across: 1, down: 1).bytes(
      samples: noise(600 * 400 * 3, depth: 8),
      width: 600,
      height: 400,
      quality: 98
    )
    // All coefficients take 1,440,000 bytes. Those of noise are hardly smaller when they are packed.
    let limits = PictureLimits(pixels: 150_000_000, memory: 300_000)

    let square = try Crop(lossless: true, limits: limits).apply(to: PictureFile(bytes))

    #expect(square.method == .lossless)
  }
}
