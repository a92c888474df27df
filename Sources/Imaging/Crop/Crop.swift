import Base
import SystemPackage

/// Makes an upright square from a picture, or a rectangle of a given size.
///
///     let crop = Crop(size: 512, gravity: .top)
///     let square = try crop.apply(to: PictureFile("photo.jpg"))
///     print(square.width, square.method)
///
/// With ``frame`` the result gets that width and height. ``fit`` decides whether the picture fills the frame and is
/// cut, or is kept whole with a background around it.
///
/// A picture keeps its format unless ``format`` names another; the first frame of a GIF becomes a PNG. A PNG or a
/// lossless WebP keeps its exact samples unless it is scaled. A JPEG keeps its colour space, its quantization tables
/// and its sampling, and an AVIF its depth and sampling. ICC profiles are kept.
public struct Crop: PictureMaking, Equatable, Codable {
  /// The size of the result; nil for the largest square, not scaled.
  public var frame: PixelSize?
  /// How the picture is fitted into its frame.
  public var fit = PictureFit.cover
  /// The part of the picture to keep, or, with `contain`, the picture's position in the frame.
  public var gravity: Gravity
  /// Whether a picture that is smaller than its frame is enlarged.
  ///
  /// If false, a part that is smaller than the frame is not scaled: the result has the shape of the frame but not its
  /// size. With `contain`, a smaller picture gets more background instead.
  public var enlarges = true
  /// The background around a contained picture, and behind a picture that loses its alpha in a JPEG.
  ///
  /// The colour is in the picture's own colour space. The default is white, or transparent around a picture that keeps
  /// alpha.
  public var background: PictureColour?
  /// The format of the result; nil for the input's ``PictureFormat/kept``.
  ///
  /// That is the input's own format if larder can write it, otherwise JPEG for an HEIC, and PNG for a GIF, BMP or TIFF.
  public var format: PictureFormat?
  /// The quality of a JPEG, WebP or AVIF, 1 to 100; nil for the format's default.
  ///
  /// With nil, a JPEG that stays a JPEG keeps its own quality.
  public var quality: Int?
  /// Whether a JPEG is made progressive; if false, it is progressive when the input is a progressive JPEG.
  public var isProgressive = false
  /// The chroma subsampling of a JPEG or an AVIF; nil for that of the input.
  public var chroma: ChromaSampling?
  /// Whether pixels are converted from the input's profile to sRGB; the result then has no profile.
  ///
  /// A picture without a profile is assumed to be sRGB, and is not converted. CMYK becomes RGB.
  public var convertsToSRGB = false
  /// Whether a JPEG keeps its coefficients, and whether a PNG, WebP or AVIF keeps its samples.
  ///
  /// In a JPEG, the cut is moved to the nearest block border.
  public var lossless: Bool
  /// With `lossless`, whether a picture that cannot be cropped without loss is an error; if false, it is re-encoded.
  public var isStrict = false
  /// Whether EXIF, XMP, texts and similar metadata are kept; they may say where a photo was taken.
  public var keepsMetadata: Bool
  /// The limits of a picture.
  public var limits: PictureLimits
  /// The file to which the result will be written; nil for a result in memory.
  var output: PictureOutput?
  /// A PNG with an `output` is held in memory up to this many bytes; a larger PNG is written to a temporary file.
  var heldBytes = 32 << 20

  /// The destination of a PNG; nil for a PNG that stays in memory.
  var place: PNGOutput.Place? {
    output.map { PNGOutput.Place(output: $0, most: heldBytes) }
  }

  /// The side of a square result, in pixels; nil if the result is not scaled, or is not a square.
  public var size: Int? {
    get { frame?.width == frame?.height ? frame?.width : nil }
    set { frame = newValue.map { PixelSize(side: $0) } }
  }

  /// Makes a crop; the defaults suit most pictures.
  public init(
    size: Int? = nil,
    gravity: Gravity = .centre,
    format: PictureFormat? = nil,
    quality: Int? = nil,
    lossless: Bool = false,
    keepsMetadata: Bool = false,
    limits: PictureLimits = PictureLimits()
  ) {
    frame = size.map { PixelSize(side: $0) }
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
  /// - Returns: The result, encoded. A JPEG that was cut short or is broken inside yields its
  ///   readable part, marked as damaged.
  /// - Throws: ``LarderError`` when the picture cannot be made.
  public func apply(to file: PictureFile) throws(LarderError) -> EncodedPicture {
    try check()
    return try made(from: file)
  }

  /// Crops a picture, as ``apply(to:)`` does.
  public func make(from file: PictureFile) throws(LarderError) -> EncodedPicture {
    try apply(to: file)
  }

  /// Crops a picture for an output file; a large PNG is written to a temporary file, not held in memory.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(LarderError) -> EncodedPicture {
    var crop = self
    crop.output = PictureOutput(output)
    return try crop.apply(to: file)
  }

