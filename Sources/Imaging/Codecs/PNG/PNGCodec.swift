import Base
import CPNG
import CZimg

/// PNG in and out by libpng, of which no pointer or struct is seen elsewhere.
enum PNGCodec {
  /// How samples leave the decoder.
  enum Form {
    /// As the file has them.
    case native
    /// Without palette, with tRNS as alpha, with at least 8 bits.
    case expanded
    /// As expanded, and grey as RGB.
    case coloured
  }

  /// Bytes of an interlaced picture's even rows that are held at a time, where all of them are more.
  ///
  /// Each further time it is unpacked from its beginning; 50 megapixels of 8 bits with alpha fit.
  static let band = 96 << 20

  /// Decodes a region of the stored picture, and lays it upright where it is stored in an orientation; with `narrowed`,
  /// which no native form has, 16 bits as the nearest of 8.
  static func decode(
    _ file: PictureFile,
    _ region: PixelRegion,
    form: Form = .native,
    narrowed: Bool = false,
    from orientation: Orientation = .upright,
    band: Int = band,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    var source = try Source(file, region, form, narrowed: narrowed, band, limits)
    let bytes = region.width * region.height * source.pixelBytes
    try limits.check(memory: bytes, of: file.name)
    if orientation != .upright { source.leaveRoom(for: bytes) }
    var shape = cpng_shape()
    var outcome = cpng_outcome()
    let size = orientation.upright(region.size)
    let bitmap = try Bitmap(
      width: size.width,
      height: size.height,
      layout: source.layout,
      depth: source.depth
    ) { (pixels) throws(LarderError) in
      guard orientation == .upright else {
        let turning = Turning(region.size, from: orientation, source.pixelBytes)
        return try source.lendRows(scaledTo: nil, strip: strip) { rows, found, _ in
          shape = found
          return rows.lay(by: turning, source.rowBytes, into: pixels)
        }
      }
      let done = source.lend {
        cpng_decode(&$0, pixels.baseAddress, source.rowBytes, &shape, &outcome)
      }
      guard done else { throw error(file.name, outcome) }
    }
    return named(bitmap, shape)
  }

  /// Decodes some rows of a region, or of what it is scaled to or lies on, named in rising order from the first on,
  /// and reads no further.
  static func pick(
    _ rows: [Int],
    of file: PictureFile,
    _ region: PixelRegion,
    scaledTo size: PixelSize? = nil,
    on mount: Mount? = nil,
    form: Form,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    if size != nil || mount != nil {
      return try pickMade(rows, of: file, region, scaledTo: size, on: mount, form: form, limits)
    }
    let source = try Source(file, region, form, band, limits)
    let wanted = rows.map { UInt32(region.y + $0) }
    var outcome = cpng_outcome()
    return try Bitmap(
      width: region.width,
      height: rows.count,
      layout: source.layout,
      depth: source.depth
    ) { (pixels) throws(LarderError) in
      let done = source.lend {
        cpng_pick(
          &$0,
          wanted,
          UInt32(wanted.count),
          pixels.baseAddress,
          source.rowBytes,
          &outcome
        )
      }
      guard done else { throw error(file.name, outcome) }
    }
  }

