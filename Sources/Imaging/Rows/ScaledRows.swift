import Base
import CZimg

extension Bitmap {
  /// A part of a picture; its edges can lie within pixels.
  struct Part: Equatable {
    var x = 0.0
    var y = 0.0
    var width: Double
    var height: Double

    /// The part that shows the region `inner` of a picture, if this part shows the region `outer`, which contains
    /// `inner`.
    ///
    /// Both regions are in pixels of the picture. The parts are in pixels of a reduced copy of it.
    func inside(_ outer: PixelRegion, _ inner: PixelRegion) -> Part {
      let across = width / Double(outer.width)
      let down = height / Double(outer.height)
      return Part(
        x: x + Double(inner.x - outer.x) * across,
        y: y + Double(inner.y - outer.y) * down,
        width: Double(inner.width) * across,
        height: Double(inner.height) * down
      )
    }
  }
}

/// A part of the rows of another source, scaled by zimg's Lanczos filter.
///
/// The depth stays the same. While they are scaled, colours are multiplied by alpha, so that the colours of transparent
/// pixels do not bleed into other pixels. Palette indices become colours. Samples must have 8 or 16 bits.
final class ScaledRows: RowSource {
  /// A picture of fewer than this many bytes is scaled as a whole.
  ///
  /// A larger picture is scaled in strips.
  static let mostAtOnce = 32 << 20

  /// A strip of a larger picture has about this many bytes.
  static let strip = 8 << 20

  let shape: RowShape
  private let source: any RowSource
  private var scaling: czimg_scaling
  /// A row of the source.
  private let row: UnsafeMutablePointer<UInt8>
  /// The rows that were made last, at most `most`; `taken` of them have been read.
  private let ready: UnsafeMutablePointer<UInt8>
  private let most: Int
  private var (held, taken) = (0, 0)
  private let limits: NamedLimits

  /// - Parameters:
  ///   - rows: The rows to scale.
  ///   - part: The part of the rows to scale. Pass nil to scale all rows.
  ///   - size: The size of the result.
  ///   - strip: The number of bytes of a strip of the source. Pass 0 to scale the picture as a whole. If it is nil,
  ///     it depends on the size of the source.
  ///   - portable: Whether to use only zimg's portable code, without vector instructions.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when there is not enough memory.
  init(
    _ rows: any RowSource,
    _ part: Bitmap.Part? = nil,
    to size: PixelSize,
    strip: Int? = nil,
    portable: Bool = false,
    _ limits: NamedLimits
  ) throws(LarderError) {
    var source = rows.converted { Conversion.expanded($0) }
    var shape = source.shape
    // Grey counts as three channels, because the size of a strip was chosen for three. Palette indices take less memory
    // before this step, so that their strips can be twice as high.
    let isIndexed = rows.shape.layout != shape.layout
    let pixel = isIndexed ? 1 : max(shape.pixelBytes, shape.depth == 16 ? 6 : 3)
    let isAtOnce = shape.width * shape.height * pixel < Self.mostAtOnce
    let strip = strip ?? (isAtOnce ? 0 : Self.strip)
    var part =
      part ?? Bitmap.Part(width: Double(shape.width), height: Double(shape.height))
    let ratio = part.height / Double(size.height)
    // A strip holds about 14 rows of the source for each row of the result, times the ratio.
    let isWide = ratio > 16 && Int(ratio) * 14 * shape.rowBytes > 8 << 20
    if strip > 0, ratio > 128 || isWide {
      // The filter needs the more rows, the lower the result is. So a low result is made in two steps.
      let higher = PixelSize(width: size.width, height: size.height * 8)
      source = try ScaledRows(source, part, to: higher, strip: strip, limits)
      part = Bitmap.Part(width: Double(higher.width), height: Double(higher.height))
    }
    let from = source.shape.size
    (shape.size, shape.clear) = (size, nil)
    try limits.check(memory: shape.height * shape.rowBytes)
    // Fewer rows would take longer, because zimg scales the rows at the edge of a strip again for the next strip.
    most =
      strip == 0
      ? size.height : min(max(Self.strip / 2 / max(shape.rowBytes, 1), 16), size.height)
    row = .allocate(capacity: source.shape.rowBytes)
    ready = .allocate(capacity: most * shape.rowBytes)
    (self.shape, self.source, self.limits) = (shape, source, limits)
    scaling = czimg_scaling()
    (scaling.width, scaling.height) = (UInt32(from.width), UInt32(from.height))
    (scaling.made_width, scaling.made_height) = (UInt32(size.width), UInt32(size.height))
    (scaling.part_x, scaling.part_y) = (part.x, part.y)
    (scaling.part_width, scaling.part_height) = (part.width, part.height)
    scaling.channels = Int32(shape.layout.channels)
    scaling.scaled = shape.layout == .bgrx ? 3 : scaling.channels
    scaling.wide = shape.depth == 16
    scaling.alpha = shape.layout.hasAlpha
    scaling.portable = portable
    guard czimg_open(&scaling, isIndexed ? strip * 2 : strip) else { throw tooLarge }
  }

  deinit {
    czimg_close(&scaling)
    row.deallocate()
    ready.deallocate()
  }

  private var tooLarge: LarderError { limits.tooLarge("there is not enough memory") }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    for index in 0..<count {
      if taken == held { try fill() }
      let bytes = shape.rowBytes
      (target + index * bytes).update(from: ready + taken * bytes, count: bytes)
      taken += 1
    }
  }

  private func fill() throws(LarderError) {
    held = min(most, shape.height - Int(scaling.made))
    taken = 0
    for first in stride(from: 0, to: held, by: Int(scaling.step)) {
      let count = UInt32(min(Int(scaling.step), held - first))
      for _ in 0..<czimg_begin(&scaling, count) {
        try source.read(1, into: row)
        czimg_take(&scaling, row)
      }
      guard czimg_make(&scaling, ready + first * shape.rowBytes, count) else { throw tooLarge }
    }
    // The rows below the part are read, too, because damage in them counts.
    if scaling.made == scaling.made_height {
      try source.skip(Int(scaling.height - scaling.next))
    }
  }
}
