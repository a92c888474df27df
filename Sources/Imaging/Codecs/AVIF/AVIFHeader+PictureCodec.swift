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
  /// The orientation in the picture's own boxes, which takes precedence over its EXIF data. (ISO/IEC 23000-22, 7.3.6.7)
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

  /// The default quality, which is also libavif's default.
  private static let usualQuality = 60

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> EncodedFile {
    let isLossless = encoding.lossless
    var colour = colour(of: encoding)
    var depth = 8
    if rows.shape.depth == 16 {
      // An AVIF source keeps its depth. A 16-bit source of another format gets 10 bits, which every decoder shows, or
      // 12 if lossless.
      depth = isLossless ? 12 : 10
      if let header = encoding.source.probe.structure as? AVIFHeader { depth = header.depth }
    }
    if isLossless {
      // The identity matrix (0) keeps RGB as it is, without a conversion to chroma.
      (colour.chroma, colour.matrix) = (CInt(cavif_444), 0)
    }
    let bytes = try AVIFCodec.encode(
      rows.converted(Conversion.coloured).collected(limits, name: name),
      depth: depth,
      colour: colour,
      quality: encoding.crop.quality ?? usualQuality,
      lossless: isLossless,
      tags: encoding.tags,
      name: name
    )
    return .held(bytes)
  }

  /// The colour description of the output.
  ///
  /// It is copied from an AVIF source; for other sources it is sRGB with the source's chroma subsampling.
  private static func colour(of encoding: PictureEncoding) -> Colour {
    // The default is BT.709's primaries, sRGB's curve and BT.601's matrix. (ITU-T H.273)
    var colour = Colour(
      chroma: CInt(cavif_444),
      primaries: 1,
      transfer: 13,
      matrix: 6
    )
    let source = encoding.source.probe.structure
    if let header = source as? AVIFHeader {
      colour = header.colour
      // The identity matrix (0) has no chroma to subsample, and decoders read an unspecified matrix (2) as BT.601's.
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
  /// libavif's constant for this subsampling.
  fileprivate var forAVIF: Int32 {
    switch self {
    case .quarter: Int32(cavif_420)
    case .half: Int32(cavif_422)
    case .full: Int32(cavif_444)
    }
  }
}
