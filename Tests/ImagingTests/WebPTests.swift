import Testing

@testable import Imaging

struct WebPTests {
  @Test(arguments: [(31, 22), (22, 31), (1, 1), (1, 9), (64, 64)], [false, true])
  func `a lossless WebP is cropped sample for sample and stays lossless`(
    _ size: (Int, Int),
    _ isClear: Bool
  ) throws {
    let source = colours(width: size.0, height: size.1, isClear: isClear)
    let file = try PictureFile(webp(source))
    let crop = Crop(gravity: .bottomRight)

    let square = try crop.apply(to: file)

    let made = try PictureFile(square.bytes)
    #expect(square.format == .webp && square.method == .lossless && !square.isDamaged)
    #expect(made.probe.width == min(size.0, size.1) && made.probe.height == made.probe.width)
    guard let chunks = made.probe.structure as? WebPChunks else { return #expect(Bool(false)) }
    #expect(chunks.isLossless)
    #expect(try rgba(decoded(square.bytes)) == source.part(crop.framing(file.probe).window))
  }

  @Test(arguments: [false, true])
  func `any region of a lossy WebP equals that of the whole picture`(_ isClear: Bool) throws {
    let bytes = try webp(colours(width: 61, height: 47, isClear: isClear), lossless: false)
    let file = try PictureFile(bytes)
    let whole = try decoded(bytes)

    for (x, y, width, height) in [(0, 0, 47, 47), (7, 0, 47, 47), (13, 5, 20, 31), (60, 46, 1, 1)]
    {
      let region = PixelRegion(x: x, y: y, width: width, height: height)
      let part = try file.part(region)

      #expect(part == whole.part(region), "\(region)")
    }
  }

  @Test func `alpha predicted from its neighbours is the same in every region`() throws {
    let side = 64
    var samples = [UInt8](repeating: 90, count: side * side * 4)
    for y in 0..<side {
      for x in 0..<side {
        let speck = ((x * x * 31 + y * y * 17 + x * y * 7) >> 3) % 3
        samples[(y * side + x) * 4 + 3] = UInt8(min(255, x * 6 + y * 3) / 2 + speck)
      }
    }
    let source = Bitmap(width: side, height: side, layout: .rgba, samples: samples)
    let bytes = try webp(source, lossless: false)
    let file = try PictureFile(bytes)
    let whole = try decoded(bytes)

    // The alpha chunk must be compressed and filtered. Otherwise there is no prediction.
    let chunk = try #require(bytes.firstRange(of: Array("ALPH".utf8)))
    let header = bytes[chunk.upperBound + 4]
    #expect(header & 0x03 == 1 && header & 0x0C != 0)
    for region in [
      PixelRegion(x: 0, y: 10, width: 64, height: 20),
      PixelRegion(x: 3, y: 7, width: 40, height: 50),
    ] {
      #expect(try file.part(region) == whole.part(region), "\(region)")
    }
  }

  @Test(
    arguments: [Gravity.centre, .bottomRight, .attention],
    [Orientation.upright, .turnedLeft]
  )
  func `a WebP reduced while it is decoded is close to one reduced afterwards`(
    _ gravity: Gravity,
    _ orientation: Orientation
  ) throws {
    let (width, height) = (331, 207)
    let samples = wave(width: width, height: height, channels: 3, length: 9)
    let source = Bitmap(width: width, height: height, layout: .rgb, samples: samples)
    let exif = riff("EXIF", tiff(orientation: orientation.rawValue))
    let still = try webp(source, lossless: false, quality: 95).dropFirst(12)
    let bytes = webp(chunks: webpHeader(width, height, flags: 0x08) + still + exif)
    let file = try PictureFile(bytes)
    let limits = PictureLimits()
    let all = PixelRegion(x: 0, y: 0, width: width, height: height)
    guard let chunks = file.probe.structure as? WebPChunks else { return #expect(Bool(false)) }
    #expect(
      try WebPCodec.decode(file, chunks, all, smaller: 3, limits.named("x")).bitmap.width == 111
    )

    let crop = Crop(size: 30, gravity: gravity)

    let made = try crop.pixels(of: file)

    let window = try orientation.stored(crop.framing(of: file).window, in: file.probe.stored)
    let expected = try file.part(window)
      .scaled(width: 30, height: 30, limits: limits.named("x")).upright(from: orientation)
    #expect(psnr(made, expected) > 36)
  }

  @Test(arguments: Orientation.allCases)
  func `a WebP is rotated by its EXIF data and keeps the data on request`(
    _ orientation: Orientation
  ) throws {
    let source = colours(width: 19, height: 12)
    let still = try webp(source).dropFirst(12)
    for mark in ["", "Exif\0\0"] {
      let exif = tiff(orientation: orientation.rawValue, dateTime: "2021:01:13 06:30:00")
      let bytes = webp(
        chunks: webpHeader(19, 12, flags: 0x08) + still + riff("EXIF", Array(mark.utf8) + exif)
      )
      let file = try PictureFile(bytes)

      let square = try Crop(keepsMetadata: true).apply(to: file)
      let bare = try Crop().apply(to: file)

      #expect(file.probe.orientation == orientation)
      let upright = try source.upright(from: orientation)
      let expected = upright.part(Crop().framing(file.probe).window)
      #expect(try rgba(decoded(square.bytes)) == expected)
      let made = try PictureFile(square.bytes).probe
      #expect(made.orientation == .upright && made.exif?.dateTime == "2021:01:13 06:30:00")
      #expect(square.bytes.firstRange(of: Array("THUMB".utf8)) == nil)
      #expect(try PictureFile(bare.bytes).probe.exif == nil)
      let time = try Stamp(time: .exif).apply(to: file).time
      #expect(time?.source == .exif)
    }
  }

  @Test func `the first frame of an animation is shown at its place`() throws {
    let first = colours(width: 9, height: 6)
    let second = colours(width: 20, height: 20)
    for lossless in [true, false] {
      let bytes = try animation(
        20,
        20,
        [(x: 4, y: 10, bitmap: first), (x: 0, y: 0, bitmap: second)],
        lossless: lossless
      )

      let square = try Crop().apply(to: PictureFile(bytes))

      let made = try rgba(decoded(square.bytes))
      #expect(square.width == 20)
      let place = PixelRegion(x: 4, y: 10, width: 9, height: 6)
      if lossless { #expect(made.part(place) == first) }
      #expect(made[4, 10][3] == 255 && made[3, 10][3] == 0 && made[13, 15][3] == 0)
      #expect(made[4, 16][3] == 0 && made[19, 19][3] == 0)
    }
  }

  @Test func `a WebP truncated anywhere is an error`() throws {
    let still = colours(width: 14, height: 9, isClear: true)
    let tagged = webp(
      chunks: webpHeader(14, 9, flags: 0x18) + Array(try webp(still)[12...])
        + riff("EXIF", tiff(orientation: 6))
    )
    for bytes in [
      try webp(still), try webp(still, lossless: false), tagged,
      try animation(20, 20, [(x: 0, y: 0, bitmap: still), (x: 2, y: 2, bitmap: still)]),
    ] {
      _ = try Crop().apply(to: PictureFile(bytes))
      // The padding byte of a chunk of odd length may be missing.
      for count in 0..<bytes.count - 1 {
        #expect(throws: ImagingError.self, "cut at \(count) of \(bytes.count)") {
          try Crop().apply(to: PictureFile(Array(bytes[..<count])))
        }
      }
    }
  }

  @Test(arguments: [false, true], [nil, 4])
  func `a WebP that is broken after the kept part is refused`(_ lossless: Bool, _ size: Int?)
    throws
  {
    let bytes = try webp(colours(width: 14, height: 120), lossless: lossless)
    let type = String(decoding: bytes[12..<16], as: UTF8.self)
    let payload = Array(bytes[20...].prefix((bytes.count - 20) / 2))
    let broken = try PictureFile(webp(chunks: riff(type, payload)))

    #expect {
      try Crop(size: size, gravity: .top).apply(to: broken)
    } throws: {
      ($0 as? ImagingError)?.code == .damagedPicture
    }
  }

