import Base

extension Bitmap {
  /// Decodes a whole picture, and turns it upright.
  ///
  /// Palette indices become colours, and the transparent colour of a PNG (tRNS) becomes alpha. A JPEG with colours, and
  /// a WebP or AVIF without alpha, becomes `bgrx`.
  ///
  /// - Parameters:
  ///   - file: The picture. If it is an animation, its first frame is decoded.
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
    let whole = RowRequest(
      region: PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
    )
    self = try file.withRows(whole, limits) { (rows) throws(LarderError) in
      let shown = rows.source.converted { Conversion.expanded($0) }
      let bitmap = try shown.collected(from: orientation, limits.named(file.name))
      guard !rows.isDamaged() else {
        throw .damaged(file.name, "a part of it is missing or wrong")
      }
      return bitmap
    }
  }

  /// Encodes the bitmap as a JPEG, with white for transparent pixels.
  ///
  /// - Parameters:
  ///   - quality: The quality, from 1 to 100.
  ///   - name: The name of the picture in errors.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` when there is not enough memory.
  public consuming func jpeg(quality: Int = 90, name: String = "the picture") throws(LarderError)
    -> [UInt8]
  {
    let limits = PictureLimits().named(name)
    return try JPEGCodec.encode(BitmapRows(consume self), Crop(quality: quality), limits)
  }

  /// Encodes the bitmap as a PNG.
  ///
  /// - Parameter name: The name of the picture in errors.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` of code `unsupported` for CMYK, which a PNG cannot hold.
  public consuming func png(name: String = "the picture") throws(LarderError) -> [UInt8] {
    try PNGCodec.encode(BitmapRows(consume self), level: 6, PictureLimits().named(name)).bytes()
  }

  /// The pixels that are in one of `rows` and in one of `columns`.
  func picked(columns: [Int], rows: [Int]) -> Bitmap {
    let bytes = pixelBytes
    var picked: [UInt8] = []
    picked.reserveCapacity(columns.count * rows.count * bytes)
    for row in rows {
      for column in columns {
        let start = row * rowBytes + column * bytes
        for byte in 0..<bytes { picked.append(samples[start + byte]) }
      }
    }
    return Bitmap(
      width: columns.count,
      height: rows.count,
      layout: layout,
      depth: depth,
      samples: picked
    )
  }
}

extension PictureFile {
  /// The picture as a JPEG: its own bytes if it is a JPEG, and otherwise a new JPEG with white for transparent pixels.
  ///
  /// - Parameter quality: The quality, from 1 to 100.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` when the picture cannot be decoded.
  public func asJPEG(quality: Int = 90) throws(LarderError) -> [UInt8] {
    probe.format == .jpeg
      ? bytes : try Bitmap(decoding: self).jpeg(quality: quality, name: name)
  }
}
