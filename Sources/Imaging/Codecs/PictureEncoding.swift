/// The settings for encoding rows in a format.
///
/// They are used for WebP and AVIF, and for a PNG or JPEG that is made from a picture of another format.
struct PictureEncoding {
  /// The options of the user.
  ///
  /// Codecs use the quality, the background, the chroma subsampling and the limits, and whether a JPEG is progressive.
  var crop = Crop()
  /// Whether the colours were converted to sRGB.
  var isConverted = false
  /// Whether the samples are encoded without loss, if the format can do that.
  var lossless: Bool
  /// Whether the output can have colours although the source is grey, because the background has colours.
  var hasNewColours = false
  /// The picture from which the rows were made.
  ///
  /// Some of its settings are kept, for example the chroma subsampling, depth and colours of an AVIF.
  var source: PictureFile
  /// The profile and the metadata to write.
  var tags: PictureTags
  /// The limits of the user, with the name of the source.
  var limits: NamedLimits { crop.limits.named(source.name) }
  /// Where a large PNG is written; nil if every PNG stays in memory.
  var place: PNGCodec.Place?
}

/// The chroma subsampling of a JPEG or an AVIF.
public enum ChromaSampling: String, Sendable, CaseIterable, Codable {
  /// One chroma sample for each square of two by two pixels.
  case quarter = "420"
  /// One chroma sample for each two neighbouring pixels of a row.
  case half = "422"
  /// One chroma sample for each pixel.
  case full = "444"

  /// The usual name of the subsampling, such as `4:2:0`.
  public var name: String { rawValue.map(String.init).joined(separator: ":") }
}
