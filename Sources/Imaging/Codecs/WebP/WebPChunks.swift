import Base

/// The chunks of a WebP, which are found without decoding it. (RFC 9649)
///
/// A WebP is a still, which is a single picture, or an animation. A chunk begins with four letters, such as `VP8L`, and
/// its length.
struct WebPChunks: Sendable {
  /// The size of the canvas.
  private(set) var size = PixelSize(width: 0, height: 0)
  /// The region of the canvas that the still, or the first frame of an animation, covers.
  ///
  /// Below, a still is called a frame, too.
  private(set) var frame = PixelRegion(x: 0, y: 0, width: 0, height: 0)
  /// The byte range of the frame: its alpha chunk, if it has one, and its compressed pixels.
  private(set) var image = 0..<0
  /// Whether the frame was encoded without loss.
  private(set) var isLossless = false
  /// Whether the chunks of the frame declare alpha.
  private(set) var frameHasAlpha = false
  private(set) var isAnimated = false
  private(set) var profile: [UInt8] = []
  private(set) var exif: [UInt8] = []
  private(set) var xmp: [UInt8] = []

  /// Whether any pixel of the canvas can be transparent, either in the frame or around it.
  var hasAlpha: Bool { frameHasAlpha || !coversCanvas }

  /// Whether the frame covers the canvas, as a still always does.
  var coversCanvas: Bool { frame == PixelRegion(size) }

  private var metadataBytes = 0
  /// A lossless picture of at most this many pixels is allowed to have any number of bytes, because it can have a
  /// single colour.
  private static let plainPixels = 16_000_000
  /// A larger lossless picture must have at least one byte for this many pixels.
  private static let pixelsOfByte = 4096

  /// Reads the chunks of `bytes`.
  ///
  /// - Throws: ``LarderError`` when there is no picture, or it is incomplete or exceeds `limits`.
  init(_ bytes: [UInt8], _ limits: NamedLimits) throws(LarderError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      let reader = ByteReader(bytes: bytes, isLittleEndian: true)
      let end = 8 + (reader.long(4) ?? 0)
      // Some programs omit the last padding byte.
      guard end >= 12, end <= bytes.count + 1 else {
        throw limits.damaged("the file ends too early")
      }
      try walk(reader, 12..<min(end, bytes.count), limits)
    }
    guard frame.width > 0 else { throw limits.damaged("it ends before the picture begins") }
    let isInside =
      frame.x + frame.width <= size.width && frame.y + frame.height <= size.height
    guard isInside, isAnimated || size.width == frame.width && size.height == frame.height else {
      throw limits.damaged("its header and its picture differ in size")
    }
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

  private mutating func walk(
    _ reader: ByteReader,
    _ range: Range<Int>,
    _ limits: NamedLimits
  ) throws(LarderError) {
    var offset = range.lowerBound
    while offset + 8 <= range.upperBound {
      let start = offset + 8
      guard let count = reader.long(offset + 4), count <= range.upperBound - start else {
        throw limits.damaged("the file ends too early")
      }
      try take(reader, offset, start..<start + count, limits)
      offset = start + count + count & 1
    }
  }

  /// Reads the fields of a top-level chunk.
  private mutating func take(
    _ reader: ByteReader,
    _ offset: Int,
    _ payload: Range<Int>,
    _ limits: NamedLimits
  ) throws(LarderError) {
    switch reader.long(offset) {
    case Self.header where offset == 12:
      // The canvas has four bytes of flags before it. Its width and height are stored minus one. (Section 2.7)
      guard payload.count >= 10, let canvas = Self.pair(reader, at: payload.lowerBound + 4) else {
        throw limits.damaged("its header is cut short")
      }
      size = PixelSize(width: canvas.0 + 1, height: canvas.1 + 1)
      try limits.check(width: size.width, height: size.height)
    case Self.animation: isAnimated = true
    case Self.frame where isAnimated && image.isEmpty:
      try readFrame(reader, payload, limits)
    case Self.profile, Self.exif, Self.xmp:
      metadataBytes += payload.count
      try limits.check(metadata: metadataBytes)
      let content = Array(reader.bytes[payload])
      switch reader.long(offset) {
      case Self.profile: if profile.isEmpty { profile = content }
      case Self.exif: if exif.isEmpty { exif = Exif.tiff(in: content) }
      default: if xmp.isEmpty { xmp = content }
      }
    case Self.alpha, Self.lossy, Self.lossless:
      guard !isAnimated, frame.width == 0 else { return }
      try readImage(reader, offset, payload, limits)
      guard size.width == 0, frame.width > 0 else { return }
      size = PixelSize(width: frame.width, height: frame.height)
      try limits.check(width: size.width, height: size.height)
    default: break
    }
  }

