import Base
import CJPEG
import Glibc

/// Decodes and encodes JPEGs with libjpeg-turbo.
///
/// No other Swift file uses its pointers and structs.
enum JPEGCodec {
  /// The header fields of a JPEG, as libjpeg reads them.
  struct Header {
    let colourSpace: Int32
    let hasAdobe: Bool
    /// The layout in which the file's pixels are decoded.
    let layout: Bitmap.Layout

    /// Whether the samples are stored as RGB, which is unusual, and not as YCbCr.
    var isRGB: Bool { Int(colourSpace) == cjpeg_rgb }
  }

  /// A new JPEG, and whether the file from which it was made is incomplete or damaged.
  struct Outcome {
    let bytes: [UInt8]
    let isDamaged: Bool
  }

  /// The options for encoding a JPEG.
  struct Form {
    /// The quality, from 1 to 100.
    ///
    /// If it is nil, a JPEG that is made from a JPEG keeps the quantization tables of its source. Another JPEG gets
    /// libjpeg's default quality.
    var quality: Int?
    /// Whether the file is progressive.
    ///
    /// If this is false, the file is progressive only if its source is a progressive JPEG.
    var isProgressive = false
    /// The chroma subsampling.
    ///
    /// If it is nil, a JPEG that is made from a JPEG keeps the subsampling of its source. Another JPEG gets 4:2:0.
    var chroma: ChromaSampling?

    fileprivate var forJPEG: cjpeg_form {
      cjpeg_form(
        quality: Int32(quality ?? 0),
        chroma: chroma.flatMap { Int32($0.rawValue) } ?? 0,
        progressive: isProgressive
      )
    }
  }

  /// Reads the header of a file.
  static func header(of file: PictureFile) throws(LarderError) -> Header {
    var header = cjpeg_header()
    var outcome = cjpeg_outcome()
    let done = file.bytes.withUnsafeBufferPointer {
      cjpeg_read_header($0.baseAddress, $0.count, &header, &outcome)
    }
    guard done else { throw error(file.name, outcome) }
    let layout: Bitmap.Layout =
      switch Int(header.color_space) {
      case cjpeg_grey: .grey
      case cjpeg_rgb, cjpeg_ycc: .bgrx
      case cjpeg_cmyk, cjpeg_ycck: .cmyk
      default:
        throw LarderError(
          .unsupported,
          "cannot read \(file.name): a JPEG with \(header.components) channels of an unknown kind; save it as RGB"
        )
      }
    return Header(colourSpace: header.color_space, hasAdobe: header.adobe, layout: layout)
  }

  /// The best scale for decoding, in eighths, if the picture is scaled afterwards: 1, 2, 4 or 8.
  static func eighths(for scaling: RowRequest.Scaling) -> Int {
    let (from, to) = (scaling.window, scaling.size)
    func leaves(_ eighths: Int, _ eighthsOfResult: Int) -> Bool {
      from.width * eighths >= to.width * eighthsOfResult
        && from.height * eighths >= to.height * eighthsOfResult
    }
    // At 1/8, a pixel is just the mean of a block. So 1/8 is used only if the scaling filter still has to halve the
    // picture.
    if leaves(1, 16) { return 1 }
    return [2, 4].first { leaves($0, 8) } ?? 8
  }

  /// Decodes the whole stored picture at 1/8 of its size, even if it is damaged.
  static func thumbnail(
    _ file: PictureFile,
    layout: Bitmap.Layout,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let stored = file.probe.stored
    let size = PixelSize(width: (stored.width + 7) / 8, height: (stored.height + 7) / 8)
    try limits.check(memory: size.width * size.height * layout.channels, of: file.name)
    var outcome = cjpeg_outcome()
    return try Bitmap(
      width: size.width,
      height: size.height,
      layout: layout,
      depth: 8
    ) { (pixels) throws(LarderError) in
      let done = file.bytes.withUnsafeBufferPointer {
        cjpeg_glance(
          $0.baseAddress,
          $0.count,
          limits.forJPEG,
          layout.forJPEG,
          pixels.baseAddress,
          size.width * layout.channels,
          &outcome
        )
      }
      guard done else { throw error(file.name, outcome) }
    }
  }

