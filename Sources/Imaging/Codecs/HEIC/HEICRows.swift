import Base
import CAVIF
import CHEVC

/// The rows of a region of an HEIC.
///
/// An HEIC is often a grid of cells, each an HEVC picture of its own. libde265 decodes one row of cells at a time, and
/// libavif converts it to RGB.
final class HEICRows: RowSource {
  /// At most this many rows are converted at a time.
  private static let mostRows = 64
  /// To upsample the chroma of a strip, this many rows above it and below it are needed.
  private static let margin = 2
  /// The number of bytes that libde265 needs for each pixel of 8 bits while it decodes.
  private static let decoderBytes = 6

  let shape: RowShape
  private(set) var isDamaged = false
  private let header: HEICHeader
  private let bytes: UnsafeBufferPointer<UInt8>
  private let name: String
  /// The requested region, in pixels of the decoded picture.
  private let region: PixelRegion
  /// The requested region with a margin.
  private let padded: PixelRegion
  /// The columns of cells that are decoded.
  private let cells: ClosedRange<Int>
  /// The columns of pixels that these cells cover within the picture.
  private let columns: Range<Int>
  private let planes: [Plane]
  /// The rows of the picture whose samples are in `planes`.
  private var held = 0..<0
  private var band: Int
  private var reached = 0
  private var light: chevc_light?
  private var room: [UInt8] = []

  /// The decoded samples of one channel, for one row of cells and the pixel rows that are kept above it.
  private struct Plane {
    /// The subsampling: x and y are shifted to the right by this many bits, so 1 means half as many samples.
    let across: Int
    let down: Int
    let sampleBytes: Int
    let rowBytes: Int
    let start: UnsafeMutablePointer<UInt8>

    func at(_ x: Int, _ y: Int) -> UnsafeMutablePointer<UInt8> {
      start + (y >> down) * rowBytes + (x >> across) * sampleBytes
    }
  }

  /// Starts at the region's first row.
  ///
  /// - Parameters:
  ///   - header: The boxes of the file.
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - region: The region, in pixels of the visible part.
  ///   - limits: The limits of the picture.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` when a library is not installed, or the picture takes too much memory.
  init(
    _ header: HEICHeader,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ region: PixelRegion,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    if let words = chevc_open() {
      throw .noLibrary(name, "HEIC", "libde265-0", String(cString: words))
    }
    if let words = cavif_open() {
      throw .noLibrary(name, "HEIC", "libavif", String(cString: words))
    }
    var region = region
    region.x += header.aperture.x
    region.y += header.aperture.y
    let tiles = header.tiles
    (self.header, self.bytes, self.region, self.name) = (header, bytes, region, name)
    padded = region.padded(in: header.coded)
    cells = padded.x / tiles.cell.width...(padded.x + padded.width - 1) / tiles.cell.width
    let right = min((cells.upperBound + 1) * tiles.cell.width, header.coded.width)
    let columns = cells.lowerBound * tiles.cell.width..<right
    self.columns = columns
    band = padded.y / tiles.cell.height
    let isWide = header.depth > 8
    shape = RowShape(
      width: region.width,
      height: region.height,
      layout: header.alpha != nil ? .rgba : isWide ? .rgb : .bgrx,
      depth: isWide ? 16 : 8
    )
    let sampleBytes = isWide ? 2 : 1
    let rows = min(tiles.cell.height, header.coded.height) + 2 * Self.margin
    // For luma, both chroma channels and alpha, this is the subsampling across and down: 1 for half as many samples,
    // and 0 for all.
    var halves = [(0, 0)]
    if tiles.format > 0 {
      let half = (tiles.format < 3 ? 1 : 0, tiles.format == 1 ? 1 : 0)
      halves += [half, half]
    }
    if header.alpha != nil { halves.append((0, 0)) }
    let sizes = halves.map { across, down in
      (rowBytes: ((columns.count + across) >> across) * sampleBytes, rows: (rows + down) >> down)
    }
    try limits.check(memory: sizes.reduce(0) { $0 + $1.rowBytes * $1.rows }, of: name)
    // Besides the planes, the decoder has data about each block, and a copy for its last filter.
    let cell = tiles.cell.width * tiles.cell.height
    try limits.check(decoding: cell * Self.decoderBytes * sampleBytes, of: name)
    planes = zip(halves, sizes).map { half, size in
      let start = UnsafeMutablePointer<UInt8>.allocate(capacity: size.rowBytes * size.rows)
      start.initialize(repeating: 0, count: size.rowBytes * size.rows)
      return Plane(
        across: half.0,
        down: half.1,
        sampleBytes: sampleBytes,
        rowBytes: size.rowBytes,
        start: start
      )
    }
  }