  /// Decodes a region and encodes it again row by row, so that neither picture is ever in memory; scaled where
  /// there is a size, and on a canvas where there is one.
  ///
  /// The result is not interlaced, and goes to `output`. `brush` paints on the rows on their way.
  static func recode(
    _ file: PictureFile,
    _ region: PixelRegion,
    scaledTo size: PixelSize? = nil,
    on mount: Mount? = nil,
    form: Form = .native,
    level: Int? = nil,
    band: Int = band,
    strip: Int = strip,
    brush: Brush? = nil,
    to output: PNGOutput = PNGOutput(),
    _ limits: PictureLimits
  ) throws(LarderError) -> EncodedFile {
    let source = try Source(file, region, form, band, limits)
    let made = mount?.canvas ?? size ?? region.size
    if mount != nil { try limits.check(width: made.width, height: made.height, of: file.name) }
    let layout = source.layout.on(mount)
    let level = Int32(level ?? self.level(for: made, of: layout))
    let rowBytes = made.width * layout.pixelBytes(depth: source.depth)
    let channels = Int32(layout.channels)
    let colourType = Int32(try colourType(of: layout, file.name))
    let easel = brush.map {
      Easel(brush: $0, layout: layout, depth: source.depth, width: made.width)
    }
    var (encoded, failure): (EncodedFile?, LarderError?)
    do throws(LarderError) {
      try source.lendRows(scaledTo: size, on: mount, strip: strip) { rows, shape, outcome in
        var shape = shape
        (shape.width, shape.height) = (rows.width, rows.height)
        (shape.channels, shape.color_type) = (channels, colourType)
        var coming = cpng_coming()
        coming.at_once = UInt32(min(brush?.rows ?? rowsAtOnce(rowBytes), made.height))
        (coming.next, coming.context) = (rows.next, rows.context)
        if let easel {
          coming.painter = Unmanaged.passUnretained(easel).toOpaque()
          coming.paint = { painter, rows, first, count in
            guard let painter, let rows else { return false }
            // SAFETY: `painter` is the easel, which `withExtendedLifetime` keeps until all is painted.
            let easel = Unmanaged<Easel>.fromOpaque(painter).takeUnretainedValue()
            return easel.paint(rows, first: Int(first), count: Int(count))
          }
        }
        encoded = withExtendedLifetime(easel) {
          output.collect(room: mostBytes(rowBytes, made.height), &failure) {
            cpng_encode_coming(&shape, &coming, level, &$0, outcome)
          }
        }
        return encoded != nil
      }
    } catch {
      throw failure ?? easel?.failure ?? error
    }
    return encoded ?? .held([])
  }

  /// What paints on the rows of a picture that is on its way.
  struct Brush {
    /// Rows that are painted on at a time.
    let rows: Int
    /// Paints on rows of full width, the first of which is the row `first` of the region.
    let paint: (_ rows: inout Bitmap, _ first: Int) throws(LarderError) -> Void
  }

  /// Holds what C hands back to Swift while a picture is painted on.
  private final class Easel {
    let brush: Brush
    let layout: Bitmap.Layout
    let depth: Int
    let width: Int
    var failure: LarderError?

    init(brush: Brush, layout: Bitmap.Layout, depth: Int, width: Int) {
      self.brush = brush
      self.layout = layout
      self.depth = depth
      self.width = width
    }

    func paint(_ pixels: UnsafeMutablePointer<UInt8>, first: Int, count: Int) -> Bool {
      let bytes = UnsafeMutableBufferPointer(
        start: pixels,
        count: count * width * layout.pixelBytes(depth: depth)
      )
      var rows = Bitmap(
        width: width,
        height: count,
        layout: layout,
        depth: depth,
        samples: Array(bytes)
      )
      do throws(LarderError) {
        try brush.paint(&rows, first)
        _ = bytes.update(fromContentsOf: rows.samples)
        return true
      } catch {
        failure = error
        return false
      }
    }
  }

  /// Encodes a bitmap of any layout but `cmyk`, on a canvas where there is one; a large one that nobody else holds gives
  /// its memory back meanwhile, unless it is interlaced.
  static func encode(
    _ bitmap: consuming Bitmap,
    on mount: Mount? = nil,
    interlaced: Bool = false,
    level: Int? = nil,
    to output: PNGOutput = PNGOutput(),
    name: String
  ) throws(LarderError) -> EncodedFile {
    let size = mount?.canvas ?? PixelSize(width: bitmap.width, height: bitmap.height)
    let rows = LentRows.forPNG(bitmap)
    let layout = rows.layout.on(mount)
    let level = Int32(level ?? self.level(for: size, of: layout))
    var shape = try shape(of: bitmap, size, as: layout, depth: rows.depth, name)
    var outcome = cpng_outcome()
    let rowBytes = size.width * layout.pixelBytes(depth: rows.depth)
    let room = mostBytes(rowBytes, size.height)
    let made: EncodedFile?
    var failure: LarderError?
    if interlaced {
      let whole = bitmap.layout == .bgrx ? (consume bitmap).flattened(.rgb) : bitmap
      made = output.collect(room: room, &failure) { output in
        whole.samples.withUnsafeBufferPointer {
          cpng_encode(&shape, $0.baseAddress, rowBytes, level, true, &output, &outcome)
        }
      }
    } else {
      var lent: Bitmap? = consume bitmap
      made = output.collect(room: room, &failure) { output in
        lent.take()?.lend(rows) {
          $0.lend(on: mount, rows.layout, depth: rows.depth) {
            var coming = cpng_coming()
            coming.at_once = UInt32(min(rowsAtOnce(rowBytes * 16), size.height))
            (coming.next, coming.context) = ($0.next, $0.context)
            return cpng_encode_coming(&shape, &coming, level, &output, &outcome)
          }
        } ?? false
      }
    }
    guard let made else { throw failure ?? error(name, outcome) }
    return made
  }

