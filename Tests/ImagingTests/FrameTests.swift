import Testing

@testable import Imaging

/// Crops to shapes other than squares, and pictures contained on a background.
struct FrameTests {
  private static func contained(
    _ frame: PixelSize?,
    _ background: String? = nil,
    _ format: PictureFormat? = nil
  ) -> Crop {
    var crop = Crop(format: format, quality: 95)
    (crop.frame, crop.fit, crop.enlarges) = (frame, .contain, false)
    crop.background = background.flatMap { PictureColour($0) }
    return crop
  }

  private static let upright = PixelRegion(x: 0, y: 0, width: 60, height: 44)

  @Test(arguments: FormatTests.sources.indices, [PictureFormat.jpeg, .png, .webp, .avif])
  func `any picture can be contained in any format`(_ index: Int, _ format: PictureFormat) throws {
    let (name, bytes) = FormatTests.sources[index]
    let file = try PictureFile(bytes)
    for frame in [nil, PixelSize(width: 100, height: 80), PixelSize(width: 30, height: 30)] {
      let square = try Self.contained(frame, "#ff8000", format).apply(to: file)

      let made = try decoded(square.bytes)
      let canvas = frame ?? PixelSize(side: 60)
      #expect([square.width, square.height] == [canvas.width, canvas.height])
      #expect([made.width, made.height] == [canvas.width, canvas.height])
      #expect(square.format == format && square.method == .reencoded)
      let corner = made.colour(1, 1)
      #expect(abs(Int(corner.red) - 255) < 12 && abs(Int(corner.green) - 128) < 12, "\(name)")
      #expect(corner.blue < 12, "\(name): \(corner)")
    }
  }

  @Test(arguments: FormatTests.sources.indices)
  func `a picture contained without scaling has the samples of its source`(_ index: Int) throws {
    let (name, bytes) = FormatTests.sources[index]
    let file = try PictureFile(bytes)
    let crop = Self.contained(PixelSize(width: 100, height: 80), "white", .png)
    var filled = Crop(format: .png)
    filled.frame = Self.upright.size

    let made = try decoded(crop.apply(to: file).bytes)

    let source = try decoded(filled.apply(to: file).bytes)
    let region = PixelRegion(x: 20, y: 18, width: 60, height: 44)
    #expect(made.part(region) == source, "\(name)")
  }

  @Test(arguments: 1...8)
  func `a picture of any orientation is upright after it is cut to a shape or contained`(
    _ value: Int
  ) throws {
    let orientation = try #require(Orientation(rawValue: value))
    for kind in PNGKind.all where !kind.isInterlaced && kind.clear == nil {
      let stored = kind.bitmap(width: 31, height: 20)
      let plain = try PNGCodec.encode(BitmapRows(stored), PictureLimits().named("x")).bytes()
      let file = try PictureFile(
        Array(plain[..<33]) + chunk("eXIf", tiff(orientation: value)) + plain[33...]
      )
      let upright = try stored.upright(from: orientation)
      var wide = Crop(gravity: .bottomRight)
      // The frame is as wide as the upright picture, so that nothing is scaled.
      wide.frame = PixelSize(width: upright.width, height: upright.height / 2)
      let low = PixelRegion(
        x: 0,
        y: upright.height - upright.height / 2,
        width: upright.width,
        height: upright.height / 2
      )

      let cut = try wide.apply(to: file)
      let whole = try Self.contained(nil, "#00000000").apply(to: file)

      #expect(cut.method == .lossless)
      #expect(try native(cut.bytes) == upright.part(low))
      let made = try decoded(whole.bytes)
      let place = PixelRegion(
        x: (31 - upright.width) / 2,
        y: (31 - upright.height) / 2,
        width: upright.width,
        height: upright.height
      )
      let expected = try decoded(upright.png())
      #expect(made.width == 31 && made.height == 31)
      #expect(made.part(place).flattened(.bgrx) == expected.flattened(.bgrx), "\(kind)")
    }
  }