  /// Checks the options.
  public func check() throws(LarderError) {
    try checkFrame()
    if let format, !format.isWritten {
      throw LarderError(
        .usage,
        "cannot make a \(format.name): choose jpeg, png, webp or avif"
      )
    }
    if let quality, !(1...100).contains(quality) {
      throw LarderError(.usage, "cannot use quality \(quality): it must be from 1 to 100")
    }
    try checkForm()
  }

  /// Checks the options of the encoding, and those that contradict `lossless`.
  private func checkForm() throws(LarderError) {
    if let format, isProgressive, format != .jpeg {
      throw LarderError(
        .usage,
        "cannot make a progressive \(format.name): only JPEG can be progressive; choose jpeg"
      )
    }
    if let format, let chroma, format != .jpeg, format != .avif {
      throw LarderError(
        .usage,
        "cannot make a \(format.name) with chroma \(chroma.name): only JPEG and AVIF support this; "
          + "choose jpeg or avif"
      )
    }
    if lossless, chroma != nil {
      throw LarderError(
        .usage,
        "cannot change the chroma without loss: choose between chroma and lossless"
      )
    }
    if lossless, convertsToSRGB {
      throw LarderError(
        .usage,
        "cannot convert to sRGB without loss: choose between sRGB and lossless"
      )
    }
  }

  private func checkFrame() throws(LarderError) {
    guard let frame else { return }
    let most = min(limits.side, PictureLimits.scaledSide)
    let isFit = [frame.width, frame.height].allSatisfy { (1...max(most, 1)).contains($0) }
    guard !isFit || frame.width * frame.height > limits.pixels else { return }
    let what =
      size.map { "squares of \($0) pixels: the" }
      ?? "pictures of \(frame.width) × \(frame.height) pixels: a"
    throw LarderError(
      .usage,
      "cannot make \(what) side must be from 1 to \(most) pixels, and the area at most \(limits.pixels) pixels",
      remedy: .morePixels
    )
  }
}

/// A finished picture, encoded as a file.
public struct EncodedPicture: Sendable, Equatable {
  /// How the result's pixels were made from the input's pixels.
  public enum Method: String, Sendable, Codable {
    /// The samples or coefficients were copied from the input.
    case lossless
    /// Pixels were re-encoded.
    case reencoded
  }

  /// The distance of a crop from its requested place, in pixels of the upright input.
  public struct Shift: Sendable, Equatable, Codable {
    /// Pixels to the right.
    public var x: Int
    /// Pixels downwards.
    public var y: Int

    /// Makes a shift; none by default.
    public init(x: Int = 0, y: Int = 0) {
      self.x = x
      self.y = y
    }
  }

  /// A place in a picture, in pixels from its top left.
  public struct Point: Sendable, Equatable, Codable {
    /// Pixels to the right.
    public var x: Int
    /// Pixels downwards.
    public var y: Int

    /// Makes a point.
    public init(x: Int, y: Int) {
      (self.x, self.y) = (x, y)
    }

    init(_ focus: Focus) {
      self.init(x: Int(focus.x.rounded()), y: Int(focus.y.rounded()))
    }
  }

  /// The file.
  let file: EncodedFile
  /// The format of the file.
  public let format: PictureFormat
  /// Pixels from left to right.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int
  /// How the result's pixels were made from the input's pixels.
  public internal(set) var method: Method
  /// How far the square was moved to keep coefficients.
  public let shift: Shift
  /// Whether the input was cut short or broken inside, so that a part of the result may be wrong.
  public internal(set) var isDamaged: Bool
  /// The point around which the kept part was placed, in pixels of the upright input: the middle, a side, a corner, or
  /// the most salient point.
  public var gravity: Point?
  /// The time that the stamp shows; nil without a stamp.
  public var time: StampTime?
  /// Warnings about the result.
  public var remarks: Set<Remark> = []

  /// The bytes of the file, from ``contents()``; empty if that throws.
  public var bytes: [UInt8] { (try? contents()) ?? [] }

  /// The bytes of the file.
  ///
  /// If the result is a large PNG for an output file, each call reads it from the disk.
  ///
  /// - Throws: ``LarderError`` of code `disk` when the file cannot be read.
  public func contents() throws(LarderError) -> [UInt8] { try file.bytes() }

  /// A warning about a picture that was made, but not quite as requested.
  public struct Remark: RawRepresentable, Hashable, Sendable {
    /// The identifier, such as `not-lossless`.
    public let rawValue: String

    /// Makes a remark from its identifier.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A lossless result was requested, but was not possible.
    public static let notLossless = Remark(rawValue: "not-lossless")
    /// The input is a PNG whose gamma is only in a gAMA chunk, for which the new format has no place.
    public static let noGamma = Remark(rawValue: "no-gamma")
    /// The kept part was enlarged to more than twice its size.
    public static let enlarged = Remark(rawValue: "enlarged")
    /// A stamp's letters are under 9 pixels high.
    public static let smallText = Remark(rawValue: "small-text")
    /// In places, a stamp's letters have a contrast of less than 3:1 to their background.
    public static let faintText = Remark(rawValue: "faint-text")
  }
}
