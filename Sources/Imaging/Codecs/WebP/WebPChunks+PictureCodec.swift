import Base

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

  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8] {
    profile.map { Array(file.bytes[$0]) } ?? []
  }

  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? { exif.map { bytes[$0] } }
  func xmp(in bytes: [UInt8]) -> [UInt8] { xmp.map { Array(bytes[$0]) } ?? [] }

  /// Opens rows of a region.
  ///
  /// libwebp reduces the picture while it decodes, if that is possible and saves work.
  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    if let ratio = request.scaling?.spare,
      let (bitmap, part) = try WebPCodec.decode(file, self, request.region, smaller: ratio, limits)
    {
      return OpenRows(source: BitmapRows(bitmap), part: part)
    }
    return OpenRows(source: BitmapRows(try WebPCodec.decode(file, self, request.region, limits)))
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
      encoding.crop.limits,
      name: encoding.source.name
    )
    let whole = encoding.tags.added(
      toWebP: bytes,
      width: rows.shape.width,
      height: rows.shape.height,
      hasAlpha: rows.shape.layout == .rgba
    )
    return .held(whole)
  }
}
