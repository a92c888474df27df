import Base

extension Crop {
  /// A JPEG of a JPEG whose coefficients are kept, or whose samples are encoded again as they are; nil where pixels have
  /// to be made.
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
    // Chroma is a matter of how light is written, which red, green and blue do without.
    let header = try JPEGCodec.header(of: file)
    let hasOtherColours = converts(file) || chroma != nil && header.isRGB
    guard file.probe.orientation == .upright, !plain.isScaled, !plain.isPadded, !hasOtherColours
    else { return nil }
    let framing = try framing(of: file)
    let made = try JPEGCodec.recode(file, framing.window, form, limits)
    var picture = EncodedPicture(
      file: .held(
        JPEGSegments.add(
          to: made.value,
          from: file,
          size: framing.canvas,
          profile: !convertsToSRGB,
          metadata: keepsMetadata
        )
      ),
      format: .jpeg,
      width: framing.canvas.width,
      height: framing.canvas.height,
      method: .reencoded,
      shift: EncodedPicture.Shift(),
      isDamaged: made.isDamaged,
      gravity: EncodedPicture.Point(framing.focus)
    )
    if keepsCoefficients { picture.remarks.insert(.notLossless) }
    return picture
  }

  /// How JPEGs are written.
  var form: JPEGCodec.Form {
    JPEGCodec.Form(quality: quality, isProgressive: isProgressive, chroma: chroma)
  }

  /// The square in the picture's own coefficients; nil where that cannot be.
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
    // Coefficients that are held at once: none of a picture that is read in one go, else the input's, and, to
    // turn them, which TurboJPEG does without a limit of its own, the result's.
    let isHeld = markers.scans > 1 || isProgressive
    let copies = orientation != .upright ? 2 : isHeld ? 1 : 0
    // Where that is all that stands in the way, the error says so.
    if isStrict { try limits.check(memory: markers.coefficientBytes * copies, of: file.name) }
    guard markers.coefficientBytes * copies <= limits.memory, block.width > 0, block.height > 0,
      // larder's own output keeps to the standard.
      !markers.hasZeroInTable,
      // TurboJPEG would write Adobe's segment and with it turn the meaning of ink around.
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
      orientation == .upright
      ? JPEGCodec.cut(file, grid.region, progressive: isProgressive, limits)
      : JPEGCodec.transform(
        file,
        orientation,
        grid.region,
        progressive: markers.isProgressive || isProgressive
      )
    guard let made else { return nil }
    let side = grid.region.width
    guard let result = try? JPEGMarkers(made.value, name: file.name, limits: limits),
      result.size == PixelSize(width: side, height: side)
    else { return nil }
    return EncodedPicture(
      file: .held(
        JPEGSegments.add(
          to: made.value,
          from: file,
          size: result.size,
          metadata: keepsMetadata
        )
      ),
      format: .jpeg,
      width: side,
      height: side,
      method: .lossless,
      shift: EncodedPicture.Shift(x: grid.shift.x, y: grid.shift.y),
      isDamaged: made.isDamaged,
      gravity: EncodedPicture.Point(focus)
    )
  }
}

/// Where a lossless crop may lie: a JPEG can be cut only between its iMCUs, and a mirrored axis loses
/// the blocks that are not full.
struct LosslessGrid: Equatable {
  /// The region in the turned picture that the transform is to keep.
  let region: PixelRegion
  /// How far the region is from the exact place of a square of its size.
  let shift: (x: Int, y: Int)

  /// The largest square around `focus`; nil when not one block is whole.
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
    // TurboJPEG 2.1 holds the place in a picture on its side against the blocks of the stored one, so
    // there it has to be on both grids. Sizes of blocks are powers of two.
    let both = max(step.width, step.height)
    let grid = orientation.swapsAxes ? PixelSize(width: both, height: both) : step
    let x = Self.nearest(exact.x - lost.x, step: grid.width, upTo: kept.width - side)
    let y = Self.nearest(exact.y - lost.y, step: grid.height, upTo: kept.height - side)
    region = PixelRegion(x: x, y: y, width: side, height: side)
    shift = (x + lost.x - exact.x, y + lost.y - exact.y)
  }

  /// The multiple of `step` in 0…`last` that is nearest to `place`.
  private static func nearest(_ place: Int, step: Int, upTo last: Int) -> Int {
    let below = min(max(place, 0), last) / step * step
    let above = below + step
    return above <= last && above - place < place - below ? above : below
  }

  static func == (left: LosslessGrid, right: LosslessGrid) -> Bool {
    left.region == right.region && left.shift == right.shift
  }
}
