import Glibc
import Testing

@testable import Imaging

/// Colour management: ICC profiles, colour numbers and sRGB.
struct ColourTests {
  /// The ICC profile of a result.
  private func icc(of picture: EncodedPicture) throws -> [UInt8] {
    let file = try PictureFile(picture.bytes)
    return file.probe.structure.profile
  }

  /// Four uniform patches of 32 × 32 pixels, so that chroma subsampling does not blur their
  /// centres.
  private static let patches: [[UInt8]] = [
    [200, 100, 50], [60, 160, 90], [90, 90, 200], [128, 128, 128],
  ]

  private static func sheet() -> Bitmap {
    var samples: [UInt8] = []
    for y in 0..<64 {
      for x in 0..<64 { samples += patches[y / 32 * 2 + x / 32] + [255] }
    }
    return Bitmap(width: 64, height: 64, layout: .rgba, samples: samples)
  }

  /// The colours at the centres of the patches, on white.
  private static func middles(_ bytes: [UInt8]) throws -> [[Int]] {
    let bitmap = try decoded(bytes)
    let step = bitmap.width / 4
    return [(1, 1), (3, 1), (1, 3), (3, 3)].map { x, y in
      let colour = bitmap.colour(x * step, y * step)
      return [Int(colour.red), Int(colour.green), Int(colour.blue)]
    }
  }

  /// Display P3 and BT.2020: the number of their primaries in ITU-T H.273, and the matrix from their linear colours to
  /// linear sRGB.
  ///
  /// Both have sRGB's curve here.
  private static let wide: [(primaries: Int32, matrix: [[Double]])] = [
    (12, [[1.2249, -0.2247, 0], [-0.0420, 1.0419, 0], [-0.0197, -0.0786, 1.0979]]),
    (9, [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]),
  ]

  /// The colours of the patches in sRGB, if they were written with the primaries of this matrix.
  private static func expected(_ matrix: [[Double]]) -> [[Int]] {
    patches.map { patch in
      let light = patch.map { sample in
        let value = Double(sample) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
      }
      return matrix.map { row in
        let sum = zip(row, light).reduce(0) { $0 + $1.0 * $1.1 }
        let value = min(max(sum, 0), 1)
        let sample = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return Int((sample * 255).rounded())
      }
    }
  }

  private static func isNear(_ one: [[Int]], _ other: [[Int]], within most: Int) -> Bool {
    zip(one.joined(), other.joined()).allSatisfy { abs($0 - $1) <= most }
  }

  private static func profile(_ primaries: Int32, _ transfer: Int32 = 13) -> [UInt8] {
    AVIFHeader.Colour(chroma: 1, primaries: primaries, transfer: transfer, matrix: 6).profile ?? []
  }

