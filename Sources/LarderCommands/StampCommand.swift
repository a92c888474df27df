import ArgumentParser
import CurlTransport
import Glibc
import Imaging
import Pipeline
import SystemPackage
import Transport

/// `larder stamp PICTURE…`: stamps time and date on photos.
struct StampCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stamp",
    abstract: "Stamp time, date and weekday on photos, cropped to squares or whole.",
    discussion: """
      Example:  larder stamp up.jpg --out stamped --locale ko_KR --zone Asia/Seoul
                larder stamp photos --out stamped --fit contain --time file
                larder stamp up.jpg --out stamped --template '{weekday} {time12}'
                larder stamp up.jpg --out stamped --post https://diary.example/photos
                larder stamp - --time now < up.jpg > stamped.jpg

      A photo is posted once its file is whole: as multipart/form-data with dateTime, \
      timeStampContents (the --text) and image (always a JPEG). It is posted again only if it \
      certainly did not arrive, or if the server asks for that; the Idempotency-Key stays the same. \
      Posted photos are recorded in .larder-posted in the output folder, and later runs skip them.
      """,
    statuses: [
      .done: "all pictures were made",
      .failed: "the output exists already, or the server refused the only photo",
      .partial: "some pictures could not be read or posted, or are damaged",
      .data: "the only picture could not be read, or no font was found",
      .unavailable: "the server cannot be reached",
      .io: "the disk is full, not writable or damaged",
    ],
    stops: true
  )

  @OptionGroup(title: Topic.pictures) var pictures: PictureOptions

  @Option(
    help: "The time: exif (when it was taken), file, now, or an RFC 3339 time. (default: exif)"
  )
  var time: String?

  @Option(
    help:
      "The time zone of the stamp, such as Asia/Seoul. (default: that of the time, else this machine's)"
  )
  var zone: String?

  @Option(
    help:
      "The language of the date, such as ko_KR. (default: as LC_ALL, LC_TIME or LANG says, else en)"
  )
  var locale: String?

  @Option(
    help:
      "The background of the text: bar (a dark band to the edge), scrim (a soft shade) or plain."
  )
  var style = StampStyle.bar

  @Option(help: "The position of the text. (default: bottom-left)")
  var position: StampPosition?

  @Option(
    help: """
      The text of the stamp, with {time}, {time12}, {time24}, {date}, {weekday}; \\n begins a line. \
      (default: the time, and the date with its weekday under it)
      """
  )
  var template: String?

  @Option("The family of an installed font.", value: "family")
  var font: String?

  @Option(help: "A line under the date.")
  var text: String?

  @Option(path: "A logo for the corner opposite the text.", value: "png")
  var logo: String?

  @OptionGroup(title: Topic.upload) var upload: UploadOptions

  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    try pictures.check(beside: output)
    if pictures.readsStandardInput, time == "file" {
      throw ValidationError(
        "--time file needs a file, and stdin is none; give --time exif, now or a time"
      )
    }
  }

  func run() throws {
    Output.end(try make())
  }

  /// Makes all pictures, and returns the exit status.
  func make() throws -> ExitStatus {
    OwnFonts.use()
    var stamp = Stamp(crop: pictures.crop)
    (stamp.style, stamp.font, stamp.text) = (style, font, text)
    if let position { stamp.place = position.gravity }
    if let template { stamp.template = try StampTemplate(template) }
    if let time { stamp.time = try StampTime.Choice(time) }
    if let zone { stamp.zone = try Zone(named: zone) }
    // The variables for times. (POSIX, section 8.2)
    let own = ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap(OutboxOptions.variable).first
    stamp.locale = try locale.map { try StampLocale($0) } ?? own.flatMap { try? StampLocale($0) }
    if let logo { stamp.logo = try PictureFile(FilePath(logo)) }
    let folder = pictures.writesStandardOutput ? nil : ProgramArguments.path(pictures.place)
    return try PictureRun(
      verb: "stamp",
      order: PictureOrder(stamp),
      options: pictures,
      output: output,
      upload: try upload.upload(text: text, folder: folder)
    ).run()
  }
}

extension StampStyle: ExpressibleByArgument {}

/// The values of `--position`: every gravity except `attention`.
struct StampPosition: ExpressibleByArgument {
  let gravity: Gravity

  /// Parses a position; accepts the American spelling `center`.
  init?(argument: String) {
    guard let gravity = Gravity(argument: argument), gravity != .attention else { return nil }
    self.gravity = gravity
  }

  /// The values for help and completions.
  static let allValueStrings = Gravity.allCases.filter { $0 != .attention }.map(\.rawValue)
}

/// The options for posting stamped pictures.
struct UploadOptions: ParsableArguments {
  @Option("Post each stamped photo to this URL, as a form.", value: "url")
  var post: String?

  @Option(
    path: "A file with the token for --post (default: LARDER_UPLOAD_TOKEN, else none).",
    value: "file"
  )
  var tokenFile: String?

  @Option("The header that carries the token.", value: "name")
  var tokenHeader = "token"

  @Option(
    "Retry a photo that certainly did not arrive up to N times, 0 to 100. (default: 4)",
    value: "n",
    read: WholeNumber.reader(0...100)
  )
  var retries = RetryPolicy().retries

  @OptionGroup var route: RouteOptions

  mutating func validate() throws {
    if post == nil, tokenFile != nil || route.cacert != nil || route.proxy != nil {
      throw ValidationError("this option needs --post URL")
    }
  }

  /// The upload for these options; nil if `--post` was not given.
  ///
  /// - Parameters:
  ///   - text: The text on the stamp.
  ///   - folder: The folder that keeps the record of uploads; nil to keep none.
  /// - Returns: The uploader.
  /// - Throws: ``CommandFailure`` when the URL or the token is unusable.
  func upload(text: String?, folder: FilePath?) throws -> PictureUpload? {
    guard let post else { return nil }
    let destination = try UploadDestination(
      post,
      token: try FileReading.secret(
        in: tokenFile,
        "token file",
        content: "the token",
        or: "LARDER_UPLOAD_TOKEN"
      ),
      header: tokenHeader,
      parser: CurlURLParser()
    )
    var options = try route.transport()
    options.namedHosts = [destination.url.hostPort]
    // The transport never repeats a POST. It uses this policy only to decide whether a host is down.
    options.retry.retries = retries
    return PictureUpload(
      to: destination,
      text: text ?? "",
      transport: try CurlTransport(options),
      policy: options.retry,
      memory: try folder.map { try UploadMemory(in: $0) }
    )
  }
}
