import Base

/// The properties of a picture, found in its bytes before any pixel is decoded.
///
///     let probe = try PictureProbe(bytes, name: "soup.jpg")
///     print(probe.format, probe.width, probe.height)
///
/// `width` and `height` are the size of the upright picture, as it is shown.
public struct PictureProbe: Sendable {
  /// The format of the picture.
  public let format: PictureFormat
  /// The width of the upright picture, in pixels.
  public let width: Int
  /// The height of the upright picture, in pixels.
  public let height: Int
  /// The number of bits of a sample.
  public var depth: Int { structure.depth }
  /// The number of samples of a stored pixel.
  ///
  /// A palette index counts as one sample.
  public var channels: Int { structure.channels }
  /// How the stored picture has to be turned to be upright.
  public let orientation: Orientation
  /// The number of scans (passes in which a progressive JPEG is stored); 1 for other pictures.
  public var scans: Int { structure.scans }
  /// Whether the end of the file is missing.
  ///
  /// This is possible for a JPEG or a GIF. A PNG, WebP or AVIF without its end is refused instead.
  public let isCutShort: Bool
  /// The EXIF data, if there is any.
  public let exif: Exif?

  /// The quality of a JPEG, from 1 to 100; nil for other formats.
  ///
  /// It is estimated from the first quantization table.
  public var quality: Int? { structure.quality }

  /// The structure of the file; the type of this value depends on the format.
  let structure: any PictureCodec

  /// The size of the stored picture, before it is turned upright.
  var stored: PixelSize { structure.size }

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
    structure = try format.codec.init(bytes, limits.named(name))
    isCutShort = structure.isCutShort
    exif = structure.exif.isEmpty ? nil : Exif(structure.exif)
    orientation = structure.ownOrientation ?? exif?.orientation ?? .upright
    let size = orientation.upright(structure.size)
    (width, height) = (size.width, size.height)
  }
}

/// A picture format that larder reads.
///
/// It is detected by the first bytes of a file, not by the file's name.
public enum PictureFormat: String, Sendable, CaseIterable, Codable {
  /// A JPEG (ISO/IEC 10918-1).
  case jpeg
  /// A PNG (ISO/IEC 15948).
  case png
  /// A GIF, 87a or 89a.
  case gif
  /// A WebP (RFC 9649).
  case webp
  /// An AVIF, either a still or a sequence.
  case avif
  /// A BMP of Windows.
  case bmp
  /// An HEIC with a still picture, as phones write it.
  case heic
  /// A TIFF; its first picture is read.
  case tiff

  /// The number of first bytes that suffice to detect every format; an AVIF can list twelve brands in them.
  @usableFromInline package static let sniffLength = 64

  /// The number of first bytes that suffice to detect every format except an AVIF or HEIC with a general brand such as
  /// `mif1`.
  package static let leastSniffed = 12

  /// Whether more bytes than `head` are needed to detect the format.
  ///
  /// `head` must have at least ``leastSniffed`` bytes.
  package static func isUndecided(_ head: [UInt8]) -> Bool {
    head.count < sniffLength && head[4..<8].elementsEqual("ftyp".utf8)
  }

  /// Detects the format by a file's first bytes; nil if it is unknown.
  @inlinable public init?(sniffing bytes: some Collection<UInt8>) {
    // This is inlinable, so that the compiler specializes it for the caller's collection, because it runs for each
    // picture that is fetched.
    self.init(head: Array(bytes.prefix(Self.sniffLength)))
  }

  @usableFromInline init?(head: [UInt8]) {
    guard let format = Self.allCases.first(where: { $0.codec.begins(head) }) else { return nil }
    self = format
  }

  /// Detects the format by a file's first bytes; nil if it is unknown, or if browsers cannot show it.
  @inlinable package init?(shown bytes: some Collection<UInt8>) {
    self.init(sniffing: bytes)
    guard isShown else { return nil }
  }

  /// Whether browsers can show the format.
  @usableFromInline package var isShown: Bool { codec.isShown }

  /// The format that a media type such as `image/jpeg` names; nil if it names none of these formats.
  package init?(mediaType: some StringProtocol) {
    guard mediaType.hasPrefix("image/") else { return nil }
    self.init(rawValue: String(mediaType.dropFirst(6)))
  }

  /// The media type, for example `image/jpeg`.
  package var mediaType: String { "image/\(rawValue)" }

  /// The usual name of the format, for example `WebP`.
  public var name: String { codec.name }

  /// The format in which larder writes a picture of this format, unless another format is requested.
  ///
  /// This is the format itself if larder can write it. Otherwise it is JPEG for an HEIC, and PNG for a GIF, BMP or
  /// TIFF.
  public var kept: PictureFormat { codec.kept }

  /// Whether larder can write the format.
  public var isWritten: Bool { kept == self }

  /// The file extension that larder uses for this format, for example `jpg`.
  public var fileExtension: String { fileExtensions[0] }

  /// All file extensions of this format; larder uses the first one.
  package var fileExtensions: [String] { codec.fileExtensions }

  /// Whether a file is complete, as far as its first and last bytes show.
  ///
  /// - Parameters:
  ///   - head: The first ``sniffLength`` bytes of the file, or all bytes of a shorter file.
  ///   - tail: The last bytes of the file. An end marker can be anywhere in these bytes, because some programs append
  ///     data after it.
  ///   - count: The number of bytes of the file.
  /// - Returns: Whether the file seems complete.
  package func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    codec.ends(head: head, tail: tail, count: count)
  }
}

extension [UInt8] {
  /// Whether this array contains the bytes of `mark`, one after the other.
  func holds(_ mark: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: mark) }
  }
}
