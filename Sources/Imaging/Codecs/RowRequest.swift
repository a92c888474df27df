import Base

/// The part of a stored picture that a decoder has to deliver.
struct RowRequest: Equatable {
  /// The requested part, in pixels of the stored picture.
  var region: PixelRegion
  /// The scaling that follows, if any, so that the decoder may deliver a reduced picture.
  var scaling: Scaling?
  /// Whether the samples of a PNG stay as stored: palette indices, and fewer than 8 bits.
  var isNative = false

  struct Scaling: Equatable {
    let window: PixelSize
    let size: PixelSize

    /// A decoder may reduce the picture by this ratio: the scaling filter then still has two pixels for each pixel of
    /// the result.
    var spare: Double {
      let across = Double(window.width) / Double(size.width)
      let down = Double(window.height) / Double(size.height)
      return min(across, down) / 2
    }
  }

  init(_ region: PixelRegion, scaling: Scaling? = nil, isNative: Bool = false) {
    (self.region, self.scaling, self.isNative) = (region, scaling, isNative)
  }
}

/// Opened rows of a part of a picture.
struct OpenRows {
  let source: any RowSource
  /// The position of the requested part within `source`, whose rows may show a reduced picture; nil if the rows are
  /// exactly that part.
  var part: Bitmap.Part?
  /// Whether a part of the input read so far was missing or wrong, although rows could be decoded.
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
      try body(probe.structure.rows(of: self, bytes, request, limits))
    }
  }
}
