import Support
import Testing

@testable import Imaging

/// Row sources that place a picture on a canvas and stamp it row by row.
struct PaddedRowsTests {
  @Test(
    arguments: PNGKind.all,
    [(nil, false), (nil, true), (PixelSize(width: 9, height: 61), false)] as [(PixelSize?, Bool)]
  )
  func `padded rows contain the picture at its place and one colour around it`(
    _ kind: PNGKind,
    _ way: (size: PixelSize?, addsAlpha: Bool)
  ) throws {
    let file = try PictureFile(kind.bytes(width: 30, height: 50))
    let limits = PictureLimits()
    var plain = try file.part(PixelRegion(x: 3, y: 5, width: 24, height: 40)).converted(
      Conversion.coloured
    )
    if let size = way.size {
      plain = try plain.scaled(width: size.width, height: size.height, limits: limits.named("x"))
    }
    if way.addsAlpha { plain = plain.converted(Conversion.withAlpha) }
    let canvas = PixelSize(width: plain.width + 5, height: plain.height + 11)
    let colour = PictureColour(red: 200, green: 30, blue: 90, alpha: 77)
    let pixel = colour.pixel(in: plain.layout, depth: plain.depth)
    // Some positions are partly outside the canvas.
    for place in [(0, 0), (3, 7), (5, 11), (-4, -6), (9, 20)] {
      var expected: [UInt8] = []
      for y in 0..<canvas.height {
        for x in 0..<canvas.width {
          let (column, row) = (x - place.0, y - place.1)
          let isInside = (0..<plain.width).contains(column) && (0..<plain.height).contains(row)
          let own = row * plain.rowBytes + column * plain.pixelBytes
          expected += isInside ? plain.samples[own..<own + pixel.count] : pixel[...]
        }
      }
      for count in [1, 7, canvas.height] {
        let rows = PaddedRows(BitmapRows(plain), on: canvas, at: place, pixel: pixel)

        let made = try read(rows, count)

        #expect(made.width == canvas.width && made.height == canvas.height)
        #expect(made.samples == expected)
      }
    }
  }

  @Test(
    arguments: Sweep.pairs(PNGKind.all.filter { !$0.isInterlaced }, [nil, "#c81e5a", "#fff0"])
  )
  func `a stamp drawn row by row equals one drawn on the whole picture`(
    _ kind: PNGKind,
    _ background: String?
  ) throws {
    let file = try PictureFile(kind.bytes(width: 115, height: 105))
    var stamp = Stamp(time: .given(instant: 1_610_000_000, offset: 0))
    let red = Bitmap(
      width: 20,
      height: 10,
      layout: .rgb,
      samples: (0..<200).flatMap { _ in [255, 0, 0] as [UInt8] }
    )
    stamp.logo = try PictureFile(red.png())
    let moment = try StampTime.given(stamp)
    var crop = Crop()
    (crop.background, crop.fit) = (background.flatMap { PictureColour($0) }, .contain)
    for (side, place, style) in [
      (nil, .bottomLeft, .bar), (200, .topRight, .scrim), (100, .centre, .plain),
      (nil, .topLeft, .scrim),
    ] as [(Int?, Gravity, StampStyle)] {
      crop.frame = side.map { PixelSize(width: $0, height: $0 + 9) }
      (stamp.place, stamp.style) = (place, style)
      let plain = try crop.pixels(of: file).converted(Conversion.coloured)
      var expected = plain
      let layer = try StampLayer(stamp, moment, size: expected.shape.size, name: "x")
      let (xs, ys) = layer.probes
      let backdrop =
        Backdrop(always: style) ?? Backdrop(plain.colours(columns: xs, rows: ys), style: style)
      try layer.write(on: &expected, over: backdrop)
      expected.paint { layer.paintLogo(on: $0, $1, of: $2) }
      for count in [7, 1_000] {
        let rows = try StampedRows(BitmapRows(plain), stamp, moment, name: "x")

        let made = try read(rows, count)

        #expect(made == expected && made.samples != plain.samples)
        #expect(rows.remarks == layer.remarks(over: backdrop))
      }
    }
  }

  private func read(_ rows: any RowSource, _ most: Int) throws -> Bitmap {
    let shape = rows.shape
    var samples: [UInt8] = []
    try rows.inStrips(of: most) { (strip, _, _) in samples += strip }
    return Bitmap(
      width: shape.width,
      height: shape.height,
      layout: shape.layout,
      depth: shape.depth,
      samples: samples
    )
  }
}
