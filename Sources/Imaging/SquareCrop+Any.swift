extension SquareCrop {
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
    let isDamaged = square.isDamaged
    let bitmap = (consume square).bitmap
    var picture = try encode(bitmap, from: file, as: target, lossless: keepsSamples)
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

  /// Encodes a square of `file`; without loss where `lossless`.
  func encode(
    _ bitmap: Bitmap,
    from file: PictureFile,
    as target: PictureFormat,
    lossless: Bool
  ) throws(ImagingError) -> EncodedPicture {
    let isGrey = bitmap.layout == .grey || bitmap.layout == .greyAlpha
    var isInk = false
    if case .jpeg(let markers) = file.probe.structure { isInk = markers.sampling.count == 4 }
    let encoding = PictureEncoding(
      format: target,
      quality: quality,
      lossless: lossless,
      source: file,
      tags: PictureTags(
        of: file,
        width: bitmap.width,
        height: bitmap.height,
        metadata: keepsMetadata,
        isGrey: isGrey && (target == .png || target == .jpeg) && !isInk,
        limits: limits
      )
    )
    let made = try encoding.encode(bitmap, name: file.name)
    let isScaled = size != nil && size != square(in: file.probe).width
    return EncodedPicture(
      bytes: made.bytes,
      format: target,
      width: bitmap.width,
      height: bitmap.height,
      method: made.isLossless && !isScaled ? .lossless : .reencoded,
      shift: EncodedPicture.Shift(),
      isDamaged: false
    )
  }

  /// The square of any picture as pixels, upright and of the size asked for; inks as light, and
  /// with `coloured` grey and indices as colour.
  func decoded(_ file: PictureFile, coloured: Bool) throws(ImagingError) -> Square {
    switch file.probe.structure {
    case .jpeg:
      let header = try JPEGCodec.header(of: file)
      let layout: Bitmap.Layout = coloured && header.layout == .grey ? .bgrx : header.layout
      let square = try decodedJPEG(file, layout: layout)
      guard layout == .cmyk else { return square }
      let isDamaged = square.isDamaged
      return Square(
        bitmap: try (consume square).bitmap.lit(
          profile: file.profile,
          isInverted: header.hasAdobe,
          name: file.name
        ),
        isDamaged: isDamaged
      )
    case .png:
      return Square(
        bitmap: try decodedPNG(file, form: coloured ? .coloured : .expanded),
        isDamaged: false
      )
    case .webp, .avif, .gif:
      let exact = square(in: file.probe)
      let region = file.probe.orientation.stored(exact, in: file.probe.stored)
      var bitmap = try file.decode(region, limits)
      let isScaled = size ?? exact.width != exact.width
      if coloured || isScaled { bitmap = bitmap.expanded() }
      if isScaled, let size {
        bitmap = try bitmap.scaled(width: size, height: size, limits: limits, name: file.name)
      }
      bitmap.turnUpright(from: file.probe.orientation)
      return Square(bitmap: bitmap, isDamaged: file.probe.isCutShort)
    }
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
