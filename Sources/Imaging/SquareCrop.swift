/// Makes an exact square of a picture, upright.
///
///     let crop = SquareCrop(size: 512, gravity: .top)
///     let square = try crop.apply(to: PictureFile("photo.jpg"))
///     print(square.width, square.method)
///
/// A PNG stays a PNG, sample for sample unless it is scaled; a JPEG stays a JPEG of its colour space,
/// with the quantization tables and sampling that it had. ICC profiles are kept.
public struct SquareCrop: PictureMaking, Equatable {
  /// Pixels along a side of the result; nil for as many as the picture has.
  public var size: Int?
  /// The part of the picture to keep.
  public var gravity: Gravity
  /// The quality of a JPEG, 1 to 100; nil for that of the input.
  public var quality: Int?
  /// Whether a JPEG is to keep its coefficients, at the nearest place where it can be cut.
  public var lossless: Bool
  /// Whether a JPEG whose coefficients cannot be kept is an error with `lossless`; else it is encoded anew.
  public var isStrict = false
  /// Whether EXIF, XMP, texts and the like are kept, which may say where a photo was taken.
  public var keepsMetadata: Bool
  /// What a picture may ask for.
  public var limits: PictureLimits

  /// Makes a crop; what is left out is as most people want it.
  public init(
    size: Int? = nil,
    gravity: Gravity = .centre,
    quality: Int? = nil,
    lossless: Bool = false,
    keepsMetadata: Bool = false,
    limits: PictureLimits = PictureLimits()
  ) {
    self.size = size
    self.gravity = gravity
    self.quality = quality
    self.lossless = lossless
    self.keepsMetadata = keepsMetadata
    self.limits = limits
  }

  /// Crops a picture.
  ///
  /// - Parameter file: A JPEG or a PNG.
  /// - Returns: The square, encoded. A JPEG that was cut short or is broken inside yields what could
  ///   be made of it, marked as damaged.
  /// - Throws: ``ImagingError`` when nothing can be made of the picture.
  public func apply(to file: PictureFile) throws(ImagingError) -> EncodedPicture {
    try check()
    switch file.probe.structure {
    case .jpeg(let markers): return try cropJPEG(file, markers)
    case .png(let chunks): return try cropPNG(file, chunks)
    case .other: throw .unreadable(file.name, file.probe.format)
    }
  }

  /// Crops a picture, as ``apply(to:)`` does.
  public func make(from file: PictureFile) throws(ImagingError) -> EncodedPicture {
    try apply(to: file)
  }

  /// Judges size and quality, and the libraries that pictures are read and made with.
  public func check() throws(ImagingError) {
    try CodecLibrary.check()
    let most = min(limits.side, PictureLimits.scaledSide)
    if let size, size < 1 || size > most || size * size > limits.pixels {
      throw ImagingError(
        .usage,
        "cannot make squares of \(size) pixels: the side goes from 1 to \(most), "
          + "and \(limits.pixels) pixels are the most",
        remedy: .morePixels
      )
    }
    if let quality, !(1...100).contains(quality) {
      throw ImagingError(.usage, "cannot use quality \(quality): it goes from 1 to 100")
    }
  }

  /// The square that is kept of an upright picture.
  func square(in probe: PictureProbe) -> PixelRegion {
    let upright = PixelSize(width: probe.width, height: probe.height)
    let side = min(upright.width, upright.height)
    let origin = gravity.origin(of: side, in: upright)
    return PixelRegion(x: origin.x, y: origin.y, width: side, height: side)
  }
}

/// A picture that was made, whole, in memory.
public struct EncodedPicture: Sendable, Equatable {
  /// How the pixels came from the input's.
  public enum Method: String, Sendable {
    /// Samples or coefficients are the input's own.
    case lossless
    /// Pixels were encoded anew.
    case reencoded
  }

  /// How far a picture lies from where it was asked to, in pixels of the upright input.
  public struct Shift: Sendable, Equatable {
    /// To the right.
    public var x: Int
    /// Downwards.
    public var y: Int

    /// Makes a shift; none by default.
    public init(x: Int = 0, y: Int = 0) {
      self.x = x
      self.y = y
    }
  }

  /// The file.
  public let bytes: [UInt8]
  /// What kind of file it is.
  public let format: PictureFormat
  /// Pixels from left to right.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int
  /// How the pixels came from the input's.
  public let method: Method
  /// How far the square was moved to keep coefficients.
  public let shift: Shift
  /// Whether the input was cut short or broken inside, so that a part of this may be wrong.
  public let isDamaged: Bool
  /// The moment on the stamp; nil without one.
  public var time: StampTime?
  /// What its maker ought to know of it.
  public var remarks: Set<Remark> = []

  /// Something about a picture that was made, but not as one would expect.
  public struct Remark: RawRepresentable, Hashable, Sendable {
    /// The word for it.
    public let rawValue: String

    /// Makes a remark from its word.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Coefficients were to be kept, and could not be.
    public static let notLossless = Remark(rawValue: "not-lossless")
    /// The picture does not say when it was taken, so that the stamp shows its file's time or the clock's.
    public static let notDated = Remark(rawValue: "not-dated")
  }
}
