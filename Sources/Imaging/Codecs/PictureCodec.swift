import Base

/// The structure of a picture file of one format, with access to its pixels and tags.
///
/// The structure is found before any pixel is decoded. To add a format, add a folder in Codecs with a conforming type,
/// a case of ``PictureFormat``, and a line in ``PictureFormat/codec``. Other code asks for a picture's format only to
/// preserve features of that format.
protocol PictureCodec: Sendable {
  /// The usual name of the format.
  static var name: String { get }
  /// The file extensions of the format; larder writes files with the first one.
  static var fileExtensions: [String] { get }
  /// The format in which larder writes a picture of this format, unless another format is requested.
  static var kept: PictureFormat { get }
  /// Whether browsers can show the format; only such pictures are expected from a shop.
  static var isShown: Bool { get }

  /// Whether a file's first bytes show that it has this format.
  ///
  /// - Parameter head: The first ``PictureFormat/sniffLength`` bytes of the file, or all bytes of a shorter file.
  /// - Returns: Whether the file has this format.
  static func begins(_ head: [UInt8]) -> Bool

  /// Whether a file is complete, as far as its first and last bytes show.
  ///
  /// - Parameters:
  ///   - head: The first bytes of the file, as many as for `begins`.
  ///   - tail: The last bytes of the file. An end marker can be anywhere in these bytes, because some programs append
  ///     data after it.
  ///   - count: The number of bytes of the file.
  /// - Returns: Whether the file seems complete.
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool

  /// Reads the structure of a file.
  ///
  /// - Throws: ``LarderError`` when the file is incomplete, breaks the rules of the format, or exceeds `limits`.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError)

  /// The size of the stored picture, which may have to be turned to be upright.
  var size: PixelSize { get }
  /// The number of bits of a sample.
  var depth: Int { get }
  /// The number of samples of a stored pixel.
  ///
  /// A palette index counts as one sample.
  var channels: Int { get }
  /// The number of scans (passes in which a progressive JPEG is stored); 1 for other pictures.
  var scans: Int { get }
  /// Whether the end of the file is missing, although a part of the picture can be decoded.
  var isCutShort: Bool { get }
  /// The orientation in the format's own fields; nil if the EXIF data decides.
  var ownOrientation: Orientation? { get }
  /// Whether the samples are CMYK.
  var isInk: Bool { get }
  /// The chroma subsampling; nil for a grey picture.
  var chroma: ChromaSampling? { get }
  /// The quality, from 1 to 100, with which the picture was encoded; nil if it is unknown.
  var quality: Int? { get }

  /// The ICC profile; empty if there is none.
  var profile: [UInt8] { get }
  /// The colours of the picture, if the file names them by numbers of ITU-T H.273.
  var namedColours: AVIFHeader.Colour? { get }
  /// The EXIF data, beginning with its TIFF header; empty if there is none.
  ///
  /// An orientation in it is ignored if there is an ``ownOrientation``.
  var exif: [UInt8] { get }
  /// The XMP packet; empty if there is none.
  var xmp: [UInt8] { get }

  /// Opens rows of the stored picture.
  ///
  /// - Parameters:
  ///   - request: The part to decode.
  ///   - bytes: The bytes of the picture, which must stay valid while the rows are read.
  ///   - limits: The limits of the picture.
  /// - Returns: The rows.
  /// - Throws: ``LarderError`` when the picture cannot be decoded.
  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows

  /// Encodes upright rows of any layout except `cmyk`.
  ///
  /// For WebP and AVIF, the rows must have colours: `rgb`, `rgba` or `bgrx`.
  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile
}

// These defaults are right for most formats.
extension PictureCodec {
  static var fileExtensions: [String] { [name.lowercased()] }
  static var isShown: Bool { true }
  var scans: Int { 1 }
  var isCutShort: Bool { false }
  var ownOrientation: Orientation? { nil }
  var isInk: Bool { false }
  var quality: Int? { nil }
  var namedColours: AVIFHeader.Colour? { nil }
  var profile: [UInt8] { [] }
  var exif: [UInt8] { [] }
  var xmp: [UInt8] { [] }
  /// An ICC profile for ``namedColours``.
  ///
  /// It is empty if no colours are named, or if viewers show these colours correctly without a profile.
  var namedProfile: [UInt8] { namedColours?.profile ?? [] }
  /// Assumes that a file is complete, because most formats have no end marker.
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool { true }

  /// Encodes rows in the format ``kept``, because larder does not write the formats that use this default.
  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    try kept.codec.encode(rows, encoding)
  }
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
