import ArgumentParser
import Imaging

/// How a picture goes into the size that is asked for.
struct FrameOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Cut off what is outside of --size (cover), or keep all of it and fill the rest (contain).",
      valueName: "fit"
    )
  )
  var fit = PictureFit.cover

  @Option(
    help: ArgumentHelp(
      """
      What is around a contained picture, or behind a clear one that becomes a JPEG: #rgb, #rrggbb, #rrggbbaa, \
      transparent or a name. (default: white; transparent around a picture with alpha)
      """,
      valueName: "colour"
    ),
    transform: Self.colour
  )
  var background: PictureColour?

  @Flag(help: "Never make a picture larger: what is smaller than --size keeps its pixels.")
  var noEnlarge = false

  /// Judges these options beside the size that is asked for.
  func check(beside size: PixelSize?) throws {
    if noEnlarge, size == nil {
      throw ValidationError("--no-enlarge is about --size; give both")
    }
  }

  /// Sets what these options say of a crop.
  func apply(to crop: inout Crop) {
    crop.fit = fit
    crop.background = background
    crop.enlarges = !noEnlarge
  }

  /// Reads a side of a square, or width and height with an x between them.
  @Sendable static func size(_ argument: String) throws -> PixelSize {
    let range = 1...16_384
    let sides = argument.split(separator: "x", omittingEmptySubsequences: false)
      .map { WholeNumber.read(String($0), in: range) }
    switch (sides.count, sides.first ?? nil, sides.last ?? nil) {
    case (1, let side?, _): return PixelSize(side: side)
    case (2, let width?, let height?): return PixelSize(width: width, height: height)
    default:
      throw ValidationError(
        "it takes a number from \(range.lowerBound) to \(range.upperBound), or two like 640x480"
      )
    }
  }

  @Sendable private static func colour(_ argument: String) throws -> PictureColour {
    guard let colour = PictureColour(argument) else {
      throw ValidationError("it takes a colour like #fff, #f0f0f0, #00000080 or transparent")
    }
    return colour
  }
}

extension PictureFit: ExpressibleByArgument {}
