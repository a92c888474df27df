import Base

/// The layer of a stamp over a picture: the letters with their shadow or their scrim, and the logo.
///
/// A scrim is a translucent layer behind letters. The text is drawn in strips, so that only one strip of the layer is in
/// memory.
struct StampLayer {
  /// The smallest legible size of letters, in pixels.
  static let leastSize = 9.0

  /// The columns and the rows of the pixels from which the brightness behind the text is measured.
  let probes: (xs: [Int], ys: [Int])
  /// The rows of the picture on which the text is drawn, with its shadow or its scrim.
  let rows: Range<Int>
  /// The rows from the first one that the text covers to the last one that is measured.
  let measuredRows: Range<Int>
  /// Pixels from left to right.
  private let width: Int
  private let block: Stamp.Block
  private let veil: StampVeil?
  private let shadow: LetterShadow?
  private let logo: PlacedLogo?
  private let name: String

  /// Lays out the lines of a stamp for a picture of `size`; `name` is the name of the picture in errors.
  ///
  /// - Throws: ``LarderError`` when there is no font, or the logo cannot be read.
  init(
    _ stamp: Stamp,
    _ moment: StampTime,
    size: PixelSize,
    name: String
  ) throws(LarderError) {
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
    probes = Backdrop.probes(block, size: size)
    let last = probes.ys.max() ?? first
    measuredRows = min(first, last)..<last + 1
    width = size.width
    shadow =
      veil == nil
      ? try LetterShadow(block.lines, width: size.width, rows: rows, name: name) : nil
    logo = try stamp.logo.map { (file) throws(LarderError) in try PlacedLogo(file, on: size, stamp)
    }
    (self.block, self.veil, self.name) = (block, veil, name)
  }

  /// The warnings about letters that are hard to read.
  func remarks(over backdrop: Backdrop) -> Set<EncodedPicture.Remark> {
    var remarks: Set<EncodedPicture.Remark> = []
    if block.lines.contains(where: { $0.size < Self.leastSize }) { remarks.insert(.smallText) }
    if backdrop.leastContrast < Backdrop.readable { remarks.insert(.faintText) }
    return remarks
  }

  /// Some rows of the text, with its shadow or its scrim.
  struct Strip {
    let canvas: Canvas
    /// The rows of the picture on which the canvas is drawn.
    let rows: Range<Int>
  }

  /// Draws the text on the next rows of ``rows``, beginning with `row`.
  ///
  /// - Parameters:
  ///   - row: The first row to draw.
  ///   - backdrop: The ink and the strength of the scrim.
  ///   - count: The number of rows to draw. If it is nil, they have about half a million pixels.
  /// - Returns: The rows; fewer at the end of the text.
  /// - Throws: ``LarderError`` when there is not enough memory.
  func strip(
    from row: Int,
    over backdrop: Backdrop,
    count: Int? = nil
  ) throws(LarderError) -> Strip {
    let count = count ?? max(500_000 / width, 16)
    let drawn = row..<min(row + count, rows.upperBound)
    let canvas = try Canvas(width: width, height: drawn.count, name: name)
    let (ink, strength) = (backdrop.ink.opposite, backdrop.strength)
    if let veil { canvas.cover(veil, from: row, ink, strength: strength) }
    if let shadow {
      canvas.cast(shadow, from: row - rows.lowerBound, ink, strength: strength)
    }
    canvas.write(block.lines, from: row, backdrop.ink)
    return Strip(canvas: canvas, rows: drawn)
  }

  /// Paints the logo on some rows of the picture, as far as it covers them.
  func paintLogo(on pixels: UnsafeMutablePointer<UInt8>, _ rows: Range<Int>, of shape: RowShape) {
    guard let logo else { return }
    logo.canvas.blend(on: pixels, rows, of: shape, x: logo.x, y: logo.y)
  }
}

/// The shadow of letters.
///
/// It is drawn small, and is blurred when it is enlarged.
struct LetterShadow {
  let canvas: Canvas
  let shrink: Double

  /// Draws the shadow of lines on `rows` of a picture; `name` is the name of the picture in errors.
  init(
    _ lines: [TextLine],
    width: Int,
    rows: Range<Int>,
    name: String
  ) throws(LarderError) {
    shrink = max((lines.map(\.size).min() ?? 8) / 9, 1)
    canvas = try Canvas(
      width: Int(Double(width) / shrink) + 2,
      height: Int(Double(rows.count) / shrink) + 2,
      name: name
    )
    canvas.write(lines, from: rows.lowerBound, .white, scale: 1 / shrink)
  }
}

/// A logo with its size and position on a picture.
private struct PlacedLogo {
  let canvas: Canvas
  let x: Int
  let y: Int

  init(_ file: PictureFile, on size: PixelSize, _ stamp: Stamp) throws(LarderError) {
    var picture = try Bitmap(decoding: file, limits: stamp.limits)
    if picture.layout == .bgrx || picture.layout == .cmyk {
      picture = try BitmapRows(picture).flattened(.rgb).collected(stamp.limits.named(file.name))
    }
    let side = Stamp.unit(of: size)
    // The logo is about as high as the clock. It is lower if it would be wider than two fifths of a square picture.
    let scale = min(
      side * 0.13 / Double(picture.height),
      side * 0.4 / Double(picture.width)
    )
    let width = max(Int(Double(picture.width) * scale), 1)
    let height = max(Int(Double(picture.height) * scale), 1)
    canvas = try Canvas(width: width, height: height, name: file.name)
    canvas.draw(try Canvas(picture, name: file.name))
    let margin = Int(side * 0.06)
    x = stamp.place.isRight ? margin : max(size.width - margin - width, 0)
    y = stamp.place.isTop ? max(size.height - margin - height, 0) : margin
  }
}
