import CPixman
import Glibc

/// An image of red, green, blue and alpha in floating point that pixman works on, freed exactly once.
struct Surface: ~Copyable {
  let width: Int
  let height: Int
  private let image: OpaquePointer

  /// Makes an image; nil when memory is short.
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

  /// Lends the image to a compositing call.
  func withImage<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(image) }

  /// The bytes of a row that belong to pixels.
  func row(_ y: Int) -> UnsafeMutableRawBufferPointer {
    let stride = Int(pixman_image_get_stride(image))
    let start = UnsafeMutableRawPointer(pixman_image_get_data(image))?.advanced(by: y * stride)
    return UnsafeMutableRawBufferPointer(start: start, count: width * 16)
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
        unpack(row(y).bindMemory(to: Float.self), into: part, other)
      }
    }
  }

  /// Puts a row of three lights multiplied by alpha, and alpha, into samples.
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