  /// The patches as a file with a profile.
  private static func file(_ format: PictureFormat, _ profile: [UInt8]) throws -> PictureFile {
    let plain = try PictureFile(
      PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 2, height: 2)
    )
    var tags = PictureTags()
    tags.profile = profile
    var crop = Crop(quality: 98)
    crop.chroma = format == .jpeg || format == .avif ? .full : nil
    let encoding = PictureEncoding(
      crop: crop,
      lossless: format == .webp,
      source: plain,
      tags: tags
    )
    let rows = BitmapRows(sheet().flattened(.rgb))
    return try PictureFile(format.codec.encode(rows, encoding).bytes())
  }

  @Test(arguments: [PictureFormat.jpeg, .png, .webp, .avif], [nil, 32, 64] as [Int?])
  func `a picture with a profile becomes sRGB without a profile`(
    _ format: PictureFormat,
    _ size: Int?
  ) throws {
    for (primaries, matrix) in Self.wide {
      let file = try Self.file(format, Self.profile(primaries))
      var crop = Crop(size: size, quality: 98)
      crop.convertsToSRGB = true

      let made = try crop.apply(to: file)

      #expect(try icc(of: made) == [])
      #expect(made.method == .reencoded)
      let middles = try Self.middles(made.bytes)
      #expect(Self.isNear(middles, Self.expected(matrix), within: 4), "\(primaries): \(middles)")
      // Without the option, samples and profile are kept.
      let kept = try Crop(size: size, quality: 98).apply(to: file)
      #expect(try icc(of: kept) != [])
      #expect(
        Self.isNear(try Self.middles(kept.bytes), Self.patches.map { $0.map(Int.init) }, within: 3)
      )
    }
  }

  @Test(arguments: [PictureFormat.jpeg, .png, .webp])
  func `a wide-gamut AVIF becomes a file that declares its colours, or sRGB`(
    _ format: PictureFormat
  ) throws {
    for (primaries, matrix) in Self.wide {
      let kind = AVIFKind(light: (Int(primaries), 13))
      let file = try PictureFile(kind.bytes(Self.sheet()))
      var crop = Crop(format: format, quality: 98)

      let tagged = try crop.apply(to: file)
      crop.convertsToSRGB = true
      let converted = try crop.apply(to: file)

      let profile = try icc(of: tagged)
      #expect(profile == Self.profile(primaries))
      #expect(
        try Self.isNear(
          Self.middles(tagged.bytes),
          Self.patches.map { $0.map(Int.init) },
          within: 4
        )
      )
      #expect(try icc(of: converted) == [])
      #expect(try Self.isNear(Self.middles(converted.bytes), Self.expected(matrix), within: 4))
      let shown = try decoded(tagged.bytes)
        .through { try $0.inSRGB(from: profile, name: "shown") }
      let colour = shown.colour(16, 16)
      let first = [[Int(colour.red), Int(colour.green), Int(colour.blue)]]
      #expect(Self.isNear(first, [Self.expected(matrix)[0]], within: 4))
    }
  }

  @Test func `a wide-gamut AVIF stays one, by its colour numbers and without a profile`() throws {
    let file = try PictureFile(AVIFKind(light: (9, 16)).bytes(Self.sheet()))
    func header(_ crop: Crop) throws -> AVIFHeader {
      let made = try PictureFile(crop.apply(to: file).bytes)
      guard let header = made.probe.structure as? AVIFHeader else {
        throw ImagingError(.damagedPicture, "")
      }
      return header
    }
    var crop = Crop()

    let kept = try header(crop)
    crop.convertsToSRGB = true
    let converted = try header(crop)

    #expect(kept.colour.primaries == 9 && kept.colour.transfer == 16 && kept.profile == [])
    #expect(converted.colour.primaries == 1 && converted.colour.transfer == 13)
  }

  @Test
  func `colour numbers close to sRGB need no profile, others get one`() {
    for (primaries, transfer) in [(1, 13), (2, 2), (1, 1), (1, 6), (0, 0), (99, 13)]
      as [(Int32, Int32)]
    {
      #expect(Self.profile(primaries, transfer) == [], "\(primaries) \(transfer)")
    }
    for primaries in [4, 5, 6, 7, 8, 9, 11, 12, 22] as [Int32] {
      for transfer in [1, 4, 5, 8, 13, 16, 18] as [Int32] {
        let profile = Self.profile(primaries, transfer)
        #expect(profile.count > 128 && profile == Self.profile(primaries, transfer))
      }
    }
    #expect(Self.profile(1, 8) != [])
  }

  @Test(arguments: [(16, 0.58069), (18, 0.75)] as [(Int32, Double)])
  func `an HDR picture's reference white becomes the white of sRGB`(
    _ transfer: Int32,
    _ white: Double
  ) throws {
    func shown(_ sample: Double) throws -> UInt8 {
      let samples = [UInt8](repeating: UInt8((sample * 255).rounded()), count: 3)
      return try Bitmap(width: 1, height: 1, layout: .rgb, samples: samples)
        .through { try $0.inSRGB(from: Self.profile(9, transfer), name: "white") }.samples[1]
    }

    #expect(try shown(white) >= 253 && shown(1) == 255 && shown(0) == 0)
    #expect(try (40...200).contains(shown(white / 2)))
  }

  /// A profile for grey with a linear curve, so that a sample of 64 means 137 of sRGB.
  private static func linearGrey() -> [UInt8] {
    var curve = [UInt8]("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 1, 0]
    curve += [0, 0]
    // The profile has a linear curve and the white point of the medium.
    let white: [UInt8] =
      Array("XYZ ".utf8) + [0, 0, 0, 0, 0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]
    func long(_ value: Int) -> [UInt8] { little(value, 4).reversed() }
    let tags =
      long(2) + Array("kTRC".utf8) + long(156) + long(14) + Array("wtpt".utf8) + long(172)
      + long(20)
    let size = 128 + tags.count + curve.count + white.count
    var head = long(size) + long(0) + [2, 0x40, 0, 0] + Array("mntrGRAYXYZ ".utf8)
    head += [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
    head += [UInt8](repeating: 0, count: 28) + [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]
    head += [UInt8](repeating: 0, count: 128 - head.count)
    return head + tags + curve + white
  }

  @Test func `grey with a grey profile becomes sRGB grey`() throws {
    let profile = Self.linearGrey()
    for (layout, depth) in [(.grey, 8), (.grey, 16), (.greyAlpha, 8), (.bgrx, 8)]
      as [(Bitmap.Layout, Int)]
    {
      let bytes = layout.channels * (depth == 16 ? 2 : 1)
      let samples = [UInt8](repeating: 64, count: bytes)
      let made = try Bitmap(width: 1, height: 1, layout: layout, depth: depth, samples: samples)
        .through { try $0.inSRGB(from: profile, name: "grey") }

      // A quarter of the light is 137 of 255 on sRGB's curve.
      #expect(abs(Int(made[0, 0][0]) * 255 / (depth == 16 ? 65_535 : 255) - 137) <= 1, "\(layout)")
      if layout == .greyAlpha || layout == .bgrx { #expect(made.samples.last == 64) }
    }
  }

  @Test(arguments: [PictureFormat.webp, .avif, .png, .jpeg])
  func `a grey picture with a profile keeps it, or is converted where it becomes RGB`(
    _ format: PictureFormat
  ) throws {
    var tags = PictureTags()
    tags.profile = Self.linearGrey()
    let grey = Bitmap(
      width: 16,
      height: 16,
      layout: .grey,
      samples: [UInt8](repeating: 64, count: 256)
    )
    let file = try PictureFile(
      PNGCodec.encode(BitmapRows(grey), with: tags.chunks, PictureLimits().named("grey"))
        .bytes()
    )
    var crop = Crop()
    crop.format = format

    let made = try PictureFile(crop.apply(to: file).bytes)

    let keeps = format == .png || format == .jpeg
    #expect(try abs(Int(decoded(made.bytes).colour(8, 8).red) - (keeps ? 64 : 137)) <= 3)
    #expect(made.probe.structure.profile.isEmpty != keeps)
  }

  @Test func `the colours of a palette are converted, and the file is marked sRGB`() throws {
    let colours = Self.patches.flatMap(\.self)
    let bitmap = Bitmap(
      width: 2,
      height: 2,
      layout: .indexed(Bitmap.Palette(colours: colours, alpha: [])),
      depth: 2,
      samples: [0, 1, 2, 3]
    )
    var tags = PictureTags()
    tags.profile = Self.profile(12)
    let plain = try PNGCodec.encode(
      BitmapRows(bitmap),
      with: tags.chunks,
      PictureLimits().named("palette")
    )
    .bytes()
    var crop = Crop()
    crop.convertsToSRGB = true

    let made = try crop.apply(to: PictureFile(plain))

    #expect(made.bytes.contains(Array("sRGB".utf8)) && !made.bytes.contains(Array("iCCP".utf8)))
    let shown = try decoded(made.bytes)
    let found = (0..<4).map { index in
      let colour = shown.colour(index % 2, index / 2)
      return [Int(colour.red), Int(colour.green), Int(colour.blue)]
    }
    #expect(Self.isNear(found, Self.expected(Self.wide[0].matrix), within: 1))
  }

  @Test func `alpha and 16 bits survive a conversion`() throws {
    let profile = Self.profile(12)
    for depth in [8, 16] {
      let kind = PNGKind(name: "", layout: .rgba, depth: depth)
      let source = kind.bitmap(width: 9, height: 7)

      let made = try source.through { try $0.inSRGB(from: profile, name: "clear") }

      #expect(made.depth == depth && made.layout == .rgba && made.samples != source.samples)
      for y in 0..<7 { for x in 0..<9 { #expect(made[x, y][3] == source[x, y][3]) } }
    }
  }

  @Test(arguments: JPEGKind.all)
  func `any JPEG becomes sRGB, CMYK too, and keeps no profile`(_ kind: JPEGKind) throws {
    let profile = segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + Self.profile(12))
    let file = try PictureFile(kind.bytes(width: 60, height: 40, segments: profile))
    var crop = Crop()
    crop.convertsToSRGB = true

    let made = try PictureFile(crop.apply(to: file).bytes)

    let space = try markers(made).layout(PictureLimits().named("x"))
    #expect(space == (kind.colourSpace == 1 ? .grey : .bgrx))
    #expect(!made.bytes.contains(Array("ICC_PROFILE".utf8)))
    let plain = try crop.apply(to: try PictureFile(kind.bytes(width: 60, height: 40)))
    #expect(plain.width == 40)
  }

  @Test func `an unreadable profile changes nothing and is not copied`() throws {
    for broken in [noise(600, depth: 8), Array(Self.profile(12).prefix(200))] {
      var crop = Crop(format: .png)
      crop.convertsToSRGB = true

      let made = try crop.apply(to: try Self.file(.webp, broken))

      #expect(try Self.middles(made.bytes) == Self.patches.map { $0.map(Int.init) })
    }
  }

  @Test func `a stamp is drawn after the conversion to sRGB`() throws {
    for format in [PictureFormat.jpeg, .png, .webp] {
      let file = try Self.file(format, Self.profile(9))
      var stamp = Stamp(crop: Crop(size: 400, quality: 98), time: .now)
      stamp.crop.convertsToSRGB = true
      stamp.style = .plain

      let made = try stamp.apply(to: file)

      #expect(try icc(of: made) == [])
      let top = try Self.middles(made.bytes)[0]
      #expect(Self.isNear([top], [Self.expected(Self.wide[1].matrix)[0]], within: 6), "\(top)")
    }
  }
}
