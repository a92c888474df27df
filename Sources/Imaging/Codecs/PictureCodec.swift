import Base

/// The structure of a file of one format, found before any pixel is decoded, with access to its pixels and tags.
///
/// To add a format, add a folder in Codecs with a conforming type, a case of ``PictureFormat``, and a line in
/// ``PictureFormat/codec``. Other code asks for a picture's format only to preserve features of that format.
protocol PictureCodec: Sendable {
  /// The usual name of the format.
  static var name: String { get }
  /// The file extensions of the format; the first one is used for output.
  static var fileExtensions: [String] { get }
  /// The output format for pictures of this format, unless another is requested.
  static var kept: PictureFormat { get }
  /// Whether browsers can show the format, so that a shop may use it.
  static var isShown: Bool { get }

  /// Whether a file begins as files of this format begin.
  ///
  /// - Parameter head: The first bytes of the file, ``PictureFormat/sniffLength`` of them unless it has fewer.
  /// - Returns: Whether the beginning fits this format.
  static func begins(_ head: [UInt8]) -> Bool

  /// Whether a file ends as files of this format end, as far as its first and last bytes show.
  ///
  /// - Parameters:
  ///   - head: The first bytes of the file, as many as for `begins`.
  ///   - tail: Its last bytes; a marker is searched for in them, because some programs append data after the end.
  ///   - count: The size of the file.
  /// - Returns: Whether the end fits this format.
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool

  /// Reads the structure of a file.
  ///
  /// - Throws: ``LarderError`` when the picture is incomplete, breaks the format's rules, or exceeds `limits`.
  init(_ bytes: [UInt8], name: String, limits: PictureLimits) throws(LarderError)

  /// The size as stored.
  var size: PixelSize { get }
  /// The number of bits of a sample.
  var depth: Int { get }
  /// The number of samples of a stored pixel; a palette index counts as one sample.
  var channels: Int { get }
  /// The number of scans (passes in which a progressive JPEG is stored); 1 for other pictures.
  var scans: Int { get }
  /// Whether the end of the file is missing, although a part of the picture can be decoded.
  var isCutShort: Bool { get }
  /// The orientation that the format itself stores; nil if EXIF data decides.
  var ownOrientation: Orientation? { get }
  /// Whether pixels are indices into a palette.
  var isIndexed: Bool { get }
  /// Whether the samples are CMYK.
  var isInk: Bool { get }
  /// The chroma subsampling; nil for a picture without colour.
  var chroma: ChromaSampling? { get }
  /// The quality, 1 to 100, with which the picture was written; nil if unknown.
  var quality: Int? { get }

  /// The ICC profile of `file`; empty if it has none.
  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8]
  /// The colour encoding that the file declares by numbers of ITU-T H.273; nil if it declares none.
  var namedColours: AVIFHeader.Colour? { get }
  /// The EXIF data in a file's bytes, from its TIFF header on; nil if there is none.
  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>?
  /// The XMP packet in a file's bytes; empty if there is none.
  func xmp(in bytes: [UInt8]) -> [UInt8]

  /// Opens rows of the stored picture.
  ///
  /// - Parameters:
  ///   - file: The picture.
  ///   - bytes: Its bytes, which must stay valid while the rows are read.
  ///   - request: The requested part.
  ///   - limits: The limits of the picture.
  /// - Returns: The rows.
  /// - Throws: ``LarderError`` when the picture cannot be decoded.
  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows

  /// Encodes upright rows of any layout but `cmyk`.
  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> EncodedFile
}

// These defaults are right for most formats.
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
  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8] { [] }
  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? { nil }
  func xmp(in bytes: [UInt8]) -> [UInt8] { [] }
  /// An ICC profile for ``namedColours``; empty if there are none, or viewers need no profile for them.
  var namedProfile: [UInt8] { namedColours?.profile ?? [] }
  /// Assumes that a file is complete; this is the default for formats without an end marker.
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool { true }

  /// Encodes rows in the format ``kept``; this is the default for formats that larder only reads.
  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) -> EncodedFile {
    try kept.codec.encode(rows, encoding, limits, name: name)
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
