/// What a stamp lays over a square: the veil, the letters with their shadow, and the logo.
///
/// It is painted on strips of rows, so that no more of it than a strip is ever in memory.
final class StampLayer {
  private let side: Int
  private let block: Stamp.Block
  /// The rows that are darkened in full, and over how many more that fades.
  private let solid: ClosedRange<Double>
  private let fade: Double
  /// The rows that anything but the logo is painted on.
  private let rows: Range<Int>
  private let shadow: LetterShadow?
  private let logo: PlacedLogo?

  /// Sets the lines of a stamp for a square of `side` pixels.
  ///
  /// - Throws: ``ImagingError`` when there is no font, or the logo cannot be read.
  init(_ stamp: Stamp, _ moment: StampTime, side: Int) throws(ImagingError) {
    let length = Double(side)
    let block = try stamp.set(moment, side: length)
    let solid = stamp.solid(block, pad: length * 0.035, side: length)
    let fade = length * 0.14
    let top = max(Int(solid.lowerBound - fade), 0)
    let bottom = min(Int((solid.upperBound + fade).rounded(.up)), side)
    rows = top..<max(top, bottom)
    shadow = LetterShadow(Self.lines(of: block, from: top), width: side, height: rows.count)
    logo = try stamp.logo.map { (file) throws(ImagingError) in
      try PlacedLogo(file, on: side, stamp)
    }
    (self.side, self.block, self.solid, self.fade) = (side, block, solid, fade)
  }

  /// How many rows are painted at a time.
  var stripRows: Int { max(2_000_000 / side, 16) }

  /// The pixels that are looked at to see how light it is behind the text.
  var probes: (xs: [Int], ys: [Int]) { Backdrop.probes(block, width: side, height: side) }

  /// Paints on rows of full width, the first of which is the row `first` of the square; `strip` of them
  /// at a time.
  func paint(
    on bitmap: inout Bitmap,
    first: Int = 0,
    over backdrop: Backdrop,
    strip: Int? = nil,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) {
    let all = rows.clamped(to: first..<first + bitmap.height)
    let strip = strip ?? stripRows
    for start in stride(from: all.lowerBound, to: all.upperBound, by: strip) {
      let count = min(strip, all.upperBound - start)
      guard let canvas = Canvas(width: side, height: count) else {
        throw .tooLarge(name, "there is not enough memory")
      }
      let from = Double(start)
      canvas.darken(
        solid.lowerBound - from...solid.upperBound - from,
        fade: fade,
        strength: backdrop.strength
      )
      if let shadow { canvas.cast(shadow, from: start - rows.lowerBound) }
      canvas.write(Self.lines(of: block, from: start))
      try bitmap.blend(canvas, x: 0, y: start - first, limits: limits, name: name)
    }
    if let logo {
      try bitmap.blend(logo.canvas, x: logo.x, y: logo.y - first, limits: limits, name: name)
    }
  }

  private static func lines(of block: Stamp.Block, from row: Int) -> [PlacedLine] {
    block.lines.map {
      PlacedLine(layout: $0.layout, size: $0.size, x: $0.x, y: $0.y - Double(row))
    }
  }
}

/// The shadow of letters, drawn small so that it is a blurred one when it is painted large.
final class LetterShadow {
  let canvas: Canvas
  let shrink: Double

  /// Draws the shadow of lines in a box; nil when memory is short.
  init?(_ lines: [PlacedLine], width: Int, height: Int) {
    shrink = max((lines.map(\.size).max() ?? 8) / 9, 1)
    guard
      let canvas = Canvas(
        width: Int(Double(width) / shrink) + 2,
        height: Int(Double(height) / shrink) + 2
      )
    else { return nil }
    canvas.write(lines, scale: 1 / shrink)
    self.canvas = canvas
  }
}

/// A logo of the size and at the place that it has on a square.
private final class PlacedLogo {
  let canvas: Canvas
  let x: Int
  let y: Int

  init(_ file: PictureFile, on side: Int, _ stamp: Stamp) throws(ImagingError) {
    let picture = try Bitmap(decoding: file, limits: stamp.limits)
    let drawable =
      picture.layout == .bgrx || picture.layout == .cmyk
      ? picture.flattened(.rgb) : picture
    // As high as the time, and not wider than two fifths.
    let scale = min(
      Double(side) * 0.13 / Double(picture.height),
      Double(side) * 0.4 / Double(picture.width)
    )
    let width = max(Int(Double(picture.width) * scale), 1)
    let height = max(Int(Double(picture.height) * scale), 1)
    guard let source = Canvas(drawable), let canvas = Canvas(width: width, height: height) else {
      throw .tooLarge(file.name, "there is not enough memory")
    }
    canvas.draw(source)
    let margin = Int(Double(side) * 0.06)
    x = stamp.place.isRight ? margin : max(side - margin - width, 0)
    y = stamp.place.isTop ? max(side - margin - height, 0) : margin
    self.canvas = canvas
  }
}
