import Base

extension Crop {
  /// Makes a JPEG from a JPEG by keeping its coefficients, or by re-encoding its samples unchanged; nil if pixels have
  /// to be converted.
  func keptJPEG(_ file: PictureFile) throws(LarderError) -> EncodedPicture? {
    guard let markers = file.probe.structure as? JPEGMarkers, target(of: .jpeg) == .jpeg
    else { return nil }
    let keepsCoefficients = lossless && frame == nil && fit == .cover
    if keepsCoefficients, let picture = try transformed(file, markers) { return picture }
    if keepsCoefficients, isStrict {
      throw LarderError(
        .unsupported,
        "cannot crop \(file.name) without loss: its blocks, its tables or its size do not allow it",
        remedy: .encodeAnew
      )
    }
    let plain = framing(file.probe)
    // Only YCbCr has chroma to subsample; an RGB JPEG has to be converted first.
    let header = try JPEGCodec.header(of: file)
    let hasOtherColours = converts(file) || chroma != nil && header.isRGB
    guard file.probe.orientation == .upright, !plain.isScaled, !plain.isPadded, !hasOtherColours
    else { return nil }
    let framing = try framing(of: file)
    let made = try JPEGCodec.recode(file, framing.window, form, limits)
    var picture = EncodedPicture(
      file: .held(
        JPEGSegments.add(
          to: made.bytes,
          from: file,
          size: framing.canvas,
          profile: !convertsToSRGB,
          metadata: keepsMetadata
        )
      ),
      summary: EncodedPicture.Summary(
        format: .jpeg,
        width: framing.canvas.width,
        height: framing.canvas.height,
        method: .reencoded,
        isDamaged: made.isDamaged,
        gravity: EncodedPicture.Point(framing.focus)
      )
    )
    if keepsCoefficients { picture.summary.remarks.insert(.notLossless) }
    return picture
  }

  /// The options of JPEG output.
  var form: JPEGCodec.Form {
    JPEGCodec.Form(quality: quality, isProgressive: isProgressive, chroma: chroma)
  }

  /// Cuts the square from the picture's coefficients, without decoding them to pixels; nil if that is not possible.
  private func transformed(
    _ file: PictureFile,
    _ markers: JPEGMarkers
  ) throws(LarderError) -> EncodedPicture? {
    let orientation = file.probe.orientation
    let block: PixelSize
    if markers.sampling.count == 1 {
      block = PixelSize(width: 8, height: 8)
    } else {
      block = PixelSize(
        width: 8 * (markers.sampling.map(\.width).max() ?? 1),
        height: 8 * (markers.sampling.map(\.height).max() ?? 1)
      )
    }
    // The number of copies of the coefficients in memory: none if the picture is read in one pass, else one. To turn a
    // picture, TurboJPEG is used, which holds two copies. TurboJPEG has no memory limit of its own, so the size of the
    // copies is checked here.
    let isHeld = markers.scans > 1 || isProgressive
    let copies = orientation != .upright ? 2 : isHeld ? 1 : 0
    // With `isStrict`, the error names the limit.
    if isStrict { try limits.check(memory: markers.coefficientBytes * copies, of: file.name) }
    guard markers.coefficientBytes * copies <= limits.memory, block.width > 0, block.height > 0,
      // A zero in a table breaks the standard, to which larder's output conforms.
      !markers.hasZeroInTable,
      // TurboJPEG would add Adobe's segment, which inverts the meaning of CMYK.
      markers.sampling.count != 4 || markers.hasAdobe
    else { return nil }
    let focus = try framing(of: file).focus
    let grid = LosslessGrid(
      stored: markers.size,
      block: block,
      orientation: orientation,
      focus: focus
    )
    guard let grid else { return nil }
    let made =
      try?
      (orientation == .upright
      ? JPEGCodec.cut(file, grid.region, progressive: isProgressive, limits)
      : JPEGCodec.transform(
        file,
        orientation,
        grid.region,
        progressive: markers.isProgressive || isProgressive
      ))
    guard let made else { return nil }
    let side = grid.region.width
    guard let result = try? JPEGMarkers(made.bytes, name: file.name, limits: limits),
      result.size == PixelSize(width: side, height: side)
    else { return nil }
    return EncodedPicture(
      file: .held(
        JPEGSegments.add(
          to: made.bytes,
          from: file,
          size: result.size,
          metadata: keepsMetadata
        )
      ),
      summary: EncodedPicture.Summary(
        format: .jpeg,
        width: side,
        height: side,
        method: .lossless,
        shift: grid.shift,
        isDamaged: made.isDamaged,
        gravity: EncodedPicture.Point(focus)
      )
    )
  }
}

/// The position of a lossless crop.
///
/// A JPEG can be cut only between its blocks (iMCUs), whose sides are usually 8 or 16 pixels. An axis that is mirrored
/// loses its partial block.
struct LosslessGrid: Equatable {
  /// The region of the turned picture that the transform keeps.
  let region: PixelRegion
  /// How far the region was moved, in pixels, from the position that it would have without block borders.
  let shift: EncodedPicture.Shift

  /// The largest square around `focus`; nil if no block is complete.
  init?(
    stored: PixelSize,
    block: PixelSize,
    orientation: Orientation,
    focus: Focus
  ) {
    let full = orientation.upright(stored)
    let step = orientation.upright(block)
    let lost = (
      x: orientation.reversesColumns ? full.width % step.width : 0,
      y: orientation.reversesRows ? full.height % step.height : 0
    )
    let kept = PixelSize(width: full.width - lost.x, height: full.height - lost.y)
    let side = min(kept.width, kept.height)
    guard side > 0 else { return nil }
    let exact = focus.region(of: PixelSize(side: side), in: full)
    // If the axes are swapped, TurboJPEG 2.1 checks the position against the blocks of the stored picture. So the
    // position must be on the block borders of both the stored and the upright picture. The sides of a block are powers
    // of two, so a multiple of the longer side is on both.
    let both = max(step.width, step.height)
    let grid = orientation.swapsAxes ? PixelSize(width: both, height: both) : step
    let x = Self.nearest(exact.x - lost.x, step: grid.width, upTo: kept.width - side)
    let y = Self.nearest(exact.y - lost.y, step: grid.height, upTo: kept.height - side)
    region = PixelRegion(x: x, y: y, width: side, height: side)
    shift = EncodedPicture.Shift(x: x + lost.x - exact.x, y: y + lost.y - exact.y)
  }

  /// The multiple of `step` in 0…`last` that is nearest to `place`.
  private static func nearest(_ place: Int, step: Int, upTo last: Int) -> Int {
    let below = min(max(place, 0), last) / step * step
    let above = below + step
    return above <= last && above - place < place - below ? above : below
  }
}
