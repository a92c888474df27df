import Base

/// The rows of a canvas on which a picture lies.
///
/// The pixels around the picture have one colour. The parts of the picture that lie outside of the canvas are cut off.
final class PaddedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  /// The place of the picture on the canvas; the picture can extend beyond the canvas.
  private let frame: PixelRegion
  /// A row that consists of background.
  private let empty: [UInt8]
  /// A buffer for a row of the source.
  private let line: UnsafeMutablePointer<UInt8>
  private var reached = 0
  private var taken = 0

  /// - Parameters:
  ///   - source: The picture.
  ///   - size: The size of the canvas.
  ///   - place: The position of the picture's top left on the canvas.
  ///   - pixel: The samples of a background pixel.
  init(_ source: any RowSource, on size: PixelSize, at place: (x: Int, y: Int), pixel: [UInt8]) {
    self.source = source
    var shape = source.shape
    frame = PixelRegion(x: place.x, y: place.y, width: shape.width, height: shape.height)
    line = .allocate(capacity: shape.rowBytes)
    shape.size = size
    self.shape = shape
    empty = Array(repeatElement(pixel, count: size.width).joined())
  }

  deinit { line.deallocate() }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let columns = (0..<shape.width).clamped(to: frame.x..<frame.x + frame.width)
    for row in 0..<count {
      let made = target + row * shape.rowBytes
      made.update(from: empty, count: empty.count)
      let y = reached + row - frame.y
      guard (0..<frame.height).contains(y) else { continue }
      try source.skip(y - taken)
      try source.read(1, into: line)
      (made + columns.lowerBound * shape.pixelBytes).update(
        from: line + (columns.lowerBound - frame.x) * shape.pixelBytes,
        count: columns.count * shape.pixelBytes
      )
      taken = y + 1
    }
    reached += count
    // The source is read to its end, because damage below the canvas counts, too.
    if reached == shape.height { try source.skip(frame.height - taken) }
  }
}

extension RowSource {
  /// The part `region` of a canvas on which these rows lie at `frame`.
  ///
  /// The pixels around them have the samples `pixel`, or only zeros if it is nil.
  func placed(
    _ frame: PixelRegion,
    over region: PixelRegion,
    pixel: [UInt8]? = nil
  ) -> any RowSource {
    guard region != frame else { return self }
    return PaddedRows(
      self,
      on: region.size,
      at: (frame.x - region.x, frame.y - region.y),
      pixel: pixel ?? Array(repeating: 0, count: shape.pixelBytes)
    )
  }

  /// These rows on the canvas of `framing`.
  ///
  /// Palette indices become colours. If the background is not grey, grey becomes RGB. If the background is transparent
  /// and `keepsAlpha` is true, opaque rows get alpha. The default background is transparent for rows that keep their
  /// alpha, and white otherwise.
  func padded(
    _ framing: Framing,
    on background: PictureColour?,
    keepsAlpha: Bool
  ) -> any RowSource {
    var rows = converted { Conversion.expanded($0) }
    // If the picture loses its alpha later, all of it is put on the background then.
    let colour =
      rows.shape.layout.hasAlpha && (background == nil || !keepsAlpha)
      ? .transparent : background ?? .white
    if keepsAlpha, colour.alpha < 255 { rows = rows.converted(Conversion.withAlpha) }
    // The colour of a transparent background does not show.
    if !colour.isGrey, colour.alpha > 0 { rows = rows.converted(Conversion.coloured) }
    let pixel = colour.pixel(in: rows.shape.layout, depth: rows.shape.depth)
    let place = (framing.place.x, framing.place.y)
    return PaddedRows(rows, on: framing.canvas, at: place, pixel: pixel)
  }
}
