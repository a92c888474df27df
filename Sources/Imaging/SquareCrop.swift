/// Makes an exact square of a picture, upright.
///
///     let crop = SquareCrop(size: 512, gravity: .top)
///     let square = try crop.apply(to: PictureFile("photo.jpg"))
///     print(square.width, square.method)
///
/// A picture keeps its format unless ``format`` names another; of a GIF the first frame becomes a
/// PNG. A PNG stays as it is, sample for sample unless it is scaled, and so does a lossless WebP;
/// a JPEG keeps its colour space, its quantization tables and its sampling, an AVIF its bits and
/// sampling. ICC profiles are kept.
public struct SquareCrop: PictureMaking, Equatable {
  /// Pixels along a side of the result; nil for as many as the picture has.
  public var size: Int?
  /// The part of the picture to keep.
  public var gravity: Gravity
  /// The format of the result; nil for the input's own, and PNG for a GIF.
  public var format: PictureFormat?
  /// The quality of a JPEG, WebP or AVIF, 1 to 100; nil for that of a JPEG that stays one, else
  /// for what is usual in the format.
  public var quality: Int?
  /// Whether a JPEG is to keep its coefficients, at the nearest place where it can be cut, and
  /// what becomes PNG, WebP or AVIF its samples.
  public var lossless: Bool
  /// Whether a picture that cannot be kept so is an error with `lossless`; else it is encoded
  /// anew.
  public var isStrict = false
  /// Whether EXIF, XMP, texts and the like are kept, which may say where a photo was taken.
  public var keepsMetadata: Bool
  /// What a picture may ask for.
  public var limits: PictureLimits

  /// Makes a crop; what is left out is as most people want it.
  public init(
    size: Int? = nil,
    gravity: Gravity = .centre,
    format: PictureFormat? = nil,
    quality: Int? = nil,
    lossless: Bool = false,
    keepsMetadata: Bool = false,
    limits: PictureLimits = PictureLimits()
  ) {
    self.size = size
    self.gravity = gravity
    self.format = format
    self.quality = quality
    self.lossless = lossless
    self.keepsMetadata = keepsMetadata
    self.limits = limits
  }

  /// Crops a picture.
  ///
  /// - Parameter file: The input.
  /// - Returns: The square, encoded. A JPEG that was cut short or is broken inside yields what
  /// could   be made of it, marked as damaged.
  /// - Throws: ``ImagingError`` when nothing can be made of the picture.
  public func apply(to file: PictureFile) throws(ImagingError) -> EncodedPicture {
    try check()
    switch (file.probe.structure, target(for: file)) {
    case (.jpeg(let markers), .jpeg): return try cropJPEG(file, markers)
    case (.png(let chunks), .png): return try cropPNG(file, chunks)
    default: return try cropAny(file)
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
    if let format, !format.isWritten {
      throw ImagingError(
        .usage,
        "cannot make a \(format.name): choose jpeg, png, webp or avif"
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
    /// Pixels were re-encoded.
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
  public internal(set) var method: Method
  /// How far the square was moved to keep coefficients.
  public let shift: Shift
  /// Whether the input was cut short or broken inside, so that a part of this may be wrong.
  public internal(set) var isDamaged: Bool
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
    /// The picture does not say when it was taken, so that the stamp shows its file's time or the
    /// clock's.
    public static let notDated = Remark(rawValue: "not-dated")
  }
}
