import CPNG

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

  /// Decodes a region of the stored picture.
  static func decode(
    _ file: PictureFile,
    _ region: PixelRegion,
    form: Form = .native,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    guard case .png(let chunks) = file.probe.structure else {
      throw ImagingError(.unsupported, "cannot read \(file.name): it is not a PNG")
    }
    let (layout, depth) = shape(of: chunks, form)
    let pixelBytes = layout.channels * (depth == 16 ? 2 : 1)
    let rows = chunks.isInterlaced ? chunks.size.height : 1
    try limits.check(
      memory: max(region.width * region.height, chunks.size.width * rows) * pixelBytes,
      of: file.name
    )
    var shape = cpng_shape()
    var outcome = cpng_outcome()
    let bitmap = try Bitmap(
      width: region.width,
      height: region.height,
      layout: layout,
      depth: depth
    ) { (pixels) throws(ImagingError) in
      let done = file.bytes.withUnsafeBufferPointer {
        cpng_decode(
          $0.baseAddress,
          $0.count,
          chunks.dataEnd,
          UInt32(limits.side),
          form.forPNG,
          region.forPNG,
          pixels.baseAddress,
          region.width * pixelBytes,
          &shape,
          &outcome
        )
      }
      guard done else { throw error(file.name, outcome) }
    }
    // Chunks that libpng passes over, as their sum is wrong, must not change what pixels mean.
    guard Int(shape.channels) == layout.channels, Int(shape.depth) == depth else {
      throw .damaged(file.name, "its header and its transparency do not agree")
    }
    return named(bitmap, shape)
  }

  /// Encodes a bitmap of any layout but `bgrx` and `cmyk`.
  static func encode(
    _ bitmap: Bitmap,
    interlaced: Bool = false,
    level: Int = 6,
    name: String
  ) throws(ImagingError) -> [UInt8] {
    var shape = cpng_shape()
    shape.width = UInt32(bitmap.width)
    shape.height = UInt32(bitmap.height)
    shape.depth = Int32(bitmap.depth)
    shape.color_type = Int32(try colourType(of: bitmap.layout, name))
    if case .indexed(let palette) = bitmap.layout {
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
    var outcome = cpng_outcome()
    var made = Made()
    let done = bitmap.samples.withUnsafeBufferPointer {
      cpng_encode(
        &shape,
        $0.baseAddress,
        bitmap.rowBytes,
        Int32(level),
        interlaced,
        &made.bytes,
        &made.count,
        &outcome
      )
    }
    guard done else { throw error(name, outcome) }
    return made.take()
  }

  /// The layout and depth that a form will have.
  private static func shape(of chunks: PNGChunks, _ form: Form) -> (Bitmap.Layout, Int) {
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
  ) throws(ImagingError) -> Int {
    switch layout {
    case .grey: cpng_grey
    case .greyAlpha: cpng_grey_alpha
    case .rgb: cpng_rgb
    case .rgba: cpng_rgb_alpha
    case .indexed: cpng_palette
    case .bgrx, .cmyk:
      throw ImagingError(.unsupported, "cannot write \(name): PNG has no such pixels; use JPEG")
    }
  }

  private static func error(_ name: String, _ outcome: cpng_outcome) -> ImagingError {
    let words = withUnsafeBytes(of: outcome.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return outcome.out_of_memory
      ? .tooLarge(name, "it takes more memory than is allowed") : .damaged(name, words)
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
