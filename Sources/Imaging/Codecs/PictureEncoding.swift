import Base

/// The settings with which rows are encoded in a format that is not that of their source, or as WebP or AVIF.
struct PictureEncoding {
  /// The options of the user: quality, background, chroma subsampling, and whether a JPEG is progressive.
  var crop = Crop()
  /// Whether the colours were converted to sRGB.
  var isConverted = false
  /// Whether to encode without loss, if the format can.
  var lossless: Bool
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
