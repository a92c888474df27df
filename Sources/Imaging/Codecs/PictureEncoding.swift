import Base
import CAVIF

/// How a bitmap becomes a file of any format.
struct PictureEncoding {
  /// The format.
  var format: PictureFormat
  /// 1 to 100; nil for what is usual.
  var quality: Int?
  /// Whether a JPEG is progressive.
  var isProgressive = false
  /// How much colour a JPEG or an AVIF has; nil for as much as the source.
  var chroma: ChromaSampling?
  /// Whether the colours are sRGB's now, which the source's were not.
  var isConverted = false
  /// Whether every sample is to be kept, where the format can.
  var lossless: Bool
  /// What lies behind a picture that loses its alpha; nil for white.
  var background: PictureColour?
  /// Whether there are colours that the source, if it is grey, does not have.
  var hasNewColours = false
  /// The file that the pixels come from, whose ways are kept: chroma, bits and colours of an AVIF.
  var source: PictureFile
  /// What the file says besides.
  var tags: PictureTags
  /// The file that a PNG becomes; nil for one that is wanted in memory.
  var place: PNGOutput.Place?

  /// The quality of a WebP that nothing is said of; libwebp's own is 75.
  static let usualWebP = 80
  /// The quality of an AVIF that nothing is said of, libavif's own.
  static let usualAVIF = 60

  /// A file of a bitmap, and whether its samples are the bitmap's own.
  struct EncodedBitmap {
    let file: EncodedFile
    let isLossless: Bool
  }

  /// Encodes a bitmap of any layout but `cmyk`, upright; its memory is given back meanwhile where nobody
  /// else holds it.
  func encode(_ bitmap: consuming Bitmap, name: String) throws(LarderError) -> EncodedBitmap {
    switch format {
    case .jpeg:
      // A JPEG has its own quality; anything else is new to be one.
      var opaque = consume bitmap
      if let background { opaque = (consume opaque).laid(on: background) }
      let bytes = try (consume opaque).narrowed().encodedAsJPEG(
        JPEGCodec.Form(
          quality: quality ?? source.probe.quality ?? 90,
          isProgressive: isProgressive,
          chroma: chroma
        ),
        name
      )
      return EncodedBitmap(file: .held(tags.added(toJPEG: bytes)), isLossless: false)
    case .png, .gif:
      let file = try PNGCodec.encode(consume bitmap, to: tags.output(to: place), name: name)
      return EncodedBitmap(file: file, isLossless: true)
    case .webp:
      let (width, height) = (bitmap.width, bitmap.height)
      let isLossless = lossless && bitmap.depth <= 8
      let colours = (consume bitmap).coloured().narrowed()
      let hasAlpha = colours.layout == .rgba
      let bytes = try WebPCodec.encode(
        consume colours,
        quality: quality ?? Self.usualWebP,
        lossless: lossless,
        name: name
      )
      return EncodedBitmap(
        file: .held(tags.added(toWebP: bytes, width: width, height: height, hasAlpha: hasAlpha)),
        isLossless: isLossless
      )
    case .avif: return try encodeAVIF(consume bitmap, name)
    }
  }

  private func encodeAVIF(
    _ bitmap: consuming Bitmap,
    _ name: String
  ) throws(LarderError) -> EncodedBitmap {
    let isLossless = lossless && bitmap.depth <= 8
    var colour = colour(of: bitmap)
    var colours = (consume bitmap).coloured()
    var depth = 8
    if colours.depth == 16 {
      // As the source has it; of formats of 16 bits as much as every decoder shows.
      if case .avif(let header) = source.probe.structure {
        depth = header.depth
      } else {
        depth = 10
      }
    }
    if isLossless {
      colours = (consume colours).narrowed()
      // Colours as they are, without a matrix.
      (colour.chroma, colour.matrix, depth) = (CInt(cavif_444), 0, 8)
    }
    let bytes = try AVIFCodec.encode(
      consume colours,
      depth: depth,
      colour: colour,
      quality: quality ?? Self.usualAVIF,
      lossless: isLossless,
      tags: tags,
      name: name
    )
    return EncodedBitmap(file: .held(bytes), isLossless: isLossless)
  }

  /// How light is written: as an AVIF has it, else as sRGB with chroma of the source's size.
  private func colour(of bitmap: Bitmap) -> AVIFHeader.Colour {
    // BT.709's primaries, sRGB's curve, BT.601's matrix. (ITU-T H.273)
    var colour = AVIFHeader.Colour(
      chroma: CInt(cavif_444),
      primaries: 1,
      transfer: 13,
      matrix: 6
    )
    switch source.probe.structure {
    case .avif(let header):
      colour = header.colour
      // Without a matrix chroma is not chroma, and an unknown one is taken for BT.601's.
      if colour.matrix == 0 || colour.matrix == 2 { colour.matrix = 6 }
    case .jpeg(let markers):
      let first = markers.sampling.first ?? PixelSize(width: 1, height: 1)
      if markers.sampling.count == 1 {
        colour.chroma = CInt(cavif_400)
      } else if first.width > 1 {
        colour.chroma = CInt(first.height > 1 ? cavif_420 : cavif_422)
      }
    case .webp(let chunks): if !chunks.isLossless { colour.chroma = CInt(cavif_420) }
    case .png(let chunks):
      if chunks.channels <= 2, chunks.colourType != 3 { colour.chroma = CInt(cavif_400) }
    case .gif: break
    }
    if isConverted { (colour.primaries, colour.transfer, colour.matrix) = (1, 13, 6) }
    if let chroma, !colour.isGrey { colour.chroma = chroma.forAVIF }
    if hasNewColours, colour.chroma == CInt(cavif_400) { colour.chroma = CInt(cavif_444) }
    return colour
  }
}

extension ChromaSampling {
  /// What libavif calls it.
  fileprivate var forAVIF: Int32 {
    switch self {
    case .quarter: Int32(cavif_420)
    case .half: Int32(cavif_422)
    case .full: Int32(cavif_444)
    }
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

  /// What people call it: `4:2:0`.
  public var name: String { rawValue.map(String.init).joined(separator: ":") }
}