  /// Encodes a region of the stored picture again, row by row.
  ///
  /// The decoded pixels are never in memory as a whole.
  static func recode(
    _ file: PictureFile,
    _ region: PixelRegion,
    _ form: Form,
    _ limits: PictureLimits
  ) throws(LarderError) -> Outcome {
    try made(from: file) {
      cjpeg_recode(
        $0.baseAddress,
        $0.count,
        limits.forJPEG,
        region.forJPEG,
        form.forJPEG,
        &$1,
        &$2,
        &$3
      )
    }
  }

  /// Cuts a region out of an upright picture without decoding it; the region must begin at a block.
  ///
  /// - Throws: ``LarderError`` when libjpeg cannot cut it.
  static func cut(
    _ file: PictureFile,
    _ region: PixelRegion,
    progressive: Bool,
    _ limits: PictureLimits
  ) throws(LarderError) -> Outcome {
    try made(from: file) {
      cjpeg_cut(
        $0.baseAddress,
        $0.count,
        limits.forJPEG,
        region.forJPEG,
        progressive,
        &$1,
        &$2,
        &$3
      )
    }
  }

  /// Turns a picture upright and cuts a region out of it, without decoding it.
  ///
  /// - Throws: ``LarderError`` when TurboJPEG cannot do it.
  static func transform(
    _ file: PictureFile,
    _ orientation: Orientation,
    _ region: PixelRegion,
    progressive: Bool
  ) throws(LarderError) -> Outcome {
    try made(from: file) {
      cjpeg_transform(
        $0.baseAddress,
        $0.count,
        orientation.forTurboJPEG,
        region.forJPEG,
        progressive,
        &$1,
        &$2,
        &$3
      )
    }
  }

  /// Calls `make`, a C function that makes a JPEG from the bytes of `file`.
  private static func made(
    from file: PictureFile,
    _ make: (
      UnsafeBufferPointer<UInt8>, inout UnsafeMutablePointer<UInt8>?, inout Int,
      inout cjpeg_outcome
    ) -> Bool
  ) throws(LarderError) -> Outcome {
    var outcome = cjpeg_outcome()
    // Nearly every result fits into this buffer. Its memory pages are used only once they are written.
    let bytes = MallocBuffer.collect(room: file.bytes.count + 65_536) { out, count in
      file.bytes.withUnsafeBufferPointer { make($0, &out, &count, &outcome) }
    }
    guard let bytes else { throw error(file.name, outcome) }
    return Outcome(bytes: bytes, isDamaged: outcome.warnings > 0 || file.probe.isCutShort)
  }

  /// The lowest quality for pixels that the source does not have, such as those of a scaled picture.
  ///
  /// If the quantization tables of the source are coarser, such pixels are encoded with the tables of this quality.
  static let leastFine = 75

  /// Encodes rows, with the settings of the JPEG `file` if there is one; transparent pixels get a background.
  ///
  /// The quantization tables, the sampling and the colour space of `file` are used. If `transposed` is true, their axes
  /// are swapped. If `hasNewDetail` is true, `file` does not have these pixels. Then they are not encoded with tables
  /// that are coarser than those of the quality `leastFine`.
  static func encode(
    _ rows: any RowSource,
    _ form: Form,
    like file: PictureFile? = nil,
    transposed: Bool = false,
    hasNewDetail: Bool = false,
    on background: PictureColour = .white,
    name: String
  ) throws(LarderError) -> [UInt8] {
    var rows = rows.opaque(on: background).converted(Conversion.narrowed)
    switch rows.shape.layout {
    case .grey where rows.shape.depth == 8, .rgb, .bgrx, .cmyk: break
    default: rows = rows.flattened(.rgb)
    }
    let (shape, feed) = (rows.shape, RowFeed(rows))
    var outcome = cjpeg_outcome()
    let made = MallocBuffer.collect(room: shape.width * shape.height / 4 + 65_536) { out, size in
      (file?.bytes ?? []).withUnsafeBufferPointer { like in
        var encoding = cjpeg_encoding(
          next: RowFeed.next,
          context: feed.context,
          width: UInt32(shape.width),
          height: UInt32(shape.height),
          color_space: shape.layout.forJPEG,
          form: form.forJPEG,
          finer_than: hasNewDetail ? Int32(leastFine) : 0,
          like: file == nil ? nil : like.baseAddress,
          like_count: like.count,
          transposed: transposed
        )
        return withExtendedLifetime(feed) { cjpeg_encode(&encoding, &out, &size, &outcome) }
      }
    }
    guard let made else { throw feed.failure ?? error(name, outcome) }
    return made
  }

