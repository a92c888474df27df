import Support
import Testing

@testable import Imaging

/// Pictures that are processed in strips of rows, from file to file, and limits on their size and metadata.
struct StripTests {
  private static let whole = PixelRegion(x: 3, y: 5, width: 40, height: 40)

  /// Passes the rows of a region of a PNG to a closure.
  private static func withRows<Result>(
    _ file: PictureFile,
    _ region: PixelRegion,
    isNative: Bool = false,
    _ body: (any RowSource) throws(ImagingError) -> Result
  ) throws -> Result {
    guard let chunks = file.probe.structure as? PNGChunks else {
      throw ImagingError(.damagedPicture, "no PNG")
    }
    return try file.bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
      try body(
        PNGRows(bytes, chunks, isNative: isNative, PictureLimits().named("x"))
          .placed(PixelRegion(chunks.size), over: region)
      )
    }
  }

  @Test(arguments: PNGKind.all)
  func `rows decoded in strips equal those of the whole picture`(_ kind: PNGKind) throws {
    let file = try PictureFile(kind.bytes(width: 50, height: 47))
    let limits = PictureLimits()
    for isNative in [true, false] {
      let plain = try file.part(Self.whole, isNative: isNative)

      let collected = try Self.withRows(file, Self.whole, isNative: isNative) {
        (rows) throws(ImagingError) in try rows.collected(limits.named("x"))
      }
      let recoded = try Self.withRows(file, Self.whole, isNative: isNative) {
        (rows) throws(ImagingError) in
        try PNGCodec.encode(rows, PictureLimits().named("x")).bytes()
      }
      let thinned = try Self.withRows(file, Self.whole, isNative: isNative) {
        (rows) throws(ImagingError) in try rows.thinned(every: 7, limits.named("x"))
      }

      #expect(collected == plain)
      #expect(try native(recoded) == plain)
      #expect(thinned.height == 6)
      for y in 0..<6 {
        #expect((0..<40).allSatisfy { thinned[$0, y] == plain[$0, y * 7] })
      }
    }
  }

  @Test(
    arguments: PNGKind.all,
    [PixelSize(width: 9, height: 61), PixelSize(width: 31, height: 900)]
  )
  func `a picture scaled row by row equals the whole picture scaled`(
    _ kind: PNGKind,
    _ size: PixelSize
  ) throws {
    let file = try PictureFile(kind.bytes(width: 30, height: 500))
    let region = PixelRegion(x: 3, y: 5, width: 24, height: 480)
    let limits = PictureLimits()
    let whole = try file.part(region)
      .scaled(width: size.width, height: size.height, limits: limits.named("x"))

    for strip in [1, 6000, 1 << 20] {
      let made = try Self.withRows(file, region) { (rows) throws(ImagingError) in
        try ScaledRows(rows, to: size, strip: strip, limits.named("x")).collected(
          limits.named("x")
        )
      }
      // The encoder requests fewer rows at a time.
      let recoded = try Self.withRows(file, region) { (rows) throws(ImagingError) in
        let scaled = try ScaledRows(rows, to: size, strip: strip, limits.named("x"))
        return try PNGCodec.encode(scaled, PictureLimits().named("x")).bytes()
      }

      for made in [made, try native(recoded)] {
        #expect(made.layout == whole.layout && made.depth == whole.depth)
        #expect(largestDifference(made, whole) <= (whole.depth == 16 ? 16 : 1))
      }
    }
  }

  @Test(arguments: [(Bitmap.Layout.grey, 8), (.rgba, 8), (.bgrx, 8), (.rgb, 16), (.rgba, 16)])
  func `a region scaled in strips equals the region scaled at once`(
    _ layout: Bitmap.Layout,
    _ depth: Int
  ) throws {
    let (width, height) = (90, 300)
    let samples = wave(width: width, height: height, channels: layout.channels, length: 20)
    let source = Bitmap(
      width: width,
      height: height,
      layout: layout,
      depth: depth,
      samples: depth == 16 ? samples.flatMap { [$0, $0] } : samples
    )
    for part in [
      Bitmap.Part(x: 0, y: 0, width: 90, height: 300),
      Bitmap.Part(x: 7.25, y: 11.5, width: 60.5, height: 201.25),
      Bitmap.Part(x: 0.5, y: 98.75, width: 89.5, height: 201.25),
    ] {
      for (across, down) in [(30, 90), (70, 230), (120, 500)] {
        let limits = PictureLimits()
        let whole = try source.scaled(part, width: across, height: down, limits: limits.named("x"))

        let made = try source.scaled(
          part,
          width: across,
          height: down,
          strip: 1 << 14,
          limits: limits.named("x")
        )

        let most = largestDifference(made, whole)
        #expect(most <= (depth == 16 ? 16 : 1), "\(part), \(across): \(most)")
      }
    }
  }

  @Test(arguments: PNGKind.all)
  func `sixteen bits are rounded to the nearest eight`(_ kind: PNGKind) throws {
    let wide = kind.bitmap(width: 50, height: 47).converted { .expanded($0) }

    let made = try BitmapRows(wide).converted(Conversion.narrowed)
      .collected(PictureLimits().named("x"))

    #expect(made.depth == min(wide.depth, 8) && made.layout == wide.layout)
    for y in 0..<47 {
      for x in 0..<50 {
        let nearest = wide[x, y].map { wide.depth == 16 ? UInt16((Int($0) + 128) / 257) : $0 }
        #expect(made[x, y] == nearest)
      }
    }
  }

  @Test(arguments: PNGKind.all)
  func `a picture that loses its alpha is drawn on the background colour`(_ kind: PNGKind) throws {
    let file = try PictureFile(kind.bytes(width: 50, height: 47))
    let colour = PictureColour(red: 200, green: 30, blue: 90, alpha: 255)
    let seen = rgba(try file.part(Self.whole))

    let made = try BitmapRows(file.part(Self.whole)).opaque(on: colour)
      .collected(PictureLimits().named("x"))

    #expect(!made.layout.hasAlpha)
    guard made.layout == .rgb, made.depth == 8 else { return }
    for y in 0..<40 {
      for x in 0..<40 {
        let (own, alpha) = (seen[x, y].map(Int.init), Int(seen[x, y][3]))
        let behind = [200, 30, 90]
        for channel in 0..<3 {
          let mixed = (own[channel] * alpha + behind[channel] * (255 - alpha) + 127) / 255
          #expect(Int(made[x, y][channel]) == mixed)
        }
      }
    }
  }

  @Test func `a picture that breaks off in the middle is refused`() throws {
    let bytes = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 50, height: 470)
    // The header is followed by the length and the type of the first IDAT chunk. Half of the data of that chunk is
    // kept.
    let length = bytes[33..<37].reduce(0) { $0 << 8 | Int($1) }
    let half = Array(bytes[41..<41 + length / 2])
    let cut = try PictureFile(Array(bytes[..<33]) + chunk("IDAT", half) + chunk("IEND", []))
    var contained = Crop(size: 20)
    contained.fit = .contain

    for crop in [Crop(), Crop(size: 20), Crop(gravity: .top), contained, Crop(format: .jpeg)] {
      #expect {
        try crop.apply(to: cut)
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }
    }
    #expect(throws: ImagingError.self) { try Stamp(time: .now).apply(to: cut) }
  }

  @Test func `repeated rows are compressed like the others`() throws {
    var samples: [UInt8] = []
    for y in 0..<50 {
      let change = UInt8(y / 7 % 2 * 85 + y / 20)
      samples += (0..<180).map { UInt8($0) ^ change }
    }
    let bitmap = Bitmap(width: 60, height: 50, layout: .rgb, samples: samples)
    let file = try PictureFile(bitmap.png())
    let whole = PixelRegion(x: 0, y: 0, width: 60, height: 50)
    for level in [0, 1, 4, 6, 9] {
      let made = try Self.withRows(file, whole) { (rows) throws(ImagingError) in
        try PNGCodec.encode(rows, level: level, PictureLimits().named("x")).bytes()
      }

      #expect(try native(made) == bitmap)
    }
  }

  @Test(arguments: [1, 4]) func `repeated rows take hardly any bytes in the file`(_ level: Int)
    throws
  {
    // The rows are longer than zlib's window, so that only the row filter makes them compressible.
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
      return try Self.withRows(file, region) { (rows) throws(ImagingError) in
        try PNGCodec.encode(rows, level: level, PictureLimits().named("x")).bytes().count
      }
    }

    let (one, all) = (try bytes(1), try bytes(20))

    #expect(all < one * 2, "\(one), \(all)")
  }

  @Test func `strips of any height give the same stamp`() throws {
    let kind = JPEGKind(name: "")
    let bitmap = try decoded(kind.bytes(width: 300, height: 300, length: 4))
    let stamp = Stamp()
    let moment = try StampTime.given(stamp)
    let layer = try StampLayer(stamp, moment, size: PixelSize(side: 300), name: "x")
    let backdrop = Backdrop([(128, 90, 30), (20, 200, 130)])
    var made: [Bitmap] = []
    for rows in [300, 64, 17, 1] {
      var picture = bitmap

      try layer.write(on: &picture, over: backdrop, strip: rows)

      made.append(picture)
    }

    for picture in made.dropFirst() {
      // Pixman positions a shadow in steps of 1/65,536 pixel.
      #expect(largestDifference(picture, made[0]) <= 2)
    }
  }

  @Test(arguments: ["tEXt", "iTXt", "zTXt", "iCCP", "eXIf", "caBX", "fdAT", "prVt"])
  func `a chunk of more than a megabyte is not damage`(_ type: String) throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 19, height: 17)
    let large = chunk(type, Array("k\0\0\0\0".utf8) + [UInt8](repeating: 65, count: 3 << 20))
    let bytes = Array(plain[..<33]) + large + plain[33...]

    let square = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes))

    #expect(try native(square.bytes) == native(Crop().apply(to: PictureFile(plain)).bytes))
  }

  @Test func `frames of an animation are not copied as metadata`() throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let frame = chunk("fdAT", [UInt8](repeating: 65, count: 1 << 19))
    let bytes = Array(plain[..<33]) + frame + plain[33...]
    let limits = PictureLimits(pixels: 150_000_000, metadataBytes: 1 << 18)

    let square = try Crop(limits: limits).apply(to: PictureFile(bytes, limits: limits))

    #expect(square.width == 9)
  }

  @Test
  func
    `a profile that breaks off while it is unpacked counts towards the limit as far as it was unpacked`()
    throws
  {
    // Each profile starts with valid data, and unpacks to nearly a megabyte before it breaks off.
    let broken = Array("k\0\0".utf8) + (try packedZeros(1 << 20)).dropLast(8)
    let profiles = (0..<3).flatMap { _ in chunk("iCCP", broken) }
    let bytes = pngSignature + header(9, 9) + profiles + chunk("IEND", [])

    #expect {
      try PictureProbe(bytes, limits: PictureLimits(pixels: 150_000_000, metadataBytes: 2 << 20))
    } throws: {
      ($0 as? ImagingError)?.code == .tooLarge
    }
  }

  @Test(arguments: [(8192, 6144), (9504, 6336), (12_000, 9000), (30_000, 64)])
  func `pictures as large as those of cameras and phones are not too large`(
    _ width: Int,
    _ height: Int
  ) throws {
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

  @Test func `the memory limit grows with the number of pixels allowed`() {
    #expect(PictureLimits.allowing(pixels: 1000).pixels == 1000)
    #expect(PictureLimits.allowing(pixels: 1000).memory == PictureLimits().memory)
    #expect(PictureLimits.allowing(pixels: 400_000_000).memory == 3_200_000_000)
    #expect(PictureLimits.allowing(pixels: .max).pixels == 1 << 40)
  }

  @Test(
    arguments: [
      ("gAMA", [0, 0, 0, 0]), ("gAMA", [1]), ("sRGB", [9]), ("pHYs", [0, 0, 0, 1, 0, 0, 0, 1, 7]),
      ("cHRM", [1, 2, 3]), ("tIME", [7, 208, 13, 1, 0, 0, 0]),
      ("tEXt", Array("no end".utf8)), ("cICP", [1, 13, 1, 1]), ("eXIf", [1, 2, 3]),
    ] as [(String, [UInt8])]
  )
  func `an invalid chunk is left out`(_ type: String, _ payload: [UInt8])
    throws
  {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let bytes = Array(plain[..<33]) + chunk(type, payload) + plain[33...]

    let square = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes))

    #expect(!square.bytes.contains(Array(type.utf8)))
  }

  @Test func `a chunk that is allowed once is copied once`() throws {
    let plain = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 9)
    let twice = chunk("gAMA", [0, 0, 0xB1, 0x8F]) + chunk("gAMA", [0, 1, 0, 0])
    let bytes = Array(plain[..<33]) + twice + plain[33...]

    let square = try Crop(keepsMetadata: true).apply(to: PictureFile(bytes))

    #expect(square.bytes.ranges(of: Array("gAMA".utf8)).count == 1)
  }
}

extension StampTime {
  /// A winter morning, for stamps that get no time from a picture.
  static func given(_ stamp: Stamp) throws -> StampTime {
    var stamp = stamp
    stamp.time = .given(instant: 1_610_000_000, offset: 0)
    return try StampTime(stamp, name: "x")
  }
}
