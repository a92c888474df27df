import Support
import Testing

@testable import Imaging

/// Pictures that go from file to file in strips, and those that are too large for anything else.
struct StripTests {
  private static let whole = PixelRegion(x: 3, y: 5, width: 40, height: 40)

  @Test(arguments: PNGKind.all, [1, 1 << 20])
  func `rows on their way are those of the whole picture`(_ kind: PNGKind, _ band: Int) throws {
    let file = try PictureFile(kind.bytes(width: 50, height: 47))
    for form in [PNGCodec.Form.native, .expanded, .coloured] {
      let limits = PictureLimits()
      let plain = try PNGCodec.decode(file, Self.whole, form: form, limits)

      let banded = try PNGCodec.decode(file, Self.whole, form: form, band: band, limits)
      let recoded = try native(
        PNGCodec.recode(file, Self.whole, form: form, band: band, limits).bytes()
      )
      let picked = try PNGCodec.pick([0, 7, 39], of: file, Self.whole, form: form, limits)

      #expect(banded == plain)
      #expect(recoded == plain)
      for (row, y) in [0, 7, 39].enumerated() {
        #expect((0..<40).allSatisfy { picked[$0, row] == plain[$0, y] })
      }
    }
  }

  @Test(
    arguments: PNGKind.all,
    [PixelSize(width: 9, height: 61), PixelSize(width: 31, height: 900)]
  )
  func `a picture scaled as its rows come is the whole picture scaled`(
    _ kind: PNGKind,
    _ size: PixelSize
  ) throws {
    let file = try PictureFile(kind.bytes(width: 30, height: 500))
    let region = PixelRegion(x: 3, y: 5, width: 24, height: 480)
    let limits = PictureLimits()
    let whole = try PNGCodec.decode(file, region, form: .expanded, limits)
      .scaled(width: size.width, height: size.height, limits: limits, name: "x")

    for strip in [1, 6000, 1 << 20] {
      let made = try PNGCodec.scaled(file, region, to: size, strip: strip, limits)

      #expect(made.layout == whole.layout && made.depth == whole.depth)
      #expect(largestDifference(made, whole) <= (whole.depth == 16 ? 16 : 1))
    }
  }

  @Test(arguments: PNGKind.all, [PictureFit.cover, .contain])
  func `a large picture is made as a small one is`(_ kind: PNGKind, _ fit: PictureFit) throws {
    for orientation in [1, 6] {
      let plain = try kind.bytes(width: 50, height: 470)
      let exif = chunk("eXIf", tiff(orientation: orientation))
      let bytes = Array(plain[..<33]) + exif + plain[33...]
      let file = try PictureFile(bytes)
      var crop = Crop(size: 20, gravity: .bottomRight)
      crop.fit = fit
      for form in [PNGCodec.Form.native, .expanded, .coloured] {
        let small = try crop.decodedPNG(file, form: form, most: .max)

        let large = try crop.decodedPNG(file, form: form, most: 0)

        #expect(large.bitmap.layout == small.bitmap.layout)
        let most = largestDifference(large.bitmap, small.bitmap)
        #expect(most <= (small.bitmap.depth == 16 ? 16 : 1))
      }
    }
  }

  @Test(
    arguments: PNGKind.all,
    [PixelSize(width: 9, height: 61), PixelSize(width: 31, height: 900)]
  )
  func `a picture scaled from file to file is the one scaled in memory`(
    _ kind: PNGKind,
    _ size: PixelSize
  ) throws {
    let file = try PictureFile(kind.bytes(width: 30, height: 500))
    let region = PixelRegion(x: 3, y: 5, width: 24, height: 480)
    let limits = PictureLimits()
    let rows = Array(stride(from: 0, to: size.height, by: 7))
    for form in [PNGCodec.Form.expanded, .coloured] {
      let whole = try PNGCodec.decode(file, region, form: form, limits)
        .scaled(width: size.width, height: size.height, limits: limits, name: "x")
      let most = whole.depth == 16 ? 16 : 1
      let picked = try PNGCodec.pick(rows, of: file, region, scaledTo: size, form: form, limits)

      #expect(picked.layout == whole.layout && picked.depth == whole.depth)
      #expect(picked.width == size.width && picked.height == rows.count)
      #expect(largestDifference(picked, whole.rows(rows)) <= most)
      for strip in [1, 6000, 1 << 20] {
        let made = try native(
          PNGCodec.recode(file, region, scaledTo: size, form: form, strip: strip, limits).bytes()
        )

        #expect(made.layout == whole.layout && made.depth == whole.depth)
        #expect(largestDifference(made, whole) <= most)
      }
    }
  }

