import Base

extension Crop {
  func cropPNG(_ file: PictureFile, _ chunks: PNGChunks) throws(LarderError) -> EncodedPicture {
    let (made, framing) =
      if let direct = direct(file, chunks) {
        try recoded(file, chunks, direct)
      } else {
        try encoded(file, chunks)
      }
    let isNew = framing.isScaled || framing.isPadded || converts(file)
    return EncodedPicture(
      file: made,
      format: .png,
      width: framing.canvas.width,
      height: framing.canvas.height,
      method: isNew ? .reencoded : .lossless,
      shift: EncodedPicture.Shift(),
      isDamaged: false,
      gravity: EncodedPicture.Point(framing.focus)
    )
  }

  /// Where a PNG goes, and what it keeps of the chunks of another.
  private func output(
    of file: PictureFile,
    _ chunks: PNGChunks,
    _ framing: Framing,
    isColoured: Bool
  ) -> PNGOutput {
    let isConverted = converts(file)
    let isNew = framing.isScaled || framing.isPadded || isConverted
    // A background given as a palette index, or at a small depth, is meaningless without that palette or depth.
    let keepsShape =
      !isNew
      || chunks.colourType != 3 && chunks.depth >= 8 && !chunks.hasTransparency
        && !framing.isPadded && !isConverted
    let isGrey = chunks.colourType == 0 || chunks.colourType == 4
    return PNGAncillary.output(
      from: file,
      size: framing.canvas,
      metadata: keepsMetadata,
      background: keepsShape,
      significantBits: keepsShape,
      profile: !(isGrey && isColoured),
      converted: isConverted,
      to: place
    )
  }

  /// A part that goes from file to file row by row.
  private func recoded(
    _ file: PictureFile,
    _ chunks: PNGChunks,
    _ direct: Direct
  ) throws(LarderError) -> (EncodedFile, Framing) {
    let framing = try framing(of: file)
    let made = try PNGCodec.recode(
      file,
      framing.window,
      scaledTo: framing.isScaled ? framing.scaled : nil,
      on: direct.mount,
      form: direct.form,
      to: output(of: file, chunks, framing, isColoured: direct.form == .coloured),
      limits
    )
    return (made, framing)
  }

  /// A part that is made in memory.
  ///
  /// What does not fill its canvas is put there on its way to the file, unless that is interlaced, and so begins with
  /// pixels from everywhere.
  private func encoded(
    _ file: PictureFile,
    _ chunks: PNGChunks
  ) throws(LarderError) -> (EncodedFile, Framing) {
    let square = try decodedPNG(file, form: .native, isPlaced: chunks.isInterlaced)
    let framing = square.framing
    // Held once, so that it can give its memory back.
    var bitmap = (consume square).bitmap
    var mount: Mount?
    if framing.isPadded, !chunks.isInterlaced {
      bitmap = (consume bitmap).expanded()
      let surround = Surround(background, around: bitmap.layout, keepsAlpha: true)
      if surround.needsColour { bitmap = (consume bitmap).coloured() }
      mount = framing.mount(in: surround)
      let canvas = framing.canvas
      try limits.check(width: canvas.width, height: canvas.height, of: file.name)
    }
    let output = output(of: file, chunks, framing, isColoured: bitmap.layout.channels > 2)
    let made = try PNGCodec.encode(
      consume bitmap,
      on: mount,
      interlaced: chunks.isInterlaced,
      to: output,
      name: file.name
    )
    return (made, framing)
  }

  /// How a part goes from file to file row by row.
  private struct Direct {
    let form: PNGCodec.Form
    let mount: Mount?
  }

