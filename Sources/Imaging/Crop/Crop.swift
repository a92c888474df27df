import Base
import SystemPackage

/// Makes an exact square of a picture, upright, or a picture of any other size.
///
///     let crop = Crop(size: 512, gravity: .top)
///     let square = try crop.apply(to: PictureFile("photo.jpg"))
///     print(square.width, square.method)
///
/// With ``frame`` it becomes as wide and as high as that says; ``fit`` says whether what does not
/// fit is cut off, or background takes what room is left.
///
/// A picture keeps its format unless ``format`` names another; of a GIF the first frame becomes a
/// PNG. A PNG stays as it is, sample for sample unless it is scaled, and so does a lossless WebP;
/// a JPEG keeps its colour space, its quantization tables and its sampling, an AVIF its bits and
/// sampling. ICC profiles are kept.
public struct Crop: PictureMaking, Equatable, Codable {
  /// The size of the result; nil for a square of pixels as they are.
  public var frame: PixelSize?
  /// How the picture goes into its frame.
  public var fit = PictureFit.cover
  /// The part of the picture to keep, or, with `contain`, where the picture lies.
  public var gravity: Gravity
  /// Whether a picture that is smaller than its frame is enlarged.
  ///
  /// If not, what is cut keeps its pixels, and so the shape of the frame but not its size; what is
  /// contained lies on more background.
  public var enlarges = true
  /// What lies around a picture that is contained, and behind one that loses its alpha in a JPEG.
  ///
  /// In the picture's own colours. Without one it is white, and clear around a picture that has and
  /// keeps alpha.
  public var background: PictureColour?
  /// The format of the result; nil for the input's own, and PNG for a GIF.
  public var format: PictureFormat?
  /// The quality of a JPEG, WebP or AVIF, 1 to 100; nil for that of a JPEG that stays one, else
  /// for what is usual in the format.
  public var quality: Int?
  /// Whether a JPEG is made progressive; else it is so when the input is a JPEG that is.
  public var isProgressive = false
  /// How much colour a JPEG or an AVIF has; nil for as much as the input has.
  public var chroma: ChromaSampling?
  /// Whether pixels become sRGB's by the input's profile, which is then left out.
  ///
  /// A picture without a profile is taken for sRGB, and stays as it is. Inks become light.
  public var convertsToSRGB = false
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
  /// The file that the result becomes; nil for one that is wanted in memory.
  var output: PictureOutput?
  /// Bytes of a PNG that are held where it becomes a file; one of more waits beside that.
  var heldBytes = 32 << 20

  /// Where a PNG goes; nil for one that is wanted in memory.
  var place: PNGOutput.Place? {
    output.map { PNGOutput.Place(output: $0, most: heldBytes) }
  }

  /// Pixels along a side of a square result; nil for as many as the picture has, and for other
  /// shapes.
  public var size: Int? {
    get { frame?.width == frame?.height ? frame?.width : nil }
    set { frame = newValue.map { PixelSize(side: $0) } }
  }

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
  /// - Returns: The result, encoded. A JPEG that was cut short or is broken inside yields what
  /// could be made of it, marked as damaged.
  /// - Throws: ``ImagingError`` when nothing can be made of the picture.
  public func apply(to file: PictureFile) throws(LarderError) -> EncodedPicture {
    try check()
    let canvas = framing(file.probe).canvas
    try limits.check(width: canvas.width, height: canvas.height, of: file.name)
    switch (file.probe.structure, target(for: file)) {
    case (.jpeg(let markers), .jpeg): return try cropJPEG(file, markers)
    case (.png(let chunks), .png): return try cropPNG(file, chunks)
    default: return try cropAny(file)
    }
  }

  /// Crops a picture, as ``apply(to:)`` does.
  public func make(from file: PictureFile) throws(LarderError) -> EncodedPicture {
    try apply(to: file)
  }

  /// Crops a picture that becomes a file; a large PNG waits there, not in memory.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(LarderError) -> EncodedPicture {
    var crop = self
    crop.output = PictureOutput(output)
    return try crop.apply(to: file)
  }

  /// Judges size and quality.
  public func check() throws(LarderError) {
    try checkFrame()
    if let format, !format.isWritten {
      throw LarderError(
        .usage,
        "cannot make a \(format.name): choose jpeg, png, webp or avif"
      )
    }
    if let quality, !(1...100).contains(quality) {
      throw LarderError(.usage, "cannot use quality \(quality): it goes from 1 to 100")
    }
    try checkForm()
  }

  /// Judges what is asked of files beside their format and of pixels that are to be kept.
  private func checkForm() throws(LarderError) {
    if let format, isProgressive, format != .jpeg {
      throw LarderError(
        .usage,
        "cannot make a progressive \(format.name): of what is written only JPEG can be; choose jpeg"
      )
    }
    if let format, let chroma, format != .jpeg, format != .avif {
      throw LarderError(
        .usage,
        "cannot make a \(format.name) with chroma \(chroma.name): only JPEG and AVIF have a choice; "
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
      "cannot make \(what) side goes from 1 to \(most), and \(limits.pixels) pixels are the most",
      remedy: .morePixels
    )
  }
}

