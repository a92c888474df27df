import Base

/// The settings with which a bitmap is encoded in any format.
struct PictureEncoding {
  /// The format.
  var format: PictureFormat
  /// The quality, 1 to 100; nil for the format's default.
  var quality: Int?
  /// Whether a JPEG is progressive.
  var isProgressive = false
  /// The chroma subsampling of a JPEG or an AVIF; nil for that of the source.
  var chroma: ChromaSampling?
  /// Whether the colours were converted to sRGB.
  var isConverted = false
  /// Whether to encode without loss, if the format can.
  var lossless: Bool
  /// The background of a picture that loses its alpha; nil for white.
  var background: PictureColour?
  /// Whether the output may have colours although the source is grey.
  var hasNewColours = false
  /// The file from which the pixels come.
  ///
  /// Its settings are kept: for example the chroma, depth and colours of an AVIF.
  var source: PictureFile
  /// The profile and metadata of the output.
  var tags: PictureTags
  /// The file to which a PNG will be written; nil for a PNG that stays in memory.
  var place: PNGOutput.Place?

  /// An encoded bitmap, and whether it was encoded without loss.
  struct EncodedBitmap {
    let file: EncodedFile
    let isLossless: Bool
  }

  /// Encodes upright rows of any layout but `cmyk`.
  func encode(
    _ rows: any RowSource,
    _ limits: PictureLimits = PictureLimits(),
    name: String
  ) throws(LarderError) -> EncodedBitmap {
    try format.codec.encode(rows, self, limits, name: name)
  }
}

/// The chroma subsampling of a JPEG or an AVIF.
public enum ChromaSampling: String, Sendable, CaseIterable, Codable {
  /// One chroma sample for four pixels, two across and two down.
  case quarter = "420"
  /// One chroma sample for two adjacent pixels of a row.
  case half = "422"
  /// One chroma sample for each pixel.
  case full = "444"

  /// The usual name of the subsampling, such as `4:2:0`.
  public var name: String { rawValue.map(String.init).joined(separator: ":") }
}
