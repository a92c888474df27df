import Base
import Glibc

/// The background around a picture that does not fill its frame, and the channels that the background requires.
struct Padding {
  /// The colour of the background; by default, it is transparent for a picture that keeps alpha, otherwise white.
  let colour: PictureColour
  /// Whether alpha has to be added to pixels without alpha.
  let needsAlpha: Bool
  /// Whether grey has to be converted to RGB.
  let needsColour: Bool

  /// Decides the colour and channels for a picture of any layout except `indexed`.
  init(_ background: PictureColour?, around layout: Bitmap.Layout, keepsAlpha: Bool) {
    colour = background ?? (layout.hasAlpha && keepsAlpha ? .transparent : .white)
    needsAlpha = keepsAlpha && colour.alpha < 255 && !layout.hasAlpha
    // The colour of a transparent background does not show.
    needsColour = !colour.isGrey && colour.alpha > 0
  }
}

/// The rows of a picture on a canvas, surrounded by pixels of one colour; parts outside of the canvas are cut off.
final class PaddedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  /// The region of the canvas that the source covers; it may extend beyond the canvas.
  private let frame: PixelRegion
  /// A row that is all background.
  private let empty: [UInt8]
  /// A buffer for a row of the source.
  private var line: [UInt8]
  /// The number of rows of the canvas that have been read.
  private var reached = 0
  /// The number of rows of the source that have been read.
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
    line = [UInt8](repeating: 0, count: shape.rowBytes)
    shape.size = size
    self.shape = shape
    empty = Array(repeatElement(pixel, count: size.width).joined())
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let pixel = shape.pixelBytes
    let columns = (0..<shape.width).clamped(to: frame.x..<frame.x + frame.width)
    let from = (columns.lowerBound - frame.x) * pixel
    for row in 0..<count {
      let y = reached + row - frame.y
      let bytes = shape.rowBytes
      let room = UnsafeMutableBufferPointer(start: target + row * bytes, count: bytes)
      if columns.count < shape.width || !(0..<frame.height).contains(y) {
        _ = room.update(fromContentsOf: empty)
      }
      guard (0..<frame.height).contains(y) else { continue }
      try line.withUnsafeMutableBufferPointer { (line) throws(LarderError) in
        guard let start = line.baseAddress else { return }
        while taken <= y {
          try source.read(1, into: start)
          taken += 1
        }
        memcpy(
          target + row * bytes + columns.lowerBound * pixel,
          start + from,
          columns.count * pixel
        )
      }
    }
    reached += count
    // The source is read to its end, because damage below the canvas counts, too.
    if reached == shape.height { try source.skip(max(frame.height - taken, 0)) }
  }
}

extension RowSource {
  /// Places these rows on the canvas of a framing; palette indices become their colours.
  ///
  /// If the background requires it, grey becomes RGB and, with `keepsAlpha`, opaque pixels get alpha. The default
  /// background is transparent for a picture that keeps alpha, otherwise white.
  func padded(
    _ framing: Framing,
    on background: PictureColour?,
    keepsAlpha: Bool,
    isInverted: Bool = true
  ) -> any RowSource {
    guard framing.isPadded else { return self }
    var rows = converted { Conversion.expanded($0) }
    let surround = Padding(background, around: rows.shape.layout, keepsAlpha: keepsAlpha)
    if surround.needsAlpha { rows = rows.converted(Conversion.withAlpha) }
    if surround.needsColour { rows = rows.converted(Conversion.coloured) }
    let (layout, depth) = (rows.shape.layout, rows.shape.depth)
    let pixel = surround.colour.pixel(in: layout, depth: depth, isInverted: isInverted)
    let place = (framing.place.x, framing.place.y)
    return PaddedRows(rows, on: framing.canvas, at: place, pixel: pixel)
  }
}
