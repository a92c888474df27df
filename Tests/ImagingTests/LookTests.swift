import Testing

@testable import Imaging

/// Parts of JPEGs that are found in the coefficients from which they are then taken.
struct LookTests {
  /// Kinds of one scan and one or three components, whose means can be looked at.
  private static let kinds = JPEGKind.all.filter { $0.colourSpace <= 3 && !$0.isProgressive }

  private static func file(_ kind: JPEGKind) throws -> (file: PictureFile, markers: JPEGMarkers) {
    let file = try PictureFile(kind.bytes(width: 131, height: 97, length: 3))
    guard case .jpeg(let markers) = file.probe.structure else {
      throw ImagingError(.damagedPicture, "no JPEG")
    }
    return (file, markers)
  }

  @Test(arguments: kinds)
  func `a part that is found is the same to the byte as one that is known`(
    _ kind: JPEGKind
  ) throws {
    let (file, markers) = try Self.file(kind)
    #expect(JPEGCodec.canLook(at: markers))
    for (x, y, width, height) in [
      (0, 0, 131, 97), (34, 0, 97, 97), (13, 29, 64, 40), (130, 96, 1, 1),
    ] {
      let region = PixelRegion(x: x, y: y, width: width, height: height)
      let form = JPEGCodec.Form()

      let known = try JPEGCodec.recode(file, .region(region), form, PictureLimits())
      let found = try JPEGCodec.recode(file, .found { _ in region }, form, PictureLimits())

      #expect(known.value == found.value && !found.isDamaged, "\(region)")
    }
  }

  @Test(arguments: kinds, [false, true])
  func `a part that is found is cut as one that is known`(
    _ kind: JPEGKind,
    _ isProgressive: Bool
  ) throws {
    let (file, _) = try Self.file(kind)
    for (x, y) in [(0, 0), (32, 0), (32, 32), (0, 64)] {
      let region = PixelRegion(x: x, y: y, width: 33, height: 29)
      func cut(_ part: JPEGCodec.Part) throws -> [UInt8] {
        let limits = PictureLimits()
        return try #require(
          try JPEGCodec.cut(file, part, progressive: isProgressive, limits)?.value
        )
      }

      let known = try cut(.region(region))
      let found = try cut(.found { _ in region })

      for component in 0..<(kind.colourSpace == 1 ? 1 : 3) {
        let (one, other) = (try Coefficients(known, component), try Coefficients(found, component))
        #expect(one.blocks == other.blocks, "\(region)")
      }
    }
  }

  @Test(arguments: kinds)
  func `what is looked at is the picture at an eighth of its size`(_ kind: JPEGKind) throws {
    let (file, _) = try Self.file(kind)
    let layout = try JPEGCodec.header(of: file).layout
    let glance = try JPEGCodec.glance(file, layout: layout, PictureLimits())
    var seen: Bitmap?

    let part = JPEGCodec.Part.found { glance in
      seen = glance
      return PixelRegion(x: 0, y: 0, width: 8, height: 8)
    }
    _ = try JPEGCodec.recode(file, part, JPEGCodec.Form(), PictureLimits())

    let picture = try #require(seen)
    #expect(picture.width == 17 && picture.height == 13 && picture.layout == layout)
    #expect(psnr(picture, glance) > 20)
  }

  @Test(arguments: kinds)
  func `of a large picture squares of blocks are looked at, each as its mean`(
    _ kind: JPEGKind
  ) throws {
    // 331 × 11 blocks: two by two, but for the last of each.
    let file = try PictureFile(kind.bytes(width: 2645, height: 84, length: 9))
    let layout = try JPEGCodec.header(of: file).layout
    let glance = try JPEGCodec.glance(file, layout: layout, PictureLimits())
    var seen: Bitmap?

    let part = JPEGCodec.Part.found { glance in
      seen = glance
      return PixelRegion(x: 0, y: 0, width: 8, height: 8)
    }
    _ = try JPEGCodec.recode(file, part, JPEGCodec.Form(), PictureLimits())

    let picture = try #require(seen)
    let channels = layout.channels
    var means: [UInt8] = []
    for y in 0..<6 {
      for x in 0..<166 {
        for channel in 0..<channels {
          let all = [(0, 0), (1, 0), (0, 1), (1, 1)].compactMap { across, down -> Int? in
            let (x, y) = (x * 2 + across, y * 2 + down)
            guard x < glance.width, y < glance.height else { return nil }
            return Int(glance.samples[(y * glance.width + x) * channels + channel])
          }
          means.append(UInt8(all.reduce(0, +) / all.count))
        }
      }
    }
    #expect(picture.width == 166 && picture.height == 6 && picture.layout == layout)
    let expected = Bitmap(width: 166, height: 6, layout: layout, samples: means)
    #expect(psnr(picture, expected) > 25)
  }

  @Test func `an error of what finds a part comes through, and a part beyond the picture is one`()
    throws
  {
    let (file, _) = try Self.file(JPEGKind(name: ""))
    let refusal = ImagingError(.tooLarge, "too large")
    let outside = PixelRegion(x: 100, y: 0, width: 97, height: 97)
    let limits = PictureLimits()
    let refusing = JPEGCodec.Part.found { (_) throws(ImagingError) in throw refusal }

    #expect(throws: refusal) {
      try JPEGCodec.recode(file, refusing, JPEGCodec.Form(), limits)
    }
    #expect(throws: refusal) {
      try JPEGCodec.cut(file, refusing, progressive: false, limits)
    }
    #expect(throws: ImagingError.self) {
      try JPEGCodec.recode(file, .found { _ in outside }, JPEGCodec.Form(), limits)
    }
    #expect(try JPEGCodec.cut(file, .found { _ in outside }, progressive: false, limits) == nil)
  }

  @Test(arguments: JPEGKind.all)
  func `what is found is kept at its own size and without loss, damaged files too`(
    _ kind: JPEGKind
  ) throws {
    let bytes = kind.bytes(width: 400, height: 200, length: 9)
    for count in [bytes.count, bytes.count * 2 / 3] {
      let file = try PictureFile(Array(bytes.prefix(count)))
      let found = try Crop(gravity: .attention).framing(of: file).focus
      for isLossless in [false, true] {
        let made = try Crop(gravity: .attention, lossless: isLossless).apply(to: file)

        #expect(made.width == 200 || isLossless && made.width > 180)
        #expect(made.isDamaged == (count < bytes.count))
        // Two ways of making an eighth of the size differ by a shade.
        #expect(abs(Double(made.gravity?.x ?? 0) - found.x) <= 20)
      }
    }
  }
}
