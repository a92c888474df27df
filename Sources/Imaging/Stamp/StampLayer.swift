import Base

/// The layer of a stamp over a picture: the letters with their shadow or their scrim, and the logo.
///
/// A scrim is a translucent layer behind letters. The layer is painted in strips, so that only one strip of it is in
/// memory.
final class StampLayer {
  /// The smallest legible size of letters, in pixels.
  static let leastSize = 9.0

  let size: PixelSize
  private let block: Stamp.Block
  private let veil: StampVeil?
  /// The rows of the picture on which the text is painted, with its shadow or scrim.
  private let rows: Range<Int>
  /// The rows of the picture that must be in memory together, to be measured and painted: `rows`, and those of
  /// `probes`.
  var heldRows: Range<Int> {
    let ys = probes.ys
    return min(
      rows.lowerBound,
      ys.min() ?? size.height
    )..<max(rows.upperBound, (ys.max() ?? -1) + 1)
  }
  /// The rows of the picture on which the logo is painted.
  var logoRows: Range<Int> {
    logo.map { $0.y..<max($0.y, min($0.y + $0.canvas.height, size.height)) } ?? 0..<0
  }
  private let shadow: LetterShadow?
  private let logo: PlacedLogo?

  /// Lays out the lines of a stamp for a picture of `size`.
  ///
  /// - Throws: ``LarderError`` when there is no font, or the logo cannot be read.
  init(_ stamp: Stamp, _ moment: StampTime, size: PixelSize) throws(LarderError) {
    let block = try stamp.set(moment, size: size)
    let veil = stamp.veil(block, size: size)
    let around = (block.lines.map(\.size).max() ?? 8) / 4
    let top = min(veil.map { $0.rows.lowerBound - $0.fade } ?? .infinity, block.top - around)
    let bottom = max(
      veil.map { $0.rows.upperBound + $0.fade } ?? 0,
      block.top + block.height + around
    )
    let first = min(max(Int(top.rounded(.down)), 0), size.height)
    rows = first..<max(first, min(Int(bottom.rounded(.up)), size.height))
    shadow =
      veil == nil
      ? LetterShadow(
        Self.lines(of: block, from: first),
        width: size.width,
        height: rows.count
      ) : nil
    logo = try stamp.logo.map { (file) throws(LarderError) in
      try PlacedLogo(file, on: size, stamp)
    }
    (self.size, self.block, self.veil) = (size, block, veil)
  }

  /// The warnings about letters that are hard to read.
  func remarks(over backdrop: Backdrop) -> Set<EncodedPicture.Remark> {
    var remarks: Set<EncodedPicture.Remark> = []
    if block.lines.contains(where: { $0.size < Self.leastSize }) { remarks.insert(.smallText) }
    if backdrop.leastContrast < Backdrop.readable { remarks.insert(.faintText) }
    return remarks
  }

  /// The columns and the rows of the pixels from which the brightness behind the text is measured.
  var probes: (xs: [Int], ys: [Int]) {
    Backdrop.probes(block, width: size.width, height: size.height)
  }

  /// The number of rows that are painted at a time.
  ///
  /// They have about half a million pixels. A picture with alpha or 16 bits is painted in floating point, which takes 8
  /// MB for these.
  private var stripRows: Int { max(500_000 / size.width, 16) }

  /// Paints the text on a bitmap that has some rows of the picture, beginning with row `first`.
  ///
  /// `strip` is the number of rows that are painted at a time.
  func paint(
    on bitmap: inout Bitmap,
    first: Int = 0,
    over backdrop: Backdrop,
    strip: Int? = nil,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    let all = rows.clamped(to: first..<first + bitmap.height)
    let strip = strip ?? stripRows
    for start in stride(from: all.lowerBound, to: all.upperBound, by: strip) {
      let count = min(strip, all.upperBound - start)
      guard let canvas = Canvas(width: size.width, height: count) else {
        throw .tooLarge(name, "there is not enough memory")
      }
      if let veil {
        canvas.cover(veil, from: start, backdrop.ink.opposite, strength: backdrop.strength)
      } else if let shadow {
        canvas.cast(
          shadow,
          from: start - rows.lowerBound,
          backdrop.ink.opposite,
          strength: backdrop.strength
        )
      }
      canvas.write(Self.lines(of: block, from: start), backdrop.ink)
      try bitmap.blend(canvas, x: 0, y: start - first, limits: limits, name: name)
    }
  }

  /// Paints the logo on a bitmap that has some rows of the picture, beginning with row `first`.
  func paintLogo(
    on bitmap: inout Bitmap,
    first: Int,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    guard let logo else { return }
    try bitmap.blend(logo.canvas, x: logo.x, y: logo.y - first, limits: limits, name: name)
  }

  private static func lines(of block: Stamp.Block, from row: Int) -> [PlacedLine] {
    block.lines.map {
      PlacedLine(layout: $0.layout, size: $0.size, x: $0.x, y: $0.y - Double(row))
    }
  }
}

/// The shadow of letters.
///
/// It is drawn small, and is blurred when it is enlarged.
final class LetterShadow {
  let canvas: Canvas
  let shrink: Double

  /// Draws the shadow of lines in a box of the given size; nil if there is not enough memory.
  init?(_ lines: [PlacedLine], width: Int, height: Int) {
    shrink = max((lines.map(\.size).min() ?? 8) / 9, 1)
    guard
      let canvas = Canvas(
        width: Int(Double(width) / shrink) + 2,
        height: Int(Double(height) / shrink) + 2
      )
    else { return nil }
    canvas.write(lines, .white, scale: 1 / shrink)
    self.canvas = canvas
  }
}

/// A logo with its size and position on a picture.
private final class PlacedLogo {
  let canvas: Canvas
  let x: Int
  let y: Int

  init(_ file: PictureFile, on size: PixelSize, _ stamp: Stamp) throws(LarderError) {
    let picture = try Bitmap(decoding: file, limits: stamp.limits)
    let drawable =
      picture.layout == .bgrx || picture.layout == .cmyk
      ? picture.flattened(.rgb) : picture
    let side = Stamp.unit(of: size)
    // The logo is about as high as the clock. It is lower if it would be wider than two fifths of a square picture.
    let scale = min(
      side * 0.13 / Double(picture.height),
      side * 0.4 / Double(picture.width)
    )
    let width = max(Int(Double(picture.width) * scale), 1)
    let height = max(Int(Double(picture.height) * scale), 1)
    guard let source = Canvas(drawable), let canvas = Canvas(width: width, height: height) else {
      throw .tooLarge(file.name, "there is not enough memory")
    }
    canvas.draw(source)
    let margin = Int(side * 0.06)
    x = stamp.place.isRight ? margin : max(size.width - margin - width, 0)
    y = stamp.place.isTop ? max(size.height - margin - height, 0) : margin
    self.canvas = canvas
  }
}
