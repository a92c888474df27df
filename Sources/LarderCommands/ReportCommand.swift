import ArgumentParser
import Base
import Catalog
import CurlTransport
import Larder
import Pipeline
import SystemPackage
import Web

/// `larder report`: writes the catalog as an HTML page.
struct ReportCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "written",
      .failed:
        "no cache, no such catalog, or --out names a file that is no report",
      .io: "the cache cannot be read, or the page cannot be written",
    ],
    stops: true
  )

  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write the catalog, its changes and failures as one HTML page.",
    discussion: """
      Example:  larder report
                larder report --out /srv/www/banchan.html --language ko
                larder report --since 30d --out month.html

      The page is self-contained: you can open, send or print it. Up to 2000 items have their thumbnails \
      in the page itself. With more items, the thumbnails are in a folder beside it (report.files for \
      report.html), which must be copied along. A report replaces an older report; any other file is \
      replaced only with --force. Thumbnails are kept in the cache, so the next report makes only new \
      ones.

      \(statuses.text)
      """
  )

  @Option(
    help: ArgumentHelp(
      "The output file; - is stdout, without thumbnails if there are more than 2000 items. (default: report.html)",
      valueName: "file"
    ),
    completion: .file(extensions: ["html"]),
    transform: PathArgument.read
  )
  var out = "report.html"

  @Option(help: "The language of the page: en or ko. (default: LC_ALL, LC_MESSAGES, LANG)")
  var language: PageLanguage?

  @Option(
    "Only the changes from this far back, such as 30d, and the changed items. (default: the whole catalog)",
    value: "time",
    read: DurationArgument.read
  )
  var since: DurationArgument?

  @Flag(help: "Replace a file that is not a report.")
  var force = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if out == "-", output.json {
      throw ValidationError("--out - and --json both write to stdout; give one of them")
    }
    if out.isEmpty { throw ValidationError("--out takes the name of a file, or -") }
  }

  func run() throws {
    let began = MonotonicTime.now()
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    let file = out == "-" ? nil : ReportFile(out)
    try file?.demandRoom(force: force)
    let signals = Signals()
    let stop = signals.stop
    let report = ReportRun(of: reader, language, since: since)
    let made = try CountDisplay.during("report", "pictures", output) { display in
      try report.make(folder: file?.folder) {
        stop.isRaised
      } progress: { done, total in
        display.show(done, of: total)
      }
    }
    guard let made else { Output.end(signals.status ?? .interrupted) }
    guard let file else {
      if made.items > ReportPage.mostInline {
        Log(output).warning(
          "the page has no thumbnails: with more than 2000 items they need --out FILE"
        )
      }
      Output.file(Array(made.html.utf8))
      return
    }
    try file.write(made)
    let document = ReportDocument(made, file, since: began)
    try output.show(json: document.jsonLine(), text: document.text)
  }
}

extension PageLanguage: ExpressibleByArgument {}

extension ReportRun {
  /// Prepares a report whose advice names command-line options, in the time zone of this machine.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - language: The language of the page. Pass nil to use the language of the environment.
  ///   - since: The page shows the changes of a period with this length, which ends now. Pass nil to get a page about
  ///     the whole catalog.
  init(of reader: CatalogReader, _ language: PageLanguage?, since: DurationArgument? = nil) {
    let now = UnixTime.now()
    self.init(
      reader,
      language ?? PageLanguage(locale: OutboxOptions.environmentLocale),
      .system(at: now),
      since: since.map { now + -Int64($0.seconds) },
      advice: { $0.commandText },
      pictures: Workers.forPictures
    )
  }
}

/// The output file of a report, and the folder beside it for its thumbnails.
struct ReportFile {
  /// The file's path.
  let path: String
  /// The path of the folder, such as `report.files` for `report.html`.
  let folderPath: String

  init(_ path: String) {
    self.path = path
    let file = FilePath(path)
    let name = "\(file.stem ?? "report").files"
    folderPath = file.removingLastComponent().appending(name).string
  }

  /// The folder, and its name in the page's links.
  var folder: (folder: PictureFolder, name: String) {
    (PictureFolder(folderPath), FilePath(folderPath).lastComponent?.string ?? "")
  }

  /// Checks that the page can be written, before the work of making it.
  ///
  /// - Parameter force: Whether to replace a file that is not a report.
  /// - Throws: ``CommandFailure`` when the page cannot be written.
  func demandRoom(force: Bool) throws {
    try TextFile.demandRoom(at: path)
    guard !force, TextFile.exists(path), !isReport else { return }
    throw CommandFailure(
      "cannot write \(path): it exists and is not a report of larder; name another with --out, or "
        + "replace it with --force",
      .failed
    )
  }

  /// Writes the page, then removes thumbnails that the page does not use.
  func write(_ made: ReportRun.Made) throws {
    try TextFile.replace(path, with: made.html)
    folder.folder.sweep(except: made.files ?? [])
  }

  /// Whether the file is empty, or begins as a report of larder does.
  ///
  /// Such a file can be replaced without `--force`.
  private var isReport: Bool {
    guard let start = try? BoundedReading.bytes(ofFile: path, limit: 1023) else { return false }
    return start.isEmpty || ReportMark.isIn(Array(start.prefix(1024)))
  }
}

/// The result of a report, as JSON or text.
struct ReportDocument: Encodable {
  private let path: String
  @OrNull private var folder: String?
  private let items: Int
  private let thumbnails: Int
  private let thumbnailsMade: Int
  private let bytes: Int
  private let seconds: Double

  init(_ made: ReportRun.Made, _ file: ReportFile, since began: MonotonicTime) {
    (path, items) = (file.path, made.items)
    (thumbnails, thumbnailsMade) = (made.thumbnails, made.thumbnailsMade)
    bytes = made.html.utf8.count
    seconds = (Double(MonotonicTime.now() - began) / 1e6).rounded() / 1000
    folder = made.files == nil ? nil : file.folderPath
  }

  /// The result in one line: the file, the number of items and pictures, the size of the page and the time.
  var text: String {
    let pictures = "\(Quantities.count(thumbnails, "picture")), \(thumbnailsMade) of them new"
    let place = folder.map { " in \(PlainText.line($0))" } ?? ""
    return "\(PlainText.line(path)): \(Quantities.count(items, "item")), \(pictures)\(place), "
      + "\(ByteCount(Int64(bytes)).formatted()) in \(Quantities.duration(seconds))"
  }
}
