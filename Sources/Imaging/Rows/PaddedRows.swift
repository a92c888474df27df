import Base
import Glibc

/// The background around a picture: its colour, and the channels that the pixels of the picture need for it.
struct Padding {
  /// The colour of the background.
  ///
  /// The default is transparent for a picture that keeps its alpha, and white otherwise.
  let colour: PictureColour
  /// Whether the pixels need alpha, because the background is not opaque.
  let needsAlpha: Bool
  /// Whether grey pixels must become RGB, because the background is not grey.
  let needsColour: Bool

  /// Chooses the padding of a picture whose rows have any layout except `indexed`.
  init(_ background: PictureColour?, around layout: Bitmap.Layout, keepsAlpha: Bool) {
    colour = background ?? (layout.hasAlpha && keepsAlpha ? .transparent : .white)
    needsAlpha = keepsAlpha && colour.alpha < 255 && !layout.hasAlpha
    // The colour of a transparent background does not show.
    needsColour = !colour.isGrey && colour.alpha > 0
  }
}

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
  private var line: [UInt8]
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

  /// These rows on the canvas of `framing`, if it has a background.
  ///
  /// Palette indices become colours. If the background is not grey, grey becomes RGB. If the background is transparent
  /// and `keepsAlpha` is true, opaque rows get alpha. The default background is transparent for rows that keep their
  /// alpha, and white otherwise.
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
