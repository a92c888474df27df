import Base
import CPNG

/// Encodes PNGs with libpng, and reports its errors.
///
/// Only this folder uses libpng's pointers and structs.
enum PNGCodec {
  /// Encodes rows, which may have any layout except `cmyk`.
  ///
  /// - Parameters:
  ///   - rows: The rows of the picture.
  ///   - interlaced: Whether the file is interlaced. This needs the whole picture in memory.
  ///   - level: zlib's compression level, from 0 to 9. If it is nil, it depends on the size.
  ///   - output: The destination of the file, and further chunks to write.
  ///   - limits: The limits of the picture.
  ///   - name: The name of the picture in errors.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` when the rows cannot be read, or the file cannot be written.
  static func encode(
    _ rows: any RowSource,
    interlaced: Bool = false,
    level: Int? = nil,
    to output: PNGOutput = PNGOutput(),
    _ limits: PictureLimits = PictureLimits(),
    name: String
  ) throws(LarderError) -> EncodedFile {
    let rows = rows.shape.layout == .bgrx ? rows.flattened(.rgb) : rows
    let (size, layout, rowBytes) = (rows.shape.size, rows.shape.layout, rows.shape.rowBytes)
    let level = Int32(level ?? self.level(for: size, of: layout))
    var shape = try forPNG(rows.shape, name)
    var outcome = cpng_outcome()
    let room = (rowBytes + 1) * size.height / 256 * 257 + 65_536
    var failure: LarderError?
    let made: EncodedFile?
    if interlaced {
      let whole = try rows.collected(limits, name: name)
      made = output.collect(room: room, &failure) { output in
        whole.samples.withUnsafeBufferPointer {
          cpng_encode_interlaced(&shape, $0.baseAddress, rowBytes, level, &output, &outcome)
        }
      }
    } else {
      let feed = RowFeed(rows)
      var coming = cpng_coming()
      coming.at_once = UInt32(min(max((1 << 18) / max(rowBytes, 1), 16), size.height))
      (coming.next, coming.context) = (RowFeed.next, feed.context)
      made = withExtendedLifetime(feed) {
        output.collect(room: room, &failure) { cpng_encode(&shape, &coming, level, &$0, &outcome) }
      }
      failure = feed.failure ?? failure
    }
    guard let made else { throw failure ?? error(name, outcome) }
    return made
  }

  private static func forPNG(
    _ rows: RowShape,
    _ name: String
  ) throws(LarderError) -> cpng_shape {
    var shape = cpng_shape()
    shape.width = UInt32(rows.width)
    shape.height = UInt32(rows.height)
    shape.depth = Int32(rows.depth)
    shape.channels = Int32(rows.layout.channels)
    shape.color_type = Int32(try colourType(of: rows.layout, name))
    if case .indexed(let palette) = rows.layout {
      shape.palette_count = Int32(palette.colours.count / 3)
      shape.alpha_count = Int32(palette.alpha.count)
      withUnsafeMutableBytes(of: &shape.palette) {
        $0.copyBytes(from: palette.colours.prefix(768))
      }
      withUnsafeMutableBytes(of: &shape.alpha) { $0.copyBytes(from: palette.alpha.prefix(256)) }
    } else if let clear = rows.clear, let first = clear.first {
      shape.has_clear_color = true
      shape.clear_grey = first
      if clear.count == 3 {
        (shape.clear_red, shape.clear_green, shape.clear_blue) = (clear[0], clear[1], clear[2])
      }
    }
    return shape
  }

  /// zlib's compression level, which is lower for larger pictures.
  ///
  /// Up to 4 megapixels, the level is zlib's default, 6. Above that, it is 4: a photo of 12 megapixels is encoded in
  /// 0.66 s instead of 1.46 s, and becomes a ninth larger. Above 24 megapixels, it is 1: a square crop of a photo of 61
  /// megapixels is encoded in 2 s instead of 3 s, and becomes a twelfth larger. A palette index counts as a third of a
  /// pixel.
  private static func level(for size: PixelSize, of layout: Bitmap.Layout) -> Int {
    var pixels = size.width * size.height
    if case .indexed = layout { pixels /= 3 }
    return pixels > 24_000_000 ? 1 : pixels > 4_000_000 ? 4 : 6
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
      throw LarderError(
        .unsupported,
        "cannot write \(name): PNG does not support this pixel format; use JPEG"
      )
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
