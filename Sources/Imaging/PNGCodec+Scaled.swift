import CPNG
import CZimg

extension PNGCodec {
  /// Bytes of a part of a picture that is decoded whole before it is scaled; more is scaled on its way.
  static let most = 32 << 20

  /// Bytes of rows that are held of a picture that is scaled on its way.
  static let strip = 8 << 20

  /// Decodes a region of the stored picture and scales it as its rows come, so that it is never in
  /// memory whole.
  static func scaled(
    _ file: PictureFile,
    _ region: PixelRegion,
    to size: PixelSize,
    strip: Int = strip,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    var source = try Source(file, region, .expanded, band, limits)
    let target = size.width * size.height * source.pixelBytes
    try limits.check(memory: target, of: file.name)
    // The larger what is made, the less is held of what it is made from.
    source.band = max(band - target / 4, band / 3)
    return try Bitmap(
      width: size.width,
      height: size.height,
      layout: source.layout,
      depth: source.depth
    ) { (target) throws(ImagingError) in
      try source.lendRows(scaledTo: size, strip: strip) { rows, _, _ in
        rows.next(rows.context, target.baseAddress, rows.height)
      }
    }
  }

  /// Decodes some rows of a scaled region, named in rising order from its first on, as its rows come.
  static func pick(
    _ wanted: [Int],
    of file: PictureFile,
    _ region: PixelRegion,
    to size: PixelSize,
    form: Form,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    let source = try Source(file, region, form, band, limits)
    let rowBytes = size.width * source.pixelBytes
    let atOnce = min(rowsAtOnce(rowBytes), size.height)
    var strip = [UInt8](repeating: 0, count: atOnce * rowBytes)
    return try Bitmap(
      width: size.width,
      height: wanted.count,
      layout: source.layout,
      depth: source.depth
    ) { (picked) throws(ImagingError) in
      try source.lendRows(scaledTo: size, strip: Self.strip) { rows, _, _ in
        var left = wanted.enumerated().map { (place: $0, row: $1) }[...]
        for first in stride(from: 0, through: wanted.last ?? -1, by: atOnce) {
          let count = min(atOnce, size.height - first)
          guard rows.next(rows.context, &strip, UInt32(count)) else { return false }
          while let (place, row) = left.first, row < first + count {
            let from = (row - first) * rowBytes
            _ = picked[(place * rowBytes)...].update(fromContentsOf: strip[from..<from + rowBytes])
            left.removeFirst()
          }
        }
        return true
      }
    }
  }

  /// Rows that are made and encoded at a time: margins are scaled again for each strip.
  static func rowsAtOnce(_ rowBytes: Int) -> Int { max(strip / 2 / max(rowBytes, 1), 16) }
}

extension PNGCodec.Source {
  /// Lends the rows of the region as they come, scaled where there is a size, and on a canvas where there is one, with
  /// what they hold, and the place to say what was wrong.
  ///
  /// - Throws: ``ImagingError`` where they cannot be opened, or `body` returns false.
  func lendRows(
    scaledTo size: PixelSize?,
    on mount: Mount? = nil,
    strip: Int,
    _ body: (czimg_rows, cpng_shape, UnsafeMutablePointer<cpng_outcome>) -> Bool
  ) throws(ImagingError) {
    var outcome = cpng_outcome()
    let done = withUnsafeMutablePointer(to: &outcome) { outcome in
      lend { source in
        withUnsafePointer(to: &source) { source in
          var shape = cpng_shape()
          guard let rows = cpng_rows_open(source, &shape, outcome) else { return false }
          defer { cpng_rows_close(rows) }
          let coming = czimg_rows(
            width: source.pointee.region.width,
            height: source.pointee.region.height,
            next: { cpng_rows_next(OpaquePointer($0), $1, $2) },
            context: UnsafeMutableRawPointer(rows)
          )
          func lay(_ rows: czimg_rows) -> Bool {
            guard let mount else { return body(rows, shape, outcome) }
            var placed = PlacedRows(rows, on: mount, layout: layout, depth: depth)
            return placed.lend { body($0, shape, outcome) }
          }
          guard let size else { return lay(coming) }
          return coming.scaled(
            width: size.width,
            height: size.height,
            layout: layout,
            depth: depth,
            strip: strip,
            lay
          )
        }
      }
    }
    // Where no word was left, it is the scaling that had too little memory.
    if !done, outcome.message.0 == 0 { outcome.out_of_memory = true }
    guard done else { throw PNGCodec.error(file.name, outcome) }
  }
}
