extension Crop {
  /// The format that is written.
  func target(for file: PictureFile) -> PictureFormat { format ?? file.probe.format.kept }

  /// Crops a picture that does not go from JPEG to JPEG or from PNG to PNG.
  func cropAny(_ file: PictureFile) throws(ImagingError) -> EncodedPicture {
    let target = target(for: file)
    let keepsSamples = keepsSamples(of: file, as: target)
    if lossless, !keepsSamples, isStrict {
      throw ImagingError(
        .unsupported,
        "cannot crop \(file.name) without loss: it becomes a \(target.name) of fewer colours",
        remedy: .encodeAnew
      )
    }
    let square = try decoded(file, coloured: target != .png && target != .jpeg)
    let (framing, isDamaged) = (square.framing, square.isDamaged)
    let bitmap = (consume square).bitmap
    var picture = try encode(
      consume bitmap,
      framing,
      from: file,
      as: target,
      lossless: keepsSamples
    )
    picture.isDamaged = isDamaged
    if lossless, picture.method != .lossless { picture.remarks.insert(.notLossless) }
    return picture
  }

  /// Whether samples are to be kept, and can be: a lossless WebP's always are.
  private func keepsSamples(of file: PictureFile, as target: PictureFormat) -> Bool {
    guard target != .jpeg else { return false }
    if case .webp(let chunks) = file.probe.structure, chunks.isLossless, target == .webp {
      return true
    }
    return lossless && (target == .png || file.probe.depth <= 8)
  }

  /// Encodes a result of `file`; without loss where `lossless`.
  func encode(
    _ bitmap: consuming Bitmap,
    _ framing: Framing,
    from file: PictureFile,
    as target: PictureFormat,
    lossless: Bool
  ) throws(ImagingError) -> EncodedPicture {
    let isGrey = bitmap.layout == .grey || bitmap.layout == .greyAlpha
    var isInk = false
    if case .jpeg(let markers) = file.probe.structure { isInk = markers.sampling.count == 4 }
    let isConverted = converts(file)
    var tags = PictureTags(
      of: file,
      width: bitmap.width,
      height: bitmap.height,
      metadata: keepsMetadata,
      isGrey: isGrey && (target == .png || target == .jpeg) && !isInk,
      limits: limits
    )
    if convertsToSRGB {
      tags.profile = []
    } else if target != .avif, tags.profile.isEmpty, case .avif = file.probe.structure {
      // What an AVIF says by numbers, others say by a profile.
      tags.profile = colours(of: file)
    }
    let encoding = PictureEncoding(
      format: target,
      quality: quality,
      isProgressive: isProgressive,
      chroma: chroma,
      isConverted: isConverted,
      lossless: lossless,
      background: background,
      hasNewColours: framing.isPadded && background.map { !$0.isGrey && $0.alpha > 0 } ?? false,
      source: file,
      tags: tags,
      place: place
    )
    let (width, height) = (bitmap.width, bitmap.height)
    let made = try encoding.encode(consume bitmap, name: file.name)
    let isNew = framing.isScaled || framing.isPadded
    return EncodedPicture(
      file: made.file,
      format: target,
      width: width,
      height: height,
      method: made.isLossless && !isNew && !isConverted ? .lossless : .reencoded,
      shift: EncodedPicture.Shift(),
      isDamaged: false,
      gravity: EncodedPicture.Point(framing.focus)
    )
  }

  /// The result of any picture as pixels, upright and of the size asked for; inks as light, and
  /// with `coloured` grey and indices as colour.
  func decoded(_ file: PictureFile, coloured: Bool) throws(ImagingError) -> Decoded {
    switch file.probe.structure {
    case .jpeg:
      let header = try JPEGCodec.header(of: file)
      let layout: Bitmap.Layout = coloured && header.layout == .grey ? .bgrx : header.layout
      let square = try decodedJPEG(file, layout: layout)
      guard layout == .cmyk else { return square }
      let (framing, isDamaged) = (square.framing, square.isDamaged)
      return Decoded(
        bitmap: try (consume square).bitmap.lit(
          profile: file.profile,
          isInverted: header.hasAdobe,
          name: file.name
        ),
        framing: framing,
        isDamaged: isDamaged
      )
    case .png: return try decodedPNG(file, form: coloured ? .coloured : .expanded)
    case .webp, .avif, .gif: return try decodedWhole(file, coloured: coloured)
    }
  }

  /// The result of a picture whose library decodes all of it whatever part is asked for.
  private func decodedWhole(
    _ file: PictureFile,
    coloured: Bool
  ) throws(ImagingError) -> Decoded {
    let (probe, stored) = (file.probe, file.probe.stored)
    var framing = framing(probe)
    let looks = needsLook(at: probe)
    var region = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
    if !looks { region = probe.orientation.stored(framing.window, in: stored) }
    var bitmap: Bitmap
    var part: Bitmap.Part?
    var isScaled = false
    if case .webp(let chunks) = probe.structure, framing.isScaled,
      let made = try WebPCodec.decode(file, chunks, region, smaller: framing.spare, limits)
    {
      (bitmap, part) = made
    } else if case .gif(let blocks) = probe.structure, framing.isScaled, !looks {
      bitmap = try GIFCodec.scaled(file, blocks, region, to: framing.scaled, limits)
      isScaled = true
    } else {
      bitmap = try file.decode(region, limits)
    }
    if looks {
      framing = try self.framing(file, whole: bitmap)
      let window = probe.orientation.stored(framing.window, in: stored)
      if let all = part { part = all.inside(region, window) } else { bitmap.keep(window) }
    }
    if coloured, !framing.isScaled { bitmap = (consume bitmap).expanded() }
    return Decoded(
      bitmap: try finished(consume bitmap, part, of: file, framing, isScaled: isScaled),
      framing: framing,
      isDamaged: probe.isCutShort
    )
  }
}

extension PictureFile {
  /// A region of a stored WebP, AVIF or GIF in the layout that its codec has it.
  func decode(_ region: PixelRegion, _ limits: PictureLimits) throws(ImagingError) -> Bitmap {
    switch probe.structure {
    case .webp(let chunks): try WebPCodec.decode(self, chunks, region, limits)
    case .avif(let header): try AVIFCodec.decode(self, header, region, limits)
    case .gif(let blocks): try GIFCodec.decode(self, blocks, region, limits)
    case .jpeg:
      try JPEGCodec.decode(self, region, layout: JPEGCodec.header(of: self).layout, limits).value
    case .png: try PNGCodec.decode(self, region, form: .expanded, limits)
    }
  }
}