  @Test(arguments: [false, true])
  func `a WebP with a changed byte never crashes the process`(_ lossless: Bool) throws {
    let limits = PictureLimits(pixels: 100_000)
    let still = colours(width: 24, height: 17, isClear: true)
    for bytes in [
      try webp(still, lossless: lossless),
      try animation(30, 30, [(x: 2, y: 4, bitmap: still)], lossless: lossless),
    ] {
      for index in bytes.indices {
        for change: UInt8 in [0x01, 0x80, 0xFF] {
          var broken = bytes
          broken[index] ^= change
          guard let file = try? PictureFile(broken, limits: limits) else { continue }
          _ = try? Crop(limits: limits).apply(to: file)
        }
      }
    }
  }

  @Test func `a WebP with more pixels than allowed is refused before decoding`() throws {
    let part = colours(width: 40, height: 40)
    let bytes = try animation(16_384, 16_384, [(x: 0, y: 0, bitmap: part)])
    #expect { try PictureProbe(bytes) } throws: { ($0 as? ImagingError)?.code == .tooLarge }
    // The RIFF size says that the file ends within its own header.
    for count in 0..<4 {
      let head = Array("RIFF".utf8) + little(count, 4) + bytes[8...]
      #expect(throws: ImagingError.self) { try PictureProbe(head) }
    }
    let small = try webp(part)
    #expect {
      try Crop().apply(to: PictureFile(small, limits: PictureLimits(pixels: 1500)))
    } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
    #expect {
      try Crop(limits: PictureLimits(pixels: 150_000_000, memory: 4000)).apply(
        to: PictureFile(small)
      )
    } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
  }
}
