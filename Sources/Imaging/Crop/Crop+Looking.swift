import Base

extension Crop {
  /// How a picture goes into its frame, drawn to a point, or by gravity and its size alone.
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

  /// How a picture goes into its frame; where pixels decide on that, it is decoded for them alone, as small as may be.
  func framing(of file: PictureFile) throws(LarderError) -> Framing {
    let probe = file.probe
    guard needsLook(at: probe) else { return framing(probe) }
    let stored = probe.stored
    var request = plan(of: probe, framing(probe)).request
    request.region = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
    var bytes = stored.width * stored.height * max(probe.channels, 3) * (probe.depth > 8 ? 2 : 1)
    if probe.structure is JPEGMarkers {
      let layout = try JPEGCodec.header(of: file).layout
      let eighths = request.scaling.map { JPEGCodec.eighths(for: $0) } ?? 8
      bytes = stored.width * stored.height * layout.channels * eighths * eighths / 64
      if eighths == 8 || bytes > Attention.mostBytes {
        return try framing(file, whole: JPEGCodec.glance(file, layout: layout, limits))
      }
    }
    let step = bytes > Attention.mostBytes ? Attention.step(for: stored) : 1
    let glance = try file.withRows(request, limits) { (rows) throws(LarderError) in
      try rows.source.thinned(every: step, limits, name: file.name)
    }
    return try framing(file, whole: glance)
  }

  /// How a picture goes into its frame, of which `whole` is all, stored as it is, at any scale.
  func framing(_ file: PictureFile, whole: Bitmap) throws(LarderError) -> Framing {
    let probe = file.probe
    let upright = PixelSize(width: probe.width, height: probe.height)
    let small = try whole.glance(of: probe.stored, limits: limits, name: file.name)
    let attention = Attention(small.upright(from: probe.orientation))
    return framing(
      probe,
      focus: attention.focus(in: upright, window: framing(probe).window.size)
    )
  }

  /// The ICC profile of a picture's samples: its own, or one of the colours that an AVIF names by
  /// number; empty where they are sRGB's.
  func colours(of file: PictureFile) -> [UInt8] {
    let own = file.probe.structure.profile(of: file, limits)
    return own.isEmpty ? file.probe.structure.namedProfile : own
  }

  /// Whether pixels are to become other ones of sRGB.
  func converts(_ file: PictureFile) -> Bool {
    convertsToSRGB && (file.probe.structure.isInk || !colours(of: file).isEmpty)
  }
}
