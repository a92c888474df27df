extension Bitmap {
  /// The bitmap on a canvas, around it background; indices become the colours that they stand for.
  ///
  /// Grey gets colour, and where `keepsAlpha` what is opaque gets alpha, when the background asks
  /// for them. Without a background it is clear where the picture has alpha that is kept, else white.
  func framed(
    _ framing: Framing,
    on background: PictureColour?,
    keepsAlpha: Bool,
    isInverted: Bool = true,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    guard framing.isPadded else { return self }
    let canvas = framing.canvas
    var picture = expanded()
    let hasAlpha = picture.layout == .rgba || picture.layout == .greyAlpha
    let colour = background ?? (hasAlpha && keepsAlpha ? .transparent : .white)
    if keepsAlpha, colour.alpha < 255, !hasAlpha { picture = picture.withAlpha() }
    // A clear background has no colour to show.
    if !colour.isGrey, colour.alpha > 0 { picture = picture.coloured() }
    try limits.check(width: canvas.width, height: canvas.height, of: name)
    try limits.check(memory: canvas.width * canvas.height * picture.pixelBytes, of: name)
    let samples = colour.samples(in: picture.layout, isInverted: isInverted)
    // 257 times a byte is the same light in two.
    let pixel = picture.depth == 16 ? samples.flatMap { [$0, $0] } : samples
    let row = (0..<canvas.width).flatMap { _ in pixel }
    let (from, to) = (picture.rowBytes, row.count)
    return Bitmap(
      width: canvas.width,
      height: canvas.height,
      layout: picture.layout,
      depth: picture.depth
    ) { target in
      let target = UnsafeMutableRawBufferPointer(target)
      picture.samples.withUnsafeBytes { source in
        for y in 0..<canvas.height {
          UnsafeMutableRawBufferPointer(rebasing: target[y * to..<(y + 1) * to])
            .copyBytes(from: row)
          let line = y - framing.place.y
          guard line >= 0, line < picture.height else { continue }
          let start = y * to + framing.place.x * picture.pixelBytes
          UnsafeMutableRawBufferPointer(rebasing: target[start..<start + from])
            .copyBytes(from: source[line * from..<(line + 1) * from])
        }
      }
    }
  }

  /// The bitmap without alpha, over a colour; one that has none as it is.
  func laid(on colour: PictureColour) -> Bitmap {
    let picture = expanded().narrowed().coloured()
    guard picture.layout == .rgba else { return self }
    return Bitmap(width: width, height: height, layout: .rgb, depth: 8) {
      picture.flatten(into: $0, .rgb, on: colour.onWhite)
    }
  }

  /// Light with opaque alpha, `rgba` or `greyAlpha`; inks, indices and what has alpha as they are.
  func withAlpha() -> Bitmap {
    let isSwapped = layout == .bgrx
    let to: Layout = layout == .grey ? .greyAlpha : .rgba
    guard layout == .grey || layout == .rgb || layout == .bgrx, depth >= 8 else { return self }
    let (step, colours, bytes) = (layout.channels, to.channels - 1, depth == 16 ? 2 : 1)
    return Bitmap(width: width, height: height, layout: to, depth: depth) { target in
      samples.withUnsafeBufferPointer { source in
        var place = 0
        for pixel in 0..<width * height {
          let start = pixel * step * bytes
          for channel in 0..<colours {
            let from = start + (isSwapped ? 2 - channel : channel) * bytes
            for byte in 0..<bytes { target[place + byte] = source[from + byte] }
            place += bytes
          }
          for byte in 0..<bytes { target[place + byte] = 255 }
          place += bytes
        }
      }
    }
  }
}
