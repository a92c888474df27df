import Base
import CAVIF

extension AVIFHeader: PictureCodec {
  static let name = "AVIF"
  static var kept: PictureFormat { .avif }

  static func begins(_ head: [UInt8]) -> Bool {
    FileType(head)?.holds(["avif", "avis"]) ?? false
  }

  var size: PixelSize { aperture.size }
  var channels: Int { (colour.isGrey ? 1 : 3) + (hasAlpha ? 1 : 0) }
  /// The orientation in the picture's own boxes, which takes precedence over EXIF data. (ISO/IEC 23000-22, 7.3.6.7)
  var ownOrientation: Orientation? { orientation }
  var chroma: ChromaSampling? {
    switch Int(colour.chroma) {
    case cavif_420: .quarter
    case cavif_422: .half
    case cavif_444: .full
    default: nil
    }
  }

  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8] { profile }
  var namedColours: Colour? { colour }
  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? { exif.isEmpty ? nil : exif[...] }
  func xmp(in bytes: [UInt8]) -> [UInt8] { xmp }

  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    OpenRows(source: BitmapRows(try AVIFCodec.decode(file, self, request.region, limits)))
  }

  /// The default quality, which is the same as libavif's.
  private static let usualQuality = 60

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    let isLossless = encoding.lossless
    var colour = colour(of: encoding)
    var depth = 8
    if rows.shape.depth == 16 {
      // If the source is an AVIF, the result has its depth. Other samples of 16 bits become 10 bits, which every
      // decoder shows, or 12 bits if they are encoded without loss.
      depth = isLossless ? 12 : 10
      if let header = encoding.source.probe.structure as? AVIFHeader { depth = header.depth }
    }
    if isLossless {
      // The identity matrix (0) stores RGB itself, without a conversion to luma and chroma.
      (colour.chroma, colour.matrix) = (CInt(cavif_444), 0)
    }
    let bytes = try AVIFCodec.encode(
      rows.collected(encoding.crop.limits, name: encoding.source.name),
      depth: depth,
      colour: colour,
      quality: encoding.crop.quality ?? usualQuality,
      lossless: isLossless,
      tags: encoding.tags,
      name: encoding.source.name
    )
    return .held(bytes)
  }

  /// How the colours of the output are encoded.
  ///
  /// If the source is an AVIF, they are encoded as in the source. Otherwise they are sRGB, or the colours that the
  /// source names by numbers, with the chroma subsampling of the source.
  private static func colour(of encoding: PictureEncoding) -> Colour {
    // These numbers are BT.709's primaries, sRGB's curve and BT.601's matrix. (ITU-T H.273)
    var colour = Colour(
      chroma: CInt(cavif_444),
      primaries: 1,
      transfer: 13,
      matrix: 6
    )
    let source = encoding.source.probe.structure
    if let header = source as? AVIFHeader {
      colour = header.colour
      // The identity matrix (0) has no chroma to subsample. Decoders take an unspecified matrix (2) for BT.601's (6).
      if colour.matrix == 0 || colour.matrix == 2 { colour.matrix = 6 }
    } else {
      colour.chroma = source.chroma.map(\.forAVIF) ?? Int32(cavif_400)
      if let named = source.namedColours, named.primaries != 2 {
        (colour.primaries, colour.transfer) = (named.primaries, named.transfer)
      }
    }
    if encoding.isConverted { (colour.primaries, colour.transfer, colour.matrix) = (1, 13, 6) }
    if let chroma = encoding.crop.chroma, !colour.isGrey { colour.chroma = chroma.forAVIF }
    if encoding.hasNewColours, colour.chroma == CInt(cavif_400) { colour.chroma = CInt(cavif_444) }
    return colour
  }
}

extension ChromaSampling {
  fileprivate var forAVIF: Int32 {
    switch self {
    case .quarter: Int32(cavif_420)
    case .half: Int32(cavif_422)
    case .full: Int32(cavif_444)
    }
  }
}
