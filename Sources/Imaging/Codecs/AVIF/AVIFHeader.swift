import Base
import CAVIF
import Glibc

/// The fields of an AVIF's boxes, which libavif reads before any pixel is decoded. (AV1 Image File Format 1.1)
struct AVIFHeader: Sendable {
  /// The size of the decoded picture.
  let coded: PixelSize
  /// The visible part of the decoded picture, which programs show.
  let aperture: PixelRegion
  /// The number of bits of a sample: 8, 10 or 12.
  let depth: Int
  let hasAlpha: Bool
  /// How the picture has to be turned to be upright.
  ///
  /// An orientation in its EXIF data is ignored.
  let orientation: Orientation
  let colour: Colour
  /// The ICC profile; empty if there is none.
  let profile: [UInt8]
  /// The EXIF data, beginning with its TIFF header; empty if there is none.
  let exif: [UInt8]
  /// The XMP packet; empty if there is none.
  let xmp: [UInt8]

  /// How colours are encoded.
  ///
  /// `chroma` is one of libavif's constants; the other fields are numbers of ITU-T H.273.
  struct Colour: Equatable, Sendable {
    var chroma: Int32
    var primaries: Int32
    var transfer: Int32
    var matrix: Int32

    var isGrey: Bool { chroma == Int32(cavif_400) }
  }

  /// The maximum number of frames of a sequence.
  ///
  /// Only the first frame is read.
  private static let frames = 65_536

  /// Reads the boxes of `bytes`.
  ///
  /// - Throws: ``LarderError`` when the boxes are broken, or the picture exceeds `limits`.
  init(_ bytes: [UInt8], name: String, limits: PictureLimits) throws(LarderError) {
    try Self.checkEnd(bytes, name)
    try AVIFCodec.open(name)
    var header = cavif_header()
    var outcome = cavif_outcome()
    let allowed = cavif_limits(
      pixels: UInt32(clamping: limits.pixels),
      side: UInt32(clamping: limits.side),
      frames: UInt32(Self.frames)
    )
    let status = bytes.withUnsafeBufferPointer {
      cavif_read_header($0.baseAddress, $0.count, allowed, &header, &outcome)
    }
    let profile = MallocBuffer(header.profile)
    let exif = MallocBuffer(header.exif)
    let xmp = MallocBuffer(header.xmp)
    // libavif reports a size above its limit as damage. This check throws an error that names the limit instead.
    if status == Int32(cavif_broken), let size = Self.extents(bytes) {
      try limits.check(width: size.width, height: size.height, of: name)
    }
    guard status == Int32(cavif_done) else { throw AVIFCodec.error(name, status, outcome) }
    try limits.check(metadata: profile.count + exif.count + xmp.count, of: name)
    coded = PixelSize(width: Int(header.width), height: Int(header.height))
    let part = header.aperture
    aperture = PixelRegion(
      x: Int(part.x),
      y: Int(part.y),
      width: Int(part.width),
      height: Int(part.height)
    )
    try limits.check(width: coded.width, height: coded.height, of: name)
    depth = Int(header.depth)
    hasAlpha = header.has_alpha
    orientation = Self.orientation(quarters: Int(header.angle), mirror: Int(header.mirror))
    colour = Colour(
      chroma: header.colour.chroma,
      primaries: header.colour.primaries,
      transfer: header.colour.transfer,
      matrix: header.colour.matrix
    )
    self.profile = profile.take()
    self.exif = Exif.tiff(in: exif.take())
    self.xmp = xmp.take()
  }

  /// The orientation of a picture that is turned to the left by `quarters` quarter turns, and then mirrored.
  ///
  /// `mirror` is 0 to mirror top to bottom, 1 to mirror left to right, and -1 to mirror nothing. (ISO/IEC 23008-12,
  /// 6.5.10 and 6.5.12)
  static func orientation(quarters: Int, mirror: Int) -> Orientation {
    let mirrored: [Orientation] =
      switch mirror {
      case 0: [.flipped, .transposed, .mirrored, .transversed]
      case 1: [.mirrored, .transversed, .flipped, .transposed]
      default: [.upright, .turnedRight, .upsideDown, .turnedLeft]
      }
    return mirrored[quarters & 3]
  }

  /// Refuses a file whose last box extends beyond the end of the file. (ISO/IEC 14496-12, 4.2)
  ///
  /// libavif checks only whether the picture's own data is complete.
  private static func checkEnd(_ bytes: [UInt8], _ name: String) throws(LarderError) {
    let isWhole = bytes.withUnsafeBufferPointer {
      MediaBox.visit(ByteReader(bytes: $0), in: 0..<bytes.count) { _ in }
    }
    guard isWhole else { throw .damaged(name, "the file ends too early") }
  }

  /// The largest size in an `ispe` box within the first 4 KiB.
  private static func extents(_ bytes: [UInt8]) -> PixelSize? {
    bytes.withUnsafeBufferPointer { bytes in
      let reader = ByteReader(bytes: bytes)
      return (0..<min(bytes.count, 4096)).filter { reader.matches("ispe", at: $0) }
        .compactMap { place in
          guard let width = reader.long(place + 8), let height = reader.long(place + 12) else {
            return nil
          }
          return PixelSize(width: width, height: height)
        }
        // Sizes are compared by their longer side, because their product may overflow an Int.
        .max { max($0.width, $0.height) < max($1.width, $1.height) }
    }
  }
}

extension MallocBuffer {
  fileprivate init(_ bytes: cavif_bytes) { self.init(bytes: bytes.bytes, count: bytes.count) }
}
