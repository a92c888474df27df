/// What a picture's bytes say about it, found before any pixel is decoded.
///
///     let probe = try PictureProbe(bytes, name: "soup.jpg")
///     print(probe.format, probe.width, probe.height)
///
/// `width` and `height` are as the picture is to be shown, once `orientation` is applied.
public struct PictureProbe: Sendable, Equatable {
  /// What kind of picture it is.
  public let format: PictureFormat
  /// Pixels from left to right, upright; 0 when the format does not say it near its beginning.
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
  /// Whether the end of the file is missing; a PNG like that is refused at once.
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
    case other
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
  ) throws(ImagingError) {
    guard let format = PictureFormat(sniffing: bytes) else {
      throw ImagingError(
        .unsupported,
        "cannot read \(name): it is no picture; give a JPEG or a PNG"
      )
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
    case .gif, .webp, .avif:
      size = Self.size(of: format, bytes)
      if size.width > 0 { try limits.check(width: size.width, height: size.height, of: name) }
      (depth, channels, scans, isCutShort, exif) = (8, 3, 1, false, nil)
      structure = .other
    }
    orientation = exif?.orientation ?? .upright
    (width, height) = (orientation.upright(size).width, orientation.upright(size).height)
  }

  /// The size in the headers of formats that are only told apart here.
  private static func size(of format: PictureFormat, _ bytes: [UInt8]) -> PixelSize {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = ByteReader(bytes: bytes)
      reader.isLittleEndian = format != .avif
      var width: Int?
      var height: Int?
      if format == .gif {
        (width, height) = (reader.short(6), reader.short(8))
      } else if format == .webp, reader.matches("VP8X", at: 12) {
        // Two sizes less one, of 24 bits each. (RFC 9649, section 2.7)
        width = reader.long(24).map { $0 & 0xFFFFFF + 1 }
        height = reader.long(26).map { $0 >> 8 + 1 }
      } else if format == .webp, reader.matches("VP8L", at: 12) {
        width = reader.long(21).map { $0 & 0x3FFF + 1 }
        height = reader.long(21).map { $0 >> 14 & 0x3FFF + 1 }
      } else if format == .webp {
        width = reader.short(26).map { $0 & 0x3FFF }
        height = reader.short(28).map { $0 & 0x3FFF }
      } else if let place = (0..<min(bytes.count, 4096)).first(where: {
        reader.matches("ispe", at: $0)
      }) {
        (width, height) = (reader.long(place + 8), reader.long(place + 12))
      }
      return PixelSize(width: width ?? 0, height: height ?? 0)
    }
  }
}
