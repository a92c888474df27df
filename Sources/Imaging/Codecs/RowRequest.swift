import Base

/// The part of a stored picture that a decoder is asked for.
struct RowRequest: Equatable {
  /// The part, in pixels of the stored picture.
  var region: PixelRegion
  /// The scaling of a window of the picture, if any: a decoder may reduce it while decoding.
  var scaling: Scaling?
  /// Whether samples are wanted as a PNG has them: indices, and less than 8 bits.
  var isNative = false

  struct Scaling: Equatable {
    let window: PixelSize
    let size: PixelSize

    /// How many times more pixels the window has, along either side, than leave the filter two for one of the result.
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

/// The rows of a part of a picture, while they can be read.
struct OpenRows {
  let source: any RowSource
  /// Where the part lies in these rows, which may be fewer and smaller; nil where it is all of them.
  var part: Bitmap.Part?
  /// Whether a part of the input so far was missing or wrong, and rows were made of the rest.
  var isDamaged: () -> Bool = { false }
}

extension PictureFile {
  /// Lends rows of the stored picture.
  ///
  /// - Throws: ``ImagingError`` where there are none, and the error of `body`.
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