  @Test(arguments: JPEGKind.all, [1, 6])
  func `every kind of JPEG can be cut to a shape and contained`(
    _ kind: JPEGKind,
    _ orientation: Int
  ) throws {
    let bytes = kind.bytes(
      width: 240,
      height: 160,
      quality: 95,
      length: 8,
      segments: exifSegment(tiff(orientation: orientation))
    )
    let file = try PictureFile(bytes)
    let upright = try decoded(bytes)
    for (width, height) in [(120, 30), (30, 120), (300, 100)] {
      var crop = Crop(quality: 95)
      crop.frame = PixelSize(width: width, height: height)

      let cut = try crop.apply(to: file)
      let whole = try Self.contained(crop.frame).apply(to: file)

      #expect(
        [cut.width, cut.height, whole.width, whole.height] == [width, height, width, height]
      )
      let expected = try upright.part(crop.framing(file.probe).window)
        .scaled(width: width, height: height, limits: PictureLimits().named("x"))
      let made = try decoded(cut.bytes)
      #expect(psnr(made.flattened(.rgb), expected.flattened(.rgb)) > (kind.across > 2 ? 25 : 28))
      let corner = try decoded(whole.bytes).colour(width - 1, height - 1)
      #expect([corner.red, corner.green, corner.blue].allSatisfy { $0 > 245 }, "\(corner)")
      // On a background, inks become RGB.
      let contained = try markers(PictureFile(whole.bytes))
      if file.probe.channels == 4 {
        #expect(contained.channels == 3)
      } else {
        #expect(contained.hasSameColours(as: try markers(file)))
      }
    }
  }

  @Test(
    arguments: [
      (Bitmap.Layout.grey, nil, PictureFormat.png, Bitmap.Layout.grey, [255]),
      (.grey, "#808080", .png, .grey, [128]), (.grey, "red", .png, .rgb, [255, 0, 0]),
      (.grey, "transparent", .png, .greyAlpha, [0, 0]),
      (.grey, "#ff000080", .png, .rgba, [255, 0, 0, 128]),
      (.greyAlpha, nil, .png, .greyAlpha, [0, 0]),
      (.greyAlpha, "white", .png, .greyAlpha, [255, 255]),
      (.rgb, nil, .png, .rgb, [255, 255, 255]), (.rgb, "transparent", .png, .rgba, [0, 0, 0, 0]),
      (.rgba, nil, .png, .rgba, [0, 0, 0, 0]), (.rgba, "#123", .png, .rgba, [17, 34, 51, 255]),
      (.rgb, "transparent", .jpeg, .bgrx, [255, 255, 255, 255]),
      (.rgb, "#00000080", .jpeg, .bgrx, [127, 127, 127, 255]),
    ] as [(Bitmap.Layout, String?, PictureFormat, Bitmap.Layout, [UInt16])]
  )
  func `the background has its own samples, and the picture keeps its own`(
    _ layout: Bitmap.Layout,
    _ background: String?,
    _ format: PictureFormat,
    _ made: Bitmap.Layout,
    _ corner: [UInt16]
  ) throws {
    for depth in [8, 16] {
      let bytes = try PNGKind(name: "", layout: layout, depth: depth).bytes(width: 8, height: 4)

      let square = try Self.contained(PixelSize(side: 64), background, format)
        .apply(to: PictureFile(bytes))

      let bitmap = try decoded(square.bytes)
      #expect(bitmap.layout == made)
      let isWide = depth == 16 && format == .png
      #expect(bitmap.depth == (isWide ? 16 : 8))
      let expected = corner.map { isWide ? $0 * 257 : $0 }
      let most = zip(bitmap[0, 0], expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
      #expect(most <= (format == .jpeg ? 1 : 0), "\(bitmap[0, 0])")
    }
  }

  @Test func `transparent pixels show the background in a JPEG`() throws {
    let clear = Bitmap(
      width: 16,
      height: 16,
      layout: .rgba,
      samples: (0..<256).flatMap { _ in [0, 0, 0, 0] as [UInt8] }
    )
    let file = try PictureFile(clear.png())
    var crop = Crop(format: .jpeg)

    let white = try decoded(crop.apply(to: file).bytes).colour(8, 8)
    crop.background = PictureColour("#3060c0")
    let blue = try decoded(crop.apply(to: file).bytes).colour(8, 8)

    #expect(white == (255, 255, 255))
    #expect(abs(Int(blue.red) - 48) < 3 && abs(Int(blue.blue) - 192) < 3, "\(blue)")
  }

  @Test func `a grey JPEG that gets a coloured background has no grey profile`() throws {
    func profile(_ space: String) -> [UInt8] {
      let icc = [UInt8](repeating: 0, count: 16) + Array(space.utf8) + [0, 0, 0, 0]
      return segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + icc)
    }
    let grey = JPEGKind(name: "", colourSpace: 1, across: 1, down: 1)
    let file = try PictureFile(
      grey.bytes(width: 60, height: 40, segments: profile("GRAY"))
    )

    let plain = try Self.contained(nil).apply(to: file).bytes
    let red = try Self.contained(nil, "red").apply(to: file).bytes

    #expect(plain.contains(profile("GRAY")))
    #expect(!red.contains(Array("ICC_PROFILE".utf8)))
    #expect(try PictureFile(red).probe.channels == 3)
  }

  @Test func `metadata describes the whole result`() throws {
    let exif = exifSegment(tiff(orientation: 6, dateTime: "2021:01:13 06:30:00"))
    let file = try PictureFile(
      JPEGKind(name: "").bytes(width: 70, height: 50, segments: exif)
    )
    var crop = Self.contained(PixelSize(width: 64, height: 96))
    crop.keepsMetadata = true

    let made = try crop.apply(to: file)

    let probe = try PictureFile(made.bytes).probe
    #expect(probe.orientation == .upright && probe.exif?.dateTime == "2021:01:13 06:30:00")
    let packet = probe.structure.exif
    for (tag, value) in [(0xA002, 64), (0xA003, 96)] {
      let place = try #require(places(of: tag, in: packet).first)
      #expect(packet[place] == UInt8(value))
    }
  }

  @Test func `a frame beyond the limits is refused before decoding`() throws {
    let file = try PictureFile(JPEGKind(name: "").bytes(width: 20, height: 10))
    for (width, height) in [(0, 10), (10, 0), (16_385, 1), (16_000, 16_000)] {
      var crop = Crop()
      crop.frame = PixelSize(width: width, height: height)

      #expect { try crop.apply(to: file) } throws: { ($0 as? ImagingError)?.code == .usage }
    }
    var long = Crop(limits: PictureLimits(pixels: 300))
    long.fit = .contain

    #expect { try long.apply(to: file) } throws: { ($0 as? ImagingError)?.code == .tooLarge }
  }

  @Test func `a stamp can be drawn on any shape, and on the whole picture`() throws {
    for bytes in [
      JPEGKind(name: "").bytes(width: 210, height: 120),
      try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 210, height: 120),
    ] {
      let file = try PictureFile(bytes)
      var stamp = Stamp(time: .given(instant: 0, offset: 0))
      stamp.crop.frame = PixelSize(width: 100, height: 60)
      let filled = try stamp.apply(to: file)
      stamp.crop.fit = .contain
      stamp.crop.frame = PixelSize(width: 100, height: 100)
      let contained = try stamp.apply(to: file)
      stamp.crop.frame = nil

      let whole = try stamp.apply(to: file)

      #expect(filled.width == 100 && filled.height == 60)
      #expect(contained.width == 100 && contained.height == 100)
      #expect(whole.width == 210 && whole.height == 120)
      #expect(try decoded(whole.bytes).width == 210)
    }
  }
}
