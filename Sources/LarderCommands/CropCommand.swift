import ArgumentParser
import Imaging

/// `larder crop PICTURE…`: crops pictures to squares or other exact sizes.
struct CropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crop",
    abstract: "Crop pictures upright to squares or any size, from the centre or another part.",
    discussion: """
      Example:  larder crop cache/images --out squares --size 512
                larder crop photo.jpg --out squares --lossless
                larder crop photos --out squares --size 512 --format webp
                larder crop photos --out wide --size 1200x630 --gravity attention
                larder crop logos --out tiles --size 256 --fit contain
                larder crop - --size 300 < photo.jpg > square.jpg
      """,
    statuses: [
      .done: "all pictures were made",
      .failed: "the output exists already",
      .partial: "some pictures could not be read, or are damaged",
      .data: "the only picture could not be read",
      .io: "the disk is full, not writable or damaged",
    ],
    stops: true
  )

  @OptionGroup(title: Topic.pictures) var pictures: PictureOptions

  @Flag(
    help: """
      Crop JPEGs without re-encoding, aligned to the JPEG's block grid; write PNG, WebP and AVIF losslessly.
      """
  )
  var lossless = false

  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    try pictures.check(beside: output)
    if lossless, pictures.size != nil {
      throw ValidationError("--lossless keeps every pixel, so it cannot go with --size")
    }
    if lossless, pictures.fit == .contain {
      throw ValidationError("--lossless adds no pixels, so it cannot go with --fit contain")
    }
  }

  func run() throws {
    Output.end(try make())
  }

  /// Makes all pictures, and returns the exit status.
  func make() throws -> ExitStatus {
    var crop = pictures.crop
    crop.lossless = lossless
    let order = PictureOrder(crop)
    return try PictureRun(verb: "crop", order: order, options: pictures, output: output).run()
  }
}
