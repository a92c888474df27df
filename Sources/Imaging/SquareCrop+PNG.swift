extension SquareCrop {
  func cropPNG(_ file: PictureFile, _ chunks: PNGChunks) throws(ImagingError) -> EncodedPicture {
    let bitmap = try decodedPNG(file, form: .native)
    let isScaled = bitmap.width != square(in: file.probe).width
    let bytes = try PNGCodec.encode(bitmap, interlaced: chunks.isInterlaced, name: file.name)
    // A background of a palette's index, or of a small depth, means nothing once those are gone.
    let keepsShape = !isScaled || chunks.colourType != 3 && chunks.depth >= 8
    return EncodedPicture(
      bytes: PNGAncillary.add(
        to: bytes,
        from: file,
        side: bitmap.width,
        metadata: keepsMetadata,
        background: keepsShape && !(isScaled && chunks.hasTransparency),
        significantBits: keepsShape && !(isScaled && chunks.hasTransparency)
      ),
      format: .png,
      width: bitmap.width,
      height: bitmap.height,
      method: isScaled ? .reencoded : .lossless,
      shift: EncodedPicture.Shift(),
      isDamaged: false
    )
  }

  /// The square as pixels, upright and of the size asked for.
  func decodedPNG(
    _ file: PictureFile,
    form: PNGCodec.Form
  ) throws(ImagingError) -> Bitmap {
    let orientation = file.probe.orientation
    let exact = square(in: file.probe)
    let region = orientation.stored(exact, in: file.probe.stored)
    let isScaled = size ?? exact.width != exact.width
    var bitmap = try PNGCodec.decode(
      file,
      region,
      form: isScaled && form == .native ? .expanded : form,
      limits
    )
    if isScaled, let size {
      bitmap = try bitmap.scaled(width: size, height: size, limits: limits, name: file.name)
    }
    bitmap.turnUpright(from: orientation)
    return bitmap
  }
}
