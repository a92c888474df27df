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
