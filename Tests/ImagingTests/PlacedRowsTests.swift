import Support
import Testing

@testable import Imaging

/// Pictures that are put on a canvas on their way from file to file.
struct PlacedRowsTests {
  @Test(
    arguments: PNGKind.all,
    [nil, PixelSize(width: 9, height: 61)].flatMap { [($0, false), ($0, true)] }
  )
  func `a picture put on a canvas from file to file is the one put there in memory`(
    _ kind: PNGKind,
    _ way: (size: PixelSize?, addsAlpha: Bool)
  ) throws {
    let (size, addsAlpha) = way
    let file = try PictureFile(kind.bytes(width: 30, height: 50))
    let region = PixelRegion(x: 3, y: 5, width: 24, height: 40)
    let limits = PictureLimits()
    let own = try PNGCodec.decode(file, region, form: .coloured, limits)
    let getsAlpha = !own.layout.hasAlpha && addsAlpha
    var plain = own
    if let size {
      plain = try plain.scaled(width: size.width, height: size.height, limits: limits, name: "x")
    }
    if getsAlpha { plain = plain.withAlpha() }
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
            on: Mount(canvas: canvas, place: place, colour: colour, addsAlpha: getsAlpha),
            form: .coloured,
            brush: PNGCodec.Brush(rows: rows) { _, _ in },
            limits
          ).bytes()
        )

        #expect(made.layout == whole.layout && made.depth == whole.depth)
        let most = largestDifference(made, whole)
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

    #expect(try isSame(native(made.bytes), whole))
  }

  @Test(arguments: PNGKind.all, [nil, "#c81e5a", "#fff0", "#c81e5a40"])
  func `a picture put on its canvas on its way to the file is the one put there before`(
    _ kind: PNGKind,
    _ background: String?
  ) throws {
    let plain = try kind.bytes(width: 30, height: 50)
    let lying = Array(plain[..<33]) + chunk("eXIf", tiff(orientation: 6)) + plain[33...]
    var crop = Crop()
    crop.background = background.flatMap { PictureColour($0) }
    crop.fit = .contain
    for bytes in [plain, lying] {
      let file = try PictureFile(bytes)
      for (side, enlarges) in [(70, false), (70, true), (20, true)] {
        crop.frame = PixelSize(width: side, height: side + 7)
        crop.enlarges = enlarges
        let whole = try crop.decodedPNG(file, form: .native).bitmap

        let made = try native(crop.apply(to: file).bytes)

        #expect(made == whole)
      }
    }
  }

  @Test(arguments: Sweep.pairs(PNGKind.all, [nil, "#c81e5a", "#fff0"]))
  func `a stamp on a canvas laid on in strips is the stamp laid on at once`(
    _ kind: PNGKind,
    _ background: String?
  ) throws {
    let file = try PictureFile(kind.bytes(width: 230, height: 210))
    guard case .png(let chunks) = file.probe.structure else { return }
    var stamp = Stamp(time: .given(instant: 1_610_000_000, offset: 0))
    stamp.crop.background = background.flatMap { PictureColour($0) }
    stamp.crop.fit = .contain
    let moment = try StampTime.given(stamp)
    for (enlarges, width, height) in [(false, 260, 240), (true, 400, 310), (true, 120, 190)] {
      stamp.crop.enlarges = enlarges
      stamp.crop.frame = PixelSize(width: width, height: height)

      let at = try native(stamp.stampPNG(file, chunks, moment, most: .max).bytes)
      let strips = try native(stamp.stampPNG(file, chunks, moment, most: 0).bytes)

      #expect(at.width == width && at.height == height)
      #expect(strips.layout == at.layout && strips.depth == at.depth)
      let most = largestDifference(strips, at)
      // Grey is scaled as it is at once, and as three colours in strips.
      #expect(enlarges ? most <= (at.depth == 16 ? 2 * 257 : 2) : strips == at, "\(most)")
    }
  }
}
