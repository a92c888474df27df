import Base
import CDrawing
import Glibc

/// A Cairo surface to draw on, freed exactly once.
///
/// Its pixels are red, green, blue and alpha, and the colours are multiplied by alpha. It is transparent at first.
final class Canvas {
  let width: Int
  let height: Int
  private let surface: OpaquePointer
  private let context: OpaquePointer

  /// The longest side of Cairo's pictures in pixels.
  private static let longestSide = 32_767

  /// Makes a canvas for the picture `name`.
  ///
  /// - Throws: ``LarderError`` of code `tooLarge` when there is not enough memory.
  init(width: Int, height: Int, name: String) throws(LarderError) {
    guard max(width, height) <= Self.longestSide else {
      throw .tooLarge(name, "a stamp is for sides of at most \(Self.longestSide) pixels")
    }
    let failure = LarderError.tooLarge(name, "there is not enough memory")
    guard cdrawing_open() == nil,
      let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
    else { throw failure }
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
      let context = cairo_create(surface)
    else {
      cairo_surface_destroy(surface)
      throw failure
    }
    (self.width, self.height, self.surface, self.context) = (width, height, surface, context)
  }

  deinit {
    cairo_destroy(context)
    cairo_surface_destroy(surface)
  }

  /// Draws a scrim, which is a translucent layer behind letters.
  ///
  /// The canvas must be transparent. Its first row is row `row` of the picture.
  func cover(_ veil: StampVeil, from row: Int, _ ink: StampInk, strength: Double) {
    guard strength > 0 else { return }
    let columns = (0..<width).map { veil.column(Double($0) + 0.5) * strength * 255 }
    withPixels { pixels, stride in
      for y in 0..<height {
        let share = veil.row(Double(row + y) + 0.5)
        guard share > 0 else { continue }
        for x in 0..<width {
          let alpha = UInt32((columns[x] * share).rounded())
          pixels[y * stride + x] = alpha << 24 | (ink == .white ? alpha * 0x010101 : 0)
        }
      }
    }
  }

  /// Draws the shadow of letters, up to four times, until it has the requested strength at the edges of the letters.
  ///
  /// The first row of the canvas is row `row` of the shadow.
  func cast(_ shadow: LetterShadow, from row: Int, _ ink: StampInk, strength: Double) {
    let top = -Double(row) / shadow.shrink
    // At its edge, a blurred letter has two fifths of the strength that it has inside.
    var (left, times) = (1.0, 0)
    while 1 - left < strength, times < 4 { (left, times) = (left * 0.6, times + 1) }
    cairo_save(context)
    cairo_scale(context, shadow.shrink, shadow.shrink)
    cairo_set_source_rgba(context, ink.light, ink.light, ink.light, times == 0 ? 0.3 : 1)
    for _ in 0..<max(times, 1) {
      cairo_mask_surface(context, shadow.canvas.surface, 0, top)
    }
    cairo_restore(context)
  }

  /// Draws lines of text; the first row of the canvas is row `row` of the picture.
  func write(_ lines: [TextLine], from row: Int, _ ink: StampInk, scale: Double = 1) {
    cairo_save(context)
    cairo_scale(context, scale, scale)
    cairo_set_source_rgba(context, ink.light, ink.light, ink.light, 1)
    for line in lines {
      cairo_move_to(context, line.x, line.y - Double(row))
      line.withLayout { pango_cairo_show_layout(context, $0) }
    }
    cairo_restore(context)
  }

  /// Draws a picture that is scaled to the whole canvas, with Cairo's best filter.
  func draw(_ picture: Canvas) {
    cairo_scale(
      context,
      Double(width) / Double(picture.width),
      Double(height) / Double(picture.height)
    )
    cairo_set_source_surface(context, picture.surface, 0, 0)
    cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_BEST)
    cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
    cairo_paint(context)
  }

  /// Calls `body` with the pixels, and with the number of pixels from a row to the next.
  private func withPixels(_ body: (UnsafeMutablePointer<UInt32>, Int) -> Void) {
    cairo_surface_flush(surface)
    defer { cairo_surface_mark_dirty(surface) }
    guard let data = cairo_image_surface_get_data(surface) else { return }
    // SAFETY: Cairo's ARGB32 pixels are 32-bit numbers, and a row is a whole number of such words.
    body(
      UnsafeMutableRawPointer(data).assumingMemoryBound(to: UInt32.self),
      Int(cairo_image_surface_get_stride(surface)) / 4
    )
  }
}

