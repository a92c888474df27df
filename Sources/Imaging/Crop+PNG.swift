extension Crop {
  func cropPNG(_ file: PictureFile, _ chunks: PNGChunks) throws(ImagingError) -> EncodedPicture {
    let made: (bytes: [UInt8], framing: Framing)
    var isColoured = false
    if isDirect(file, chunks) {
      let framing = try framing(of: file)
      let bytes = try PNGCodec.recode(
        file,
        framing.window,
        scaledTo: framing.isScaled ? framing.scaled : nil,
        form: framing.isScaled ? .expanded : .native,
        limits
      )
      made = (bytes, framing)
    } else {
      let square = try decodedPNG(file, form: .native)
      let framing = square.framing
      // Held once, so that it can give its memory back.
      let bitmap = (consume square).bitmap
      isColoured = bitmap.layout.channels > 2
      let bytes = try PNGCodec.encode(
        consume bitmap,
        interlaced: chunks.isInterlaced,
        name: file.name
      )
      made = (bytes, framing)
    }
    let framing = made.framing
    let isConverted = converts(file)
    let isNew = framing.isScaled || framing.isPadded || isConverted
    // A background given as a palette index, or at a small depth, is meaningless without that palette or depth.
    let keepsShape =
      !isNew
      || chunks.colourType != 3 && chunks.depth >= 8 && !chunks.hasTransparency
        && !framing.isPadded && !isConverted
    let isGrey = chunks.colourType == 0 || chunks.colourType == 4
    return EncodedPicture(
      bytes: PNGAncillary.add(
        to: made.bytes,
        from: file,
        size: framing.canvas,
        metadata: keepsMetadata,
        background: keepsShape,
        significantBits: keepsShape,
        profile: !(isGrey && isColoured),
        converted: isConverted
      ),
      format: .png,
      width: framing.canvas.width,
      height: framing.canvas.height,
      method: isNew ? .reencoded : .lossless,
      shift: EncodedPicture.Shift(),
      isDamaged: false,
      gravity: EncodedPicture.Point(framing.focus)
    )
  }

  /// Whether a part can go from file to file row by row: not one that is turned, converted or padded, or small
  /// enough to be interlaced again or to be scaled in memory.
  private func isDirect(_ file: PictureFile, _ chunks: PNGChunks) -> Bool {
    let framing = framing(file.probe)
    guard file.probe.orientation == .upright, !framing.isPadded, !converts(file) else {
      return false
    }
    let bytes =
      framing.isScaled
      ? PNGCodec.bytes(framing.scaled, of: chunks, .expanded)
      : PNGCodec.bytes(framing.window.size, of: chunks, .native)
    return bytes > 64 << 20 || !framing.isScaled && !chunks.isInterlaced
  }

  /// The result as pixels, upright and of the size asked for; a part of more than `most` bytes is
  /// scaled as its rows come.
  func decodedPNG(
    _ file: PictureFile,
    form: PNGCodec.Form,
    most: Int = PNGCodec.most
  ) throws(ImagingError) -> Decoded {
    let (probe, plain) = (file.probe, framing(file.probe))
    // Fewer pixels are coloured afterwards.
    if plain.isScaled, form == .coloured {
      let grey = try decodedPNG(file, form: .expanded, most: most)
      let framing = grey.framing
      return Decoded(
        bitmap: (consume grey).bitmap.coloured(),
        framing: framing,
        isDamaged: false
      )
    }
    let isNew = plain.isScaled || plain.isPadded
    // The colours of a palette are converted where they stand.
    var isIndexed = false
    if case .png(let chunks) = probe.structure { isIndexed = chunks.colourType == 3 }
    let isConverted = !isIndexed && converts(file)
    let form = (isNew || isConverted) && form == .native ? .expanded : form
    let whole = PixelRegion(x: 0, y: 0, width: probe.stored.width, height: probe.stored.height)
    let bytes = whole.width * whole.height * max(probe.channels, 3) * (probe.depth == 16 ? 2 : 1)
    let framing: Framing
    var bitmap: Bitmap
    var isScaled = false
    if needsLook(at: probe), bytes <= Attention.mostBytes {
      // Once for both, as unpacking takes most of the time.
      bitmap = try PNGCodec.decode(file, whole, form: form, limits)
      framing = try self.framing(file, whole: bitmap)
      bitmap.keep(probe.orientation.stored(framing.window, in: probe.stored))
    } else {
      framing = try self.framing(of: file)
      let region = probe.orientation.stored(framing.window, in: probe.stored)
      let share = Double(region.width * region.height) / Double(whole.width * whole.height)
      isScaled = framing.isScaled && Double(bytes) * share > Double(most)
      if isScaled {
        let size = probe.orientation.upright(framing.scaled)
        bitmap = try PNGCodec.scaled(file, region, to: size, limits)
      } else {
        bitmap = try PNGCodec.decode(file, region, form: form, limits)
      }
    }
    return Decoded(
      bitmap: try finished(consume bitmap, of: file, framing, isScaled: isScaled),
      framing: framing,
      isDamaged: false
    )
  }
}