/// A picture that was made, whole.
public struct EncodedPicture: Sendable, Equatable {
  /// How the pixels came from the input's.
  public enum Method: String, Sendable, Codable {
    /// Samples or coefficients are the input's own.
    case lossless
    /// Pixels were re-encoded.
    case reencoded
  }

  /// How far a picture lies from where it was asked to, in pixels of the upright input.
  public struct Shift: Sendable, Equatable, Codable {
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

  /// A place in a picture, in pixels from its top left.
  public struct Point: Sendable, Equatable, Codable {
    /// To the right.
    public var x: Int
    /// Downwards.
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
  /// The point that the part which is kept was drawn to, in pixels of the upright input: the middle,
  /// a side, a corner, or what people look at.
  public var gravity: Point?
  /// The moment on the stamp; nil without one.
  public var time: StampTime?
  /// What its maker ought to know of it.
  public var remarks: Set<Remark> = []

  /// The file, as ``contents()`` has it; empty where that throws.
  public var bytes: [UInt8] { (try? contents()) ?? [] }

  /// The file.
  ///
  /// A large PNG that was made for an output is read from the disk, each time.
  ///
  /// - Throws: ``ImagingError`` of code `disk` when it cannot be read.
  public func contents() throws(LarderError) -> [UInt8] { try file.bytes() }

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
    /// A stamp's letters are under 9 pixels high.
    public static let smallText = Remark(rawValue: "small-text")
    /// A stamp's letters stand out less than 3 to 1 from what is behind them in places.
    public static let faintText = Remark(rawValue: "faint-text")
  }
}

extension Crop {
  /// A decoded result, upright, how it was framed, and what its input was like.
  struct Decoded {
    let bitmap: Bitmap
    let framing: Framing
    let isDamaged: Bool
  }

  /// How a picture goes into its frame, drawn to a point, or to what gravity says of its size alone.
  func framing(_ probe: PictureProbe, focus: Focus? = nil) -> Framing {
    let upright = PixelSize(width: probe.width, height: probe.height)
    return Framing(
      upright,
      frame: frame,
      fit: fit,
      focus: focus ?? Focus(gravity, in: upright),
      gravity: gravity,
      enlarges: enlarges
    )
  }

  /// Whether it takes pixels to know which part of a picture is kept.
  func needsLook(at probe: PictureProbe) -> Bool {
    gravity == .attention
      && framing(probe).window.size != PixelSize(width: probe.width, height: probe.height)
  }

  /// How a picture goes into its frame; where pixels decide on that, they are decoded for it alone.
  func framing(of file: PictureFile) throws(LarderError) -> Framing {
    guard needsLook(at: file.probe) else { return framing(file.probe) }
    let glance: Bitmap
    switch file.probe.structure {
    case .jpeg:
      let header = try JPEGCodec.header(of: file)
      glance = try JPEGCodec.glance(file, layout: header.layout, limits)
    case .png:
      let stored = file.probe.stored
      let rows = Array(stride(from: 0, to: stored.height, by: Attention.step(for: stored)))
      let whole = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
      glance = try PNGCodec.pick(rows, of: file, whole, form: .expanded, limits)
    case .webp, .avif, .gif:
      let stored = file.probe.stored
      let whole = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
      glance = try file.decode(whole, limits)
    }
    return try framing(file, whole: glance)
  }

  /// How a picture goes into its frame, of which `whole` is all, stored as it is, at any scale.
  func framing(_ file: PictureFile, whole: Bitmap) throws(LarderError) -> Framing {
    let probe = file.probe
    let upright = PixelSize(width: probe.width, height: probe.height)
    let small = try whole.glance(of: probe.stored, limits: limits, name: file.name)
    let attention = Attention(small.upright(from: probe.orientation))
    return framing(
      probe,
      focus: attention.focus(in: upright, window: framing(probe).window.size)
    )
  }