  @Test(arguments: PNGKind.all)
  func `sixteen bits made eight on their way are the nearest eight`(_ kind: PNGKind) throws {
    let file = try PictureFile(kind.bytes(width: 50, height: 47))
    for form in [PNGCodec.Form.expanded, .coloured] {
      let limits = PictureLimits()
      let wide = try PNGCodec.decode(file, Self.whole, form: form, limits)

      let made = try PNGCodec.decode(file, Self.whole, form: form, narrowed: true, limits)

      #expect(made == wide.narrowed())
    }
    let size = PixelSize(width: 31, height: 900)
    let wide = try PNGCodec.scaled(file, Self.whole, to: size, PictureLimits())

    let made = try PNGCodec.scaled(file, Self.whole, to: size, narrowed: true, PictureLimits())

    #expect(made == wide.narrowed())
  }

  @Test(arguments: PNGKind.all)
  func `sixteen bits that lose their alpha on their way lie on the colour behind them`(
    _ kind: PNGKind
  ) throws {
    let file = try PictureFile(kind.bytes(width: 50, height: 47))
    let size = PixelSize(width: 200, height: 3000)
    let (colour, limits) = (
      PictureColour(red: 200, green: 30, blue: 90, alpha: 255), PictureLimits()
    )
    let wide = try PNGCodec.scaled(file, Self.whole, to: size, limits)

    let made = try PNGCodec.scaled(file, Self.whole, to: size, narrowed: true, on: colour, limits)

    let losesAlpha = wide.depth == 16 && wide.layout == .rgba
    #expect(made == (losesAlpha ? wide.flattened(.rgb, on: colour) : wide.narrowed()))
  }

  @Test func `a picture that breaks off while it is scaled is refused as ever`() throws {
    let bytes = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 50, height: 470)
    // Behind the header: length and name of the first chunk of data, of which half is left.
    let length = bytes[33..<37].reduce(0) { $0 << 8 | Int($1) }
    let half = Array(bytes[41..<41 + length / 2])
    let cut = try PictureFile(Array(bytes[..<33]) + chunk("IDAT", half) + chunk("IEND", []))

