import Base

/// The layer of a stamp over a picture: the letters with their shadow or their scrim, and the logo.
///
/// A scrim is a translucent layer behind letters. The text is painted in strips, so that only one strip of the layer is
/// in memory.
struct StampLayer {
  /// The smallest legible size of letters, in pixels.
  static let leastSize = 9.0

  /// The columns and the rows of the pixels from which the brightness behind the text is measured.
  let probes: (xs: [Int], ys: [Int])
  /// The rows of the picture that must be in memory together, to be measured and painted.
  let heldRows: Range<Int>
  private let block: Stamp.Block
  private let veil: StampVeil?
  private let shadow: LetterShadow?
  private let logo: PlacedLogo?
  /// The rows of the picture on which the text is painted, with its shadow or scrim.
  private let rows: Range<Int>
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
    heldRows =
      min(first, probes.ys.min() ?? first)..<max(rows.upperBound, (probes.ys.max() ?? -1) + 1)
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

  /// Paints the text on a bitmap that has some rows of the picture, beginning with row `first`.
  ///
  /// `strip` is the number of rows that are painted at a time; if it is nil, they have about half a million pixels.
  func paint(
    on bitmap: inout Bitmap,
    first: Int = 0,
    over backdrop: Backdrop,
    strip: Int? = nil
  ) throws(LarderError) {
    let part = first..<first + bitmap.height
    let painted = rows.clamped(to: part)
    let (shape, strip) = (bitmap.shape, strip ?? max(500_000 / bitmap.width, 16))
    for start in stride(from: painted.lowerBound, to: painted.upperBound, by: strip) {
      let count = min(strip, painted.upperBound - start)
      let canvas = try Canvas(width: shape.width, height: count, name: name)
      let (ink, strength) = (backdrop.ink.opposite, backdrop.strength)
      if let veil { canvas.cover(veil, from: start, ink, strength: strength) }
      if let shadow {
        canvas.cast(shadow, from: start - rows.lowerBound, ink, strength: strength)
      }
      canvas.write(block.lines, from: start, backdrop.ink)
      bitmap.samples.withUnsafeMutableBufferPointer {
        guard let pixels = $0.baseAddress else { return }
        canvas.blend(on: pixels, part, of: shape, x: 0, y: start)
      }
    }
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
    if picture.layout == .bgrx || picture.layout == .cmyk { picture = picture.flattened(.rgb) }
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
