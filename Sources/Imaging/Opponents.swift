/// A picture's colours as the eye tells them apart: light, red against green, yellow against blue.
struct Opponents {
  let light: Plane
  let redness: Plane
  let yellowness: Plane
  /// How near each place is to the tones of skin, of whatever shade, 0 to 1.
  let skin: Plane
  /// How opaque each place is; nil where all are.
  let alpha: Plane?

  /// Takes the colours of a picture of 8 bits, `rgb`, `rgba` or `bgrx`, each averaged with those next to it.
  init(_ picture: Bitmap) {
    let (width, height) = (picture.width, picture.height)
    let step = picture.layout.channels
    let isSwapped = picture.layout == .bgrx
    let hasAlpha = picture.layout == .rgba
    func plane(_ channel: Int) -> Plane {
      let values = (0..<width * height).map { Float(picture.samples[$0 * step + channel]) / 255 }
      return Plane(width: width, height: height, values: values)
    }
    let opacity = hasAlpha ? plane(3) : nil
    func colour(_ channel: Int) -> Plane {
      // What is clear is grey to whoever looks for colours.
      let solid = opacity.map { plane(channel).combined($0) { $0 * $1 + 0.5 * (1 - $1) } }
      return (solid ?? plane(channel)).averaged(1)
    }
    let (red, green, blue) = (colour(isSwapped ? 2 : 0), colour(1), colour(isSwapped ? 0 : 2))
    light = red.combined(green) { 0.299 * $0 + 0.587 * $1 }.combined(blue) { $0 + 0.114 * $1 }
    redness = red.combined(green) { $0 - $1 }
    yellowness = red.combined(green) { ($0 + $1) / 2 }.combined(blue) { $0 - $1 }
    alpha = opacity
    var values: [Float] = []
    for index in 0..<width * height {
      let (red, green) = (red.values[index], green.values[index])
      let (sum, light) = (red + green + blue.values[index] + 0.001, light.values[index])
      let (redder, greener) = ((red / sum - 0.43) / 0.06, (green / sum - 0.32) / 0.03)
      // A bell around the chromaticity of skin, by its square; neither black nor glaring white.
      let near = 1 / (1 + redder * redder + greener * greener)
      let (dark, glaring) = ((light - 0.08) * 5, (0.97 - light) * 8)
      let seen = min(max(dark, 0), 1) * min(max(glaring, 0), 1)
      values.append(near * near * seen)
    }
    skin = Plane(width: width, height: height, values: values)
  }
}
