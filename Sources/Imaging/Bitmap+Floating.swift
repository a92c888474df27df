import CPixman

extension Bitmap {
  /// The picture as red, green, blue and alpha in floating point, multiplied by alpha.
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
