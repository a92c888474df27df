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
    abstract: "Stamp time, date and weekday on photos, cut square or as they are.",
    discussion: """
      Example:  larder stamp up.jpg --out stamped --locale ko_KR --zone Asia/Seoul
                larder stamp up.jpg --out stamped --fit contain --style bar
                larder stamp up.jpg --out stamped --template '{weekday} {time12}'
                larder stamp up.jpg --out stamped --post https://diary.example/photos
                larder stamp - --time now < up.jpg > stamped.jpg

      A photo is posted once its file is whole: as multipart/form-data with dateTime, \
      timeStampContents (the --text) and image (always a JPEG). It is posted again only when it \
      certainly did not arrive, or when the server asks for that; its Idempotency-Key stays the same.

      \(statuses.text)
      """
  )

  @OptionGroup var pictures: PictureOptions

  @OptionGroup(title: Topic.pictures) var frame: FrameOptions

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

  @Option(
    help: ArgumentHelp(
      "How letters are set off: plain, scrim (a soft veil behind them) or bar.",
      valueName: "style"
    )
  )
  var style = StampStyle.scrim

  @Option(
    help: ArgumentHelp(
      "Where the text goes. (default: bottom-left)",
      valueName: "position"
    )
  )
  var position: StampPosition?

  @Option(
    help: ArgumentHelp(
      """
      What is written, of {time}, {time12}, {time24}, {date} and {weekday}; \\n begins a line. \
      (default: the time, and the date with its weekday under it)
      """,
      valueName: "template"
    )
  )
  var template: String?

  @Option(help: ArgumentHelp("The font's family; it has to be installed.", valueName: "family"))
  var font: String?

  @Option(help: ArgumentHelp("A line under the date.", valueName: "text"))
  var text: String?

  @Option(
    help: ArgumentHelp("A picture for the corner across from the text.", valueName: "png"),
    transform: PathArgument.read
  )
  var logo: String?

  @OptionGroup(title: Topic.upload) var upload: UploadOptions

  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    try pictures.check(beside: output)
    if pictures.readsStandardInput, time == "file" {
      throw ValidationError(
        "--time file is when a file was last written, and stdin is none; give --time exif, now or a time"
      )
    }
    try frame.check(beside: pictures.square.size)
  }

  func run() throws {
    var stamp = Stamp(crop: pictures.square.crop(lossless: false))
    frame.apply(to: &stamp.crop)
    stamp.style = style
    stamp.font = font
    if let position { stamp.place = position.gravity }
    if let template { stamp.template = try StampTemplate(template) }
    if let time { stamp.time = try StampTime.Choice(time) }
    if let zone { stamp.zone = try Zone(named: zone) }
    if let locale { stamp.locale = try StampLocale(locale) }
    if let logo { stamp.logo = try PictureFile(FilePath(logo)) }
    stamp.text = text
    Output.end(
      try PictureRun(
        verb: "stamp",
        order: PictureOrder(stamp),
        options: pictures,
        output: output,
        upload: try upload.upload(text: text)
      ).run()
    )
  }
}

extension StampStyle: ExpressibleByArgument {}

/// What `--position` takes: every gravity that is a place.
struct StampPosition: ExpressibleByArgument {
  /// The place.
  let gravity: Gravity

  /// Reads a place, the centre in American spelling too; nil for anything else.
  init?(argument: String) {
    guard let gravity = Gravity(argument: argument), gravity != .attention else { return nil }
    self.gravity = gravity
  }

  /// What the help and the shells offer.
  static let allValueStrings = Gravity.allCases.filter { $0 != .attention }.map(\.rawValue)
}
