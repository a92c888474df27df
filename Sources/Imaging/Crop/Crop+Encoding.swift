import Base

extension Crop {
  /// Encodes rows that were made from the pixels of `file`.
  func encoded(
    _ rows: any RowSource,
    _ plan: CropPlan,
    from file: PictureFile,
    opening open: PartFile.Opening?
  ) throws(LarderError) -> EncodedPicture {
    let target = target(of: file.probe.format)
    let place = open.map { PNGCodec.Place(open: $0, most: heldBytes) }
    switch file.probe.structure {
    case let markers as JPEGMarkers where target == .jpeg:
      return try encodedLike(rows, markers, plan, from: file)
    case let chunks as PNGChunks where target == .png:
      return try encodedLike(rows, chunks, plan, from: file, to: place)
    default:
      return try encoded(rows, plan, from: file, as: target, to: place)
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

  /// The profile of `file`, and its metadata if that is kept.
  private func tags(of file: PictureFile, _ plan: CropPlan) -> PictureTags {
    PictureTags(of: file, size: plan.framing.canvas, metadata: keepsMetadata)
  }

  /// Encodes a JPEG that is made from a JPEG.
  ///
  /// The new JPEG keeps the tables, the sampling, the colour space and the profile of its source if they fit the rows.
  private func encodedLike(
    _ rows: any RowSource,
    _ markers: JPEGMarkers,
    _ plan: CropPlan,
    from file: PictureFile
  ) throws(LarderError) -> EncodedPicture {
    // Rows that were grey or CMYK and have become RGB cannot use the tables and the profile of the source.
    let layout = try markers.layout(limits.named(file.name))
    let isSame = rows.shape.isStored || rows.shape.layout == layout
    // Only YCbCr has chroma to subsample.
    let isLike = isSame && !(chroma != nil && markers.isRGB)
    var crop = self
    if !isLike || markers.hasLateTable, quality == nil {
      crop.quality = max(file.probe.quality ?? 90, JPEGCodec.leastFine)
    }
    let bytes = try JPEGCodec.encode(
      rows,
      crop,
      like: isLike ? file : nil,
      transposed: file.probe.orientation.swapsAxes,
      // A block of a smaller picture has more detail than the blocks for which the tables of the source were made.
      hasNewDetail: plan.framing.isScaled || plan.isStamped,
      limits.named(file.name)
    )
    var tags = tags(of: file, plan)
    if !isSame || convertsToSRGB { tags.profile = [] }
    var picture = picture(.held(tags.added(toJPEG: bytes)), .jpeg, plan.framing, .reencoded)
    if lossless, frame == nil, fit == .cover, !plan.isStamped {
      picture.summary.remarks.insert(.notLossless)
    }
    return picture
  }

  /// Encodes a PNG that is made from a PNG, and copies the chunks of the source that are still valid for the result.
  private func encodedLike(
    _ rows: any RowSource,
    _ chunks: PNGChunks,
    _ plan: CropPlan,
    from file: PictureFile,
    to place: PNGCodec.Place?
  ) throws(LarderError) -> EncodedPicture {
    let isGrey = chunks.colourType == 0 || chunks.colourType == 4
    var tags = tags(of: file, plan)
    tags.profile = []
    let colours = chunks.colours(
      in: file.bytes,
      profile: !(isGrey && rows.shape.layout.channels > 2),
      converted: plan.isConverted
    )
    // libpng needs the whole of an interlaced picture in memory.
    let isSmall = rows.shape.height * rows.shape.rowBytes <= 64 << 20
    let made = try PNGCodec.encode(
      rows,
      interlaced: chunks.isInterlaced && isSmall && !plan.isStamped,
      with: colours + tags.chunks,
      to: place,
      limits.named(file.name)
    )
    return picture(made, .png, plan.framing, plan.isNew ? .reencoded : .lossless)
  }

  /// Encodes a picture in another format than its source has, or in WebP or AVIF, which are always re-encoded.
  private func encoded(
    _ rows: any RowSource,
    _ plan: CropPlan,
    from file: PictureFile,
    as target: PictureFormat,
    to place: PNGCodec.Place?
  ) throws(LarderError) -> EncodedPicture {
    let wantsSamples = lossless && !plan.isStamped
    let isLosslessWebP = (file.probe.structure as? WebPChunks)?.isLossless == true
    // A lossless WebP that stays a WebP keeps its samples exactly. Other pictures do so on request, if the format can
    // hold the samples.
    let keepsSamples =
      target == .webp && isLosslessWebP
      || wantsSamples && target != .jpeg && (target == .png || file.probe.depth <= 8)
    let isGrey = rows.shape.layout == .grey || rows.shape.layout == .greyAlpha
    var tags = tags(of: file, plan)
    let hasGreyTags = isGrey && (target == .png || target == .jpeg)
    tags.keepProfile(ofGrey: hasGreyTags && !file.probe.structure.isInk)
    if convertsToSRGB {
      tags.profile = []
    } else if target != .avif, tags.profile.isEmpty, !isGrey {
      // An AVIF can name its colours by numbers. In other formats, the same colours need a profile.
      tags.profile = file.probe.structure.namedProfile
    }
    let encoding = PictureEncoding(
      crop: self,
      isConverted: plan.isConverted,
      // Samples with more bits than the format can hold, such as 16 in a WebP, are rounded. Nothing else is lost.
      lossless: keepsSamples || wantsSamples,
      hasNewColours: hasColouredPad(plan.framing),
      source: file,
      tags: tags,
      place: place
    )
    let made = try target.codec.encode(rows, encoding)
    let isLossless = (target == .png || keepsSamples) && !plan.isNew
    var picture = picture(made, target, plan.framing, isLossless ? .lossless : .reencoded)
    if target != .png, (file.probe.structure as? PNGChunks)?.hasOwnGamma == true {
      picture.summary.remarks.insert(.noGamma)
    }
    if wantsSamples, !isLossless { picture.summary.remarks.insert(.notLossless) }
    return picture
  }
}
