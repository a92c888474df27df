import Base
import CDrawing
import CPixman
import Glibc

/// A Cairo surface to draw on, freed exactly once.
///
/// Its pixels are red, green, blue and alpha, and the colours are multiplied by alpha. It is transparent at first.
struct Canvas: ~Copyable {
  let width: Int
  let height: Int
  private let surface: OpaquePointer
  private let context: OpaquePointer

  /// Makes a canvas; nil if there is not enough memory.
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

  /// Draws a scrim, which is a translucent layer behind letters.
  ///
  /// The canvas must be transparent. Its first row is row `row` of the picture.
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

  /// Draws lines of text.
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

  /// Draws a picture that is scaled to the whole canvas, with Cairo's best filter.
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

  /// Calls `body` with the pixels, and with the number of bytes from a row to the next.
  func withPixels<Result>(
    _ body: (UnsafeMutablePointer<UInt32>?, Int32) -> Result
  ) -> Result {
    cairo_surface_flush(surface)
    defer { cairo_surface_mark_dirty(surface) }
    let data = UnsafeMutableRawPointer(cairo_image_surface_get_data(surface))
    // SAFETY: Cairo's ARGB32 pixels are 32-bit numbers, and a row is a whole number of such words.
    return body(
      data?.assumingMemoryBound(to: UInt32.self),
      cairo_image_surface_get_stride(surface)
    )
  }
}

extension Canvas {
  /// Makes a canvas with a picture on it.
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

extension Bitmap {
  /// Composites a drawing on the picture; the top left corner of the drawing is at `x`, `y`.
  ///
  /// Rows of the drawing above or below the picture are left out.
  mutating func blend(
    _ canvas: borrowing Canvas,
    x: Int,
    y: Int,
    limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    let rows = max(y, 0)..<max(min(y + canvas.height, height), max(y, 0))
    guard !rows.isEmpty else { return }
    guard layout == .bgrx else {
      // Only the rows under the drawing are converted.
      let whole = PixelRegion(x: 0, y: rows.lowerBound, width: width, height: rows.count)
      let (start, top) = (rows.lowerBound * rowBytes, y - rows.lowerBound)
      var part = part(whole)
      if layout == .rgb, depth == 8 {
        // pixman is fast for `bgrx`: compositing a square of 50 megapixels in floating point would take a second longer.
        try limits.check(memory: rows.count * width * 4, of: name)
        part = part.flattened(.bgrx)
        try part.blend(canvas, x: x, y: top, limits: limits, name: name)
        part = part.flattened(.rgb)
      } else {
        // 16-bit samples and alpha are composited in floating point, to keep their precision.
        try limits.check(memory: rows.count * width * 16, of: name)
        guard let surface = part.floatingSurface(), canvas.paint(over: surface, x: x, y: top)
        else {
          throw .tooLarge(name, "there is not enough memory")
        }
        part = surface.bitmap(like: part)
      }
      samples.replaceSubrange(start..<start + rows.count * rowBytes, with: part.samples)
      return
    }
    let (width, height, stride) = (Int32(width), Int32(height), Int32(rowBytes))
    let painted = samples.withUnsafeMutableBytes { samples in
      // SAFETY: a pixel of four bytes is one of pixman's x8r8g8b8, and the image is freed before the samples can move.
      // The storage of an array is aligned to 16 bytes.
      guard
        let image = pixman_image_create_bits(
          PIXMAN_x8r8g8b8,
          width,
          height,
          samples.baseAddress?.assumingMemoryBound(to: UInt32.self),
          stride
        )
      else { return false }
      defer { pixman_image_unref(image) }
      return canvas.paint(over: image, x: x, y: y)
    }
    guard painted else { throw .tooLarge(name, "there is not enough memory") }
  }
}

extension Canvas {
  fileprivate func paint(over surface: borrowing Surface, x: Int, y: Int) -> Bool {
    surface.withImage { paint(over: $0, x: x, y: y) }
  }

