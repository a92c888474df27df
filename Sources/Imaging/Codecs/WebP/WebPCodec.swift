import Base
import CWebP

/// Decodes and encodes WebP with libwebp, whose pointers and structs are used nowhere else.
enum WebPCodec {
  /// The longest side of a WebP, in pixels. (RFC 9649, section 2.5)
  static let longestSide = 16_383

  /// Decodes a region of the still, or of the canvas with the first frame on it: `rgba` if any pixel may be
  /// transparent, else `bgrx`.
  static func decode(
    _ file: PictureFile,
    _ chunks: WebPChunks,
    _ region: PixelRegion,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let frame = chunks.frame
    // Of a frame that covers its canvas, as a still does, only the needed region is decoded.
    let wanted =
      chunks.coversCanvas
      ? region : PixelRegion(x: 0, y: 0, width: frame.width, height: frame.height)
    var padded = wanted.padded(in: PixelSize(width: frame.width, height: frame.height))
    if chunks.hasAlpha, !chunks.isLossless {
      // libwebp 1.2.4, and perhaps later versions, skips the rows above a region even if the region's alpha is
      // predicted from them. So decode from the top.
      let height = padded.y + padded.height
      padded = PixelRegion(x: padded.x, y: 0, width: padded.width, height: height)
    }
    let size = PixelSize(width: padded.width, height: padded.height)
    var bitmap = try decode(file, chunks, padded, as: size, limits)
    bitmap.keep(wanted.inside(padded))
    return chunks.coversCanvas
      ? bitmap : try bitmap.placed(frame, over: region, limits, name: file.name)
  }

  /// Decodes a region at about `1 / ratio` of its size, by averaging pixels.
  ///
  /// - Returns: The bitmap, and the position of the region in it. Nil if the picture cannot be reduced while decoding,
  ///   or if that would save nothing. It saves nothing for a region of a lossless picture that takes fewer than `least`
  ///   bytes, because libwebp holds all pixels of a lossless picture.
  static func decode(
    _ file: PictureFile,
    _ chunks: WebPChunks,
    _ region: PixelRegion,
    smaller ratio: Double,
    least: Int = 64 << 20,
    _ limits: PictureLimits
  ) throws(LarderError) -> (bitmap: Bitmap, part: Bitmap.Part)? {
    let isSmall = region.width * region.height * 4 < least
    // libwebp would blend the colours of transparent pixels into others.
    guard ratio >= 1.5, chunks.coversCanvas, !chunks.hasAlpha, !chunks.isLossless || !isSmall
    else { return nil }
    let padded = region.padded(in: chunks.size)
    let size = PixelSize(
      width: Int((Double(padded.width) / ratio).rounded(.up)),
      height: Int((Double(padded.height) / ratio).rounded(.up))
    )
    let bitmap = try decode(file, chunks, padded, as: size, limits)
    let all = Bitmap.Part(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    return (bitmap, all.inside(padded, region))
  }

  /// Decodes a region of the frame, whose x and y are even, and scales it to `size`.
  private static func decode(
    _ file: PictureFile,
    _ chunks: WebPChunks,
    _ region: PixelRegion,
    as size: PixelSize,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let frame = chunks.frame
    let layout: Bitmap.Layout = chunks.hasAlpha ? .rgba : .bgrx
    try limits.check(memory: size.width * size.height * 4, of: file.name)
    // libwebp also holds all pixels of a lossless picture, or all alpha samples of a lossy picture.
    try limits.check(
      memory: frame.width * frame.height * (chunks.isLossless ? 4 : 1),
      of: file.name
    )
    return try Bitmap(
      width: size.width,
      height: size.height,
      layout: layout,
      depth: 8
    ) { (pixels) throws(LarderError) in
      let status = file.bytes.withUnsafeBufferPointer { bytes in
        let image = UnsafeBufferPointer(rebasing: bytes[chunks.image])
        var decoding = cwebp_decoding(
          width: CInt(frame.width),
          height: CInt(frame.height),
          region: cwebp_region(
            x: CInt(region.x),
            y: CInt(region.y),
            width: CInt(region.width),
            height: CInt(region.height)
          ),
          across: CInt(size.width),
          down: CInt(size.height),
          has_alpha: layout == .rgba,
          pixels: pixels.baseAddress,
          stride: size.width * 4
        )
        return cwebp_decode(image.baseAddress, image.count, &decoding)
      }
      guard status == CInt(cwebp_done) else { throw error(file.name, status) }
    }
  }

  /// Encodes rows of any layout but `cmyk` in 8 bits, without metadata.
  static func encode(
    _ rows: any RowSource,
    quality: Int,
    lossless: Bool,
    _ limits: PictureLimits = PictureLimits(),
    name: String
  ) throws(LarderError) -> [UInt8] {
    var rows = rows.converted(Conversion.coloured).converted(Conversion.narrowed)
    let (size, layout) = (rows.shape.size, rows.shape.layout)
    guard max(size.width, size.height) <= longestSide else {
      throw LarderError(
        .unsupported,
        "cannot write \(name) as WebP: \(size.width) × \(size.height) has a side of more than "
          + "\(longestSide) pixels; make it smaller or choose another format"
      )
    }
    var isClear = false
    if layout == .rgba, !lossless {
      // libwebp has to know before the first row whether any pixel is transparent.
      let whole = try rows.collected(limits, name: name)
      isClear = whole.isClearAnywhere
      rows = BitmapRows(whole)
    }
    guard let picture = cwebp_begin(CInt(size.width), CInt(size.height), lossless, isClear) else {
      throw error(name, CInt(cwebp_no_memory))
    }
    defer { cwebp_close(picture) }
    let order = layout == .rgb ? cwebp_rgb : layout == .rgba ? cwebp_rgba : cwebp_bgrx
    let stride = CInt(rows.shape.rowBytes)
    // The number of rows is even, because two rows share their chroma.
    try rows.inStrips(of: 256) { (strip, _, count) throws(LarderError) in
      guard cwebp_add(picture, strip.baseAddress, stride, CInt(order), CInt(count)) else {
        throw error(name, CInt(cwebp_no_memory))
      }
    }
    var made = MallocBuffer()
    let status = cwebp_encode(picture, CInt(quality), &made.bytes, &made.count)
    guard status == CInt(cwebp_done) else { throw error(name, status) }
    return made.take()
  }

  private static func error(_ name: String, _ status: CInt) -> LarderError {
    switch Int(status) {
    case cwebp_no_memory: .tooLarge(name, "it takes more memory than is allowed")
    case cwebp_cut: .damaged(name, "its picture ends too early")
    case cwebp_broken: .damaged(name, "its picture breaks the rules of WebP")
    default: LarderError(.library, "cannot process \(name): libwebp refuses it; update libwebp")
    }
  }
}
