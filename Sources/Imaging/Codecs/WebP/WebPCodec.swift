import Base
import CWebP
import Glibc

/// Decodes and encodes WebPs with libwebp.
///
/// No other Swift file uses its pointers and structs.
enum WebPCodec {
  /// The longest side of a WebP, in pixels. (RFC 9649, section 2.5)
  static let longestSide = 16_383

  /// Decodes a region of a still, or the whole first frame of an animation if it does not cover the canvas.
  ///
  /// The result is `rgba` if any pixel can be transparent, and `bgrx` otherwise.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the picture.
  ///   - chunks: The chunks of the picture.
  ///   - region: The region, in pixels of the canvas.
  ///   - ratio: If possible, the region is reduced to about `1 / ratio` of its size, by averaging pixels; nil if it must
  ///     not be reduced.
  ///   - least: A region of a lossless picture is reduced only if it takes at least this many bytes. libwebp holds all
  ///     pixels of a lossless picture anyway, so reducing a smaller region saves nothing.
  ///   - limits: The limits of the picture.
  /// - Returns: The bitmap, and the position of the region in it if it was reduced.
  /// - Throws: ``LarderError`` when the picture cannot be decoded, or takes too much memory.
  static func decode(
    _ bytes: FileBytes,
    _ chunks: WebPChunks,
    _ region: PixelRegion,
    smaller ratio: Double? = nil,
    least: Int = 64 << 20,
    _ limits: NamedLimits
  ) throws(LarderError) -> (bitmap: Bitmap, part: Bitmap.Part?) {
    let frame = chunks.frame
    // If the frame covers its canvas, as a still does, only the requested region is decoded. Otherwise the whole frame
    // is.
    let wanted = chunks.coversCanvas ? region : PixelRegion(frame.size)
    var padded = wanted.padded(in: frame.size)
    // The rows below are decoded, too, because libwebp finds no damage in rows that it does not decode.
    padded.height = frame.height - padded.y
    // If there is alpha, libwebp would mix the colours of transparent pixels into others.
    if let ratio, ratio >= 1.5, chunks.coversCanvas, !chunks.hasAlpha,
      !chunks.isLossless || region.width * region.height * 4 >= least
    {
      let size = PixelSize(
        width: Int((Double(padded.width) / ratio).rounded(.up)),
        height: Int((Double(padded.height) / ratio).rounded(.up))
      )
      let bitmap = try decode(bytes, chunks, padded, as: size, limits)
      let all = Bitmap.Part(width: Double(size.width), height: Double(size.height))
      return (bitmap, all.inside(padded, region))
    }
    if chunks.hasAlpha, !chunks.isLossless {
      // If a region's alpha is predicted from the rows above it, libwebp 1.2.4, and perhaps later versions, skips these
      // rows nevertheless. So the frame is decoded from its top.
      padded = PixelRegion(x: padded.x, y: 0, width: padded.width, height: frame.height)
    }
    var bitmap = try decode(bytes, chunks, padded, as: padded.size, limits)
    bitmap.keep(wanted.inside(padded))
    return (bitmap, nil)
  }

  /// Decodes a region of the frame, and scales it to `size`; the region's x and y must be even.
  private static func decode(
    _ bytes: FileBytes,
    _ chunks: WebPChunks,
    _ region: PixelRegion,
    as size: PixelSize,
    _ limits: NamedLimits
  ) throws(LarderError) -> Bitmap {
    let frame = chunks.frame
    let layout: Bitmap.Layout = chunks.hasAlpha ? .rgba : .bgrx
    try limits.check(memory: size.width * size.height * 4)
    // Besides the result, libwebp holds all pixels of a lossless picture, or all alpha samples of a lossy picture.
    try limits.check(memory: frame.width * frame.height * (chunks.isLossless ? 4 : 1))
    let image = FileBytes(rebasing: bytes[chunks.image])
    return try Bitmap(width: size.width, height: size.height, layout: layout, depth: 8) {
      (pixels) throws(LarderError) in
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
      let status = cwebp_decode(image.baseAddress, image.count, &decoding)
      guard status == CInt(cwebp_done) else { throw error(limits, status) }
    }
  }

  /// Encodes rows of any layout except `cmyk`, with 8 bits and without metadata.
  static func encode(
    _ rows: any RowSource,
    quality: Int,
    lossless: Bool,
    _ limits: NamedLimits
  ) throws(LarderError) -> [UInt8] {
    var rows = rows.converted(Conversion.coloured).converted(Conversion.narrowed)
    let (size, layout) = (rows.shape.size, rows.shape.layout)
    guard max(size.width, size.height) <= longestSide else {
      throw LarderError(
        .unsupported,
        "cannot write \(limits.name) as WebP: \(size.width) × \(size.height) has a side of more than "
          + "\(longestSide) pixels; make it smaller or choose another format"
      )
    }
    var isClear = false
    if layout == .rgba, !lossless {
      // Before libwebp gets the first row, it must know whether any pixel is transparent.
      let whole = try rows.collected(limits)
      isClear = whole.isClearAnywhere
      rows = BitmapRows(whole)
    }
    guard let picture = cwebp_begin(CInt(size.width), CInt(size.height), lossless, isClear) else {
      throw limits.outOfMemory
    }
    defer { cwebp_close(picture) }
    let order = layout == .rgb ? cwebp_rgb : layout == .rgba ? cwebp_rgba : cwebp_bgrx
    let stride = CInt(rows.shape.rowBytes)
    // A strip has an even number of rows, because two rows share their chroma.
    try rows.inStrips(of: 256) { (strip, _, count) throws(LarderError) in
      guard cwebp_add(picture, strip.baseAddress, stride, CInt(order), CInt(count)) else {
        throw limits.outOfMemory
      }
    }
    var (bytes, count) = (UnsafeMutablePointer<UInt8>?.none, 0)
    let status = cwebp_encode(picture, CInt(quality), &bytes, &count)
    defer { free(bytes) }
    guard status == CInt(cwebp_done) else { throw error(limits, status) }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  private static func error(_ limits: NamedLimits, _ status: CInt) -> LarderError {
    switch Int(status) {
    case cwebp_no_memory: limits.outOfMemory
    case cwebp_cut: limits.damaged("its picture ends too early")
    case cwebp_broken: limits.damaged("its picture breaks the rules of WebP")
    default:
      LarderError(.library, "cannot process \(limits.name): libwebp refuses it; update libwebp")
    }
  }
}