  /// Composites this canvas on an image; the top left corner of the canvas is at `x`, `y`. (Porter and Duff's `over`)
  ///
  /// Returns false if there is not enough memory.
  fileprivate func paint(over image: OpaquePointer, x: Int, y: Int) -> Bool {
    withPixels { pixels, stride in
      guard
        let source = pixman_image_create_bits(
          PIXMAN_a8r8g8b8,
          Int32(width),
          Int32(height),
          pixels,
          stride
        )
      else { return false }
      defer { pixman_image_unref(source) }
      pixman_image_composite32(
        PIXMAN_OP_OVER,
        source,
        nil,
        image,
        0,
        0,
        0,
        0,
        Int32(x),
        Int32(y),
        Int32(width),
        Int32(height)
      )
      return true
    }
  }
}

/// A pixman image of red, green, blue and alpha in floating point, freed exactly once.
struct Surface: ~Copyable {
  let width: Int
  let height: Int
  private let image: OpaquePointer

  /// Makes an image; nil if there is not enough memory.
  init?(_ width: Int, _ height: Int) {
    guard
      let image = pixman_image_create_bits(
        PIXMAN_rgba_float,
        Int32(width),
        Int32(height),
        nil,
        0
      )
    else { return nil }
    self.image = image
    self.width = width
    self.height = height
  }

  deinit { pixman_image_unref(image) }

  func withImage<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(image) }

  /// The bytes of the pixels of a row.
  func row(_ y: Int) -> UnsafeMutableRawBufferPointer {
    let stride = Int(pixman_image_get_stride(image))
    let start = UnsafeMutableRawPointer(pixman_image_get_data(image))?.advanced(by: y * stride)
    return UnsafeMutableRawBufferPointer(start: start, count: width * 16)
  }

  /// The pixels as a bitmap with the layout and the depth of `other`.
  func bitmap(like other: Bitmap) -> Bitmap {
    Bitmap(width: width, height: height, layout: other.layout, depth: max(other.depth, 8)) {
      let target = UnsafeMutableRawBufferPointer($0)
      let rowBytes = target.count / height
      for y in 0..<height {
        let part = UnsafeMutableRawBufferPointer(
          rebasing: target[y * rowBytes..<(y + 1) * rowBytes]
        )
        unpack(row(y).bindMemory(to: Float.self), into: part, other)
      }
    }
  }

  /// Converts a row of pixels with colours that are multiplied by alpha to samples.
  private func unpack(
    _ row: UnsafeMutableBufferPointer<Float>,
    into target: UnsafeMutableRawBufferPointer,
    _ other: Bitmap
  ) {
    let channels = other.layout.channels
    let peak = Float((1 << max(other.depth, 8)) - 1)
    let hasAlpha = other.layout.hasAlpha
    for x in 0..<width {
      let alpha = min(max(row[x * 4 + 3], 0), 1)
      for channel in 0..<channels {
        let isAlpha = hasAlpha && channel == channels - 1
        let light =
          hasAlpha ? (alpha > 0 ? row[x * 4 + channel] / alpha : 0) : row[x * 4 + channel]
        let value = (min(max(isAlpha ? alpha : light, 0), 1) * peak).rounded()
        let index = x * channels + channel
        if other.depth == 16 {
          target.storeBytes(of: UInt16(value), toByteOffset: index * 2, as: UInt16.self)
        } else {
          target[index] = UInt8(value)
        }
      }
    }
  }
}

extension Bitmap {
  /// The picture in floating point; nil if there is not enough memory.
  ///
  /// The colours are multiplied by alpha.
  func floatingSurface() -> Surface? {
    guard let surface = Surface(width, height) else { return nil }
    let channels = layout.channels
    let scale = 1 / Float((1 << max(depth, 8)) - 1)
    let isGrey = channels < 3
    let hasAlpha = layout.hasAlpha
    samples.withUnsafeBytes { samples in
      func sample(_ index: Int) -> Float {
        depth == 16
          ? Float(samples.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)) * scale
          : Float(samples[index]) * scale
      }
      for y in 0..<height {
        let row = surface.row(y).bindMemory(to: Float.self)
        for x in 0..<width {
          let start = (y * width + x) * channels
          let alpha = hasAlpha ? sample(start + channels - 1) : 1
          for colour in 0..<3 {
            row[x * 4 + colour] = sample(isGrey ? start : start + colour) * alpha
          }
          row[x * 4 + 3] = alpha
        }
      }
    }
    return surface
  }
}