  /// How a part goes from file to file row by row; nil for one that is turned or converted, or is small enough to be
  /// interlaced again or to be made in memory.
  private func direct(_ file: PictureFile, _ chunks: PNGChunks) -> Direct? {
    let framing = framing(file.probe)
    guard file.probe.orientation == .upright, !converts(file) else { return nil }
    guard framing.isScaled || framing.isPadded else {
      let isLarge = PNGCodec.bytes(framing.window.size, of: chunks, .native) > Self.mostInMemory
      return isLarge || !chunks.isInterlaced ? Direct(form: .native, mount: nil) : nil
    }
    let surround = surround(of: chunks, .expanded)
    let needsColour = framing.isPadded && surround.needsColour
    let direct = Direct(
      form: needsColour ? .coloured : .expanded,
      mount: framing.mount(in: surround)
    )
    let bytes = PNGCodec.bytes(framing.canvas, of: chunks, direct.form, on: direct.mount)
    return bytes > Self.mostInMemory ? direct : nil
  }

  /// What lies around a PNG of a form that is put on a canvas.
  func surround(of chunks: PNGChunks, _ form: PNGCodec.Form) -> Surround {
    Surround(background, around: PNGCodec.shape(of: chunks, form).0, keepsAlpha: true)
  }

  /// Bytes of a result that is made in memory.
  private static let mostInMemory = 64 << 20

  /// The result as pixels, upright and of the size asked for; a part of more than `most` bytes is
  /// scaled as its rows come, and 16 bits that become 8 and are not calculated with are never held.
  ///
  /// Without `isPlaced` it is what lies on the canvas. What becomes a JPEG may lose its alpha at once, unless it is drawn
  /// on before.
  func decodedPNG(
    _ file: PictureFile,
    form: PNGCodec.Form,
    most: Int = PNGCodec.most,
    isPlaced: Bool = true,
    mayLoseAlpha: Bool = true
  ) throws(LarderError) -> Decoded {
    let (probe, plain) = (file.probe, framing(file.probe))
    // Fewer pixels are coloured afterwards.
    if plain.isScaled, form == .coloured {
      let grey = try decodedPNG(
        file,
        form: .expanded,
        most: most,
        isPlaced: isPlaced,
        mayLoseAlpha: false
      )
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
    let becomesNarrow =
      [.jpeg, .webp].contains(target(for: file)) && form != .native && !isConverted
    // What is scaled is narrowed afterwards.
    let narrowed = becomesNarrow && !plain.isScaled
    let whole = PixelRegion(x: 0, y: 0, width: probe.stored.width, height: probe.stored.height)
    let bytes = whole.width * whole.height * max(probe.channels, 3) * (probe.depth == 16 ? 2 : 1)
    let framing: Framing
    var bitmap: Bitmap
    var isScaled = false
    var isUpright = false
    if needsLook(at: probe), bytes <= Attention.mostBytes {
      // Once for both, as unpacking takes most of the time.
      bitmap = try PNGCodec.decode(
        file,
        whole,
        form: form,
        narrowed: narrowed,
        limits
      )
      framing = try self.framing(file, whole: bitmap)
      bitmap.keep(probe.orientation.stored(framing.window, in: probe.stored))
    } else {
      framing = try self.framing(of: file)
      let region = probe.orientation.stored(framing.window, in: probe.stored)
      let share = Double(region.width * region.height) / Double(whole.width * whole.height)
      isScaled = framing.isScaled && Double(bytes) * share > Double(most)
      if isScaled {
        let size = probe.orientation.upright(framing.scaled)
        let losesAlpha = mayLoseAlpha && target(for: file) == .jpeg && !framing.isPadded
        bitmap = try PNGCodec.scaled(
          file,
          region,
          to: size,
          narrowed: becomesNarrow,
          on: losesAlpha ? background ?? .white : nil,
          limits
        )
      } else {
        isUpright = !framing.isScaled
        bitmap = try PNGCodec.decode(
          file,
          region,
          form: form,
          narrowed: narrowed,
          from: isUpright ? probe.orientation : .upright,
          limits
        )
      }
    }
    return Decoded(
      bitmap: try finished(
        consume bitmap,
        of: file,
        framing,
        isScaled: isScaled,
        isUpright: isUpright,
        isPlaced: isPlaced
      ),
      framing: framing,
      isDamaged: false
    )
  }
}
