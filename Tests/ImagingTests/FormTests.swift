import Testing

@testable import Imaging

/// Properties of written files besides format and quality: progressive coding and chroma
/// subsampling.
struct FormTests {
  private static func markers(_ bytes: [UInt8]) throws -> JPEGMarkers {
    try ImagingTests.markers(PictureFile(bytes))
  }

  @Test(arguments: JPEGKind.all, [nil, 48] as [Int?])
  func `a progressive JPEG has the same pixels as a baseline one`(_ kind: JPEGKind, _ size: Int?)
    throws
  {
    let file = try PictureFile(kind.bytes(width: 131, height: 97))
    var crop = Crop(size: size)

    let plain = try crop.apply(to: file)
    crop.isProgressive = true
    let made = try crop.apply(to: file)

    #expect(try Self.markers(made.bytes).isProgressive)
    #expect(try Self.markers(plain.bytes).isProgressive == kind.isProgressive)
    #expect(try decoded(made.bytes) == decoded(plain.bytes))
  }

  @Test(arguments: JPEGKind.all, [1, 3, 6])
  func `a JPEG becomes progressive without loss`(_ kind: JPEGKind, _ orientation: Int) throws {
    let exif = exifSegment(tiff(orientation: orientation))
    let file = try PictureFile(kind.bytes(width: 131, height: 97, segments: exif))
    var crop = Crop(lossless: true)

    let plain = try crop.apply(to: file)
    crop.isProgressive = true
    let made = try crop.apply(to: file)

    #expect(made.method == .lossless && plain.method == .lossless)
    #expect(try Self.markers(made.bytes).isProgressive)
    for component in 0..<(try Self.markers(made.bytes).sampling.count) {
      let one = try Coefficients(made.bytes, component)
      let other = try Coefficients(plain.bytes, component)
      #expect(one.blocks == other.blocks, "\(component)")
    }
  }

  @Test(arguments: JPEGKind.all, ChromaSampling.allCases)
  func `a JPEG has the chroma requested, unscaled, scaled and rotated`(
    _ kind: JPEGKind,
    _ chroma: ChromaSampling
  ) throws {
    let sizes: [ChromaSampling: [PixelSize]] = [
      .full: [PixelSize(width: 1, height: 1)], .half: [PixelSize(width: 2, height: 1)],
      .quarter: [PixelSize(width: 2, height: 2)],
    ]
    let one = PixelSize(width: 1, height: 1)
    for (size, orientation) in [(nil, 1), (48, 1), (nil, 6)] as [(Int?, Int)] {
      let exif = exifSegment(tiff(orientation: orientation))
      let file = try PictureFile(kind.bytes(width: 131, height: 97, length: 4, segments: exif))
      var crop = Crop(size: size)
      let plain = try crop.apply(to: file)
      crop.chroma = chroma

      let made = try crop.apply(to: file)

      let sampling = try Self.markers(made.bytes).sampling
      switch sampling.count {
      case 1: #expect(kind.colourSpace == 1)
      case 3: #expect(sampling == (sizes[chroma] ?? []) + [one, one])
      // CMYK has no chroma.
      default: #expect(kind.colourSpace == 4 || sampling[1] == one && sampling[3] == sampling[0])
      }
      #expect(try psnr(decoded(made.bytes), decoded(plain.bytes)) > 24)
    }
  }

  @Test(arguments: ChromaSampling.allCases)
  func `any picture becomes a JPEG or an AVIF with the chroma requested`(
    _ chroma: ChromaSampling
  ) throws {
    let numbers: [ChromaSampling: Int32] = [.full: 1, .half: 2, .quarter: 3]
    let sources = [
      try webp(colours(width: 40, height: 30)), AVIFKind().bytes(width: 40, height: 30),
      try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 40, height: 30),
      JPEGKind(name: "").bytes(width: 40, height: 30),
    ]
    for source in sources {
      var crop = Crop(format: .avif)
      crop.chroma = chroma
      let made = try PictureFile(crop.apply(to: try PictureFile(source)).bytes)
      crop.format = .jpeg
      let other = try Self.markers(crop.apply(to: try PictureFile(source)).bytes)

      guard let header = made.probe.structure as? AVIFHeader else {
        Issue.record("no AVIF")
        continue
      }
      #expect(header.colour.chroma == numbers[chroma])
      #expect(other.sampling[0].width == (chroma == .full ? 1 : 2))
      #expect(other.sampling[0].height == (chroma == .quarter ? 2 : 1))
    }
  }

  @Test func `an option that a format lacks is a usage error, but ignored when formats are kept`()
    throws
  {
    let file = try PictureFile(
      PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 9, height: 7)
    )
    func code(_ change: (inout Crop) -> Void) -> ImagingError.Code? {
      var crop = Crop()
      change(&crop)
      do throws(ImagingError) {
        _ = try crop.apply(to: file)
        return nil
      } catch {
        return error.code
      }
    }

    for format in [PictureFormat.png, .webp, .avif] {
      #expect(code { ($0.format, $0.isProgressive) = (format, true) } == .usage)
    }
    for format in [PictureFormat.png, .webp] {
      #expect(code { ($0.format, $0.chroma) = (format, .full) } == .usage)
    }
    #expect(code { ($0.lossless, $0.chroma) = (true, .full) } == .usage)
    #expect(code { ($0.lossless, $0.convertsToSRGB) = (true, true) } == .usage)
    #expect(code { ($0.isProgressive, $0.chroma) = (true, .full) } == nil)
    #expect(code { ($0.format, $0.isProgressive) = (.jpeg, true) } == nil)
  }
}
