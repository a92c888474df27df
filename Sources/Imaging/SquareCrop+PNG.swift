extension SquareCrop {
  func cropPNG(_ file: PictureFile, _ chunks: PNGChunks) throws(ImagingError) -> EncodedPicture {
    let square = square(in: file.probe)
    let side = size ?? square.width
    let isScaled = side != square.width
    let bytes: [UInt8]
    if let way = directWay(file, chunks) {
      bytes = try PNGCodec.recode(file, way, limits)
    } else {
      let bitmap = try decodedPNG(file, form: .native)
      bytes = try PNGCodec.encode(bitmap, interlaced: chunks.isInterlaced, name: file.name)
    }
    // A background given as a palette index, or at a small depth, is meaningless without that palette or depth.
    let keepsShape = !isScaled || chunks.colourType != 3 && chunks.depth >= 8
    return EncodedPicture(
      bytes: PNGAncillary.add(
        to: bytes,
        from: file,
        side: side,
        metadata: keepsMetadata,
        background: keepsShape && !(isScaled && chunks.hasTransparency),
        significantBits: keepsShape && !(isScaled && chunks.hasTransparency)
      ),
      format: .png,
      width: side,
      height: side,
      method: isScaled ? .reencoded : .lossless,
      shift: EncodedPicture.Shift(),
      isDamaged: false
    )
  }

  /// Where a square lies that can go from file to file row by row; nil of one that is scaled or turned,
  /// or interlaced and small enough to stay so.
  private func directWay(_ file: PictureFile, _ chunks: PNGChunks) -> PixelRegion? {
    let exact = square(in: file.probe)
    guard file.probe.orientation == .upright, size ?? exact.width == exact.width else {
      return nil
    }
    let bytes = exact.width * exact.height * chunks.channels * (chunks.depth == 16 ? 2 : 1)
    return chunks.isInterlaced && bytes <= 64 << 20 ? nil : exact
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