  /// The ICC profile that says what the samples of a picture mean: its own, or one of the colours that
  /// an AVIF names by number; empty where they are sRGB's.
  func colours(of file: PictureFile) -> [UInt8] {
    let own = PictureTags.profile(of: file, limits)
    guard own.isEmpty, case .avif(let header) = file.probe.structure else { return own }
    return header.colour.profile ?? []
  }

  /// Whether pixels are to become other ones of sRGB.
  func converts(_ file: PictureFile) -> Bool {
    guard convertsToSRGB else { return false }
    if case .jpeg(let markers) = file.probe.structure, markers.sampling.count == 4 { return true }
    return !colours(of: file).isEmpty
  }

  /// The part of a whole picture that is kept, `stored` as it is, scaled and upright where it is not yet, in sRGB where
  /// that is asked for, and on its background where it `isPlaced`.
  func finished(
    _ bitmap: consuming Bitmap,
    _ part: Bitmap.Part? = nil,
    of file: PictureFile,
    _ framing: Framing,
    isScaled: Bool = false,
    isUpright: Bool = false,
    isPlaced: Bool = true
  ) throws(LarderError) -> Bitmap {
    let orientation = file.probe.orientation
    var bitmap = consume bitmap
    if framing.isScaled, !isScaled {
      let size = orientation.upright(framing.scaled)
      if part?.isAll(of: bitmap) ?? true, bitmap.samples.count >= Bitmap.leastInStrips {
        bitmap = try (consume bitmap).scaledInStrips(
          width: size.width,
          height: size.height,
          limits: limits,
          name: file.name
        )
      } else {
        bitmap = try (consume bitmap).expanded().scaled(
          part,
          width: size.width,
          height: size.height,
          limits: limits,
          name: file.name
        )
      }
    }
    if !isUpright { bitmap.turnUpright(from: orientation) }
    if convertsToSRGB, bitmap.layout != .cmyk {
      bitmap = try (consume bitmap).inSRGB(from: colours(of: file), name: file.name)
    }
    guard framing.isPadded, isPlaced else { return bitmap }
    let target = target(for: file)
    var isInverted = true
    if bitmap.layout == .cmyk { isInverted = try JPEGCodec.header(of: file).hasAdobe }
    return try (consume bitmap).framed(
      framing,
      on: background,
      keepsAlpha: target != .jpeg,
      isInverted: isInverted,
      limits: limits,
      name: file.name
    )
  }
}

extension Crop {
  /// The format that is written.
  func target(for file: PictureFile) -> PictureFormat { format ?? file.probe.format.kept }

  /// Crops a picture that does not go from JPEG to JPEG or from PNG to PNG.
  func cropAny(_ file: PictureFile) throws(LarderError) -> EncodedPicture {
    let target = target(for: file)
    let keepsSamples = keepsSamples(of: file, as: target)
    if lossless, !keepsSamples, isStrict {
      throw LarderError(
        .unsupported,
        "cannot crop \(file.name) without loss: it becomes a \(target.name) of fewer colours",
        remedy: .encodeAnew
      )
    }
    let square = try decoded(file, coloured: target != .png && target != .jpeg)
    let (framing, isDamaged) = (square.framing, square.isDamaged)
    let bitmap = (consume square).bitmap
    var picture = try encode(
      consume bitmap,
      framing,
      from: file,
      as: target,
      lossless: keepsSamples
    )
    picture.isDamaged = isDamaged
    if lossless, picture.method != .lossless { picture.remarks.insert(.notLossless) }
    return picture
  }

  /// Whether samples are to be kept, and can be: a lossless WebP's always are.
  private func keepsSamples(of file: PictureFile, as target: PictureFormat) -> Bool {
    guard target != .jpeg else { return false }
    if case .webp(let chunks) = file.probe.structure, chunks.isLossless, target == .webp {
      return true
    }
    return lossless && (target == .png || file.probe.depth <= 8)
  }

