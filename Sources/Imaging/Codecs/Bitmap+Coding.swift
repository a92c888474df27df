import Base

extension Bitmap {
  /// Decodes a whole picture, upright, into samples that can be shown.
  ///
  /// Palette indices become colours, and a PNG's transparent colour (tRNS) becomes alpha. A JPEG in colour, and a WebP
  /// or AVIF without alpha, becomes `bgrx`.
  ///
  /// - Parameters:
  ///   - file: The picture; of an animation, its first frame.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when the picture cannot be decoded; its code is `damaged` when a part of the picture is
  ///   missing or wrong.
  public init(
    decoding file: PictureFile,
    limits: PictureLimits = PictureLimits()
  ) throws(LarderError) {
    let stored = file.probe.stored
    let orientation = file.probe.orientation
    let isWhole = file.probe.format == .jpeg || !file.probe.isCutShort
    guard isWhole else { throw .damaged(file.name, "the file ends too early") }
    let whole = RowRequest(PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height))
    self = try file.withRows(whole, limits) { (rows) throws(LarderError) in
      let shown = rows.source.converted { Conversion.expanded($0) }
      let bitmap = try shown.collected(from: orientation, limits, name: file.name)
      guard !rows.isDamaged() else {
        throw .damaged(file.name, "a part of it is missing or wrong")
      }
      return bitmap
    }
  }

  /// The bitmap as a JPEG; transparent pixels become white.
  ///
  /// - Parameters:
  ///   - quality: 1 to 100.
  ///   - name: The name of the picture in errors.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` when there is not enough memory.
  public consuming func jpeg(quality: Int = 90, name: String = "the picture") throws(LarderError)
    -> [UInt8]
  {
    try (consume self).encodedAsJPEG(JPEGCodec.Form(quality: quality), name)
  }

  consuming func encodedAsJPEG(
    _ form: JPEGCodec.Form,
    _ name: String
  ) throws(LarderError) -> [UInt8] {
    try JPEGCodec.encode(BitmapRows(consume self), form, name: name)
  }

  /// The bitmap as a PNG.
  ///
  /// - Parameters:
  ///   - level: zlib's compression level, 0 to 9.
  ///   - name: The name of the picture in errors.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` of code `unsupported` for CMYK, which a PNG cannot hold.
  public consuming func png(
    level: Int = 6,
    name: String = "the picture"
  ) throws(LarderError) -> [UInt8] {
    try PNGCodec.encode(BitmapRows(consume self), level: level, name: name).bytes()
  }

  /// The 8-bit colour of a pixel, composited on white.
  func colour(_ x: Int, _ y: Int) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let start = y * rowBytes + x * pixelBytes
    let isWide = depth == 16
    func sample(_ index: Int) -> Int {
      guard isWide else {
        return depth == 8
          ? Int(samples[start + index])
          : Int(samples[start + index]) * 255 / ((1 << depth) - 1)
      }
      return samples.withUnsafeBytes {
        (Int($0.loadUnaligned(fromByteOffset: start + index * 2, as: UInt16.self)) + 128) / 257
      }
    }
    func onWhite(_ value: Int, _ alpha: Int) -> UInt8 {
      UInt8((value * alpha + 255 * (255 - alpha) + 127) / 255)
    }
    switch layout {
    case .grey:
      let light = UInt8(sample(0))
      return (light, light, light)
    case .greyAlpha:
      let light = onWhite(sample(0), sample(1))
      return (light, light, light)
    case .rgb: return (UInt8(sample(0)), UInt8(sample(1)), UInt8(sample(2)))
    case .rgba:
      let alpha = sample(3)
      return (onWhite(sample(0), alpha), onWhite(sample(1), alpha), onWhite(sample(2), alpha))
    case .bgrx: return (samples[start + 2], samples[start + 1], samples[start])
    case .cmyk:
      let light = sample(3)
      return (
        UInt8(sample(0) * light / 255), UInt8(sample(1) * light / 255),
        UInt8(sample(2) * light / 255)
      )
    case .indexed(let palette):
      let index = Int(samples[start])
      guard index * 3 + 2 < palette.colours.count else { return (0, 0, 0) }
      let alpha = index < palette.alpha.count ? Int(palette.alpha[index]) : 255
      return (
        onWhite(Int(palette.colours[index * 3]), alpha),
        onWhite(Int(palette.colours[index * 3 + 1]), alpha),
        onWhite(Int(palette.colours[index * 3 + 2]), alpha)
      )
    }
  }
}

extension PictureFile {
  /// The picture as a JPEG: its own bytes if it is a JPEG; otherwise re-encoded, with white for transparent pixels.
  ///
  /// - Parameter quality: 1 to 100.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` when the picture cannot be decoded.
  public func asJPEG(quality: Int = 90) throws(LarderError) -> [UInt8] {
    probe.format == .jpeg
      ? bytes : try Bitmap(decoding: self).jpeg(quality: quality, name: name)
  }
}
