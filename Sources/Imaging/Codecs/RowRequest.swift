import Base

/// The part of a stored picture that a decoder is asked for.
struct RowRequest: Equatable {
  /// The part, in pixels of the stored picture.
  var region: PixelRegion
  /// What becomes of a window of the picture, if it is scaled: a decoder may make it smaller on its way.
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
  /// Whether anything was missing or wrong in what has been read, and yet rows were made of it.
  var isDamaged: () -> Bool = { false }
}

extension PictureFile {
  /// Lends rows of the stored picture.
  ///
  /// - Throws: ``ImagingError`` where there are none, and what `body` throws.
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
