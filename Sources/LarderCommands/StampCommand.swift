import ArgumentParser
import Imaging
import SystemPackage

/// `larder stamp PICTURE…`: time-stamped squares.
struct StampCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "all were made",
      .failed: "the output exists already, or the server refused the only photo",
      .partial: "some pictures could not be read or posted, or are damaged",
      .data: "the only picture could not be read, or no font was found",
      .unavailable: "the server cannot be reached",
      .io: "the disk is full, not writable or damaged",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "stamp",
    abstract: "Crop photos square and stamp time, date and weekday on them.",
    discussion: """
      Example:  larder stamp up.jpg --out stamped --locale ko_KR --zone Asia/Seoul
                larder stamp up.jpg --out stamped --post https://diary.example/photos

      A photo is posted once its file is whole: as multipart/form-data with dateTime, \
      timeStampContents (the --text) and image (always a JPEG). It is posted again only when it \
      certainly did not arrive, or when the server asks for that; its Idempotency-Key stays the same.

      \(statuses.text)
      """
  )

  @OptionGroup var pictures: PictureOptions

  @Option(
    help: ArgumentHelp(
      "Which time: exif, now, file, or one as RFC 3339 writes it. (default: exif, else file, else now)",
      valueName: "time"
    )
  )
  var time: String?

  @Option(
    help: ArgumentHelp(
      "The zone to show it in, such as Asia/Seoul. (default: that of the time, else this machine's)",
      valueName: "zone"
    )
  )
  var zone: String?

  @Option(
    help: ArgumentHelp(
      "How the date is written, such as ko_KR. (default: en)",
      valueName: "locale"
    )
  )
  var locale: String?

  @Option(help: ArgumentHelp("A line under the date.", valueName: "text"))
  var text: String?

  @Option(help: ArgumentHelp("A picture for the corner across from the text.", valueName: "png"))
  var logo: String?

  @OptionGroup(title: Topic.upload) var upload: UploadOptions

  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if let size = pictures.square.size, size.width != size.height {
      throw ValidationError("stamps are square, so --size takes one number here")
    }
  }

  func run() throws {
    var stamp = Stamp(crop: pictures.square.crop(lossless: false))
    if let time { stamp.time = try StampTime.Choice(time) }
    if let zone { stamp.zone = try Zone(named: zone) }
    if let locale { stamp.locale = try StampLocale(locale) }
    if let logo { stamp.logo = try PictureFile(FilePath(logo)) }
    stamp.text = text
    Output.end(
      try PictureRun(
        verb: "stamp",
        making: stamp,
        options: pictures,
        output: output,
        upload: try upload.upload(text: text)
      ).run()
    )
  }
}
