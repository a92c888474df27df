/// A picture's colours as the eye tells them apart.
struct Opponents {
  /// Light, red against green, yellow against blue; and how near each place is to the tones of skin, of
  /// whatever shade, 0 to 1.
  let planes: FourPlanes
  /// How opaque each place is; nil where all are.
  let alpha: Plane?

  /// Takes the colours of a picture of 8 bits, `rgb`, `rgba` or `bgrx`, each averaged with those next to it.
  init(_ picture: Bitmap) {
    let (width, height) = (picture.width, picture.height)
    let step = picture.layout.channels
    let (red, blue) = picture.layout == .bgrx ? (2, 0) : (0, 2)
    let hasAlpha = picture.layout == .rgba
    var opacity: [Float] = []
    let colours = picture.samples.withUnsafeBufferPointer { samples in
      (0..<width * height).map { index -> SIMD4<Float> in
        let (red, green, blue) = (
          samples[index * step + red], samples[index * step + 1], samples[index * step + blue]
        )
        let colour = SIMD4(Float(red), Float(green), Float(blue), 0) / 255
        guard hasAlpha else { return colour }
        let alpha = Float(samples[index * step + 3]) / 255
        opacity.append(alpha)
        // What is clear is grey to whoever looks for colours.
        return colour * alpha + 0.5 * (1 - alpha)
      }
    }
    var planes = FourPlanes(width: width, height: height, values: colours).averaged(1)
    planes.replace { Self.opposed($0.x, $0.y, $0.z) }
    self.planes = planes
    alpha = hasAlpha ? Plane(width: width, height: height, values: opacity) : nil
  }

  private static func opposed(_ red: Float, _ green: Float, _ blue: Float) -> SIMD4<Float> {
    let light = 0.299 * red + 0.587 * green + 0.114 * blue
    let sum = red + green + blue + 0.001
    let (redder, greener) = ((red / sum - 0.43) / 0.06, (green / sum - 0.32) / 0.03)
    // A bell around the chromaticity of skin, by its square; neither black nor glaring white.
    let near = 1 / (1 + redder * redder + greener * greener)
    let (dark, glaring) = ((light - 0.08) * 5, (0.97 - light) * 8)
    let seen = min(max(dark, 0), 1) * min(max(glaring, 0), 1)
    return SIMD4(light, red - green, (red + green) / 2 - blue, near * near * seen)
  }
}