  /// The four letters of a chunk as a number.
  ///
  /// Numbers are quick to compare, and a file may have millions of chunks.
  private static func code(_ letters: StaticString) -> Int {
    letters.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }
  }
  private static let header = code("VP8X")
  private static let animation = code("ANIM")
  private static let frame = code("ANMF")
  private static let profile = code("ICCP")
  private static let exif = code("EXIF")
  private static let xmp = code("XMP ")
  private static let alpha = code("ALPH")
  private static let lossy = code("VP8 ")
  private static let lossless = code("VP8L")

  /// Two numbers of 24 bits, one directly after the other.
  private static func pair(_ reader: ByteReader, at offset: Int) -> (Int, Int)? {
    guard let first = reader.long(offset), let second = reader.long(offset + 2) else { return nil }
    return (first & 0xFFFFFF, second >> 8)
  }

  /// Reads the first frame of an animation: its position and size, and the chunks within it. (Section 2.7.1.1)
  private mutating func readFrame(
    _ reader: ByteReader,
    _ payload: Range<Int>,
    _ limits: NamedLimits
  ) throws(LarderError) {
    let start = payload.lowerBound
    guard payload.count >= 24, let place = Self.pair(reader, at: start),
      let size = Self.pair(reader, at: start + 6)
    else { throw limits.damaged("a frame is cut short") }
    var offset = start + 16
    while offset + 8 <= payload.upperBound, frame.width == 0 {
      guard let count = reader.long(offset + 4), count <= payload.upperBound - offset - 8 else {
        throw limits.damaged("a frame is cut short")
      }
      try readImage(reader, offset, offset + 8..<offset + 8 + count, limits)
      offset += 8 + count + count & 1
    }
    guard frame.width == size.0 + 1, frame.height == size.1 + 1 else {
      throw limits.damaged("a frame and its picture differ in size")
    }
    (frame.x, frame.y) = (place.0 * 2, place.1 * 2)
  }

  /// Reads the header of the compressed pixels, or notes where the alpha chunk begins. (RFC 6386, section 9.1; RFC
  /// 9649, section 3.4)
  private mutating func readImage(
    _ reader: ByteReader,
    _ offset: Int,
    _ payload: Range<Int>,
    _ limits: NamedLimits
  ) throws(LarderError) {
    let start = payload.lowerBound
    let type = reader.long(offset)
    if type == Self.alpha {
      if image.isEmpty { image = offset..<payload.upperBound }
      frameHasAlpha = true
      return
    }
    let isLossless = type == Self.lossless
    guard isLossless || type == Self.lossy else { return }
    let least = isLossless ? 5 : 10
    guard payload.count >= least, let first = reader.long(start + (isLossless ? 1 : 6)) else {
      throw limits.damaged("its picture is cut short")
    }
    if isLossless {
      (frame.width, frame.height) = (first & 0x3FFF + 1, first >> 14 & 0x3FFF + 1)
      frameHasAlpha = first >> 28 & 1 == 1
      image = offset..<payload.upperBound
    } else {
      (frame.width, frame.height) = (first & 0x3FFF, first >> 16 & 0x3FFF)
      image = (image.isEmpty ? offset : image.lowerBound)..<payload.upperBound
    }
    self.isLossless = isLossless
    guard frame.width > 0, frame.height > 0 else {
      throw limits.damaged("its header says \(frame.width) × \(frame.height) pixels")
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
  ) throws(LarderError) -> [UInt8] {
    let bytes = try WebPCodec.encode(
      rows,
      quality: encoding.crop.quality ?? usualQuality,
      lossless: encoding.lossless,
      encoding.limits
    )
    return encoding.tags.added(
      toWebP: bytes,
      width: rows.shape.width,
      height: rows.shape.height,
      hasAlpha: rows.shape.layout == .rgba
    )
  }
}
