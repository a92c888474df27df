import Base

/// How a bitmap becomes a file of any format.
struct PictureEncoding {
  /// The format.
  var format: PictureFormat
  /// 1 to 100; nil for the format's default.
  var quality: Int?
  /// Whether a JPEG is progressive.
  var isProgressive = false
  /// How much colour a JPEG or an AVIF has; nil for as much as the source.
  var chroma: ChromaSampling?
  /// Whether the colours are sRGB's now, which the source's were not.
  var isConverted = false
  /// Whether every sample is to be kept, where the format can.
  var lossless: Bool
  /// The background of a picture that loses its alpha; nil for white.
  var background: PictureColour?
  /// Whether there are colours that the source, if it is grey, does not have.
  var hasNewColours = false
  /// The file that the pixels come from, whose ways are kept: chroma, bits and colours of an AVIF.
  var source: PictureFile
  /// The other contents of the file.
  var tags: PictureTags
  /// The file that a PNG becomes; nil for one that is wanted in memory.
  var place: PNGOutput.Place?

  /// A file of a bitmap, and whether its samples are the bitmap's own.
  struct EncodedBitmap {
    let file: EncodedFile
    let isLossless: Bool
  }

  /// Encodes rows of any layout but `cmyk`, upright.
  func encode(
    _ rows: any RowSource,
    _ limits: PictureLimits = PictureLimits(),
    name: String
  ) throws(LarderError) -> EncodedBitmap {
    try format.codec.encode(rows, self, limits, name: name)
  }
}

/// How many samples of colour there are for those of light, in a JPEG or an AVIF.
public enum ChromaSampling: String, Sendable, CaseIterable, Codable {
  /// One for four pixels: half across and half down.
  case quarter = "420"
  /// One for two pixels beside each other.
  case half = "422"
  /// One for each pixel.
  case full = "444"

  /// Its usual name: `4:2:0`.
  public var name: String { rawValue.map(String.init).joined(separator: ":") }
}
