import CPango

extension Bitmap {
  /// A part of a bitmap, in pixels that need not be whole.
  struct Part {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
  }

  /// The picture scaled to `width` × `height` by pixman, once along each axis.
  ///
  /// Samples of 8 bits by a Lanczos filter; those of 16 bits in floating point by a triangle, as
  /// pixman 0.42 sums in unsigned numbers there and a filter with negative lobes wraps around.
  /// Colours are multiplied by alpha meanwhile, so that clear pixels do not bleed. Indexed bitmaps
  /// cannot be scaled.
  func scaled(
    _ part: Part? = nil,
    width: Int,
    height: Int,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    let part = part ?? Part(x: 0, y: 0, width: Double(self.width), height: Double(self.height))
    let bytes = depth == 16 ? 16 : layout == .grey ? 1 : 4
    try limits.check(memory: bytes * max(self.height * max(width, self.width), 1), of: name)
    guard let source = surface(), let wide = Surface(width, self.height, source.format),
      let target = Surface(width, height, source.format)
    else { throw .tooLarge(name, "there is not enough memory") }
    guard source.scale(into: wide, along: .row, from: part.x, length: part.width),
      wide.scale(into: target, along: .column, from: part.y, length: part.height)
    else { throw .tooLarge(name, "there is not enough memory") }
    return target.bitmap(like: self)
  }

  /// The pixels as an image that pixman scales; nil when memory is short.
  private func surface() -> Surface? {
    guard depth == 8 else { return floatingSurface() }
    let format =
      switch layout {
      case .grey: PIXMAN_a8
      case .bgrx: PIXMAN_x8r8g8b8
      // Four inks are four channels to a filter, whatever it calls them.
      default: PIXMAN_a8r8g8b8
      }
    guard let surface = Surface(width, height, format) else { return nil }
    samples.withUnsafeBytes { samples in
      for y in 0..<height {
        let row = UnsafeRawBufferPointer(rebasing: samples[y * rowBytes..<(y + 1) * rowBytes])
        switch layout {
        case .grey, .bgrx, .cmyk: surface.row(y).copyMemory(from: row)
        default: pack(row, into: surface.row(y))
        }
      }
    }
    return surface
  }

  /// Puts a row of light and alpha into alpha and three lights multiplied by it.
  private func pack(_ row: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    let channels = layout.channels
    let hasAlpha = layout != .rgb
    let isGrey = channels < 3
    for x in 0..<width {
      let start = x * channels
      let alpha = hasAlpha ? Int(row[start + channels - 1]) : 255
      for colour in 0..<3 {
        let light = Int(row[isGrey ? start : start + colour])
        target[x * 4 + colour] = UInt8((light * alpha + 127) / 255)
      }
      target[x * 4 + 3] = UInt8(alpha)
    }
  }

  /// The picture as red, green, blue and alpha in floating point, multiplied by alpha.
  func floatingSurface() -> Surface? {
    guard let surface = Surface(width, height, PIXMAN_rgba_float) else { return nil }
    let channels = layout.channels
    let scale = 1 / Float((1 << max(depth, 8)) - 1)
    let isGrey = channels < 3
    let hasAlpha = layout == .greyAlpha || layout == .rgba
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
