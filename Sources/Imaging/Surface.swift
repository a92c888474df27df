import CPango
import Glibc

/// An image that pixman works on, freed exactly once.
struct Surface: ~Copyable {
  enum Axis { case row, column }

  let format: pixman_format_code_t
  let width: Int
  let height: Int
  private let image: OpaquePointer

  /// Makes an image; nil when memory is short.
  init?(_ width: Int, _ height: Int, _ format: pixman_format_code_t) {
    guard let image = pixman_image_create_bits(format, Int32(width), Int32(height), nil, 0) else {
      return nil
    }
    self.image = image
    self.format = format
    self.width = width
    self.height = height
  }

  deinit { pixman_image_unref(image) }

  /// Lends the image to a compositing call.
  func withImage<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(image) }

  /// The bytes of a row that belong to pixels.
  func row(_ y: Int) -> UnsafeMutableRawBufferPointer {
    let stride = Int(pixman_image_get_stride(image))
    let pixel = format == PIXMAN_a8 ? 1 : format == PIXMAN_rgba_float ? 16 : 4
    let start = UnsafeMutableRawPointer(pixman_image_get_data(image))?.advanced(by: y * stride)
    return UnsafeMutableRawBufferPointer(start: start, count: width * pixel)
  }

  /// Filters `length` pixels from `start` on along one axis to the size of `target`.
  func scale(
    into target: borrowing Surface,
    along axis: Axis,
    from start: Double,
    length: Double
  ) -> Bool {
    let size = axis == .row ? target.width : target.height
    let step = length / Double(size)
    var transform = pixman_transform()
    pixman_transform_init_identity(&transform)
    let (fixedStep, fixedStart) = (Self.fixed(step), Self.fixed(start))
    if axis == .row {
      transform.matrix.0.0 = fixedStep
      transform.matrix.0.2 = fixedStart
    } else {
      transform.matrix.1.1 = fixedStep
      transform.matrix.1.2 = fixedStart
    }
    // Made smaller, the filter covers as many source pixels as a target pixel does; made larger, it
    // joins the source pixels.
    let stretch = max(step, 1)
    let kernel = format == PIXMAN_rgba_float ? PIXMAN_KERNEL_LINEAR : PIXMAN_KERNEL_LANCZOS2
    let reconstruct = step < 1 ? kernel : PIXMAN_KERNEL_IMPULSE
    let sample = step < 1 ? PIXMAN_KERNEL_IMPULSE : kernel
    let (none, box) = (PIXMAN_KERNEL_IMPULSE, PIXMAN_KERNEL_BOX)
    let one = Self.fixed(1)
    var count: Int32 = 0
    let values =
      axis == .row
      ? pixman_filter_create_separable_convolution(
        &count,
        Self.fixed(stretch),
        one,
        reconstruct,
        none,
        sample,
        box,
        7,
        0
      )
      : pixman_filter_create_separable_convolution(
        &count,
        one,
        Self.fixed(stretch),
        none,
        reconstruct,
        box,
        sample,
        0,
        7
      )
    guard let values else { return false }
    defer { free(values) }
    guard pixman_image_set_transform(image, &transform) != 0,
      pixman_image_set_filter(image, PIXMAN_FILTER_SEPARABLE_CONVOLUTION, values, count) != 0
    else { return false }
    pixman_image_set_repeat(image, PIXMAN_REPEAT_PAD)
    pixman_image_composite32(
      PIXMAN_OP_SRC,
      image,
      nil,
      target.image,
      0,
      0,
      0,
      0,
      0,
      0,
      Int32(target.width),
      Int32(target.height)
    )
    return true
  }

  /// The pixels as a bitmap of the same layout and depth as `other`.
  func bitmap(like other: Bitmap) -> Bitmap {
    Bitmap(width: width, height: height, layout: other.layout, depth: max(other.depth, 8)) {
      let target = UnsafeMutableRawBufferPointer($0)
      let rowBytes = target.count / height
      for y in 0..<height {
        let part = UnsafeMutableRawBufferPointer(
          rebasing: target[y * rowBytes..<(y + 1) * rowBytes]
        )
        switch other.layout {
        case _ where format == PIXMAN_rgba_float:
          unpack(row(y).bindMemory(to: Float.self), into: part, other)
        case .grey, .bgrx, .cmyk: part.copyMemory(from: UnsafeRawBufferPointer(row(y)))
        default: unpack(UnsafeRawBufferPointer(row(y)), into: part, other.layout)
        }
      }
    }
  }

  /// Puts a row of alpha and three lights multiplied by it into light and alpha.
  private func unpack(
    _ row: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer,
    _ layout: Bitmap.Layout
  ) {
    let channels = layout.channels
    let hasAlpha = layout != .rgb
    for x in 0..<width {
      let alpha = hasAlpha ? Int(row[x * 4 + 3]) : 255
      for channel in 0..<min(channels, 3) {
        let light = alpha > 0 ? (Int(row[x * 4 + channel]) * 255 + alpha / 2) / alpha : 0
        target[x * channels + channel] = UInt8(min(light, 255))
      }
      if hasAlpha { target[x * channels + channels - 1] = UInt8(alpha) }
    }
  }

  private func unpack(
    _ row: UnsafeMutableBufferPointer<Float>,
    into target: UnsafeMutableRawBufferPointer,
    _ other: Bitmap
  ) {
    let channels = other.layout.channels
    let peak = Float((1 << max(other.depth, 8)) - 1)
    let hasAlpha = other.layout == .greyAlpha || other.layout == .rgba
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

  private static func fixed(_ value: Double) -> pixman_fixed_t {
    pixman_fixed_t((value * 65_536).rounded())
  }
}
