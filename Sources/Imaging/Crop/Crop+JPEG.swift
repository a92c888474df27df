import Base

extension Crop {
  /// Cuts a JPEG without decoding its coefficients to pixels; nil if that is not requested or not possible.
  func losslessJPEG(_ file: PictureFile) throws(LarderError) -> EncodedPicture? {
    guard lossless, frame == nil, fit == .cover, target(of: .jpeg) == .jpeg,
      let markers = file.probe.structure as? JPEGMarkers
    else { return nil }
    let (orientation, named) = (file.probe.orientation, limits.named(file.name))
    let block = markers.block
    // The number of copies of the coefficients that are in memory: none if the picture is read in one pass, and
    // otherwise one. TurboJPEG, which turns pictures, holds two copies and has no limit of its own, so the size of the
    // copies is checked here.
    let isHeld = markers.scans > 1 || isProgressive
    let copies = orientation != .upright ? 2 : isHeld ? 1 : 0
    guard markers.coefficientBytes * copies <= limits.memory, block.width > 0, block.height > 0,
      // The standard forbids a zero in a quantization table, and larder writes only JPEGs that conform to it.
      !markers.hasZeroInTable,
      // TurboJPEG adds Adobe's segment to CMYK, and that segment inverts the meaning of the samples.
      markers.sampling.count != 4 || markers.adobeTransform != nil
    else { return nil }
    let focus = try framing(of: file).focus
    guard
      let grid = LosslessGrid(
        stored: markers.size,
        block: block,
        orientation: orientation,
        focus: focus
      ),
      let made = try? JPEGCodec.cut(
        file,
        orientation,
        grid.region,
        progressive: isProgressive || markers.isProgressive,
        named
      ),
      let result = try? JPEGMarkers(made.bytes, named),
      result.size == grid.region.size
    else { return nil }
    let tags = PictureTags(of: file, size: result.size, metadata: keepsMetadata)
    return EncodedPicture(
      file: .held(tags.added(toJPEG: made.bytes)),
      summary: EncodedPicture.Summary(
        format: .jpeg,
        width: result.size.width,
        height: result.size.height,
        method: .lossless,
        shift: grid.shift,
        isDamaged: made.hasWarnings || file.probe.isCutShort,
        gravity: EncodedPicture.Point(focus)
      )
    )
  }
}

/// The square of a lossless crop.
///
/// A JPEG can be cut only between its blocks (iMCUs), whose sides are usually 8 or 16 pixels. If an axis has to be
/// mirrored, an incomplete block at the end of that axis is lost.
struct LosslessGrid {
  /// The region to keep, in pixels of the upright picture without the lost blocks.
  let region: PixelRegion
  /// How far the region was moved from its exact position, because of the blocks.
  let shift: EncodedPicture.Shift

  /// Finds the largest square whose middle is as near as possible to `focus`; nil if the picture has no complete block.
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
    // If the axes are swapped, TurboJPEG 2.1 compares the position with the blocks of the stored picture. So the
    // position must be on a border of both a stored and an upright block. The sides of a block are powers of two, so
    // every multiple of the longer side is on both borders.
    let both = max(step.width, step.height)
    let grid = orientation.swapsAxes ? PixelSize(width: both, height: both) : step
    let x = Self.nearest(exact.x - lost.x, step: grid.width, upTo: kept.width - side)
    let y = Self.nearest(exact.y - lost.y, step: grid.height, upTo: kept.height - side)
    region = PixelRegion(x: x, y: y, width: side, height: side)
    shift = EncodedPicture.Shift(x: x + lost.x - exact.x, y: y + lost.y - exact.y)
  }

  /// The multiple of `step` from 0 to `last` that is nearest to `place`.
  private static func nearest(_ place: Int, step: Int, upTo last: Int) -> Int {
    let below = min(max(place, 0), last) / step * step
    let above = below + step
    return above <= last && above - place < place - below ? above : below
  }
}
