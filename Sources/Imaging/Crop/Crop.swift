import Base
import SystemPackage

/// Makes an upright square, or a rectangle of a given size, from a picture.
///
///     let crop = Crop(size: 512, gravity: .top)
///     let square = try crop.apply(to: PictureFile("photo.jpg"))
///     print(square.width, square.method)
///
/// If ``frame`` is set, the result has that width and height. ``fit`` decides whether the picture fills the frame and
/// loses its edges, or is kept whole with a background around it.
///
/// A picture keeps its format unless ``format`` names another one. The first frame of a GIF becomes a PNG. A PNG or a
/// lossless WebP keeps its exact samples unless it is scaled. A JPEG keeps its colour space, its quantization tables
/// and its sampling. An AVIF keeps its depth and sampling. ICC profiles are kept.
public struct Crop: PictureMaking, Equatable, Codable {
  /// The size of the result; if it is nil, the result is the largest square that fits into the picture, without
  /// scaling.
  public var frame: PixelSize?
  /// How the picture is fitted into its frame.
  public var fit = PictureFit.cover
  /// The part of the picture that is kept.
  ///
  /// With the fit `contain`, which keeps the whole picture, it is the picture's position in the frame.
  public var gravity: Gravity
  /// Whether a picture that is smaller than its frame is enlarged.
  ///
  /// If this is false, a part that is smaller than the frame is not scaled: the result has the shape of the frame but
  /// not its size. With the fit `contain`, a smaller picture gets more background instead.
  public var enlarges = true
  /// The colour around a picture that does not fill its frame, and behind a picture whose alpha a JPEG cannot hold.
  ///
  /// It is given in the picture's own colour space. The default is white, or transparent around a picture that keeps
  /// its alpha.
  public var background: PictureColour?
  /// The format of the result; if it is nil, the format is ``PictureFormat/kept`` of the input's format.
  ///
  /// This is the input's own format if larder can write it. Otherwise it is JPEG for an HEIC, and PNG for a GIF, BMP or
  /// TIFF.
  public var format: PictureFormat?
  /// The quality of a JPEG, WebP or AVIF, from 1 to 100; if it is nil, the format's default applies.
  ///
  /// If it is nil, a JPEG that stays a JPEG keeps its own quality.
  public var quality: Int?
  /// Whether the result is a progressive JPEG.
  ///
  /// If this is false, the result is progressive only if the input is a progressive JPEG.
  public var isProgressive = false
  /// The chroma subsampling of a JPEG or an AVIF; if it is nil, the result has the input's subsampling.
  public var chroma: ChromaSampling?
  /// Whether pixels are converted to sRGB from the colours of the input's profile.
  ///
  /// The result then has no profile. A picture without a profile is assumed to be sRGB, and is not converted. CMYK
  /// becomes RGB.
  public var convertsToSRGB = false
  /// Whether a JPEG keeps its coefficients, and whether a PNG, WebP or AVIF keeps its samples.
  ///
  /// A JPEG can be cut only between its blocks, so the square moves to the nearest border of a block. A picture that
  /// cannot be cropped without loss is re-encoded, with the remark `notLossless`.
  public var lossless: Bool
  /// Whether EXIF, XMP and IPTC are kept; of a TIFF, only XMP.
  ///
  /// They can say where a photo was taken.
  public var keepsMetadata: Bool
  /// The limits that a picture must not exceed.
  public var limits: PictureLimits
  /// A PNG for an output file is held in memory if it has at most this many bytes.
  ///
  /// A larger PNG is written to a temporary file while it is compressed.
  var heldBytes = 32 << 20

  /// The side of a square result, in pixels; nil if ``frame`` is nil or not a square.
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
  /// - Parameter file: The picture to crop.
  /// - Returns: The encoded result. If the input is a JPEG whose end is missing or whose data is damaged, the result
  ///   shows its readable part, and is marked as damaged.
  /// - Throws: ``LarderError`` when the picture cannot be made.
  public func apply(to file: PictureFile) throws(LarderError) -> EncodedPicture {
    try apply(to: file, opening: nil)
  }

  /// Crops a picture for an output file.
  ///
  /// A large PNG is written to a temporary file in the folder of `output`, instead of being held in memory.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(LarderError) -> EncodedPicture {
    try apply(to: file, opening: PartFile.opening(output))
  }

  /// Crops a picture, and calls `open` if the result is a PNG that is too large for memory.
  ///
  /// If `open` is nil, every result stays in memory.
  func apply(
    to file: PictureFile,
    opening open: PartFile.Opening?
  ) throws(LarderError) -> EncodedPicture {
    try check()
    return try made(from: file, opening: open)
  }

  /// Checks the options.
  public func check() throws(LarderError) {
    try checkFrame()
    let (name, chroma) = (format?.name ?? "", chroma?.name)
    let rules: [(isBroken: Bool, message: String)] = [
      (
        format?.isWritten == false,
        "cannot make a \(name): choose jpeg, png, webp or avif"
      ),
      (
        !(1...100).contains(quality ?? 1),
        "cannot use quality \(quality ?? 1): it must be from 1 to 100"
      ),
      (
        isProgressive && ![nil, .jpeg].contains(format),
        "cannot make a progressive \(name): only JPEG can be progressive; choose jpeg"
      ),
      (
        chroma != nil && ![nil, .jpeg, .avif].contains(format),
        "cannot make a \(name) with chroma \(chroma ?? ""): only JPEG and AVIF support this; "
          + "choose jpeg or avif"
      ),
      (
        lossless && chroma != nil,
        "cannot change the chroma without loss: choose between chroma and lossless"
      ),
      (
        lossless && convertsToSRGB,
        "cannot convert to sRGB without loss: choose between sRGB and lossless"
      ),
    ]
    for rule in rules where rule.isBroken { throw LarderError(.usage, rule.message) }
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