  /// What the rows of a file of a bitmap hold, for libpng.
  private static func shape(
    of bitmap: borrowing Bitmap,
    _ size: PixelSize,
    as layout: Bitmap.Layout,
    depth: Int,
    _ name: String
  ) throws(LarderError) -> cpng_shape {
    var shape = cpng_shape()
    shape.width = UInt32(size.width)
    shape.height = UInt32(size.height)
    shape.depth = Int32(depth)
    shape.channels = Int32(layout.channels)
    shape.color_type = Int32(try colourType(of: layout, name))
    if case .indexed(let palette) = layout {
      shape.palette_count = Int32(palette.colours.count / 3)
      shape.alpha_count = Int32(palette.alpha.count)
      withUnsafeMutableBytes(of: &shape.palette) {
        $0.copyBytes(from: palette.colours.prefix(768))
      }
      withUnsafeMutableBytes(of: &shape.alpha) { $0.copyBytes(from: palette.alpha.prefix(256)) }
    } else if let clear = bitmap.clear, let first = clear.first {
      shape.has_clear_color = true
      shape.clear_grey = first
      if clear.count == 3 {
        (shape.clear_red, shape.clear_green, shape.clear_blue) = (clear[0], clear[1], clear[2])
      }
    }
    return shape
  }

  /// Bytes of the file of so many rows, were nothing to be packed; what is not written of them takes no memory.
  private static func mostBytes(_ rowBytes: Int, _ height: Int) -> Int {
    (rowBytes + 1) * height / 256 * 257 + 65_536
  }

  /// How hard zlib tries, 0 to 9.
  ///
  /// Above 4 megapixels less than its default of 6: a photo of 12 takes 0.66 s in place of 1.46, and a ninth
  /// more room. Above 24 as little as it can: the square of one of 61 takes 2 s in place of 3, and a
  /// twelfth more. An index is a third of a pixel.
  private static func level(for size: PixelSize, of layout: Bitmap.Layout) -> Int {
    var pixels = size.width * size.height
    if case .indexed = layout { pixels /= 3 }
    return pixels > 24_000_000 ? 1 : pixels > 4_000_000 ? 4 : 6
  }

  /// Bytes of a picture of `size` in a form, on a canvas where there is one.
  static func bytes(
    _ size: PixelSize,
    of chunks: PNGChunks,
    _ form: Form,
    on mount: Mount? = nil
  ) -> Int {
    let (layout, depth) = shape(of: chunks, form)
    return size.width * size.height * layout.on(mount).pixelBytes(depth: depth)
  }

  /// The layout and depth that a form will have.
  static func shape(of chunks: PNGChunks, _ form: Form) -> (Bitmap.Layout, Int) {
    let clear = chunks.hasTransparency && form != .native
    let depth = form == .native ? chunks.depth : max(chunks.depth, 8)
    switch chunks.colourType {
    case 3 where form == .native: return (.indexed(Bitmap.Palette(colours: [])), depth)
    case 3: return (clear ? .rgba : .rgb, 8)
    case 0 where form != .coloured: return (clear ? .greyAlpha : .grey, depth)
    case 4 where form != .coloured: return (.greyAlpha, depth)
    case 4, 6: return (.rgba, depth)
    default: return (clear ? .rgba : .rgb, depth)
    }
  }

  /// The bitmap with the palette and clear colour that only the decoder knows.
  private static func named(_ bitmap: Bitmap, _ shape: cpng_shape) -> Bitmap {
    var bitmap = bitmap
    if case .indexed = bitmap.layout {
      let colours = withUnsafeBytes(of: shape.palette) {
        Array($0.prefix(Int(shape.palette_count) * 3))
      }
      let alpha = withUnsafeBytes(of: shape.alpha) { Array($0.prefix(Int(shape.alpha_count))) }
      return Bitmap(
        width: bitmap.width,
        height: bitmap.height,
        layout: .indexed(Bitmap.Palette(colours: colours, alpha: alpha)),
        depth: bitmap.depth,
        samples: bitmap.samples
      )
    }
    if shape.has_clear_color {
      bitmap.clear =
        bitmap.layout == .grey
        ? [shape.clear_grey] : [shape.clear_red, shape.clear_green, shape.clear_blue]
    }
    return bitmap
  }