    for most in [0, Int.max] {
      #expect {
        try Crop(size: 20).decodedPNG(cut, form: .expanded, most: most)
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }
    }
    let region = PixelRegion(x: 0, y: 0, width: 50, height: 470)
    for size in [nil, PixelSize(width: 5, height: 47), PixelSize(width: 50, height: 900)] {
      #expect {
        try PNGCodec.recode(cut, region, scaledTo: size, form: .expanded, PictureLimits()).bytes()
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }
    }
  }

  @Test(arguments: Sweep.pairs(PNGKind.all, [nil, 150, 400]))
  func `a stamp laid on in strips is the stamp laid on at once`(_ kind: PNGKind, _ side: Int?)
    throws
  {
    let file = try PictureFile(kind.bytes(width: 230, height: 210))
    guard case .png(let chunks) = file.probe.structure else { return }
    var stamp = Stamp(time: .given(instant: 1_610_000_000, offset: 0))
    stamp.crop.frame = side.map { PixelSize(side: $0) }
    let red = Bitmap(
      width: 20,
      height: 10,
      layout: .rgb,
      samples: (0..<200).flatMap { _ in [255, 0, 0] as [UInt8] }
    )
    stamp.logo = try PictureFile(red.png())
    let moment = try StampTime.given(stamp)

    let at = try native(stamp.stampPNG(file, chunks, moment, most: .max).bytes)
    let strips = try native(stamp.stampPNG(file, chunks, moment, most: 0).bytes)

    #expect(strips.layout == at.layout && strips.depth == at.depth)
    let most = largestDifference(strips, at)
    // Grey is scaled as it is at once, and as three colours in strips.
    #expect(side == nil ? strips == at : most <= (at.depth == 16 ? 2 * 257 : 2), "\(most)")
  }

  @Test func `rows like the one before are packed as the others are`() throws {
    var samples: [UInt8] = []
    for y in 0..<50 {
      let change = UInt8(y / 7 % 2 * 85 + y / 20)
      samples += (0..<180).map { UInt8($0) ^ change }
    }
    let bitmap = Bitmap(width: 60, height: 50, layout: .rgb, samples: samples)
    let file = try PictureFile(bitmap.png())
    let whole = PixelRegion(x: 0, y: 0, width: 60, height: 50)
    for level in [0, 1, 4, 6, 9] {
      let made = try PNGCodec.recode(file, whole, level: level, PictureLimits()).bytes()

      #expect(try native(made) == bitmap)
    }
  }

  @Test(arguments: [1, 4]) func `rows that are alike take next to no room`(_ level: Int) throws {
    // Rows longer than zlib looks back, so that only their difference packs well.
    var state: UInt32 = 1
    let row = (0..<40_000).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
    let samples = Array(repeatElement(row, count: 20).joined())
    let file = try PictureFile(
      Bitmap(width: 10_000, height: 20, layout: .rgba, samples: samples).png()
    )
    func bytes(_ rows: Int) throws -> Int {
      let region = PixelRegion(x: 0, y: 0, width: 10_000, height: rows)
      return try PNGCodec.recode(file, region, level: level, PictureLimits()).bytes().count
    }

    let (one, all) = (try bytes(1), try bytes(20))

    #expect(all < one * 2, "\(one), \(all)")
  }

  @Test func `strips of any height make the same stamp`() throws {
    let kind = JPEGKind(name: "")
    let bitmap = try decoded(kind.bytes(width: 300, height: 300, length: 4))
    let stamp = Stamp()
    let moment = try StampTime.given(stamp)
    let layer = try StampLayer(stamp, moment, size: PixelSize(side: 300))
    let backdrop = Backdrop([(128, 90, 30), (20, 200, 130)])
    var made: [Bitmap] = []
    for rows in [300, 64, 17, 1] {
      var picture = bitmap

      try layer.paint(
        on: &picture,
        over: backdrop,
        strip: rows,
        limits: PictureLimits(),
        name: "x"
      )

      made.append(picture)
    }

    for picture in made.dropFirst() {
      // Pixman holds a shadow's place in steps of 1/65,536 of a pixel.
      #expect(largestDifference(picture, made[0]) <= 2)
    }
  }

  @Test(arguments: ["tEXt", "iTXt", "zTXt", "iCCP", "eXIf", "caBX", "fdAT", "prVt"])
  func `a chunk of more than a megabyte is no damage`(_ type: String) throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 19, height: 17)
    let large = chunk(type, Array("k\0\0\0\0".utf8) + [UInt8](repeating: 65, count: 3 << 20))
    let bytes = Array(plain[..<33]) + large + plain[33...]

    let square = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes))

    #expect(try native(square.bytes) == native(Crop().apply(to: PictureFile(plain)).bytes))
  }

  @Test func `frames of an animation are no metadata`() throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let frame = chunk("fdAT", [UInt8](repeating: 65, count: 1 << 19))
    let bytes = Array(plain[..<33]) + frame + plain[33...]
    let limits = PictureLimits(metadataBytes: 1 << 18)

    let square = try Crop(limits: limits).apply(to: PictureFile(bytes, limits: limits))

    #expect(square.width == 9)
  }

  @Test func `texts that cannot be unpacked are counted as far as they can`() throws {
    // Each begins well and unpacks to nearly a megabyte before it breaks off.
    let broken = Array("k\0\0".utf8) + (try packedZeros(1 << 20)).dropLast(8)
    let texts = (0..<3).flatMap { _ in chunk("zTXt", broken) }
    let bytes = pngSignature + header(9, 9) + texts + chunk("IEND", [])

    #expect {
      try PictureProbe(bytes, limits: PictureLimits(metadataBytes: 2 << 20))
    } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
  }

  @Test(arguments: [(8192, 6144), (9504, 6336), (12_000, 9000), (30_000, 64)])
  func `what cameras and phones make is not too large`(_ width: Int, _ height: Int) throws {
    let frame = segment(
      0xC0,
      [
        8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255), 1, 1,
        0x11, 0,
      ]
    )
    let scan = segment(0xDA, [1, 1, 0, 0, 63, 0])
    let blocks = (width + 7) / 8 * ((height + 7) / 8)
    let bytes =
      [0xFF, 0xD8] + frame + scan + [UInt8](repeating: 0, count: blocks / 4) + [
        0xFF, 0xD9,
      ]

    let probe = try PictureProbe(bytes)

    #expect(probe.width == width)
    #expect(throws: ImagingError.self) { try PictureProbe(bytes, limits: .allowing(pixels: 1000)) }
  }

  @Test func `limits follow the pixels that are allowed`() {
    #expect(PictureLimits.allowing(pixels: 1000).pixels == 1000)
    #expect(PictureLimits.allowing(pixels: 1000).memory == PictureLimits().memory)
    #expect(PictureLimits.allowing(pixels: 400_000_000).memory == 3_200_000_000)
    #expect(PictureLimits.allowing(pixels: .max).pixels == 1 << 40)
  }

  @Test(
    arguments: [
      ("gAMA", [0, 0, 0, 0]), ("gAMA", [1]), ("sRGB", [9]), ("pHYs", [0, 0, 0, 1, 0, 0, 0, 1, 7]),
      ("sBIT", [8, 8]), ("sBIT", [0, 8, 8]), ("cHRM", [1, 2, 3]),
      ("tIME", [7, 208, 13, 1, 0, 0, 0]),
      ("tEXt", Array("no end".utf8)), ("bKGD", [1]), ("cICP", [1, 13, 1, 1]), ("eXIf", [1, 2, 3]),
    ] as [(String, [UInt8])]
  )
  func `a chunk that breaks its own rules is left behind`(_ type: String, _ payload: [UInt8])
    throws
  {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let bytes = Array(plain[..<33]) + chunk(type, payload) + plain[33...]

    let square = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes))

    #expect(!square.bytes.contains(Array(type.utf8)))
  }

  @Test func `a chunk that may stand only once is carried over once`() throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let twice = chunk("gAMA", [0, 0, 0xB1, 0x8F]) + chunk("gAMA", [0, 1, 0, 0])
    let texts = chunk("tEXt", Array("a\0b".utf8)) + chunk("tEXt", Array("a\0c".utf8))
    let bytes = Array(plain[..<33]) + twice + texts + plain[33...]

    let square = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes))

    #expect(square.bytes.ranges(of: Array("gAMA".utf8)).count == 1)
    #expect(square.bytes.ranges(of: Array("tEXt".utf8)).count == 2)
  }
}

extension StampTime {
  /// A winter's morning, for a stamp that looks nowhere else.
  static func given(_ stamp: Stamp) throws -> StampTime {
    try StampTime(
      .given(instant: 1_610_000_000, offset: 0),
      exif: nil,
      modified: nil,
      zone: nil,
      local: stamp.localZone,
      now: 0,
      name: "x"
    )
  }
}
