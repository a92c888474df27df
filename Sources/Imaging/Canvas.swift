import CDrawing

/// Something to draw on: premultiplied ARGB pixels, clear at first, freed exactly once.
struct Canvas: ~Copyable {
  let width: Int
  let height: Int
  private let surface: OpaquePointer
  private let context: OpaquePointer

  /// Makes a clear canvas; nil when memory is short.
  init?(width: Int, height: Int) {
    guard cdrawing_open() == nil,
      let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
    else { return nil }
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
      let context = cairo_create(surface)
    else {
      cairo_surface_destroy(surface)
      return nil
    }
    self.surface = surface
    self.context = context
    self.width = width
    self.height = height
  }

  deinit {
    cairo_destroy(context)
    cairo_surface_destroy(surface)
  }

  /// Lays a veil of an ink over the clear canvas, whose first row is the row `row` of the picture.
  func cover(_ veil: StampVeil, from row: Int, _ ink: StampInk, strength: Double) {
    guard strength > 0 else { return }
    let columns = (0..<width).map { veil.column(Double($0) + 0.5) * strength * 255 }
    withPixels { pixels, stride in
      guard let pixels else { return }
      for y in 0..<height {
        let share = veil.row(Double(row + y) + 0.5)
        guard share > 0 else { continue }
        let start = y * Int(stride) / 4
        for x in 0..<width {
          let alpha = UInt32((columns[x] * share).rounded())
          pixels[start + x] = alpha << 24 | (ink == .white ? alpha * 0x010101 : 0)
        }
      }
    }
  }

  /// Paints a shadow as dark, or as light, as letters need it at their edges, beginning with the row
  /// `row` of the box that it was drawn for.
  func cast(_ shadow: LetterShadow, from row: Int, _ ink: StampInk, strength: Double) {
    let top = -Double(row) / shadow.shrink
    // At an edge a blurred letter is two fifths of what it is inside.
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

  /// Writes lines.
  func write(_ lines: [PlacedLine], _ ink: StampInk, scale: Double = 1) {
    cairo_save(context)
    cairo_scale(context, scale, scale)
    cairo_set_source_rgba(context, ink.light, ink.light, ink.light, 1)
    for line in lines {
      cairo_move_to(context, line.x, line.y)
      line.layout.withLayout { pango_cairo_show_layout(context, $0) }
    }
    cairo_restore(context)
  }

  /// Draws a picture into a box by Cairo's best filter.
  func draw(_ picture: borrowing Canvas) {
    cairo_save(context)
    cairo_scale(
      context,
      Double(width) / Double(picture.width),
      Double(height) / Double(picture.height)
    )
    cairo_set_source_surface(context, picture.surface, 0, 0)
    cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_BEST)
    cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
    cairo_paint(context)
    cairo_restore(context)
  }

  /// Lends the pixels and the bytes of a row.
  func withPixels<Result>(
    _ body: (UnsafeMutablePointer<UInt32>?, Int32) -> Result
  ) -> Result {
    cairo_surface_flush(surface)
    defer { cairo_surface_mark_dirty(surface) }
    let data = UnsafeMutableRawPointer(cairo_image_surface_get_data(surface))
    // SAFETY: Cairo's ARGB32 pixels are 32-bit numbers in rows of whole words.
    return body(
      data?.assumingMemoryBound(to: UInt32.self),
      cairo_image_surface_get_stride(surface)
    )
  }
}

extension Canvas {
  /// A canvas with a picture on it.
  init?(_ bitmap: Bitmap) {
    self.init(width: bitmap.width, height: bitmap.height)
    let hasAlpha = bitmap.layout.hasAlpha
    withPixels { pixels, stride in
      for y in 0..<bitmap.height {
        for x in 0..<bitmap.width {
          let pixel = bitmap[x, y].map { bitmap.depth == 16 ? UInt32($0) / 257 : UInt32($0) }
          let alpha = hasAlpha ? pixel[pixel.count - 1] : 255
          let colours = pixel.count < 3 ? [pixel[0], pixel[0], pixel[0]] : Array(pixel.prefix(3))
          let light = colours.map { ($0 * alpha + 127) / 255 }
          pixels?[y * Int(stride) / 4 + x] =
            alpha << 24 | light[0] << 16 | light[1] << 8 | light[2]
        }
      }
    }
  }
}