extension Canvas {
  /// Makes a canvas with a picture on it; `name` is the name of the picture in errors.
  convenience init(_ bitmap: Bitmap, name: String) throws(LarderError) {
    try self.init(width: bitmap.width, height: bitmap.height, name: name)
    let hasAlpha = bitmap.layout.hasAlpha
    withPixels { pixels, stride in
      for y in 0..<height {
        for x in 0..<width {
          let pixel = bitmap[x, y].map { bitmap.depth == 16 ? UInt32($0) / 257 : UInt32($0) }
          let alpha = hasAlpha ? pixel[pixel.count - 1] : 255
          let colours = pixel.count < 3 ? [pixel[0], pixel[0], pixel[0]] : Array(pixel.prefix(3))
          let light = colours.map { ($0 * alpha + 127) / 255 }
          pixels[y * stride + x] = alpha << 24 | light[0] << 16 | light[1] << 8 | light[2]
        }
      }
    }
  }

  /// Composites this canvas on rows of a picture. (Porter and Duff's `over`)
  ///
  /// - Parameters:
  ///   - pixels: The rows, which have red, green and blue samples of 8 or 16 bits.
  ///   - rows: The indices of these rows in the picture.
  ///   - shape: The layout of the rows.
  ///   - x: The column of the picture at which the canvas begins.
  ///   - y: The row of the picture at which the canvas begins.
  func blend(
    on pixels: UnsafeMutablePointer<UInt8>,
    _ rows: Range<Int>,
    of shape: RowShape,
    x: Int,
    y: Int
  ) {
    withPixels { drawn, stride in
      for row in rows.clamped(to: y..<y + height) {
        let target = pixels + (row - rows.lowerBound) * shape.rowBytes
        let source = UnsafeBufferPointer(start: drawn + (row - y) * stride, count: width)
        Self.blend(source, on: target, shape, x)
      }
    }
  }

  /// Composites a row, in floating point, to keep the precision of 16 bits.
  private static func blend(
    _ source: UnsafeBufferPointer<UInt32>,
    on target: UnsafeMutablePointer<UInt8>,
    _ shape: RowShape,
    _ x: Int
  ) {
    let (channels, hasAlpha, isSwapped) = (
      shape.layout.channels, shape.layout.hasAlpha, shape.layout == .bgrx
    )
    let (isWide, row) = (shape.depth == 16, UnsafeMutableRawPointer(target))
    let peak = isWide ? 65_535 : 255
    let (unit, drawnUnit) = (1 / Float(peak), 1 / Float(255))
    func sample(_ index: Int) -> Int {
      isWide
        ? Int(row.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)) : Int(target[index])
    }
    func store(_ share: Float, _ index: Int) {
      let value = (min(max(share, 0), 1) * Float(peak)).rounded()
      if isWide {
        row.storeBytes(of: UInt16(value), toByteOffset: index * 2, as: UInt16.self)
      } else {
        target[index] = UInt8(value)
      }
    }
    for column in 0..<shape.width {
      let colour = source.indices.contains(column - x) ? source[column - x] : 0
      guard colour != 0 || hasAlpha else { continue }
      let (start, opacity) = (column * channels, Int(colour >> 24))
      let left = 1 - Float(opacity) * drawnUnit
      let below = hasAlpha ? Float(sample(start + channels - 1)) * unit : 1
      let alpha = min(Float(opacity) * drawnUnit + below * left, 1)
      for channel in 0..<3 {
        let place = start + (isSwapped ? 2 - channel : channel)
        let drawn = Int(colour >> UInt32(16 - 8 * channel)) & 255
        guard isWide || hasAlpha else {
          // The same result, in less time.
          let behind = (Int(target[place]) * (255 - opacity) + 127) / 255
          target[place] = UInt8(min(drawn + behind, 255))
          continue
        }
        let light = min(Float(drawn) * drawnUnit + Float(sample(place)) * unit * below * left, 1)
        store(!hasAlpha ? light : alpha > 0 ? light / alpha : 0, place)
      }
      if hasAlpha { store(alpha, start + channels - 1) }
    }
  }
}
