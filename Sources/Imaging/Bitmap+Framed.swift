extension Bitmap {
  /// The bitmap on a canvas, around it background; indices become the colours that they stand for.
  ///
  /// Grey gets colour, and where `keepsAlpha` what is opaque gets alpha, when the background asks
  /// for them. Without a background it is clear where the picture has alpha that is kept, else white.
  consuming func framed(
    _ framing: Framing,
    on background: PictureColour?,
    keepsAlpha: Bool,
    isInverted: Bool = true,
    limits: PictureLimits,
    name: String
  ) throws(ImagingError) -> Bitmap {
    guard framing.isPadded else { return self }
    let canvas = framing.canvas
    var picture = (consume self).expanded()
    let surround = Surround(background, around: picture.layout, keepsAlpha: keepsAlpha)
    if surround.needsAlpha { picture = (consume picture).withAlpha() }
    if surround.needsColour { picture = (consume picture).coloured() }
    try limits.check(width: canvas.width, height: canvas.height, of: name)
    let frame = PixelRegion(
      x: framing.place.x,
      y: framing.place.y,
      width: picture.width,
      height: picture.height
    )
    let pixel = surround.colour.pixel(
      in: picture.layout,
      depth: picture.depth,
      isInverted: isInverted
    )
    return try (consume picture).placed(
      frame,
      over: PixelRegion(x: 0, y: 0, width: canvas.width, height: canvas.height),
      background: pixel,
      limits,
      name: name
    )
  }

  /// The bitmap without alpha, over a colour; one that has none as it is.
  consuming func laid(on colour: PictureColour) -> Bitmap {
    var hasAlpha = layout.hasAlpha
    if case .indexed(let palette) = layout { hasAlpha = palette.hasAlpha }
    return hasAlpha ? (consume self).flattened(.rgb, on: colour) : self
  }

  /// Light with opaque alpha, `rgba` or `greyAlpha`; inks, indices and what has alpha as they are.
  consuming func withAlpha() -> Bitmap {
    let isSwapped = layout == .bgrx
    let to = layout.withAlpha
    let depth = depth
    guard layout == .grey || layout == .rgb || layout == .bgrx, depth >= 8 else { return self }
    let (step, colours, bytes) = (layout.channels, to.channels - 1, depth == 16 ? 2 : 1)
    return (consume self).remade(as: to, depth: depth) { source, target in
      var place = 0
      for start in stride(from: 0, to: source.count, by: step * bytes) {
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
