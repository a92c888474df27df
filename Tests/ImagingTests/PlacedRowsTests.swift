import Testing

@testable import Imaging

/// Pictures that are put on a canvas on their way from file to file.
struct PlacedRowsTests {
  @Test(arguments: PNGKind.all, [nil, PixelSize(width: 9, height: 61)])
  func `a picture put on a canvas from file to file is the one put there in memory`(
    _ kind: PNGKind,
    _ size: PixelSize?
  ) throws {
    let file = try PictureFile(kind.bytes(width: 30, height: 50))
    let region = PixelRegion(x: 3, y: 5, width: 24, height: 40)
    let limits = PictureLimits()
    var plain = try PNGCodec.decode(file, region, form: .coloured, limits)
    if let size {
      plain = try plain.scaled(width: size.width, height: size.height, limits: limits, name: "x")
    }
    let canvas = PixelSize(width: plain.width + 5, height: plain.height + 11)
    let colour = PictureColour(red: 200, green: 30, blue: 90, alpha: 77)
    for place in [(0, 0), (3, 7), (5, 11)] {
      let whole = try plain.placed(
        PixelRegion(x: place.0, y: place.1, width: plain.width, height: plain.height),
        over: PixelRegion(x: 0, y: 0, width: canvas.width, height: canvas.height),
        background: colour.pixel(in: plain.layout, depth: plain.depth),
        limits,
        name: "x"
      )
      for rows in [1, 7, 1_000] {
        let made = try native(
          PNGCodec.recode(
            file,
            region,
            scaledTo: size,
            on: Mount(canvas: canvas, place: place, colour: colour),
            form: .coloured,
            brush: PNGCodec.Brush(rows: rows) { _, _ in },
            limits
          )
        )

        #expect(made.layout == whole.layout && made.depth == whole.depth)
        let most = ScalingTests.largestDifference(made, whole)
        #expect(size == nil ? made == whole : most <= (whole.depth == 16 ? 16 : 1))
      }
    }
  }

  @Test(arguments: [Bitmap.Layout.grey, .rgb, .rgba], [nil, "#c81e5a", "#fff0"])
  func `a canvas too large for memory is the one made there`(
    _ layout: Bitmap.Layout,
    _ background: String?
  ) throws {
    let file = try PictureFile(
      PNGKind(name: "", layout: layout, depth: 16).bytes(width: 9, height: 4)
    )
    var crop = Crop()
    crop.background = background.flatMap { PictureColour($0) }
    let rows = (65 << 20) / (6000 * layout.pixelBytes(depth: 16))
    crop.frame = PixelSize(width: 6000, height: rows)
    (crop.fit, crop.enlarges) = (.contain, false)
    let whole = try crop.decodedPNG(file, form: .native).bitmap

    let made = try crop.apply(to: file)

    #expect(try native(made.bytes) == whole)
  }
}
