import ArgumentParser
import Imaging

/// What files are made like, beside their format and quality.
struct FormOptions: ParsableArguments {
  @Flag(help: "Convert colours to sRGB by the picture's profile, and leave that out.")
  var srgb = false

  @Flag(help: "Make JPEGs progressive; other formats are not. (default: as a JPEG is)")
  var progressive = false

  @Option(
    help: ArgumentHelp(
      "How much colour JPEGs and AVIFs have: 420, 422 or 444. (default: as the input has)",
      valueName: "chroma"
    )
  )
  var chroma: ChromaSampling?

  /// Sets what these options say of a crop.
  func apply(to crop: inout Crop) {
    (crop.convertsToSRGB, crop.isProgressive, crop.chroma) = (srgb, progressive, chroma)
  }
}

extension ChromaSampling: ExpressibleByArgument {
  /// Reads a sampling, with colons or without.
  public init?(argument: String) {
    self.init(rawValue: argument.replacing(":", with: ""))
  }
}
