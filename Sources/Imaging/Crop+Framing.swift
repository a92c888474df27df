extension Crop {
  /// A decoded result, upright, how it was framed, and what its input was like.
  struct Decoded {
    let bitmap: Bitmap
    let framing: Framing
    let isDamaged: Bool
  }

  /// How a picture goes into its frame, drawn to a point, or to what gravity says of its size alone.
  func framing(_ probe: PictureProbe, focus: Focus? = nil) -> Framing {
    let upright = PixelSize(width: probe.width, height: probe.height)
    return Framing(
      upright,
      frame: frame,
      fit: fit,
      focus: focus ?? Focus(gravity, in: upright),
      gravity: gravity,
      enlarges: enlarges
    )
  }

  /// Whether it takes pixels to know which part of a picture is kept.
  func needsLook(at probe: PictureProbe) -> Bool {
    gravity == .attention
      && framing(probe).window.size != PixelSize(width: probe.width, height: probe.height)
  }

  /// How a picture goes into its frame; where pixels decide on that, they are decoded for it alone.
  func framing(of file: PictureFile) throws(ImagingError) -> Framing {
    guard needsLook(at: file.probe) else { return framing(file.probe) }
    let glance: Bitmap
    switch file.probe.structure {
    case .jpeg:
      let header = try JPEGCodec.header(of: file)
      glance = try JPEGCodec.glance(file, layout: header.layout, limits)
    case .png:
      let stored = file.probe.stored
      let rows = Array(stride(from: 0, to: stored.height, by: Attention.step(for: stored)))
      let whole = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
      glance = try PNGCodec.pick(rows, of: file, whole, form: .expanded, limits)
    case .webp, .avif, .gif:
      let stored = file.probe.stored
      let whole = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
      glance = try file.decode(whole, limits)
    }
    return try framing(file, whole: glance)
  }

  /// How a picture goes into its frame, of which `whole` is all, stored as it is, at any scale.
  func framing(_ file: PictureFile, whole: Bitmap) throws(ImagingError) -> Framing {
    let probe = file.probe
    let upright = PixelSize(width: probe.width, height: probe.height)
    let small = try whole.glance(of: probe.stored, limits: limits, name: file.name)
    let attention = Attention(small.upright(from: probe.orientation))
    return framing(
      probe,
      focus: attention.focus(in: upright, window: framing(probe).window.size)
    )
  }

  /// The ICC profile that says what the samples of a picture mean: its own, or one of the colours that
  /// an AVIF names by number; empty where they are sRGB's.
  func colours(of file: PictureFile) -> [UInt8] {
    let own = PictureTags.profile(of: file, limits)
    guard own.isEmpty, case .avif(let header) = file.probe.structure else { return own }
    return header.colour.profile ?? []
  }

  /// Whether pixels are to become other ones of sRGB.
  func converts(_ file: PictureFile) -> Bool {
    guard convertsToSRGB else { return false }
    if case .jpeg(let markers) = file.probe.structure, markers.sampling.count == 4 { return true }
    return !colours(of: file).isEmpty
  }

  /// The part of a whole picture that is kept, `stored` as it is, scaled and upright where it is not yet, in sRGB where
  /// that is asked for, and on its background where it `isPlaced`.
  func finished(
    _ bitmap: consuming Bitmap,
    _ part: Bitmap.Part? = nil,
    of file: PictureFile,
    _ framing: Framing,
    isScaled: Bool = false,
    isUpright: Bool = false,
    isPlaced: Bool = true
  ) throws(ImagingError) -> Bitmap {
    let orientation = file.probe.orientation
    var bitmap = consume bitmap
    if framing.isScaled, !isScaled {
      let size = orientation.upright(framing.scaled)
      if part?.isAll(of: bitmap) ?? true, bitmap.samples.count >= Bitmap.leastInStrips {
        bitmap = try (consume bitmap).scaledInStrips(
          width: size.width,
          height: size.height,
          limits: limits,
          name: file.name
        )
      } else {
        bitmap = try (consume bitmap).expanded().scaled(
          part,
          width: size.width,
          height: size.height,
          limits: limits,
          name: file.name
        )
      }
    }
    if !isUpright { bitmap.turnUpright(from: orientation) }
    if convertsToSRGB, bitmap.layout != .cmyk {
      bitmap = try (consume bitmap).inSRGB(from: colours(of: file), name: file.name)
    }
    guard framing.isPadded, isPlaced else { return bitmap }
    let target = target(for: file)
    var isInverted = true
    if bitmap.layout == .cmyk { isInverted = try JPEGCodec.header(of: file).hasAdobe }
    return try (consume bitmap).framed(
      framing,
      on: background,
      keepsAlpha: target != .jpeg,
      isInverted: isInverted,
      limits: limits,
      name: file.name
    )
  }
}
