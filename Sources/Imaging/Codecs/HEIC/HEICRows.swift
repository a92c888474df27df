import Base
import CAVIF
import CHEVC

/// The rows of a region of an HEIC.
///
/// An HEIC is often a grid of cells, each an HEVC picture of its own. libde265 decodes one row of cells at a time, and
/// libavif converts it to RGB.
final class HEICRows: PlaneRows {
  /// The number of bytes that libde265 needs for each pixel of 8 bits while it decodes.
  private static let decoderBytes = 6

  private(set) var isDamaged = false
  private let header: HEICHeader
  /// The next row of cells.
  private var band = 0
  private var light: chevc_light?

  /// The columns of cells that are decoded.
  private var cells: ClosedRange<Int> {
    let width = header.tiles.cell.width
    return padded.x / width...(padded.x + padded.width - 1) / width
  }

  /// The number of columns of pixels that these cells cover within the picture.
  private var width: Int {
    let right = (cells.upperBound + 1) * header.tiles.cell.width
    return min(right, header.coded.width) - firstColumn
  }

  /// Starts at the region's first row.
  ///
  /// - Parameters:
  ///   - header: The boxes of the file.
  ///   - region: The region, in pixels of the visible part.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when a library is not installed, or the picture takes too much memory.
  init(_ header: HEICHeader, _ region: PixelRegion, _ limits: NamedLimits) throws(LarderError) {
    try limits.checkOpened(chevc_open(), "libde265-0", for: "HEIC")
    try limits.checkOpened(cavif_open(), "libavif", for: "HEIC")
    self.header = header
    super.init(header, region, limits)
    let cell = header.tiles.cell
    band = padded.y / cell.height
    firstColumn = cells.lowerBound * cell.width
    let rows = min(cell.height, header.coded.height) + 2 * Self.margin
    try limits.check(memory: header.planeBytes(width * rows))
    // Besides the planes, the decoder has data about each block, and a copy for its last filter.
    let sampleBytes = header.depth > 8 ? 2 : 1
    let held = cell.width * cell.height * Self.decoderBytes * sampleBytes
    try limits.check(decoding: held)
    planes = cavif_image(width, rows, header.depth, header.colour.chroma, header.hasAlpha)
    guard planes != nil else { throw limits.outOfMemory }
  }

  /// Decodes the next row of cells into the planes, below the last pixel rows of the cells above, which are kept.
  override func decode() throws(LarderError) {
    let kept = min(held.count, 2 * Self.margin)
    cavif_move(planes, held.count - kept, kept)
    let start = band * header.tiles.cell.height
    held = start - kept..<min(start + header.tiles.cell.height, header.coded.height)
    for column in cells {
      try decode(header.tiles, column, [0, 1, 2], kept)
      if let alpha = header.alpha { try decode(alpha, column, [3], kept) }
    }
    band += 1
    var colour = header.colour
    if header.isFullRange == nil { colour.matrix = light?.matrix ?? 2 }
    let isFullRange = header.isFullRange ?? light?.full_range ?? false
    cavif_describe(planes, colour, isFullRange, header.isPremultiplied)
  }

  /// Decodes a cell into the planes of the given numbers, below their first `top` rows.
  private func decode(
    _ tiles: HEVCTiles,
    _ column: Int,
    _ numbers: [Int32],
    _ top: Int
  ) throws(LarderError) {
    let (units, sizes) = try tiles.stills[band * tiles.columns + column].units(limits)
    let cell = tiles.cell
    let shape = chevc_shape(
      width: cell.width,
      height: cell.height,
      chroma: tiles.format,
      depth: tiles.depth
    )
    let targets = numbers.map { number in
      let plane = cavif_plane_of(planes, number)
      return chevc_plane(bytes: plane.bytes, stride: plane.stride)
    }
    let left = column * cell.width - firstColumn
    let columns = min(cell.width, width - left)
    let place = chevc_place(x: left, y: top, width: columns, height: held.count - top)
    var found = chevc_light()
    var words: UnsafePointer<CChar>?
    let status = chevc_decode(
      units,
      sizes,
      sizes.count,
      shape,
      targets,
      targets.count,
      place,
      &found,
      &words
    )
    switch Int(status) {
    case chevc_done: break
    case chevc_no_memory: throw limits.outOfMemory
    case chevc_other:
      throw limits.damaged("a picture inside differs from its declared size or type")
    default: throw limits.damaged(words.map { String(cString: $0) } ?? "its data is damaged")
    }
    isDamaged = isDamaged || found.is_damaged
    if light == nil { light = found }
  }
}
