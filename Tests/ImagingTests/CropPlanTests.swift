import Testing

@testable import Imaging

/// The processing steps of a result, which are planned before any pixel is decoded.
struct CropPlanTests {
  /// A crop of a picture and the steps that it needs.
  struct Row: Sendable {
    let name: String
    let input: PictureFormat
    let crop: Crop
    let steps: [Step]
    var orientation = Orientation.upright
    var depth = 8
    var isConverted = false
    var isStamped = false
  }

  private static func crop(
    _ size: Int? = nil,
    _ format: PictureFormat? = nil,
    fit: PictureFit = .cover
  ) -> Crop {
    var crop = Crop(size: size, format: format)
    crop.fit = fit
    return crop
  }

  private static let twenty = Step.scale(PixelSize(side: 20))

  private static let rows: [Row] = [
    Row(name: "own size", input: .png, crop: crop(), steps: []),
    Row(name: "scaled", input: .png, crop: crop(20), steps: [twenty]),
    Row(
      name: "turned",
      input: .png,
      crop: crop(20),
      steps: [twenty, .turn(.turnedLeft)],
      orientation: .turnedLeft
    ),
    Row(name: "contained", input: .png, crop: crop(fit: .contain), steps: [.pad]),
    Row(
      name: "a contained and scaled one",
      input: .png,
      crop: crop(20, fit: .contain),
      steps: [.scale(PixelSize(width: 20, height: 15)), .pad]
    ),
    Row(name: "WebP", input: .png, crop: crop(nil, .webp), steps: [.colour]),
    Row(
      name: "16 bits to WebP",
      input: .png,
      crop: crop(nil, .webp),
      steps: [.narrow, .colour],
      depth: 16
    ),
    Row(
      name: "16 bits scaled to JPEG",
      input: .png,
      crop: crop(20, .jpeg),
      steps: [twenty],
      depth: 16
    ),
    Row(
      name: "16 bits to JPEG by way of sRGB",
      input: .png,
      crop: crop(nil, .jpeg),
      steps: [.convert],
      depth: 16,
      isConverted: true
    ),
    Row(
      name: "stamped",
      input: .png,
      crop: crop(20, fit: .contain),
      steps: [.scale(PixelSize(width: 20, height: 15)), .colour, .pad, .stamp],
      isStamped: true
    ),
    Row(name: "AVIF of a JPEG", input: .jpeg, crop: crop(20, .avif), steps: [twenty, .colour]),
    Row(name: "PNG of a JPEG", input: .jpeg, crop: crop(nil, .png), steps: []),
  ]

  @Test(arguments: rows)
  func `a plan has exactly the steps that its input and crop require`(
    _ row: Row
  ) throws {
    let exif = tiff(orientation: row.orientation.rawValue)
    let bytes: [UInt8]
    if row.input == .png {
      let plain = try PNGKind(name: "", layout: .rgb, depth: row.depth)
        .bytes(width: 40, height: 30)
      bytes = Array(plain[..<33]) + chunk("eXIf", exif) + plain[33...]
    } else {
      bytes = JPEGKind(name: "").bytes(width: 40, height: 30, segments: exifSegment(exif))
    }
    let probe = try PictureProbe(bytes)
    let framing = row.crop.framing(probe)

    let plan = row.crop.plan(
      of: probe,
      framing,
      isConverted: row.isConverted,
      isStamped: row.isStamped
    )

    #expect(plan.steps == row.steps, "\(row.name)")
    #expect(plan.request.isNative == (row.name == "own size"))
    #expect((plan.request.scaling != nil) == framing.isScaled)
    let region = probe.orientation.stored(framing.window, in: probe.stored)
    #expect(plan.request.region == region)
  }

  @Test func `CMYK becomes RGB unless it is kept, and is never read as other colours`()
    throws
  {
    let kind = try #require(JPEGKind.all.first { $0.colourSpace == 4 })
    let probe = try PictureProbe(kind.bytes(width: 40, height: 30))
    let plain = Crop()
    let png = Crop(format: .png)

    #expect(plain.plan(of: probe, plain.framing(probe)).steps == [])
    #expect(
      plain.plan(of: probe, plain.framing(probe), isStamped: true).steps
        == [.colour, .light, .stamp]
    )
    #expect(png.plan(of: probe, png.framing(probe), isConverted: true).steps == [.light])
  }
}
