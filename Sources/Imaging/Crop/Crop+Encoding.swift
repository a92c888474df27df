import Base

extension Crop {
  /// Encodes rows that were made from the pixels of `file`.
  func encoded(
    _ rows: any RowSource,
    _ framing: Framing,
    from file: PictureFile,
    opening open: PartFile.Opening?,
    isStamped: Bool
  ) throws(LarderError) -> EncodedPicture {
    let target = target(of: file.probe.format)
    let place = open.map { PNGOutput.Place(open: $0, most: heldBytes) }
    switch file.probe.structure {
    case is JPEGMarkers where target == .jpeg:
      return try encodedLike(rows, framing, from: file, isStamped: isStamped)
    case let chunks as PNGChunks where target == .png:
      return try encodedLike(rows, chunks, framing, from: file, to: place, isStamped: isStamped)
    default:
      return try encoded(rows, framing, from: file, as: target, to: place, isStamped: isStamped)
    }
  }

  /// A picture whose properties follow from its framing and encoding.
  func picture(
    _ file: EncodedFile,
    _ format: PictureFormat,
    _ framing: Framing,
    _ method: EncodedPicture.Method
  ) -> EncodedPicture {
    let summary = EncodedPicture.Summary(
      format: format,
      width: framing.canvas.width,
      height: framing.canvas.height,
      method: method,
      gravity: EncodedPicture.Point(framing.focus)
    )
    return EncodedPicture(file: file, summary: summary)
  }

  /// Encodes a JPEG that is made from a JPEG.
  ///
  /// The new JPEG keeps the tables, the sampling, the colour space and the profile of its source if they fit the rows.
  private func encodedLike(
    _ rows: any RowSource,
    _ framing: Framing,
    from file: PictureFile,
    isStamped: Bool
  ) throws(LarderError) -> EncodedPicture {
    let header = try JPEGCodec.header(of: file)
    // Rows that were grey or CMYK and have become RGB cannot use the tables and the profile of the source.
    let isSame = rows.shape.layout == header.layout
    let isLike = isSame && !(chroma != nil && header.isRGB)
    var form = form
    if !isLike, form.quality == nil {
      form.quality = max(file.probe.quality ?? 90, JPEGCodec.leastFine)
    }
    let bytes = try JPEGCodec.encode(
      rows,
      form,
      like: isLike ? file : nil,
      transposed: file.probe.orientation.swapsAxes,
      // A block of a smaller picture has more detail than the blocks for which the tables of the source were made.
      hasNewDetail: framing.isScaled || isStamped,
      name: file.name
    )
    let whole = JPEGSegments.add(
      to: bytes,
      from: file,
      size: framing.canvas,
      profile: isSame && !convertsToSRGB,
      metadata: keepsMetadata
    )
    var picture = picture(.held(whole), .jpeg, framing, .reencoded)
    if lossless, frame == nil, fit == .cover, !isStamped {
      picture.summary.remarks.insert(.notLossless)
    }
    return picture
  }

  /// Encodes a PNG that is made from a PNG, and copies the chunks of the source that are still valid for the result.
  private func encodedLike(
    _ rows: any RowSource,
    _ chunks: PNGChunks,
    _ framing: Framing,
    from file: PictureFile,
    to place: PNGOutput.Place?,
    isStamped: Bool
  ) throws(LarderError) -> EncodedPicture {
    let isConverted = converts(file)
    let isNew = framing.isScaled || framing.isPadded || isConverted
    // A chunk that names a background by its palette index or at a small depth makes no sense without that palette or
    // depth.
    let keepsShape =
      !isStamped
      && (!isNew
        || chunks.colourType != 3 && chunks.depth >= 8 && chunks.transparency == nil
          && !framing.isPadded && !isConverted)
    let isGrey = chunks.colourType == 0 || chunks.colourType == 4
    let output = PNGOutput(
      from: file,
      chunks,
      size: framing.canvas,
      metadata: keepsMetadata,
      keepsShape: keepsShape,
      profile: !(isGrey && rows.shape.layout.channels > 2),
      converted: isConverted,
      to: place
    )
    // libpng needs the whole of an interlaced picture in memory.
    let isSmall = rows.shape.height * rows.shape.rowBytes <= 64 << 20
    let made = try PNGCodec.encode(
      rows,
      interlaced: chunks.isInterlaced && isSmall && !isStamped,
      to: output,
      limits,
      name: file.name
    )
    return picture(made, .png, framing, isNew || isStamped ? .reencoded : .lossless)
  }

  /// Encodes a picture in another format than its source has, or in WebP or AVIF, which are always re-encoded.
  private func encoded(
    _ rows: any RowSource,
    _ framing: Framing,
    from file: PictureFile,
    as target: PictureFormat,
    to place: PNGOutput.Place?,
    isStamped: Bool
  ) throws(LarderError) -> EncodedPicture {
    let keepsSamples = keepsSamples(of: file, as: target, isStamped: isStamped)
    if lossless, !keepsSamples, isStrict, !isStamped {
      throw LarderError(
        .unsupported,
        "cannot crop \(file.name) without loss: \(target.name) cannot hold all of its samples",
        remedy: .encodeAnew
      )
    }
    let isGrey = rows.shape.layout == .grey || rows.shape.layout == .greyAlpha
    let isConverted = converts(file)
    var tags = PictureTags(
      of: file,
      width: framing.canvas.width,
      height: framing.canvas.height,
      metadata: keepsMetadata,
      isGrey: isGrey && (target == .png || target == .jpeg) && !file.probe.structure.isInk,
      limits: limits
    )
    if convertsToSRGB {
      tags.profile = []
    } else if target != .avif, tags.profile.isEmpty, !isGrey {
      // An AVIF can name its colours by numbers. In other formats, the same colours need a profile.
      tags.profile = file.probe.structure.namedProfile
    }
    let encoding = PictureEncoding(
      crop: self,
      isConverted: isConverted,
      // Samples with more bits than the format can hold, such as 16 in a WebP, are rounded. Nothing else is lost.
      lossless: keepsSamples || lossless && !isStamped,
      hasNewColours: framing.isPadded && background.map { !$0.isGrey && $0.alpha > 0 } ?? false,
      source: file,
      tags: tags,
      place: place
    )
    let made = try target.codec.encode(rows, encoding)
    let isNew = framing.isScaled || framing.isPadded || isConverted || isStamped
    let isLossless = (target == .png || keepsSamples) && !isNew
    var picture = picture(made, target, framing, isLossless ? .lossless : .reencoded)
    if target != .png, (file.probe.structure as? PNGChunks)?.hasOwnGamma == true {
      picture.summary.remarks.insert(.noGamma)
    }
    if lossless, !isStamped, !isLossless { picture.summary.remarks.insert(.notLossless) }
    return picture
  }

  /// Whether the result keeps the samples exactly.
  ///
  /// This is true for a lossless WebP that stays a WebP. For other pictures it is true on request, if the format can
  /// hold the samples.
  private func keepsSamples(
    of file: PictureFile,
    as target: PictureFormat,
    isStamped: Bool
  ) -> Bool {
    guard target != .jpeg else { return false }
    if let chunks = file.probe.structure as? WebPChunks, chunks.isLossless, target == .webp {
      return true
    }
    return !isStamped && lossless && (target == .png || file.probe.depth <= 8)
  }
}
