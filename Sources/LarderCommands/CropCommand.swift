import ArgumentParser

/// `larder crop PICTURE…`: exact squares.
struct CropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crop",
    abstract: "Crop pictures square, upright, from the centre or wherever you say.",
    discussion: """
      Example:  larder crop cache/images --out squares --size 512
                larder crop photo.jpg --out . --lossless

      Exit statuses: 0 all made, 1 the output exists, 3 some pictures could not be read, 64 usage, \
      65 the only picture could not be read, 74 disk.
      """
  )

  @OptionGroup var pictures: PictureOptions

  @Flag(help: "Keep the JPEG's own coefficients; the square then moves to its grid.")
  var lossless = false

  @OptionGroup var output: OutputOptions

  mutating func validate() throws {
    if lossless, pictures.size != nil {
      throw ValidationError("--lossless keeps every pixel, so it cannot go with --size")
    }
  }

  func run() throws {
    let making = pictures.square(lossless: lossless)
    // At its own size a photo goes from file to file a row at a time.
    let run = PictureRun(
      making: making,
      options: pictures,
      output: output,
      makesBitmaps: pictures.size != nil
    )
    Output.end(try run.run())
  }
}
