import Base
import Glibc

/// The background around a picture that does not fill its frame, and the channels that it needs.
struct Padding {
  /// The colour; clear where the picture has alpha that is kept and no background is asked for, else white.
  let colour: PictureColour
  /// Whether pixels without alpha have to get it.
  let needsAlpha: Bool
  /// Whether grey has to become colour.
  let needsColour: Bool

  /// Decides for a picture of a layout, which is not one of indices.
  init(_ background: PictureColour?, around layout: Bitmap.Layout, keepsAlpha: Bool) {
    colour = background ?? (layout.hasAlpha && keepsAlpha ? .transparent : .white)
    needsAlpha = keepsAlpha && colour.alpha < 255 && !layout.hasAlpha
    // A clear background has no colour to show.
    needsColour = !colour.isGrey && colour.alpha > 0
  }
}

/// Rows on a canvas, of which a part may be seen, around them pixels of one colour.
final class PaddedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  /// Where the source's rows lie on the canvas; a part of them may lie outside of it.
  private let frame: PixelRegion
  /// A row of the canvas without the picture, and one of the source.
  private let empty: [UInt8]
  private var line: [UInt8]
  /// Rows of the canvas, and of the source, that have been read.
  private var reached = 0
  private var taken = 0

  /// - Parameters:
  ///   - source: The picture.
  ///   - size: The size of the canvas.
  ///   - place: Where the picture's top left is.
  ///   - pixel: The samples of a pixel of the canvas without the picture.
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
    // A picture that is damaged behind the canvas is damaged.
    if reached == shape.height { try finish() }
  }

  private func finish() throws(LarderError) {
    try line.withUnsafeMutableBufferPointer { (line) throws(LarderError) in
      guard let start = line.baseAddress else { return }
      while taken < frame.height {
        try source.read(1, into: start)
        taken += 1
      }
    }
  }
}

extension RowSource {
  /// These rows on the canvas of a framing; indices become their colours.
  ///
  /// Grey gets colour, and where `keepsAlpha` opaque pixels get alpha, when the background asks
  /// for them. Without a background it is clear where the picture has alpha that is kept, else
  /// white.
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
    return PaddedRows(rows, on: framing.canvas, at: framing.place, pixel: pixel)
  }
}
