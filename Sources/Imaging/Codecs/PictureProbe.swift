import Base

/// The properties of a picture, found in its bytes before any pixel is decoded.
///
///     let probe = try PictureProbe(bytes, name: "soup.jpg")
///     print(probe.format, probe.width, probe.height)
///
/// `width` and `height` describe the picture as it is shown, with `orientation` applied.
public struct PictureProbe: Sendable {
  /// The format of the picture.
  public let format: PictureFormat
  /// The width of the upright picture, in pixels.
  public let width: Int
  /// The height of the upright picture, in pixels.
  public let height: Int
  /// The number of bits of a sample.
  public let depth: Int
  /// The number of samples of a stored pixel; a palette index counts as one sample.
  public let channels: Int
  /// How the stored picture has to be turned.
  public let orientation: Orientation
  /// The number of scans (passes in which a progressive JPEG is stored); 1 for other pictures.
  public let scans: Int
  /// Whether the end of the file is missing; a PNG, WebP or AVIF without its end is refused instead.
  public let isCutShort: Bool
  /// The EXIF data, if there is any.
  public let exif: Exif?

  /// The quality of a JPEG, 1 to 100, estimated from its first quantization table; nil for other formats.
  public var quality: Int? { structure.quality }

  /// The structure of the file in its format.
  let structure: any PictureCodec

  /// The size as stored.
  var stored: PixelSize {
    orientation.upright(PixelSize(width: width, height: height))
  }

  /// Reads the structure of a picture.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the picture in errors.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when the bytes are not a picture, are broken, or exceed `limits`.
  public init(
    _ bytes: [UInt8],
    name: String = "the picture",
    limits: PictureLimits = PictureLimits()
  ) throws(LarderError) {
    guard let format = PictureFormat(sniffing: bytes) else {
      throw .noPicture(name, bytes)
    }
    self.format = format
    structure = try format.codec.init(bytes, name: name, limits: limits)
    (depth, channels, scans) = (structure.depth, structure.channels, structure.scans)
    isCutShort = structure.isCutShort
    exif = structure.exif(in: bytes).map { Exif(Array($0), in: 0..<$0.count) }
    orientation = structure.ownOrientation ?? exif?.orientation ?? .upright
    let size = orientation.upright(structure.size)
    (width, height) = (size.width, size.height)
  }
}

/// A picture format that larder reads, detected by a file's first bytes.
public enum PictureFormat: String, Sendable, CaseIterable, Codable {
  /// A JPEG (ISO/IEC 10918-1).
  case jpeg
  /// A PNG (ISO/IEC 15948).
  case png
  /// A GIF, 87a or 89a.
  case gif
  /// A WebP (RFC 9649).
  case webp
  /// An AVIF still or sequence.
  case avif
  /// A BMP of Windows.
  case bmp
  /// An HEIC still, as phones write it.
  case heic
  /// A TIFF; its first picture is read.
  case tiff

  /// This many bytes from the start of a file suffice to detect any format; an AVIF may list twelve brands there.
  @usableFromInline package static let sniffLength = 64

  /// This many bytes from the start of a file suffice to detect any format, except an AVIF or HEIC with a general major
  /// brand such as `mif1`.
  package static let leastSniffed = 12

  /// Whether more bytes are needed to detect the format; `head` has at least ``leastSniffed``.
  package static func isUndecided(_ head: [UInt8]) -> Bool {
    head.count < sniffLength && head[4..<8].elementsEqual("ftyp".utf8)
  }

  /// Detects the format by a file's first bytes, regardless of its name; nil if it is unknown.
  @inlinable public init?(sniffing bytes: some Collection<UInt8>) {
    // This is inlinable so that callers specialize it, because it is called for each picture that a run fetches.
    self.init(head: Array(bytes.prefix(Self.sniffLength)))
  }

  @usableFromInline init?(head: [UInt8]) {
    guard let format = Self.allCases.first(where: { $0.codec.begins(head) }) else { return nil }
    self = format
  }

  /// Detects the format by a file's first bytes; nil if it is unknown, or browsers cannot show it.
  @inlinable package init?(shown bytes: some Collection<UInt8>) {
    self.init(sniffing: bytes)
    guard isShown else { return nil }
  }

  /// Whether browsers can show the format.
  @usableFromInline package var isShown: Bool { codec.isShown }

  /// The format of a media type such as `image/jpeg`; nil for any other.
  package init?(mediaType: some StringProtocol) {
    guard mediaType.hasPrefix("image/") else { return nil }
    self.init(rawValue: String(mediaType.dropFirst(6)))
  }

  /// The media type, as in `Content-Type`.
  package var mediaType: String { "image/\(rawValue)" }

  /// The usual name of the format.
  public var name: String { codec.name }

  /// The output format for pictures of this format, unless another is requested: its own if larder can write it,
  /// otherwise JPEG for an HEIC, and PNG for a GIF, BMP or TIFF.
  public var kept: PictureFormat { codec.kept }

  /// Whether larder can write the format.
  public var isWritten: Bool { kept == self }

  /// The extension of a file that larder writes in this format.
  public var fileExtension: String { fileExtensions[0] }

  /// The extensions of files in this format; the first extension is used for output.
  package var fileExtensions: [String] { codec.fileExtensions }

  /// Whether a file ends as files of this format end, as far as its first and last bytes show.
  ///
  /// - Parameters:
  ///   - head: The first ``sniffLength`` bytes of the file, or all bytes of a shorter file.
  ///   - tail: Its last bytes; a marker is searched for in them, because some programs append data after the end.
  ///   - count: The size of the file.
  /// - Returns: Whether the end fits this format.
  package func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    codec.ends(head: head, tail: tail, count: count)
  }
}

extension [UInt8] {
  /// Whether the bytes of `mark` occur in this array.
  func holds(_ mark: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: mark) }
  }
}
