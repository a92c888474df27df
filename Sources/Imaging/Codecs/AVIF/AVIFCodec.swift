import Base
import CAVIF

/// Decodes and encodes AVIFs with libavif.
///
/// Code outside this folder does not use libavif's pointers and structs, with one exception: `HEICRows`.
enum AVIFCodec {
  /// Opens libavif.
  ///
  /// - Throws: ``LarderError`` of code `library` when it is not installed.
  static func open(_ name: String) throws(LarderError) {
    if let words = cavif_open() {
      throw .noLibrary(name, "AVIF", "libavif", String(cString: words))
    }
  }

  /// Decodes a region of the visible part of a picture; the result is not turned upright.
  ///
  /// If the picture has alpha, the result is `rgba` with 8 or 16 bits. Otherwise it is `bgrx` with 8 bits, or `rgb`
  /// with 16 bits.
  static func decode(
    _ file: PictureFile,
    _ header: AVIFHeader,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    var wanted = region
    wanted.x += header.aperture.x
    wanted.y += header.aperture.y
    let padded = wanted.padded(in: header.coded)
    let isWide = header.depth > 8
    let layout: Bitmap.Layout = header.hasAlpha ? .rgba : isWide ? .rgb : .bgrx
    let pixelBytes = layout.channels * (isWide ? 2 : 1)
    try limits.check(memory: padded.width * padded.height * pixelBytes, of: file.name)
    let coded = header.coded.width * header.coded.height
    // The planes are copied out of the decoder, so that the decoder can be freed before they are converted to RGB.
    let planes = (header.colour.isGrey ? 1 : 3) + (header.hasAlpha ? 1 : 0)
    try limits.check(memory: coded * planes * (isWide ? 2 : 1), of: file.name)
    let decoder: AVIFDecoder = cavif_has_dav1d() ? .dav1d : .other
    let held = decoder.memory(
      pixels: coded,
      chroma: header.colour.chroma,
      depth: header.depth,
      hasAlpha: header.hasAlpha
    )
    try limits.check(decoding: held, of: file.name)
    var outcome = cavif_outcome()
    // These limits are for the frames in the file. If an AVIF stores its picture as a grid of frames, the frames
    // together can be a little larger than the picture.
    let allowed = cavif_limits(
      pixels: UInt32(clamping: min(limits.pixels, max(coded * 4, 4_000_000))),
      side: UInt32(clamping: limits.side),
      frames: 65_536
    )
    var bitmap = try Bitmap(
      width: padded.width,
      height: padded.height,
      layout: layout,
      depth: isWide ? 16 : 8
    ) { (pixels) throws(LarderError) in
      let status = file.bytes.withUnsafeBufferPointer {
        cavif_decode(
          $0.baseAddress,
          $0.count,
          allowed,
          decoder == .dav1d,
          cavif_region(
            x: UInt32(padded.x),
            y: UInt32(padded.y),
            width: UInt32(padded.width),
            height: UInt32(padded.height)
          ),
          header.hasAlpha,
          isWide,
          pixels.baseAddress,
          padded.width * pixelBytes,
          &outcome
        )
      }
      guard status == CInt(cavif_done) else { throw error(file.name, status, outcome) }
    }
    bitmap.keep(wanted.inside(padded))
    return bitmap
  }

  /// Encodes an upright bitmap of 8 or 16 bits in the layout `rgb`, `rgba` or `bgrx`.
  ///
  /// The bitmap is freed before the encoder starts, because the encoder needs much more memory than the bitmap.
  static func encode(
    _ bitmap: consuming Bitmap,
    depth: Int,
    colour: AVIFHeader.Colour,
    quality: Int,
    lossless: Bool,
    tags: PictureTags,
    name: String
  ) throws(LarderError) -> [UInt8] {
    try open(name)
    let order =
      bitmap.layout == .rgb ? cavif_rgb : bitmap.layout == .rgba ? cavif_rgba : cavif_bgrx
    var made = cavif_bytes()
    var outcome = cavif_outcome()
    var status = CInt(cavif_done)
    let picture = bitmap.samples.withUnsafeBufferPointer { pixels in
      tags.profile.withUnsafeBufferPointer { profile in
        tags.exif.withUnsafeBufferPointer { exif in
          tags.xmp.withUnsafeBufferPointer { xmp in
            var encoding = cavif_encoding(
              pixels: pixels.baseAddress,
              stride: UInt32(bitmap.rowBytes),
              width: UInt32(bitmap.width),
              height: UInt32(bitmap.height),
              order: CInt(order),
              depth: CInt(bitmap.depth),
              file_depth: CInt(depth),
              quality: CInt(quality),
              lossless: lossless,
              colour: cavif_colour(
                chroma: colour.chroma,
                primaries: colour.primaries,
                transfer: colour.transfer,
                matrix: colour.matrix
              ),
              profile: profile.baseAddress,
              exif: exif.baseAddress,
              xmp: xmp.baseAddress,
              profile_count: profile.count,
              exif_count: exif.count,
              xmp_count: xmp.count
            )
            return cavif_begin(&encoding, &status, &outcome)
          }
        }
      }
    }
    guard let picture else { throw error(name, status, outcome) }
    defer { cavif_close(picture) }
    bitmap = Bitmap(width: 0, height: 0, layout: .rgb, samples: [])
    status = cavif_encode(picture, &made, &outcome)
    let buffer = MallocBuffer(bytes: made.bytes, count: made.count)
    guard status == CInt(cavif_done) else { throw error(name, status, outcome) }
    return buffer.take()
  }

  /// The error for a failed call to libavif that returned `status`.
  static func error(_ name: String, _ status: CInt, _ outcome: cavif_outcome) -> LarderError {
    let words = withUnsafeBytes(of: outcome.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    let sentence = words.prefix(1).lowercased() + words.dropFirst()
    return switch Int(status) {
    case cavif_no_memory: .tooLarge(name, "it takes more memory than is allowed")
    case cavif_cut: .damaged(name, "the file ends too early")
    case cavif_broken: .damaged(name, sentence)
    default: LarderError(.library, "cannot process \(name): libavif: \(sentence)")
    }
  }
}

/// A decoder for AV1, the video format in which an AVIF stores its pictures.
enum AVIFDecoder {
  /// The library dav1d.
  ///
  /// It is fast, and needs hardly more memory than the planes of the decoded picture.
  case dav1d
  /// Any other decoder with which libavif was built, such as libaom.
  case other

  /// The maximum memory, in bytes, that the decoding of `pixels` pixels takes in addition to the file's bytes.
  ///
  /// Colours and alpha are two separate pictures. Film grain is added to a copy of the planes. If the picture is stored
  /// as a grid of frames, these are copied into one picture.
  func memory(pixels: Int, chroma: Int32, depth: Int, hasAlpha: Bool) -> Int {
    let samplesOfChroma =
      switch Int(chroma) {
      case cavif_444: 2.0
      case cavif_422: 1.0
      case cavif_420: 0.5
      default: 0.0
      }
    func bytes(_ samplesOfChroma: Double) -> Double {
      // Other decoders, such as libaom, allocate the planes of 4:2:0 even for grey.
      let chroma = self == .dav1d ? samplesOfChroma : max(samplesOfChroma, 0.5)
      let planes = (1 + chroma) * (depth > 8 ? 2 : 1)
      return switch self {
      case .dav1d: 1 + planes * 3.5
      case .other: 13.5 + planes * 3.5
      }
    }
    return Int(Double(pixels) * (bytes(samplesOfChroma) + (hasAlpha ? bytes(0) : 0)))
  }
}
