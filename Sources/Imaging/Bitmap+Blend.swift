import CPixman

extension Bitmap {
  /// Lays a drawing over the picture, its top left at `x`, `y`; rows of it that lie above or below the
  /// picture are left out.
  mutating func blend(
    _ canvas: borrowing Canvas,
    x: Int,
    y: Int,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) {
    let rows = max(y, 0)..<max(min(y + canvas.height, height), max(y, 0))
    guard !rows.isEmpty else { return }
    let skipped = rows.lowerBound - y
    if layout == .rgb, depth == 8 {
      try blendRGB(canvas, x: x, y: y, rows, limits: limits, name: name)
      return
    }
    guard layout == .bgrx else {
      // Sixteen bits and alpha keep their worth in floating point; only the rows in question.
      let size = rows.count * rowBytes
      let start = rows.lowerBound * rowBytes
      let part = Bitmap(
        width: width,
        height: rows.count,
        layout: layout,
        depth: depth,
        samples: Array(samples[start..<start + size])
      )
      try limits.check(memory: rows.count * width * 16, of: name)
      guard let surface = part.floatingSurface(), canvas.paint(over: surface, x: x, y: -skipped)
      else {
        throw .tooLarge(name, "there is not enough memory")
      }
      samples.replaceSubrange(start..<start + size, with: surface.bitmap(like: part).samples)
      return
    }
    let (width, height, stride) = (Int32(width), Int32(height), Int32(rowBytes))
    let painted = samples.withUnsafeMutableBytes { samples in
      // SAFETY: rows of four bytes a pixel are what pixman calls x8r8g8b8, and the image is gone
      // before the samples can move. Array storage is aligned to 16 bytes.
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

  /// Lays a drawing over rows of plain colour, in the layout that pixman is fast with: in floating point
  /// a square of 50 megapixels takes a second longer.
  private mutating func blendRGB(
    _ canvas: borrowing Canvas,
    x: Int,
    y: Int,
    _ rows: Range<Int>,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) {
    let start = rows.lowerBound * rowBytes
    let pixels = rows.count * width
    try limits.check(memory: pixels * 4, of: name)
    var part = Bitmap(width: width, height: rows.count, layout: .bgrx, depth: 8) { target in
      samples.withUnsafeBufferPointer { source in
        for pixel in 0..<pixels {
          target[pixel * 4] = source[start + pixel * 3 + 2]
          target[pixel * 4 + 1] = source[start + pixel * 3 + 1]
          target[pixel * 4 + 2] = source[start + pixel * 3]
          target[pixel * 4 + 3] = 255
        }
      }
    }
    try part.blend(canvas, x: x, y: y - rows.lowerBound, limits: limits, name: name)
    samples.withUnsafeMutableBufferPointer { target in
      part.samples.withUnsafeBufferPointer { source in
        for pixel in 0..<pixels {
          target[start + pixel * 3] = source[pixel * 4 + 2]
          target[start + pixel * 3 + 1] = source[pixel * 4 + 1]
          target[start + pixel * 3 + 2] = source[pixel * 4]
        }
      }
    }
  }
}

extension Canvas {
  fileprivate func paint(over surface: borrowing Surface, x: Int, y: Int) -> Bool {
    surface.withImage { paint(over: $0, x: x, y: y) }
  }

  /// Composites by Porter and Duff's `over`.
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
