import Base
import CPNG

/// The rows of a region of a PNG.
///
/// When the last row is read, the file is read to its end, so that all damage is found.
final class PNGRows: RowSource {
  /// At most this many bytes of an interlaced picture's even rows are held at a time.
  ///
  /// If there are more, they are divided into bands of this size, and the picture is decompressed again from its
  /// beginning for each band. 50 megapixels of 8 bits with alpha fit into one band.
  static let band = 96 << 20

  let shape: RowShape
  private let name: String
  private let source: UnsafeMutablePointer<cpng_source>
  private let outcome: UnsafeMutablePointer<cpng_outcome>
  private var rows: OpaquePointer?

  /// Starts to decode a region.
  ///
  /// - Parameters:
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - chunks: The chunks of the file.
  ///   - region: The region, in pixels of the stored picture.
  ///   - isNative: Whether samples stay as they are in the file. If not, palette indices become colours, a transparent
  ///     colour (tRNS) becomes alpha, and samples get at least 8 bits.
  ///   - band: At most this many bytes of an interlaced picture's even rows are held at a time.
  ///   - limits: The limits of the picture.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` when libpng refuses the file, or the picture takes too much memory.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ chunks: PNGChunks,
    _ region: PixelRegion,
    isNative: Bool,
    band: Int = band,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    var shape = Self.shape(of: chunks, isNative: isNative)
    shape.size = region.size
    // The limit also bounds the number of bands, because an interlaced picture is decompressed once for each of them.
    let height = chunks.isInterlaced ? chunks.size.height : 1
    try limits.check(memory: chunks.size.width * height * shape.pixelBytes, of: name)
    self.name = name
    source = .allocate(capacity: 1)
    outcome = .allocate(capacity: 1)
    outcome.initialize(to: cpng_outcome())
    source.initialize(
      to: cpng_source(
        bytes: bytes.baseAddress,
        count: bytes.count,
        data_end: chunks.dataEnd,
        side: UInt32(clamping: limits.side),
        form: Int32(isNative ? cpng_native : cpng_expanded),
        channels: Int32(shape.layout.channels),
        depth: Int32(shape.depth),
        region: cpng_region(
          x: UInt32(region.x),
          y: UInt32(region.y),
          width: UInt32(region.width),
          height: UInt32(region.height)
        ),
        band: band,
        memory: limits.memory
      )
    )
    var found = cpng_shape()
    rows = cpng_rows_open(source, &found, outcome)
    self.shape = Self.named(shape, found)
    guard rows != nil else { throw PNGCodec.error(name, outcome.pointee) }
  }

  deinit {
    cpng_rows_close(rows)
    source.deallocate()
    outcome.deallocate()
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    guard cpng_rows_next(rows, target, UInt32(count)) else {
      throw PNGCodec.error(name, outcome.pointee)
    }
  }

  /// The shape of the rows of a whole picture; a palette is empty, because its colours are not known yet.
  static func shape(of chunks: PNGChunks, isNative: Bool) -> RowShape {
    let hasClear = chunks.hasTransparency && !isNative
    let depth = isNative ? chunks.depth : max(chunks.depth, 8)
    let (layout, bits): (Bitmap.Layout, Int) =
      switch chunks.colourType {
      case 3:
        isNative ? (.indexed(Bitmap.Palette(colours: [])), depth) : (hasClear ? .rgba : .rgb, 8)
      case 0: (hasClear ? .greyAlpha : .grey, depth)
      case 4: (.greyAlpha, depth)
      case 6: (.rgba, depth)
      default: (hasClear ? .rgba : .rgb, depth)
      }
    return RowShape(
      width: chunks.size.width,
      height: chunks.size.height,
      layout: layout,
      depth: bits
    )
  }

  /// Adds the palette and the transparent colour, which are known once libpng has read them.
  private static func named(_ shape: RowShape, _ found: cpng_shape) -> RowShape {
    var shape = shape
    if case .indexed = shape.layout {
      let colours = withUnsafeBytes(of: found.palette) {
        Array($0.prefix(Int(found.palette_count) * 3))
      }
      let alpha = withUnsafeBytes(of: found.alpha) { Array($0.prefix(Int(found.alpha_count))) }
      shape.layout = .indexed(Bitmap.Palette(colours: colours, alpha: alpha))
    } else if found.has_clear_color {
      shape.clear =
        shape.layout == .grey
        ? [found.clear_grey] : [found.clear_red, found.clear_green, found.clear_blue]
    }
    return shape
  }
}
