import Base
import CAVIF

extension HEICHeader: PictureCodec {
  static let name = "HEIC"
  static let fileExtensions = ["heic", "heif", "hif"]
  /// The format of a result is JPEG.
  ///
  /// An HEIC is usually a phone's photo, and a lossless format would make the result much larger.
  static var kept: PictureFormat { .jpeg }
  static var isShown: Bool { false }

  /// Whether a file begins with a brand of HEVC pictures. (ISO/IEC 23008-12, annex B.4)
  static func begins(_ head: [UInt8]) -> Bool {
    FileType(head)?.holds(["heic", "heix", "heim", "heis", "hevc", "hevx"]) ?? false
  }

  var size: PixelSize { aperture.size }
  var depth: Int { tiles.depth }
  var channels: Int { (colour.isGrey ? 1 : 3) + (alpha == nil ? 0 : 1) }
  /// The orientation in the picture's own boxes, which takes precedence over EXIF data.
  var ownOrientation: Orientation? { orientation }
  var chroma: ChromaSampling? { [nil, .quarter, .half, .full][tiles.format] }

  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8] { profile }
  var namedColours: AVIFHeader.Colour? { colour }
  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? { exif.isEmpty ? nil : exif[...] }
  func xmp(in bytes: [UInt8]) -> [UInt8] { xmp }

  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    let rows = try HEICRows(self, bytes, request.region, limits, name: file.name)
    return OpenRows(source: rows) { rows.isDamaged }
  }
}