  private static func colourType(
    of layout: Bitmap.Layout,
    _ name: String
  ) throws(LarderError) -> Int {
    switch layout {
    case .grey: cpng_grey
    case .greyAlpha: cpng_grey_alpha
    case .rgb: cpng_rgb
    case .rgba: cpng_rgb_alpha
    case .indexed: cpng_palette
    case .bgrx, .cmyk:
      throw LarderError(.unsupported, "cannot write \(name): PNG has no such pixels; use JPEG")
    }
  }

  static func error(_ name: String, _ outcome: cpng_outcome) -> LarderError {
    let words = withUnsafeBytes(of: outcome.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return outcome.out_of_memory
      ? .tooLarge(name, "it takes more memory than is allowed") : .damaged(name, words)
  }
}

extension PNGCodec {
  /// What is to be read of a file.
  struct Source {
    let file: PictureFile
    let chunks: PNGChunks
    let region: PixelRegion
    let form: Form
    let layout: Bitmap.Layout
    let depth: Int
    let side: Int
    var band: Int
    let memory: Int

    var pixelBytes: Int { layout.pixelBytes(depth: depth) }
    var rowBytes: Int { region.width * pixelBytes }

    init(
      _ file: PictureFile,
      _ region: PixelRegion,
      _ form: Form,
      narrowed: Bool = false,
      _ band: Int,
      _ limits: PictureLimits
    ) throws(LarderError) {
      guard case .png(let chunks) = file.probe.structure else {
        throw LarderError(.unsupported, "cannot read \(file.name): it is not a PNG")
      }
      let (layout, depth) = PNGCodec.shape(of: chunks, form)
      (self.layout, self.depth) = (layout, narrowed ? min(depth, 8) : depth)
      (self.file, self.chunks, self.region, self.form) = (file, chunks, region, form)
      (side, self.band, memory) = (limits.side, band, limits.memory)
      // An interlaced picture is unpacked once for each band of it; this bounds how often.
      let rows = chunks.isInterlaced ? chunks.size.height : 1
      try limits.check(memory: chunks.size.width * rows * pixelBytes, of: file.name)
    }

    /// Holds the less of an interlaced picture, the larger what is made of it.
    mutating func leaveRoom(for bytes: Int) { band = max(band - bytes / 4, band / 3) }

    func lend(_ body: (inout cpng_source) -> Bool) -> Bool {
      file.bytes.withUnsafeBufferPointer { bytes in
        var source = cpng_source(
          bytes: bytes.baseAddress,
          count: bytes.count,
          data_end: chunks.dataEnd,
          side: UInt32(clamping: side),
          form: form.forPNG,
          channels: Int32(layout.channels),
          depth: Int32(depth),
          region: region.forPNG,
          band: band,
          memory: memory
        )
        return body(&source)
      }
    }
  }
}

extension PNGCodec.Form {
  fileprivate var forPNG: Int32 {
    switch self {
    case .native: Int32(cpng_native)
    case .expanded: Int32(cpng_expanded)
    case .coloured: Int32(cpng_coloured)
    }
  }
}

extension PixelRegion {
  fileprivate var forPNG: cpng_region {
    cpng_region(
      x: UInt32(x),
      y: UInt32(y),
      width: UInt32(width),
      height: UInt32(height)
    )
  }
}

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
  ) throws(LarderError) -> Bitmap {
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
    ) { (target) throws(LarderError) in
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
  ) throws(LarderError) -> Bitmap {
    let source = try Source(file, region, form, band, limits)
    let (made, layout) = (mount?.canvas ?? size ?? region.size, source.layout.on(mount))
    let rowBytes = made.width * layout.pixelBytes(depth: source.depth)
    return try Bitmap(
      width: made.width,
      height: wanted.count,
      layout: layout,
      depth: source.depth
    ) { (picked) throws(LarderError) in
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
  ) throws(LarderError) {
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
