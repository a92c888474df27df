import Base

/// The properties of a picture, found in its bytes before any pixel is decoded.
///
///     let probe = try PictureProbe(bytes, name: "soup.jpg")
///     print(probe.format, probe.width, probe.height)
///
/// `width` and `height` are as the picture is to be shown, once `orientation` is applied.
public struct PictureProbe: Sendable, Equatable {
  /// The format of the picture.
  public let format: PictureFormat
  /// Pixels from left to right, upright.
  public let width: Int
  /// Pixels from top to bottom, upright.
  public let height: Int
  /// Bits of a sample.
  public let depth: Int
  /// Samples of a pixel as stored; the indices of a palette are one.
  public let channels: Int
  /// How the stored picture has to be turned.
  public let orientation: Orientation
  /// How often the file goes over the picture; 1 for all but progressive JPEGs.
  public let scans: Int
  /// Whether the end of the file is missing; PNG, WebP and AVIF like that are refused at once.
  public let isCutShort: Bool
  /// The EXIF data, if there is any.
  public let exif: Exif?

  /// The quality, 1 to 100, that a JPEG's first table stands for; nil for other formats.
  public var quality: Int? { structure.quality }

  /// The structure that was found.
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
  /// - Throws: ``ImagingError`` when it is no picture, asks for too much or is broken.
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

  /// Whether two probes say the same.
  public static func == (left: PictureProbe, right: PictureProbe) -> Bool {
    left.format == right.format && left.exif == right.exif
      && left.structure.isEqual(to: right.structure)
  }
}

/// The kinds of picture that are told apart by their first bytes.
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

  /// How many bytes are enough to judge any format: the brands of an AVIF may be twelve.
  @usableFromInline package static let sniffLength = 64

  /// How many bytes are enough to judge any format but an AVIF that is known by a compatible brand.
  package static let leastSniffed = 12

  /// Whether the first bytes, at least ``leastSniffed``, show no format yet, and more bytes could.
  package static func isUndecided(_ head: [UInt8]) -> Bool {
    head.count < sniffLength && head[4..<8].elementsEqual("ftyp".utf8)
  }

  /// The format that a file's first bytes show, regardless of its name; nil when they show none.
  @inlinable public init?(sniffing bytes: some Collection<UInt8>) {
    // Specialized where it is called: each picture that a run fetches comes through here.
    self.init(head: Array(bytes.prefix(Self.sniffLength)))
  }

  @usableFromInline init?(head: [UInt8]) {
    guard let format = Self.allCases.first(where: { $0.codec.begins(head) }) else { return nil }
    self = format
  }

  /// The format that a file's first bytes show, of those that browsers show; nil for any other.
  @inlinable package init?(shown bytes: some Collection<UInt8>) {
    self.init(sniffing: bytes)
    guard isShown else { return nil }
  }

  /// Whether browsers show it.
  @usableFromInline package var isShown: Bool { codec.isShown }

  /// The format of a media type such as `image/jpeg`; nil for any other.
  package init?(mediaType: some StringProtocol) {
    guard mediaType.hasPrefix("image/") else { return nil }
    self.init(rawValue: String(mediaType.dropFirst(6)))
  }

  /// The media type, as it stands in `Content-Type`.
  package var mediaType: String { "image/\(rawValue)" }

  /// The usual name of the format.
  public var name: String { codec.name }

  /// The format that a picture of this one is written in unless another is asked for: GIF becomes
  /// PNG.
  public var kept: PictureFormat { codec.kept }

  /// Whether larder writes it.
  public var isWritten: Bool { kept == self }

  /// The extension of a file that larder writes in this format.
  public var fileExtension: String { fileExtensions[0] }

  /// The extensions of files in this format; the first is the one to write.
  package var fileExtensions: [String] { codec.fileExtensions }

  /// Whether a file ends as this format does, as far as that can be told.
  ///
  /// - Parameters:
  ///   - head: Its first bytes, ``sniffLength`` of them unless it has fewer.
  ///   - tail: Its last bytes, as some programs write more behind the end.
  ///   - count: How many bytes there are.
  /// - Returns: Whether it does.
  package func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    codec.ends(head: head, tail: tail, count: count)
  }
}

extension [UInt8] {
  /// Whether these bytes are somewhere in it.
  func holds(_ mark: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: mark) }
  }
}
