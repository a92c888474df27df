import Base

/// What a picture's bytes say about it, found before any pixel is decoded.
///
///     let probe = try PictureProbe(bytes, name: "soup.jpg")
///     print(probe.format, probe.width, probe.height)
///
/// `width` and `height` are as the picture is to be shown, once `orientation` is applied.
public struct PictureProbe: Sendable, Equatable {
  /// What kind of picture it is.
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
  /// What the EXIF data says, if there is any.
  public let exif: Exif?

  /// The quality, 1 to 100, that a JPEG's first table stands for; nil for other formats.
  public var quality: Int? {
    guard case .jpeg(let markers) = structure, !markers.firstTable.isEmpty else { return nil }
    // The sum of the table in ISO/IEC 10918-1, annex K.1, which libjpeg calls quality 50.
    let percent = Double(markers.firstTable.reduce(0, +)) * 100 / 3688
    let quality = percent <= 100 ? (200 - percent) / 2 : 5000 / percent
    return min(max(Int(quality.rounded()), 1), 100)
  }

  /// The structure that was found.
  let structure: Structure

  enum Structure: Equatable, Sendable {
    case jpeg(JPEGMarkers)
    case png(PNGChunks)
    case webp(WebPChunks)
    case avif(AVIFHeader)
    case gif(GIFBlocks)
  }

  /// The size as stored.
  var stored: PixelSize {
    orientation.upright(PixelSize(width: width, height: height))
  }

  /// Reads the structure of a picture.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: What errors call the picture.
  ///   - limits: What the picture may ask for.
  /// - Throws: ``ImagingError`` when it is no picture, asks for too much or is broken.
  public init(
    _ bytes: [UInt8],
    name: String = "the picture",
    limits: PictureLimits = PictureLimits()
  ) throws(LarderError) {
    guard let format = PictureFormat(sniffing: bytes) else {
      throw .noPicture(name)
    }
    self.format = format
    let size: PixelSize
    switch format {
    case .jpeg:
      let markers = try JPEGMarkers(bytes, name: name, limits: limits)
      size = markers.size
      depth = markers.depth
      channels = markers.sampling.count
      scans = markers.scans
      isCutShort = !markers.isWhole
      exif = markers.exif.map { Exif(bytes, in: $0) }
      structure = .jpeg(markers)
    case .png:
      let chunks = try PNGChunks(bytes, name: name, limits: limits)
      size = chunks.size
      depth = chunks.depth
      channels = chunks.channels
      scans = 1
      isCutShort = false
      exif = chunks.exif.map { Exif(bytes, in: $0) }
      structure = .png(chunks)
    case .webp:
      let chunks = try WebPChunks(bytes, name: name, limits: limits)
      size = chunks.size
      (depth, channels, scans, isCutShort) = (8, chunks.hasAlpha ? 4 : 3, 1, false)
      exif = chunks.exif.map { Exif(bytes, in: $0) }
      structure = .webp(chunks)
    case .avif:
      let header = try AVIFHeader(bytes, name: name, limits: limits)
      size = PixelSize(width: header.aperture.width, height: header.aperture.height)
      depth = header.depth
      channels = (header.colour.isGrey ? 1 : 3) + (header.hasAlpha ? 1 : 0)
      (scans, isCutShort) = (1, false)
      exif =
        header.exif.isEmpty ? nil : Exif(header.exif, in: 0..<header.exif.count)
      structure = .avif(header)
      // A picture's own boxes turn it, whatever its EXIF data says. (ISO/IEC 23000-22, 7.3.6.7)
      orientation = header.orientation
      (width, height) = (orientation.upright(size).width, orientation.upright(size).height)
      return
    case .gif:
      let blocks = try GIFBlocks(bytes, name: name, limits: limits)
      size = blocks.size
      (depth, channels, scans, isCutShort, exif) = (8, 1, 1, !blocks.isWhole, nil)
      structure = .gif(blocks)
    }
    orientation = exif?.orientation ?? .upright
    (width, height) = (orientation.upright(size).width, orientation.upright(size).height)
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

  /// How many bytes are enough to judge any format.
  @usableFromInline package static let sniffLength = 12

  /// The format that a file's first bytes show, whatever its name; nil when they show none.
  @inlinable public init?(sniffing bytes: some Collection<UInt8>) {
    // Specialized where it is called: each picture that a run fetches comes through here.
    self.init(head: Array(bytes.prefix(Self.sniffLength)))
  }

  @usableFromInline init?(head: [UInt8]) {
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) {
      self = .gif
    } else if head.count == 12, head.starts(with: Array("RIFF".utf8)),
      head[8...].elementsEqual("WEBP".utf8)
    {
      self = .webp
    } else if head.count == 12, head[4..<8].elementsEqual("ftyp".utf8),
      head[8...].elementsEqual("avif".utf8) || head[8...].elementsEqual("avis".utf8)
    {
      self = .avif
    } else {
      return nil
    }
  }

  /// The format of a media type such as `image/jpeg`; nil for any other.
  package init?(mediaType: some StringProtocol) {
    guard mediaType.hasPrefix("image/") else { return nil }
    self.init(rawValue: String(mediaType.dropFirst(6)))
  }

  /// The media type, as it stands in `Content-Type`.
  package var mediaType: String { "image/\(rawValue)" }

  /// What people call the format.
  public var name: String { self == .webp ? "WebP" : rawValue.uppercased() }

  /// The format that a picture of this one is written in unless another is asked for: GIF becomes
  /// PNG.
  public var kept: PictureFormat { self == .gif ? .png : self }

  /// Whether larder writes it.
  public var isWritten: Bool { self != .gif }

  /// The extension of a file that larder writes in this format.
  public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}
