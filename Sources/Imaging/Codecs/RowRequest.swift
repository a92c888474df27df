import Base

/// The part of a stored picture that a decoder delivers.
struct RowRequest: Equatable {
  /// The part, in pixels of the stored picture.
  var region: PixelRegion
  /// The scaling that follows, if there is one, so that the decoder can deliver a reduced picture.
  var scaling: Scaling?
  /// Whether samples are delivered as they are stored: a PNG's palette indices and samples of fewer than 8 bits, and the
  /// colours of an upright JPEG.
  var isNative = false
  /// Whether a small picture suffices, which is made of as little of a JPEG as possible.
  var isPreview = false

  struct Scaling: Equatable {
    let window: PixelSize
    let size: PixelSize

    /// The ratio by which a decoder is allowed to reduce the picture before it is scaled.
    ///
    /// The scaling filter then still has two pixels for each pixel of the result, along the side that shrinks less.
    var spare: Double {
      let across = Double(window.width) / Double(size.width)
      let down = Double(window.height) / Double(size.height)
      return min(across, down) / 2
    }
  }
}

/// The opened rows of a part of a picture.
struct OpenRows {
  let source: any RowSource
  /// The position of the requested part within `source`; nil if `source` shows exactly that part.
  ///
  /// The rows of `source` can show a larger part, and can show it reduced.
  var part: Bitmap.Part?
  /// Whether the rows that were read so far show something that is missing or damaged in the input.
  var isDamaged: () -> Bool = { false }
}

extension PictureFile {
  /// Calls `body` with rows of the stored picture.
  ///
  /// - Throws: ``LarderError`` when the picture cannot be decoded, and the error of `body`.
  func withRows<Result>(
    _ request: RowRequest,
    _ limits: PictureLimits,
    _ body: (OpenRows) throws(LarderError) -> Result
  ) throws(LarderError) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try body(probe.structure.rows(request, of: bytes, limits.named(name)))
    }
  }
}
