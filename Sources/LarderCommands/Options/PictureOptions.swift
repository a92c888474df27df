import ArgumentParser
import Imaging

/// The options of `crop` and `stamp`.
struct PictureOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Pictures (JPEG, PNG, WebP, AVIF, GIF, HEIC, TIFF, BMP), folders of them, or - for stdin.",
      valueName: "picture"
    ),
    completion: .file(extensions: [
      "jpg", "jpeg", "png", "webp", "avif", "gif", "heic", "heif", "hif", "tif", "tiff", "bmp",
    ]),
    transform: PathArgument.read
  )
  var pictures: [String]

  @Option(
    path:
      "The folder for the results, created if missing. - is stdout, for one picture. (default: - for -)",
    value: "dir",
    completion: .directory
  )
  var out: String?

  @Option(
    "Scale to N pixels a side, or to width and height. (default: the size of the cropped part)",
    value: "n|wxh",
    read: PictureOptions.size
  )
  var size: PixelSize?

  @Option(
    help:
      "The part to keep, or the position with --fit contain; attention picks the most interesting part."
  )
  var gravity = Gravity.centre

  @Option(
    help:
      "The output format: keep, jpeg, png, webp or avif. keep writes PNG for GIF, TIFF and BMP, and JPEG for HEIC."
  )
  var format = OutputFormat.keep

  @Option(
    "The encoder's quality. (default: about the input's from JPEG to JPEG, else 90 for JPEG, 80 for WebP, 60 for AVIF)",
    value: "1-100",
    read: WholeNumber.reader(1...100)
  )
  var quality: Int?

  @Flag(help: "Convert colours to sRGB by the embedded profile, then drop the profile.")
  var srgb = false

  @Flag(help: "Write progressive JPEGs. (default: like the input JPEG)")
  var progressive = false

  @Option(
    help: "The chroma subsampling of JPEGs and AVIFs: 420, 422 or 444. (default: the input's)"
  )
  var chroma: ChromaSampling?

  @Flag(help: "Keep EXIF, XMP and IPTC. Removed by default, because they may hold GPS positions.")
  var keepMetadata = false

  @Option(
    "Refuse pictures of more than N pixels; memory grows with them. (default: 150000000)",
    value: "n",
    read: WholeNumber.reader(1...2_000_000_000)
  )
  var maxPixels: Int?

  @Option(
    "The names of outputs, with {stem}, {size} and {ext}. (default: {stem}.{ext})",
    value: "template"
  )
  var name: String?

  @Flag(help: "Replace outputs that exist already.")
  var force = false

  @Flag(help: "Skip outputs that exist already.")
  var skipExisting = false

  @Flag(help: "Print the outputs, and write nothing.")
  var dryRun = false

  @Option(
    name: .shortAndLong,
    parsing: .unconditional,
    help: ArgumentHelp(
      "Process N pictures at once, 1 to 1024; each needs memory. (default: one for each processor)",
      valueName: "n"
    ),
    transform: WholeNumber.reader(1...1024)
  )
  var jobs: Int?

  @Option(
    help:
      "Fill --size and cut off the rest (cover), or keep the whole picture on a background (contain)."
  )
  var fit = PictureFit.cover

  @Option(
    """
    The background with --fit contain, and behind transparent pictures that become JPEGs: #rgb, #rrggbb, #rrggbbaa, \
    transparent or a name. (default: white; transparent around a picture with alpha)
    """,
    value: "colour",
    read: Self.colour
  )
  var background: PictureColour?

  @Flag(help: "Never enlarge: a part smaller than --size keeps its size.")
  var noEnlarge = false

  /// The argument `-`.
  ///
  /// As a picture it means stdin, and as the output folder it means stdout.
  static let stream = "-"

  /// Whether a picture is read from stdin.
  var readsStandardInput: Bool { pictures.contains(Self.stream) }

  /// Whether the result is written to stdout.
  var writesStandardOutput: Bool { place == Self.stream }

  /// The output folder, or `-` for stdout.
  ///
  /// If stdin is the only input, stdout is the default.
  var place: String { out ?? Self.stream }

  mutating func validate() throws {
    if force, skipExisting {
      throw ValidationError("--force and --skip-existing exclude each other")
    }
    if pictures.isEmpty { throw ValidationError("name a picture or a folder") }
    if out == nil, pictures != [Self.stream] {
      throw ValidationError("missing expected argument '--out <dir>': where the results go")
    }
    if pictures.count(where: { $0 == Self.stream }) > 1 {
      throw ValidationError("- (stdin) can be given only once")
    }
    if noEnlarge, size == nil { throw ValidationError("--no-enlarge needs --size") }
    let paths = Set(pictures + [place, "--out=\(place)"])
    let others = ProgramArguments.all.dropFirst().filter { !paths.contains($0) }
    if let fault = ProgramArguments.fault(in: others) { throw ValidationError(fault) }
    guard writesStandardOutput else { return }
    guard pictures.count == 1 else {
      throw ValidationError("--out - writes one picture to stdout; give one, or --out DIR")
    }
    let idle = [
      (name != nil, "--name"), (skipExisting, "--skip-existing"), (dryRun, "--dry-run"),
    ].first { $0.0 }
    if let (_, option) = idle {
      throw ValidationError("\(option) has no effect with --out -; leave out one of them")
    }
  }

  var limits: PictureLimits { maxPixels.map { .allowing(pixels: $0) } ?? PictureLimits() }

  /// The crop that the options describe.
  var crop: Crop {
    var crop = Crop(gravity: gravity, format: format.picture, quality: quality, limits: limits)
    (crop.frame, crop.fit, crop.background, crop.enlarges) = (size, fit, background, !noEnlarge)
    (crop.convertsToSRGB, crop.isProgressive, crop.chroma) = (srgb, progressive, chroma)
    crop.keepsMetadata = keepMetadata
    return crop
  }

  /// Refuses `--json` when the picture itself is written to stdout.
  func check(beside output: OutputOptions) throws {
    if writesStandardOutput, output.json {
      throw ValidationError("--json and --out - both write to stdout; give --out DIR")
    }
  }

  /// Parses a size in pixels: the side of a square, such as `512`, or width and height, such as `640x480`.
  @Sendable static func size(_ argument: String) throws -> PixelSize {
    let words = argument.split(separator: "x", omittingEmptySubsequences: false)
    let sides = words.compactMap { WholeNumber.read(String($0), in: 1...16_384) }
    guard let width = sides.first, sides.count == words.count, sides.count <= 2 else {
      throw ValidationError("it takes a number from 1 to 16384, or two like 640x480")
    }
    return PixelSize(width: width, height: sides.last ?? width)
  }

  @Sendable private static func colour(_ argument: String) throws -> PictureColour {
    guard let colour = PictureColour(argument) else {
      throw ValidationError("it takes a colour like #fff, #f0f0f0, #00000080 or transparent")
    }
    return colour
  }
}

/// The values of `--format`.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
  case keep
  case jpeg
  case png
  case webp
  case avif

  /// The format to write.
  ///
  /// If it is nil, each output has the format of its input.
  var picture: PictureFormat? { PictureFormat(rawValue: rawValue) }

  /// Parses a format; `jpg` means `jpeg`.
  init?(argument: String) {
    self.init(rawValue: argument == "jpg" ? Self.jpeg.rawValue : argument)
  }
}

extension Gravity: ExpressibleByArgument {
  /// Parses a gravity; accepts the American spelling `center`.
  public init?(argument: String) {
    self.init(rawValue: argument == "center" ? Gravity.centre.rawValue : argument)
  }
}

extension PictureFit: ExpressibleByArgument {}

extension ChromaSampling: ExpressibleByArgument {
  /// Parses a chroma subsampling, such as `420` or `4:2:0`.
  public init?(argument: String) {
    self.init(rawValue: argument.replacing(":", with: ""))
  }
}