  /// Encodes a result of `file`; without loss where `lossless`.
  func encode(
    _ bitmap: consuming Bitmap,
    _ framing: Framing,
    from file: PictureFile,
    as target: PictureFormat,
    lossless: Bool
  ) throws(LarderError) -> EncodedPicture {
    let isGrey = bitmap.layout == .grey || bitmap.layout == .greyAlpha
    var isInk = false
    if case .jpeg(let markers) = file.probe.structure { isInk = markers.sampling.count == 4 }
    let isConverted = converts(file)
    var tags = PictureTags(
      of: file,
      width: bitmap.width,
      height: bitmap.height,
      metadata: keepsMetadata,
      isGrey: isGrey && (target == .png || target == .jpeg) && !isInk,
      limits: limits
    )
    if convertsToSRGB {
      tags.profile = []
    } else if target != .avif, tags.profile.isEmpty, case .avif = file.probe.structure {
      // What an AVIF says by numbers, others say by a profile.
      tags.profile = colours(of: file)
    }
    let encoding = PictureEncoding(
      format: target,
      quality: quality,
      isProgressive: isProgressive,
      chroma: chroma,
      isConverted: isConverted,
      lossless: lossless,
      background: background,
      hasNewColours: framing.isPadded && background.map { !$0.isGrey && $0.alpha > 0 } ?? false,
      source: file,
      tags: tags,
      place: place
    )
    let (width, height) = (bitmap.width, bitmap.height)
    let made = try encoding.encode(consume bitmap, name: file.name)
    let isNew = framing.isScaled || framing.isPadded
    return EncodedPicture(
      file: made.file,
      format: target,
      width: width,
      height: height,
      method: made.isLossless && !isNew && !isConverted ? .lossless : .reencoded,
      shift: EncodedPicture.Shift(),
      isDamaged: false,
      gravity: EncodedPicture.Point(framing.focus)
    )
  }

  /// The result of any picture as pixels, upright and of the size asked for; inks as light, and
  /// with `coloured` grey and indices as colour.
  func decoded(_ file: PictureFile, coloured: Bool) throws(LarderError) -> Decoded {
    switch file.probe.structure {
    case .jpeg:
      let header = try JPEGCodec.header(of: file)
      let layout: Bitmap.Layout = coloured && header.layout == .grey ? .bgrx : header.layout
      let square = try decodedJPEG(file, layout: layout)
      guard layout == .cmyk else { return square }
      let (framing, isDamaged) = (square.framing, square.isDamaged)
      return Decoded(
        bitmap: try (consume square).bitmap.lit(
          profile: file.profile,
          isInverted: header.hasAdobe,
          name: file.name
        ),
        framing: framing,
        isDamaged: isDamaged
      )
    case .png: return try decodedPNG(file, form: coloured ? .coloured : .expanded)
    case .webp, .avif, .gif: return try decodedWhole(file, coloured: coloured)
    }
  }

  /// The result of a picture whose library decodes all of it whatever part is asked for.
  private func decodedWhole(
    _ file: PictureFile,
    coloured: Bool
  ) throws(LarderError) -> Decoded {
    let (probe, stored) = (file.probe, file.probe.stored)
    var framing = framing(probe)
    let looks = needsLook(at: probe)
    var region = PixelRegion(x: 0, y: 0, width: stored.width, height: stored.height)
    if !looks { region = probe.orientation.stored(framing.window, in: stored) }
    var bitmap: Bitmap
    var part: Bitmap.Part?
    var isScaled = false
    if case .webp(let chunks) = probe.structure, framing.isScaled,
      let made = try WebPCodec.decode(file, chunks, region, smaller: framing.spare, limits)
    {
      (bitmap, part) = made
    } else if case .gif(let blocks) = probe.structure, framing.isScaled, !looks {
      bitmap = try GIFCodec.scaled(file, blocks, region, to: framing.scaled, limits)
      isScaled = true
    } else {
      bitmap = try file.decode(region, limits)
    }
    if looks {
      framing = try self.framing(file, whole: bitmap)
      let window = probe.orientation.stored(framing.window, in: stored)
      if let all = part { part = all.inside(region, window) } else { bitmap.keep(window) }
    }
    if coloured, !framing.isScaled { bitmap = (consume bitmap).expanded() }
    return Decoded(
      bitmap: try finished(consume bitmap, part, of: file, framing, isScaled: isScaled),
      framing: framing,
      isDamaged: probe.isCutShort
    )
  }
}

extension PictureFile {
  /// A region of a stored WebP, AVIF or GIF in the layout that its codec has it.
  func decode(_ region: PixelRegion, _ limits: PictureLimits) throws(LarderError) -> Bitmap {
    switch probe.structure {
    case .webp(let chunks): try WebPCodec.decode(self, chunks, region, limits)
    case .avif(let header): try AVIFCodec.decode(self, header, region, limits)
    case .gif(let blocks): try GIFCodec.decode(self, blocks, region, limits)
    case .jpeg:
      try JPEGCodec.decode(self, region, layout: JPEGCodec.header(of: self).layout, limits).value
    case .png: try PNGCodec.decode(self, region, form: .expanded, limits)
    }
  }
}
