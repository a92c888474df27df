import Base
import CJPEG

/// Decodes and encodes JPEGs with libjpeg-turbo.
///
/// No other Swift file uses its pointers and structs.
enum JPEGCodec {
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

  /// Turns a picture upright and cuts a region out of it, without decoding it; the region must begin at a block.
  ///
  /// - Returns: The new file, and whether libjpeg has found anything missing or wrong in the old one.
  /// - Throws: ``LarderError`` when libjpeg cannot do it.
  static func cut(
    _ file: PictureFile,
    _ orientation: Orientation,
    _ region: PixelRegion,
    progressive: Bool,
    _ limits: NamedLimits
  ) throws(LarderError) -> (bytes: [UInt8], hasWarnings: Bool) {
    try written(limits, room: file.bytes.count + 65_536) { sink, outcome in
      file.bytes.withUnsafeBufferPointer {
        var crop = cjpeg_crop(
          file: cjpeg_file($0, limits),
          region: region.forJPEG,
          operation: orientation.forTurboJPEG,
          progressive: progressive,
          sink: sink
        )
        (orientation == .upright ? cjpeg_cut : cjpeg_turn)(&crop, &outcome)
      }
    }
  }

  /// Collects the file that `make`, a C function, writes to a sink.
  ///
  /// - Parameters:
  ///   - limits: The limits of the picture.
  ///   - room: A number of bytes in which nearly every file fits. Its memory pages are used only once they are written.
  ///   - make: Makes the file.
  /// - Returns: The file, and whether libjpeg has found anything missing or wrong in its source.
  /// - Throws: ``LarderError`` when the file cannot be made.
  private static func written(
    _ limits: NamedLimits,
    room: Int,
    _ make: (cjpeg_sink, inout cjpeg_outcome) -> Void
  ) throws(LarderError) -> (bytes: [UInt8], hasWarnings: Bool) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(room)
    var outcome = cjpeg_outcome()
    withUnsafeMutablePointer(to: &bytes) {
      let sink = cjpeg_sink(context: $0) { context, part, count in
        context?.assumingMemoryBound(to: [UInt8].self).pointee
          .append(contentsOf: UnsafeBufferPointer(start: part, count: count))
      }
      make(sink, &outcome)
    }
    guard !outcome.failed else { throw error(limits, outcome) }
    return (bytes, outcome.warnings > 0)
  }

  /// The lowest quality for pixels that the source does not have, such as those of a scaled picture.
  ///
  /// If the quantization tables of the source are coarser, such pixels are encoded with the tables of this quality.
  static let leastFine = cjpeg_least_fine

  /// Encodes rows, with the settings of the JPEG `file` if there is one; transparent pixels get a background.
  ///
  /// The quality, the chroma subsampling and the kind of the JPEG are those of the options `crop`. Where these say
  /// nothing, a JPEG without `file` gets libjpeg's default quality and 4:2:0, and the quantization tables, the sampling
  /// and the colour space of `file` are used. If `transposed` is true, their axes
  /// are swapped. If `hasNewDetail` is true, `file` does not have these pixels. Then they are not encoded with tables
  /// that are coarser than those of the quality `leastFine`.
  static func encode(
    _ rows: any RowSource,
    _ crop: Crop,
    like file: PictureFile? = nil,
    transposed: Bool = false,
    hasNewDetail: Bool = false,
    on background: PictureColour = .white,
    _ limits: NamedLimits
  ) throws(LarderError) -> [UInt8] {
    var rows = rows.opaque(on: background).converted(Conversion.narrowed)
    switch rows.shape.layout {
    case .grey where rows.shape.depth == 8, .rgb, .bgrx, .cmyk: break
    default: rows = rows.flattened(.rgb)
    }
    let (shape, feed) = (rows.shape, RowFeed(rows))
    let source = file?.bytes ?? []
    let room = (shape.isStored ? source.count : shape.width * shape.height / 4) + 65_536
    do throws(LarderError) {
      return try written(limits, room: room) { sink, outcome in
        source.withUnsafeBufferPointer {
          var encoding = cjpeg_encoding(
            next: RowFeed.next,
            context: feed.context,
            width: UInt32(shape.width),
            height: UInt32(shape.height),
            color_space: shape.layout.forJPEG(isStored: shape.isStored && file != nil),
            channels: Int32(shape.layout.channels),
            like: cjpeg_file($0, limits),
            transposed: transposed,
            has_new_detail: hasNewDetail,
            quality: Int32(crop.quality ?? 0),
            chroma: crop.chroma.flatMap { Int32($0.rawValue) } ?? 0,
            progressive: crop.isProgressive,
            sink: sink
          )
          withExtendedLifetime(feed) { cjpeg_encode(&encoding, &outcome) }
        }
      }.bytes
    } catch {
      throw feed.failure ?? error
    }
  }

  fileprivate static func error(_ limits: NamedLimits, _ outcome: cjpeg_outcome) -> LarderError {
    outcome.out_of_memory
      ? limits.outOfMemory : limits.damaged(String(inArray: outcome.message).uncapitalized)
  }
}

