import Base

extension Crop {
  /// The framing of a picture around `focus`.
  ///
  /// If there is no focus, the framing depends only on the gravity and on the picture's size.
  func framing(_ probe: PictureProbe, focus: Focus? = nil) -> Framing {
    let upright = PixelSize(width: probe.width, height: probe.height)
    return Framing(upright, self, focus: focus ?? Focus(gravity, in: upright))
  }

  /// Whether the picture has to be decoded to find the part that is kept.
  func needsLook(at probe: PictureProbe) -> Bool {
    gravity == .attention
      && framing(probe).window.size != PixelSize(width: probe.width, height: probe.height)
  }

  /// The framing of a picture.
  ///
  /// If it depends on the pixels, the picture is decoded first, at a size as small as possible.
  func framing(of file: PictureFile) throws(LarderError) -> Framing {
    let probe = file.probe
    guard needsLook(at: probe) else { return framing(probe) }
    let stored = probe.stored
    let planned = plan(of: probe, framing(probe)).request
    let whole = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
    var request = RowRequest(region: whole, scaling: planned.scaling, isNative: planned.isNative)
    var bytes = stored.width * stored.height * max(probe.channels, 3) * (probe.depth > 8 ? 2 : 1)
    if let markers = probe.structure as? JPEGMarkers {
      let layout = try markers.layout(limits.named(file.name))
      let eighths = request.scaling.map { JPEGCodec.eighths(for: $0) } ?? 8
      bytes = stored.width * stored.height * layout.channels * eighths * eighths / 64
      request.isPreview = eighths == 8 || bytes > Attention.mostBytes
    }
    let isThinned = bytes > Attention.mostBytes && !request.isPreview
    let step = isThinned ? Attention.step(for: stored) : 1
    let thumbnail = try file.withRows(request, limits) { (rows) throws(LarderError) in
      try rows.source.thinned(every: step, limits.named(file.name))
    }
    return try framing(file, whole: thumbnail)
  }

  /// The framing around the most salient part of a picture.
  ///
  /// `whole` shows the whole picture at any scale, in its stored orientation.
  func framing(_ file: PictureFile, whole: Bitmap) throws(LarderError) -> Framing {
    let (probe, limits) = (file.probe, limits.named(file.name))
    let upright = PixelSize(width: probe.width, height: probe.height)
    let small = try whole.thumbnail(of: probe.stored, limits)
    let shown = try BitmapRows(small).collected(from: probe.orientation, limits)
    let window = framing(probe).window.size
    return framing(probe, focus: Attention(shown).focus(in: upright, window: window))
  }

  /// The ICC profile of a picture's samples; empty if the samples are assumed to be sRGB.
  ///
  /// It is the profile in the file. If an AVIF has no profile, but names its colours by code numbers (CICP), a profile
  /// is made from these numbers.
  func colours(of file: PictureFile) -> [UInt8] {
    let own = file.probe.structure.profile
    return own.isEmpty ? file.probe.structure.namedProfile : own
  }

  /// Whether the colours of a picture are converted to sRGB.
  ///
  /// They are if the options say so, or if a grey picture with a profile becomes RGB: a profile for grey does not describe
  /// RGB.
  func converts(_ file: PictureFile, _ framing: Framing, isStamped: Bool = false) -> Bool {
    let profile = colours(of: file)
    if convertsToSRGB { return file.probe.structure.isInk || !profile.isEmpty }
    let target = target(of: file.probe.format)
    let becomesRGB =
      isStamped || target == .webp || target == .avif || hasColouredPad(framing)
    return becomesRGB && PictureTags.isProfile(profile, of: "GRAY")
  }

  /// Whether a coloured background shows beside the picture.
  func hasColouredPad(_ framing: Framing) -> Bool {
    framing.isPadded && background.map { !$0.isGrey && $0.alpha > 0 } ?? false
  }
}
