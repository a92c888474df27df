import Base
import CWebP

/// The structure of a WebP, which libwebpdemux reads without decoding any pixel. (RFC 9649)
///
/// A WebP is a still, which is a single picture, or an animation.
struct WebPChunks: Sendable {
  /// The size of the canvas.
  let size: PixelSize
  /// The region of the canvas that the still, or the first frame of an animation, covers.
  ///
  /// Below, a still is called a frame, too.
  let frame: PixelRegion
  /// The byte range of the frame: its alpha chunk, if it has one, and its compressed pixels.
  let image: Range<Int>
  /// Whether the frame was encoded without loss.
  let isLossless: Bool
  /// Whether the chunks of the frame declare alpha.
  let frameHasAlpha: Bool
  let profile: [UInt8]
  let exif: [UInt8]
  let xmp: [UInt8]

  /// Whether any pixel of the canvas can be transparent, either in the frame or around it.
  var hasAlpha: Bool { frameHasAlpha || !coversCanvas }

  /// Whether the frame covers the canvas, as a still always does.
  var coversCanvas: Bool { frame == PixelRegion(size) }

  /// A lossless picture of at most this many pixels is allowed to have any number of bytes, because it can have a
  /// single colour.
  private static let plainPixels = 16_000_000
  /// A larger lossless picture must have at least one byte for this many pixels.
  private static let pixelsOfByte = 4096

  /// Reads the chunks of `bytes`.
  ///
  /// - Throws: ``LarderError`` when there is no picture, or it is incomplete or exceeds `limits`.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    // Some programs omit the last padding byte, without which libwebpdemux ignores the last chunk.
    let isPadded = Self.ends(head: bytes, tail: [], count: bytes.count)
    let whole = isPadded ? bytes : bytes + [0]
    var header = cwebp_header()
    switch Int(cwebp_read(whole, whole.count, &header)) {
    case cwebp_done: break
    case cwebp_no_memory: throw limits.outOfMemory
    case cwebp_cut: throw limits.damaged("the file ends too early")
    case cwebp_broken: throw limits.damaged("its chunks break the rules of WebP")
    default: throw limits.tooLarge("it has too many chunks")
    }
    size = PixelSize(width: Int(header.width), height: Int(header.height))
    try limits.check(width: size.width, height: size.height)
    let tags = [header.profile, header.exif, header.xmp]
    try limits.check(metadata: tags.reduce(0) { $0 + $1.count })
    let contents = tags.map { Array(whole[$0.start..<$0.start + $0.count]) }
    (profile, exif, xmp) = (contents[0], Exif.tiff(in: contents[1]), contents[2])
    let part = header.frame
    frame = PixelRegion(
      x: Int(part.x),
      y: Int(part.y),
      width: Int(part.width),
      height: Int(part.height)
    )
    image = header.image.start..<min(header.image.start + header.image.count, bytes.count)
    (isLossless, frameHasAlpha) = (header.is_lossless, header.has_alpha)
    // If a picture has a single colour, its pixels take no bits in the file, but libwebp may need a gigabyte of memory
    // for them.
    let pixels = frame.width * frame.height
    guard !isLossless || pixels <= Self.plainPixels || pixels <= image.count * Self.pixelsOfByte
    else {
      throw limits.tooLarge(
        "\(image.count) bytes are too few for \(frame.width) × \(frame.height) pixels"
      )
    }
  }
}

extension WebPChunks: PictureCodec {
  static let name = "WebP"
  static var kept: PictureFormat { .webp }

  static func begins(_ head: [UInt8]) -> Bool {
    head.count >= 12 && head.starts(with: "RIFF".utf8) && head[8..<12].elementsEqual("WEBP".utf8)
  }

  /// Whether the file has at least as many bytes as its header says. (RFC 9649, section 2.4)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    guard head.count >= 8 else { return false }
    return count >= head[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) } + 8
  }

  var depth: Int { 8 }
  var channels: Int { hasAlpha ? 4 : 3 }
  var chroma: ChromaSampling? { isLossless ? .full : .quarter }

  /// Opens rows of a region.
  ///
  /// libwebp reduces the picture while it decodes, if that is possible and saves work.
  func rows(_ request: RowRequest, of bytes: FileBytes, _ limits: NamedLimits)
    throws(LarderError) -> OpenRows
  {
    let (bitmap, part) = try WebPCodec.decode(
      bytes,
      self,
      request.region,
      smaller: request.scaling?.spare,
      limits
    )
    let rows: any RowSource = BitmapRows(bitmap)
    return OpenRows(
      source: coversCanvas ? rows : rows.placed(frame, over: request.region),
      part: part
    )
  }

  /// The default quality, which differs from libwebp's own, 75.
  private static let usualQuality = 80

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    let bytes = try WebPCodec.encode(
      rows,
      quality: encoding.crop.quality ?? usualQuality,
      lossless: encoding.lossless,
      encoding.limits
    )
    return .held(encoding.tags.added(toWebP: bytes, rows.shape))
  }
}