  deinit { for plane in planes { plane.start.deallocate() } }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    var left = count
    while left > 0 {
      let y = region.y + reached
      // The last decoded rows cannot be converted yet, because the upsampling of their chroma needs the rows below
      // them.
      let isLast = held.upperBound == header.coded.height
      let ready = held.upperBound - (isLast ? 0 : Self.margin)
      guard y < ready else {
        try decodeBand()
        continue
      }
      let rows = min(left, ready - y, Self.mostRows)
      try convert(y..<y + rows, target + (count - left) * shape.rowBytes)
      reached += rows
      left -= rows
    }
  }

  /// Decodes the next row of cells into `planes`, below the last pixel rows of the cells above, which are kept.
  private func decodeBand() throws(LarderError) {
    let kept = min(held.count, 2 * Self.margin)
    for plane in planes where kept > 0 {
      let count = plane.at(0, kept) - plane.start
      plane.start.update(from: plane.at(0, held.count - kept), count: count)
    }
    let tiles = header.tiles
    let end = min((band + 1) * tiles.cell.height, header.coded.height)
    let rows = band * tiles.cell.height..<end
    held = rows.lowerBound - kept..<end
    let colours = tiles.format > 0 ? 3 : 1
    for column in cells {
      try decode(tiles, column, planes.prefix(colours), kept)
      if let alpha = header.alpha { try decode(alpha, column, planes.suffix(1), kept) }
    }
    band += 1
  }

  /// Decodes a cell into planes, below their first `top` rows.
  private func decode(
    _ tiles: HEVCTiles,
    _ column: Int,
    _ planes: ArraySlice<Plane>,
    _ top: Int
  ) throws(LarderError) {
    let left = column * tiles.cell.width - columns.lowerBound
    let shape = chevc_shape(
      width: Int32(tiles.cell.width),
      height: Int32(tiles.cell.height),
      chroma: Int32(tiles.format),
      depth: Int32(tiles.depth)
    )
    var room = chevc_room()
    room.width = Int32(min(tiles.cell.width, columns.count - left))
    room.height = Int32(held.count - top)
    for (index, plane) in zip(0..., planes) {
      let target = plane.at(left, top)
      switch index {
      case 0: (room.planes.0, room.strides.0) = (target, plane.rowBytes)
      case 1: (room.planes.1, room.strides.1) = (target, plane.rowBytes)
      default: (room.planes.2, room.strides.2) = (target, plane.rowBytes)
      }
    }
    var found = chevc_light()
    var words: UnsafePointer<CChar>?
    let status = tiles.stills[band * tiles.columns + column].withUnits(bytes) { units in
      let units = units.map { chevc_unit(bytes: $0.baseAddress, count: $0.count) }
      return chevc_decode(units, units.count, shape, room, &found, &words)
    }
    guard let status else { throw .damaged(name, "the file ends too early") }
    switch Int(status) {
    case chevc_done: break
    case chevc_no_memory: throw .tooLarge(name, "it takes more memory than is allowed")
    case chevc_other:
      throw .damaged(name, "a picture inside differs from its declared size or type")
    default: throw .damaged(name, words.map { String(cString: $0) } ?? "its data is damaged")
    }
    isDamaged = isDamaged || found.is_damaged
    if light == nil { light = found }
  }

  /// Converts decoded rows to RGB; the rows around them are converted with them, for the chroma.
  private func convert(
    _ rows: Range<Int>,
    _ target: UnsafeMutablePointer<UInt8>
  ) throws(LarderError) {
    let top = max(held.lowerBound, (rows.lowerBound - Self.margin) & ~1)
    let bottom = min(held.upperBound, rows.upperBound + Self.margin)
    let left = padded.x - columns.lowerBound
    var source = cavif_planes()
    (source.width, source.height) = (UInt32(padded.width), UInt32(bottom - top))
    source.depth = Int32(header.depth)
    source.full_range = header.isFullRange ?? light?.full_range ?? false
    source.premultiplied = header.isPremultiplied
    source.colour = cavif_colour(
      chroma: header.colour.chroma,
      primaries: header.colour.primaries,
      transfer: header.colour.transfer,
      matrix: header.isFullRange == nil ? light?.matrix ?? 2 : header.colour.matrix
    )
    let stride = padded.width * shape.pixelBytes
    let count = stride * (bottom - top)
    if room.count < count { room = [UInt8](repeating: 0, count: count) }
    for (index, plane) in planes.enumerated() {
      let first = UnsafePointer(plane.at(left, top - held.lowerBound))
      let isAlpha = header.alpha != nil && index == planes.count - 1
      switch isAlpha ? 3 : index {
      case 0: (source.planes.0, source.strides.0) = (first, plane.rowBytes)
      case 1: (source.planes.1, source.strides.1) = (first, plane.rowBytes)
      case 2: (source.planes.2, source.strides.2) = (first, plane.rowBytes)
      default: (source.planes.3, source.strides.3) = (first, plane.rowBytes)
      }
    }
    var outcome = cavif_outcome()
    let status = room.withUnsafeMutableBufferPointer {
      cavif_convert(&source, $0.baseAddress, stride, &outcome)
    }
    guard status == CInt(cavif_done) else { throw AVIFCodec.error(name, status, outcome) }
    let start = (region.x - padded.x) * shape.pixelBytes
    room.withUnsafeBufferPointer { room in
      for (index, y) in rows.enumerated() {
        let from = (y - top) * stride + start
        let row = UnsafeMutableBufferPointer(
          start: target + index * shape.rowBytes,
          count: shape.rowBytes
        )
        _ = row.update(fromContentsOf: room[from..<from + shape.rowBytes])
      }
    }
  }
}
