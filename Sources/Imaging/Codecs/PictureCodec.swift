import Base

/// The structure of a file of one format, found before any pixel is decoded, and the ways to its pixels and tags.
///
/// A format is a folder of Codecs with a type that conforms, a case of ``PictureFormat``, and its
/// line in ``PictureFormat/codec``. Other code asks for a picture's format only to keep features
/// of that format.
protocol PictureCodec: Sendable, Equatable {
  /// The usual name of the format.
  static var name: String { get }
  /// The endings of its files' names; the first is the one to write.
  static var fileExtensions: [String] { get }
  /// The format that is written when its own is to be kept.
  static var kept: PictureFormat { get }
  /// Whether browsers show it, so that a shop may have pictures of it.
  static var isShown: Bool { get }

  /// Whether a file begins as this format does.
  ///
  /// - Parameter head: The first bytes of the file, ``PictureFormat/sniffLength`` of them unless it has fewer.
  /// - Returns: Whether it does.
  static func begins(_ head: [UInt8]) -> Bool

  /// Whether a file ends as this format does, as far as that can be told.
  ///
  /// - Parameters:
  ///   - head: Its first bytes, as above.
  ///   - tail: Its last bytes, as some programs write more behind the end.
  ///   - count: How many bytes there are.
  /// - Returns: Whether it does.
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool

  /// Reads the structure of a file.
  ///
  /// - Throws: ``ImagingError`` when the picture is not whole, breaks the format's rules, or is more than `limits`.
  init(_ bytes: [UInt8], name: String, limits: PictureLimits) throws(LarderError)

  /// The size as stored.
  var size: PixelSize { get }
  /// Bits of a sample.
  var depth: Int { get }
  /// Samples of a pixel as stored; the indices of a palette are one.
  var channels: Int { get }
  /// How often the file goes over the picture.
  var scans: Int { get }
  /// Whether the end of the file is missing, and yet a part of the picture is there.
  var isCutShort: Bool { get }
  /// How the format itself says that the picture has to be turned; nil where EXIF data says so.
  var ownOrientation: Orientation? { get }
  /// Whether pixels are indices into a palette.
  var isIndexed: Bool { get }
  /// Whether samples are four inks.
  var isInk: Bool { get }
  /// How much colour there is; nil for none.
  var chroma: ChromaSampling? { get }
  /// The quality, 1 to 100, that the picture was written with, where that can be told.
  var quality: Int? { get }

  /// The ICC profile of `file`; empty where there is none.
  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8]
  /// The colours that a file names by number; nil where it has none.
  var namedColours: AVIFHeader.Colour? { get }
  /// The EXIF data of a file's bytes, from its TIFF header on; nil where there are none.
  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>?
  /// The XMP packet of a file's bytes; empty where there is none.
  func xmp(in bytes: [UInt8]) -> [UInt8]

  /// Opens rows of the stored picture.
  ///
  /// - Parameters:
  ///   - file: The picture.
  ///   - bytes: Its bytes, which stay where they are as long as rows are read.
  ///   - request: The part that is wanted.
  ///   - limits: The limits of the picture.
  /// - Returns: The rows, to be read while `bytes` stay.
  /// - Throws: ``ImagingError`` when the picture cannot be decoded.
  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows

  /// Encodes rows of any layout but `cmyk`, upright.
  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> PictureEncoding.EncodedBitmap
}

// Most formats.
extension PictureCodec {
  static var fileExtensions: [String] { [name.lowercased()] }
  static var isShown: Bool { true }
  var scans: Int { 1 }
  var isCutShort: Bool { false }
  var ownOrientation: Orientation? { nil }
  var isIndexed: Bool { false }
  var isInk: Bool { false }
  var quality: Int? { nil }
  var namedColours: AVIFHeader.Colour? { nil }
  /// A profile of the colours that are named by number; empty where they are sRGB's.
  var namedProfile: [UInt8] { namedColours?.profile ?? [] }
  /// Whether a file is whole, its length does not tell.
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool { true }

  /// Writes the format that it is kept as; the default for formats that are only read.
  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> PictureEncoding.EncodedBitmap {
    try kept.codec.encode(rows, encoding, limits, name: name)
  }

  /// Whether the other is the same structure of the same format.
  func isEqual(to other: any PictureCodec) -> Bool { other as? Self == self }
}

extension PictureFormat {
  /// The type that reads and writes the format.
  var codec: any PictureCodec.Type {
    switch self {
    case .jpeg: JPEGMarkers.self
    case .png: PNGChunks.self
    case .gif: GIFBlocks.self
    case .webp: WebPChunks.self
    case .avif: AVIFHeader.self
    case .bmp: BMPHeader.self
    case .heic: HEICHeader.self
    case .tiff: TIFFHeader.self
    }
  }
}