  fileprivate static func error(_ name: String, _ outcome: cjpeg_outcome) -> LarderError {
    let words = withUnsafeBytes(of: outcome.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return outcome.out_of_memory
      ? .tooLarge(name, "it takes more memory than is allowed")
      : .damaged(name, words.prefix(1).lowercased() + words.dropFirst())
  }
}

/// The rows of a region of a JPEG, decoded at full size or reduced to a number of eighths.
///
/// When the last row is read, the file is read to its end, so that all damage is found.
final class JPEGRows: RowSource {
  let shape: RowShape
  private let name: String
  private let outcome: UnsafeMutablePointer<cjpeg_outcome>
  private let rows: OpaquePointer?

  /// Starts to decode a region.
  ///
  /// - Parameters:
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - region: The region, in pixels of the reduced picture.
  ///   - eighths: The scale of the reduced picture, in eighths: 1, 2, 4 or 8.
  ///   - layout: The layout of the rows, from ``JPEGCodec/Header``.
  ///   - limits: The limits of the picture.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` when libjpeg refuses the file.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ region: PixelRegion,
    eighths: Int,
    layout: Bitmap.Layout,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    shape = RowShape(width: region.width, height: region.height, layout: layout)
    self.name = name
    outcome = .allocate(capacity: 1)
    outcome.initialize(to: cjpeg_outcome())
    rows = cjpeg_rows_open(
      bytes.baseAddress,
      bytes.count,
      limits.forJPEG,
      Int32(eighths),
      region.forJPEG,
      layout.forJPEG,
      outcome
    )
    guard rows != nil else { throw JPEGCodec.error(name, outcome.pointee) }
  }

  deinit {
    cjpeg_rows_close(rows)
    outcome.deallocate()
  }

  /// Whether libjpeg has found anything missing or wrong.
  var hasWarnings: Bool { outcome.pointee.warnings > 0 }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    guard cjpeg_rows_next(rows, target, UInt32(count)) else {
      throw JPEGCodec.error(name, outcome.pointee)
    }
  }
}

extension PictureLimits {
  fileprivate var forJPEG: cjpeg_limits { cjpeg_limits(memory: memory, scans: Int32(scans)) }
}

extension PixelRegion {
  var forJPEG: cjpeg_region {
    cjpeg_region(
      x: UInt32(x),
      y: UInt32(y),
      width: UInt32(width),
      height: UInt32(height)
    )
  }
}

extension Bitmap.Layout {
  fileprivate var forJPEG: Int32 {
    switch self {
    case .grey: Int32(cjpeg_grey)
    case .rgb: Int32(cjpeg_rgb)
    case .cmyk: Int32(cjpeg_cmyk)
    default: Int32(cjpeg_bgrx)
    }
  }
}

extension Orientation {
  /// TurboJPEG's number (TJXOP) for turning a picture of this orientation upright.
  fileprivate var forTurboJPEG: Int32 {
    switch self {
    case .upright: 0
    case .mirrored: 1
    case .flipped: 2
    case .transposed: 3
    case .transversed: 4
    case .turnedLeft: 5
    case .upsideDown: 6
    case .turnedRight: 7
    }
  }
}
