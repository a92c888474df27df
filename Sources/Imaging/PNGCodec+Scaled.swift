import CPNG
import CZimg

extension PNGCodec {
  /// Bytes of a part of a picture that is decoded whole before it is scaled; more is scaled on its way.
  static let most = 32 << 20

  /// Bytes of rows that are held of a picture that is scaled on its way.
  static let strip = 8 << 20

  /// Decodes a region of the stored picture and scales it as its rows come, so that it is never in
  /// memory whole; with `narrowed`, 16 bits become the nearest of 8 on their way, which lose their alpha where there is
  /// a colour to lie on.
  static func scaled(
    _ file: PictureFile,
    _ region: PixelRegion,
    to size: PixelSize,
    narrowed: Bool = false,
    on colour: PictureColour? = nil,
    strip: Int = strip,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    var source = try Source(file, region, .expanded, band, limits)
    let depth = narrowed ? min(source.depth, 8) : source.depth
    let isNarrow = depth < source.depth
    let colour = isNarrow && source.layout == .rgba ? colour : nil
    let layout = colour == nil ? source.layout : .rgb
    let target = size.width * size.height * layout.pixelBytes(depth: depth)
    try limits.check(memory: target, of: file.name)
    source.leaveRoom(for: target)
    return try Bitmap(
      width: size.width,
      height: size.height,
      layout: layout,
      depth: depth
    ) { (target) throws(ImagingError) in
      try source.lendRows(scaledTo: size, strip: strip) { rows, _, _ in
        guard isNarrow else { return rows.next(rows.context, target.baseAddress, rows.height) }
        var narrow: [UInt8] = []
        return rows.inStrips(of: size.width * source.pixelBytes) { samples, first, _ in
          let start = first * size.width * layout.channels
          let room = UnsafeMutableBufferPointer(rebasing: target[start...])
          guard let colour else { return Bitmap.narrow(samples, into: room) }
          let count = samples.count / 2
          // The first strip is the largest.
          if narrow.isEmpty { narrow = Array(repeating: 0, count: count) }
          narrow.withUnsafeMutableBufferPointer {
            Bitmap.narrow(samples, into: $0)
            let rows = UnsafeBufferPointer(rebasing: $0[..<count])
            Bitmap.flatten(rows, .rgba, into: room, .rgb, on: colour)
          }
        }
      }
    }
  }

  /// Decodes some rows of a region that is scaled, lies on a canvas, or both, named in rising order from the first of
  /// what is made on, as its rows come.
  static func pickMade(
    _ wanted: [Int],
    of file: PictureFile,
    _ region: PixelRegion,
    scaledTo size: PixelSize?,
    on mount: Mount?,
    form: Form,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    let source = try Source(file, region, form, band, limits)
    let (made, layout) = (mount?.canvas ?? size ?? region.size, source.layout.on(mount))
    let rowBytes = made.width * layout.pixelBytes(depth: source.depth)
    return try Bitmap(
      width: made.width,
      height: wanted.count,
      layout: layout,
      depth: source.depth
    ) { (picked) throws(ImagingError) in
      try source.lendRows(scaledTo: size, on: mount, strip: Self.strip) { rows, _, _ in
        var left = wanted.enumerated().map { (place: $0, row: $1) }[...]
        return rows.inStrips(of: rowBytes, through: wanted.last ?? -1) { strip, first, count in
          while let (place, row) = left.first, row < first + count {
            let from = (row - first) * rowBytes
            _ = picked[(place * rowBytes)...].update(fromContentsOf: strip[from..<from + rowBytes])
            left.removeFirst()
          }
        }
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
  /// - Throws: ``ImagingError`` where they cannot be read, or `body` returns false.
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
            rows.lend(on: mount, layout, depth: depth) { body($0, shape, outcome) }
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