/// The rows of a region of a JPEG, decoded at full size or reduced to a number of eighths.
///
/// When the last row is read, the file is read to its end, so that all damage is found.
final class JPEGRows: RowSource {
  let shape: RowShape
  private let limits: NamedLimits
  private var outcome: cjpeg_outcome
  private let rows: OpaquePointer?

  /// Starts to decode a region.
  ///
  /// - Parameters:
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - region: The region, in pixels of the reduced picture.
  ///   - eighths: The scale of the reduced picture, in eighths: 1, 2, 4 or 8.
  ///   - layout: The layout of the rows, from ``JPEGMarkers/layout(of:)``; `rgb` for stored samples that are YCbCr.
  ///   - isStored: Whether the rows have the samples that are stored, without a conversion of colours.
  ///   - isPreview: Whether only the first scans of a progressive picture are read.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when libjpeg refuses the file.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ region: PixelRegion,
    eighths: Int = 8,
    layout: Bitmap.Layout,
    isStored: Bool = false,
    isPreview: Bool = false,
    _ limits: NamedLimits
  ) throws(LarderError) {
    shape = RowShape(size: region.size, layout: layout, isStored: isStored)
    self.limits = limits
    var request = cjpeg_request(
      file: cjpeg_file(bytes, limits),
      region: region.forJPEG,
      eighths: Int32(eighths),
      color_space: layout.forJPEG(isStored: isStored),
      channels: Int32(layout.channels),
      is_preview: isPreview
    )
    var outcome = cjpeg_outcome()
    rows = cjpeg_rows_open(&request, &outcome)
    self.outcome = outcome
    guard !outcome.failed else { throw JPEGCodec.error(limits, outcome) }
  }

  deinit { cjpeg_rows_close(rows) }

  /// Whether libjpeg has found anything missing or wrong.
  var hasWarnings: Bool { outcome.warnings > 0 }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    cjpeg_rows_next(rows, target, UInt32(count), &outcome)
    guard !outcome.failed else { throw JPEGCodec.error(limits, outcome) }
  }
}

extension cjpeg_file {
  fileprivate init(_ bytes: UnsafeBufferPointer<UInt8>, _ limits: NamedLimits) {
    self.init(
      bytes: bytes.baseAddress,
      count: bytes.count,
      memory: limits.memory,
      scans: Int32(limits.scans)
    )
  }
}

extension PixelRegion {
  fileprivate var forJPEG: cjpeg_region {
    cjpeg_region(x: UInt32(x), y: UInt32(y), width: UInt32(width), height: UInt32(height))
  }
}

extension Bitmap.Layout {
  fileprivate func forJPEG(isStored: Bool) -> Int32 {
    switch self {
    case _ where isStored: Int32(cjpeg_stored)
    case .grey: Int32(cjpeg_grey)
    case .rgb: Int32(cjpeg_rgb)
    case .cmyk: Int32(cjpeg_cmyk)
    default: Int32(cjpeg_bgrx)
    }
  }
}

extension Orientation {
  /// TurboJPEG's number (TJXOP) for turning a picture of this orientation upright.
  fileprivate var forTurboJPEG: Int32 { [0, 1, 6, 2, 3, 5, 4, 7][rawValue - 1] }
}
